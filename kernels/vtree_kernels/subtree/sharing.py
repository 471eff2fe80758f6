"""How threads share the features of a node without a word to Python, within one compiled call.

    one thread grows the tree       ── split ── post ── 0 ── 2 ── wait ── best of all ── split …
    others lend a hand meanwhile                     ── 1 ── 3 ──

A job has so many chunks of features. Who is free claims the next one, so that nobody waits for a
thread that the system has put aside, but in the midst of a chunk. Which thread a chunk was of
cannot be told from what was found.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import types
from numba.extending import intrinsic
from numpy.typing import NDArray

from vtree_kernels._registered import register_jitable
from vtree_kernels._spinning import now, place_of

# Places of numbers in a board, each in a cache line of its own.
NEXT, DONE, END = 0, 8, 16
_SIZE, _BITS = 24, 8  # of NEXT, the number of the job above and that of the next chunk below
MOST_CHUNKS = (1 << _BITS) - 1


def board() -> NDArray[np.int64]:
    """Return where jobs are posted, before the first one: all of its chunks are taken."""
    numbers = np.zeros(_SIZE, np.int64)
    numbers[NEXT] = MOST_CHUNKS
    return numbers


def _store(typing_context: Any, numbers: Any, place: Any, value: Any) -> Any:
    """Write numbers[place] after all that was written before."""

    def codegen(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        place = place_of(context, builder, signature, arguments)
        builder.store_atomic(arguments[2], place, "release", 8)
        return context.get_dummy_value()

    return types.void(numbers, types.int64, types.int64), codegen


def _add(typing_context: Any, numbers: Any, place: Any, value: Any) -> Any:
    """Add to numbers[place] after all that was written before."""

    def codegen(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        place = place_of(context, builder, signature, arguments)
        builder.atomic_rmw("add", place, arguments[2], "acq_rel")
        return context.get_dummy_value()

    return types.void(numbers, types.int64, types.int64), codegen


def _swap(typing_context: Any, numbers: Any, place: Any, before: Any, after: Any) -> Any:
    """Write numbers[place] if it is `before`; tell whether it was."""

    def codegen(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        place = place_of(context, builder, signature, arguments)
        found = builder.cmpxchg(place, arguments[2], arguments[3], "acq_rel", "acquire")
        return builder.extract_value(found, 1)

    return types.boolean(numbers, types.int64, types.int64, types.int64), codegen


_write: Any = intrinsic(_store)
_count: Any = intrinsic(_add)
_replace: Any = intrinsic(_swap)


@register_jitable
def post(board: Any) -> None:
    """Offer the chunks of the next job, of which all is written; only whoever posts does that."""
    job = now(board, NEXT) >> _BITS
    _write(board, NEXT, (job + 1) << _BITS)


@register_jitable
def claim(board: Any, n_chunks: Any) -> Any:
    """Return the chunk that is the caller's now, −1 where none is left."""
    while True:
        state = now(board, NEXT)
        chunk = state & MOST_CHUNKS
        if chunk >= n_chunks:
            return np.int64(-1)
        if _replace(board, NEXT, state, state + 1):
            return chunk


@register_jitable
def finish(board: Any) -> None:
    """Tell that a chunk is done."""
    _count(board, DONE, 1)


@register_jitable
def await_all(board: Any, n_chunks: Any) -> None:
    """Wait until all chunks of all jobs so far are done."""
    wanted = (now(board, NEXT) >> _BITS) * n_chunks
    while now(board, DONE) < wanted:
        pass


@register_jitable
def close(board: Any) -> None:
    """Tell that no job comes any more."""
    _write(board, END, 1)


@register_jitable
def is_closed(board: Any) -> Any:
    """Tell whether no job comes any more."""
    return now(board, END) != 0

"""`subsample` in Numba: a pass that draws and counts, and one that writes."""

from __future__ import annotations

from typing import Any

import numba
import numpy as np
from numpy.typing import NDArray

from vtree_kernels import _threads, mixing
from vtree_kernels._registered import register_jitable

CHUNK = 16_384  # rows of a task

_next_state: Any = register_jitable(forceinline=True)(mixing.next_state)
_share: Any = register_jitable(forceinline=True)(mixing.share)


@numba.njit(cache=True, nogil=True)
def _draw(inside, state, first, limit, found):  # type: ignore[no-untyped-def]
    """Write which rows are inside; found (2,): how many there are, and the least chance."""
    count, least = 0, 1.0
    for i in range(np.uint64(inside.size)):
        chance = _share(_next_state(state, first + i))
        inside[i] = chance <= limit
        count += inside[i]
        least = min(least, chance)
    found[0], found[1] = count, least


@numba.njit(cache=True, nogil=True)
def _write(rows, inside, first):  # type: ignore[no-untyped-def]
    at = 0
    for i in range(inside.size):
        if inside[i]:
            rows[at] = first + i
            at += 1


def subsample(
    example: object, state: Any, n_rows: int, share: float
) -> tuple[NDArray[np.int32], NDArray[np.bool_]]:
    """Return (rows, inside); see the package for the contract."""
    inside = np.empty(n_rows, dtype=np.bool_)
    found = np.empty((-(-n_rows // CHUNK), 2))
    own = np.uint64(state)

    def draw(limit: float) -> NDArray[np.int64]:
        def task(index: int) -> None:
            first = index * CHUNK
            _draw(inside[first : first + CHUNK], own, np.uint64(first), limit, found[index])

        _threads.run(task, len(found), work=8 * n_rows)
        return np.append(0, np.cumsum(found[:, 0].astype(np.int64)))

    border = draw(share)
    if border[-1] == 0:
        border = draw(float(found[:, 1].min()))
    rows = np.empty(border[-1], dtype=np.int32)

    def write(index: int) -> None:
        first = index * CHUNK
        _write(rows[border[index] : border[index + 1]], inside[first : first + CHUNK], first)

    _threads.run(write, len(found), work=2 * n_rows)
    return rows, inside

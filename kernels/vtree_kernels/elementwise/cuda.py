"""`elementwise` on CUDA: the function is put in C, and compiled once."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from vtree_kernels._cuda import Program, blocks_for, device_of
from vtree_kernels._translate import TranslationError, c_terms
from vtree_kernels.elementwise import reference

# None without a function: tests/kernels/test_elementwise.py compiles those of all losses.
VARIANTS: tuple[dict[str, object], ...] = ()

_THREADS, _BLOCKS_PER_PROCESSOR = 256, 16
_OTHERS, _NUMBERS = 3, 4  # at most
_NOTHING = -0.0  # what changes no number that it is added to, not even another −0

_program = Program("elementwise")


def elementwise(
    column: Any,
    others: tuple[Any, ...],
    numbers: tuple[float, ...],
    function: Callable[..., tuple[Any, ...]],
    n_results: int,
) -> tuple[Any, ...]:
    """Return the results of `function`; see the package for the contract.

    A function that cannot be put in C is left to the reference.
    """
    try:
        front = prelude(function, len(others), len(numbers), n_results)
    except TranslationError:
        return reference.elementwise(column, others, numbers, function, n_results)
    return _launched(front, column, others, numbers, n_results, _NOTHING, None)


def with_reach(
    column: Any,
    others: tuple[Any, ...],
    numbers: tuple[float, ...],
    function: Callable[..., tuple[Any, ...]],
    n_results: int,
    before: float,
) -> tuple[tuple[Any, ...], tuple[float, ...]]:
    """Return the results of `function` and their reach, as `elementwise`."""
    try:
        front = prelude(function, len(others), len(numbers), n_results)
    except TranslationError:
        return reference.with_reach(column, others, numbers, function, n_results, before)
    here = device_of(column)
    reach = here.zeros(n_results, np.uint64)
    found = _launched(front, column, others, numbers, n_results, before, reach)
    return found, tuple(here.download(reach).view(np.float64).tolist())


def prelude(
    function: Callable[..., tuple[Any, ...]], n_others: int, n_numbers: int, n_results: int
) -> str:
    """Return what stands in front of the source; TranslationError where there is no C for it."""
    if n_others > _OTHERS or n_numbers > _NUMBERS:
        raise TranslationError(f"{function!r} takes more columns or numbers than the kernel")
    arguments = ["own", *(f"other_{place}[i]" for place in range(n_others))]
    arguments += [f"number_{place}" for place in range(n_numbers)]
    return f"{c_terms(function, n_results)}#define ARGUMENTS {', '.join(arguments)}\n"


def _launched(
    front: str,
    column: Any,
    others: tuple[Any, ...],
    numbers: tuple[float, ...],
    n_results: int,
    before: float,
    reach: Any | None,
) -> tuple[Any, ...]:
    """Return the results; write the bits of their largest sizes to `reach`, if that is given."""
    here, n_rows = device_of(column), column.shape[0]
    column = here.contiguous(column)
    out = here.empty((n_results, n_rows), np.float64)
    columns = [here.contiguous(each) for each in others] + [column] * (_OTHERS - len(others))
    padded = [*numbers, *[0.0] * (_NUMBERS - len(numbers))]
    _program.on(here, front, RESULTS=n_results, REACH=int(reach is not None)).launch(
        "over_rows",
        blocks_for(n_rows, _THREADS, most=here.processors * _BLOCKS_PER_PROCESSOR),
        _THREADS,
        column,
        *columns,
        *map(np.float64, padded),
        np.float64(before),
        np.int64(n_rows),
        out,
        here.empty(0, np.uint64) if reach is None else reach,
    )
    return tuple(out[result, ...] for result in range(n_results))

"""`elementwise` in Numba: one pass over the rows, compiled once per function."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numba
import numpy as np
from numpy.typing import NDArray

import vtree_kernels.elementary.cpu  # noqa: F401  (teaches Numba `exp`, `log` and `choose`)
from vtree_kernels import _threads
from vtree_kernels._bits import reach_of
from vtree_kernels._naming import named_after
from vtree_kernels._registered import register_once

Floats = NDArray[np.float64]

_NOTHING = -0.0  # what changes no number that it is added to, not even another −0


@functools.cache
def _kernel(function: Callable[..., tuple[Any, ...]], n_others: int, n_results: int) -> Any:
    """Compile the loop around one function; its code is part of the loop's name."""
    register_once(function, forceinline=True)

    # Without branches of the function's own, the compiler works out several rows at a time; for
    # that all columns come one by one, and results are named one by one.
    @numba.njit(cache=True, nogil=True, error_model="numpy")
    @named_after(function, n_others, n_results)
    def over_rows(column, others, numbers, out, before):  # type: ignore[no-untyped-def]
        for i in range(column.size):
            own = before + column[i]
            if n_others == 0:
                found = function(own, *numbers)
            elif n_others == 1:
                found = function(own, others[0][i], *numbers)
            elif n_others == 2:
                found = function(own, others[0][i], others[1][i], *numbers)
            else:
                found = function(own, others[0][i], others[1][i], others[2][i], *numbers)
            out[0][i] = found[0]
            if n_results > 1:
                out[1][i] = found[1]
            if n_results > 2:
                out[2][i] = found[2]

    return over_rows


@numba.njit(cache=True, nogil=True)
def _write_reach(reach, column, values):  # type: ignore[no-untyped-def]
    reach[column] = reach_of(values, np.int64(0))


def elementwise(
    column: Floats,
    others: tuple[Floats, ...],
    numbers: tuple[float, ...],
    function: Callable[..., tuple[Any, ...]],
    n_results: int,
) -> tuple[Floats, ...]:
    """Return the results of `function`; see the package for the contract."""
    return _over_blocks(column, others, numbers, function, n_results, _NOTHING, None)


def with_reach(
    column: Floats,
    others: tuple[Floats, ...],
    numbers: tuple[float, ...],
    function: Callable[..., tuple[Any, ...]],
    n_results: int,
    before: float,
) -> tuple[tuple[Floats, ...], tuple[float, ...]]:
    """Return the results of `function` and their reach; see the package for the contract."""
    reaches = [np.zeros(n_results, dtype=np.int64)]
    found = _over_blocks(column, others, numbers, function, n_results, before, reaches)
    return found, tuple(np.max(reaches, axis=0).view(np.float64).tolist())


def _over_blocks(
    column: Floats,
    others: tuple[Floats, ...],
    numbers: tuple[float, ...],
    function: Callable[..., tuple[Any, ...]],
    n_results: int,
    before: float,
    reaches: list[NDArray[np.int64]] | None,
) -> tuple[Floats, ...]:
    """Return the results; append the bits of each block's reach to `reaches`, if that is asked."""
    kernel = _kernel(function, len(others), n_results)
    out = tuple(np.empty(column.size) for _ in range(n_results))
    columns = [np.ascontiguousarray(each) for each in (column, *others)]

    def block(rows: slice) -> None:
        own, results = [each[rows] for each in columns], tuple(each[rows] for each in out)
        kernel(own[0], tuple(own[1:]), numbers, results, before)
        if reaches is not None:
            reach = np.empty(n_results, dtype=np.int64)
            for number, values in enumerate(results):
                _write_reach(reach, number, values)
            reaches.append(reach)

    _threads.run_blocks(block, column.size, each=20, times=2)
    return out

"""`elementwise` in Numba: one pass over the rows, compiled once per function."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numba
import numpy as np
from numba.extending import register_jitable
from numpy.typing import NDArray

import vtree_kernels.elementary.cpu  # noqa: F401  (teaches Numba `exp`, `log` and `choose`)
from vtree_kernels import _threads
from vtree_kernels._naming import named_after


@functools.cache
def _kernel(function: Callable[..., tuple[Any, ...]], n_others: int, n_results: int) -> Any:
    """Compile the loop around one function; its code is part of the loop's name."""
    register_jitable(forceinline=True)(function)

    # Without branches of the function's own, the compiler works out several rows at a time; for
    # that all columns come one by one, and results are named one by one.
    @numba.njit(cache=True, nogil=True, error_model="numpy")
    @named_after(function, n_others, n_results)
    def over_rows(column, others, numbers, out):  # type: ignore[no-untyped-def]
        for i in range(column.size):
            if n_others == 0:
                found = function(column[i], *numbers)
            elif n_others == 1:
                found = function(column[i], others[0][i], *numbers)
            elif n_others == 2:
                found = function(column[i], others[0][i], others[1][i], *numbers)
            else:
                found = function(column[i], others[0][i], others[1][i], others[2][i], *numbers)
            out[0][i] = found[0]
            if n_results > 1:
                out[1][i] = found[1]
            if n_results > 2:
                out[2][i] = found[2]

    return over_rows


def elementwise(
    column: NDArray[np.float64],
    others: tuple[NDArray[np.float64], ...],
    numbers: tuple[float, ...],
    function: Callable[..., tuple[Any, ...]],
    n_results: int,
) -> tuple[NDArray[np.float64], ...]:
    """Return the results of `function`; see the package for the contract."""
    kernel = _kernel(function, len(others), n_results)
    out = tuple(np.empty(column.size) for _ in range(n_results))
    columns = [np.ascontiguousarray(each) for each in (column, *others)]

    def block(rows: slice) -> None:
        own = [each[rows] for each in columns]
        kernel(own[0], tuple(own[1:]), numbers, tuple(each[rows] for each in out))

    _threads.run_blocks(block, column.size, each=20)
    return out

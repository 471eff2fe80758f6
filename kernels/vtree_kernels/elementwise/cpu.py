"""`elementwise` in Numba: one pass over the rows, compiled once per function."""

from __future__ import annotations

import functools
import hashlib
from collections.abc import Callable
from typing import Any

import numba
import numpy as np
from numba.extending import register_jitable
from numpy.typing import NDArray

import vtree_kernels.elementary.cpu  # noqa: F401  (teaches Numba `exp`, `log` and `choose`)
from vtree_kernels import _threads

BLOCK = 16_384  # rows of a task


@functools.cache
def _kernel(function: Callable[..., tuple[Any, ...]], n_others: int, n_results: int) -> Any:
    """Compile the loop around one function; its code is part of the key of Numba's disk cache."""
    stamp = int(hashlib.sha256(function.__code__.co_code).hexdigest()[:8], 16)
    register_jitable(function)

    @numba.njit(cache=True, nogil=True, error_model="numpy")
    def over_rows(column, others, numbers, first, last, out):  # type: ignore[no-untyped-def]
        for i in range(first, last + 0 * stamp):  # keeps `stamp` captured
            if n_others == 0:
                found = function(column[i], *numbers)
            elif n_others == 1:
                found = function(column[i], others[0, i], *numbers)
            else:
                found = function(column[i], others[0, i], others[1, i], *numbers)
            for r in range(n_results):
                out[r, i] = found[r]

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
    out = np.empty((n_results, column.size))
    stacked = np.stack(others) if others else np.empty((0, 0))
    plain = np.ascontiguousarray(column)

    def block(index: int) -> None:
        first = index * BLOCK
        kernel(plain, stacked, numbers, first, min(first + BLOCK, column.size), out)

    _threads.run(block, -(-column.size // BLOCK), work=column.size * 20)
    return tuple(out)

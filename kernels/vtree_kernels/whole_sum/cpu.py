"""`whole_sum` and `largest_size` in Numba: one pass, several rows at a time."""

from __future__ import annotations

import numba
import numpy as np
from numpy.typing import NDArray

from vtree_kernels import _threads
from vtree_kernels._bits import number_of, reach_of

Floats = NDArray[np.float64]

_NONE = np.empty(0, dtype=np.int64)


@numba.njit(cache=True, nogil=True)
def _largest(values):  # type: ignore[no-untyped-def]
    return number_of(reach_of(values, np.int64(0)))


@numba.njit(cache=True, nogil=True)
def _sum(values, factor, weight, products):  # type: ignore[no-untyped-def]
    whole = np.int64(0)
    if weight.size == 0:
        for i in range(values.size):
            whole += np.int64(np.rint(values[i] * factor))
    elif products:
        for i in range(values.size):
            whole += np.int64(np.rint(values[i] * factor)) * weight[i]
    else:
        for i in range(values.size):
            whole += np.int64(np.rint(values[i] * factor * weight[i]))
    return whole


def largest_size(values: Floats) -> float:
    """Return the largest size; see the package for the contract."""
    found = [0.0]
    values = np.ascontiguousarray(values)

    def look(rows: slice) -> None:
        found.append(_largest(values[rows]))

    _threads.run_blocks(look, values.size, each=1)
    return float(np.max(found))


def whole_sum(
    values: Floats, factor: float, weight: NDArray[np.int64] | None, products: bool
) -> int:
    """Return the sum; see the package for the contract."""
    found = [0]
    values, own = np.ascontiguousarray(values), _NONE if weight is None else weight

    def add(rows: slice) -> None:
        found.append(int(_sum(values[rows], factor, own[rows], products)))

    _threads.run_blocks(add, values.size, each=2)
    return sum(found)

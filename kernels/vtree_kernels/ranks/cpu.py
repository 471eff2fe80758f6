"""`ranks` in Numba: the numbers' bits, as integers that ascend with them, sorted by digits."""

from __future__ import annotations

from typing import Any

import numba
import numpy as np
from numpy.typing import NDArray

from vtree_kernels import _threads
from vtree_kernels._digits import bits_of_dtype, bits_of_key, sort_keys, write_keys

_COUNTED = 1 << 16  # whole numbers so near each other are counted, not sorted


@numba.njit(cache=True, nogil=True)
def _whole_range(x):  # type: ignore[no-untyped-def]
    """Return (the least number, the largest), or (1, 0) unless all are whole, or NaN."""
    least, most, whole = np.inf, -np.inf, True
    for row in range(x.size):
        own = np.float64(x[row])
        if own == own:
            whole &= own == np.floor(own)
            least, most = min(least, own), max(most, own)
    return (least, most) if whole else (1.0, 0.0)


@numba.njit(cache=True, nogil=True)
def _counted(x, least, size, codes):  # type: ignore[no-untyped-def]
    """Write each row's code; return the distinct numbers, all of least … least + size − 1."""
    code = np.zeros(size, np.int32)
    for row in range(x.size):
        if x[row] == x[row]:
            code[np.uint32(x[row] - least)] = 1
    distinct = np.empty(size)
    count = np.int32(0)
    for place in range(size):
        if code[place]:
            distinct[count] = least + place
            count += np.int32(1)
            code[place] = count
    for row in range(x.size):
        codes[row] = code[np.uint32(x[row] - least)] if x[row] == x[row] else 0
    return distinct[:count]


@numba.njit(cache=True, nogil=True)
def _numbered(keys, rows, sign, codes, distinct):  # type: ignore[no-untyped-def]
    """Write each row's code and the bits of each distinct number; return how many these are."""
    count = np.int32(0)
    for i in range(keys.size):
        if i == 0 or keys[i] != keys[i - 1]:
            distinct[count] = bits_of_key(keys[i], sign)
            count += np.int32(1)
        codes[rows[i]] = count
    return count


def ranks(
    values: NDArray[Any], columns: list[int]
) -> tuple[NDArray[np.int32], list[NDArray[np.float64]]]:
    """Return (codes (G, N), distinct values); see the package for the contract."""
    n_rows = values.shape[0]
    codes = np.zeros((len(columns), n_rows), dtype=np.int32)
    distinct = [np.empty(0)] * len(columns)
    if n_rows == 0:
        return codes, distinct
    kind, width, sign, infinity = bits_of_dtype(values.dtype)

    def column(g: int) -> None:
        x = np.ascontiguousarray(values[:, columns[g]])
        least, most = _whole_range(x)
        if 0.0 <= most - least < _COUNTED:
            distinct[g] = _counted(x, least + 0.0, int(most - least) + 1, codes[g]).copy()
            return
        bits = x.view(kind)
        # One more place, for a NaN is written where the next number goes.
        keys, rows = np.empty(n_rows + 1, dtype=kind), np.empty(n_rows + 1, dtype=np.uint32)
        spare_keys, spare_rows = np.empty(n_rows, dtype=kind), np.empty(n_rows, dtype=np.uint32)
        known = int(write_keys(bits, sign, infinity, keys, rows))
        if known:
            keys, rows = sort_keys(
                keys[:known], rows[:known], spare_keys[:known], spare_rows[:known], width
            )
            own = np.empty(known, dtype=kind)
            count = _numbered(keys, rows, sign, codes[g], own)
            distinct[g] = own[:count].view(values.dtype).astype(np.float64)

    _threads.run(column, len(columns), work=n_rows * len(columns) * 8)
    return codes, distinct

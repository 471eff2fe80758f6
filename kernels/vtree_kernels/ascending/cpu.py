"""`ascending` in Numba: many numbers are sorted by the digits of their bits."""

from __future__ import annotations

from typing import Any

import numba
import numpy as np
from numpy.typing import NDArray

from vtree_kernels._digits import bits_of_dtype, bits_of_key, sort_keys, write_keys
from vtree_kernels.ascending import reference

FEW = 4_096  # numbers, which NumPy sorts in less time than a table of each digit's values takes


@numba.njit(cache=True, nogil=True)
def _write_bits(keys, sign, out):  # type: ignore[no-untyped-def]
    for i in range(keys.size):
        out[i] = bits_of_key(keys[i], sign)


def ascending(x: NDArray[Any]) -> NDArray[Any]:
    """Return the numbers; see the package for the contract."""
    if x.size < FEW or x.dtype not in (np.float32, np.float64):
        few: NDArray[Any] = reference.ascending(x)
        return few
    x = np.ascontiguousarray(x)
    kind, width, sign, infinity = bits_of_dtype(x.dtype)
    keys, spare = np.empty(x.size + 1, kind), np.empty(x.size, kind)
    rows = np.empty(0, np.uint32)  # nobody asks for them
    known = int(write_keys(x.view(kind), sign, infinity, keys, rows))
    keys, _ = sort_keys(keys[:known], rows, spare[:known], rows, width)
    numbers = np.empty(known, kind)
    _write_bits(keys, sign, numbers)
    return numbers.view(x.dtype)

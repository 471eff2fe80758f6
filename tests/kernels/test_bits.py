from typing import Any

import numba
import numpy as np

from tests.bits import assert_same_bits
from vtree_kernels._bits import bits_of, number_of


@numba.njit
def _there(x: Any, out: Any) -> None:
    for i in range(x.size):
        out[i] = bits_of(x[i])


@numba.njit
def _back(bits: Any, out: Any) -> None:
    for i in range(bits.size):
        out[i] = number_of(bits[i])


def test_bits_are_those_of_memory() -> None:
    x = np.array([0.0, -0.0, 1.0, -2.5, 5e-324, np.inf, -np.inf, np.nan, 1e300])
    bits, again = np.empty(x.size, dtype=np.int64), np.empty(x.size)
    _there(x, bits)
    np.testing.assert_array_equal(bits, x.view(np.int64))
    _back(bits, again)
    assert_same_bits(again, x)

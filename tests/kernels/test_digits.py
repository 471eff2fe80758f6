"""Sorting by digits: equal keys keep their order, and keys give back their numbers."""

from typing import Any

import numpy as np
import pytest

from tests.bits import assert_same_bits
from vtree_kernels._digits import bits_of_dtype, bits_of_key, sort_keys, write_keys


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_rows_go_along(dtype: Any) -> None:
    x = np.round(np.random.default_rng(0).normal(size=3000), 1).astype(dtype)
    x[::7], x[1::7] = np.nan, -0.0
    kind, width, sign, infinity = bits_of_dtype(np.dtype(dtype))
    keys, spare = np.empty(x.size + 1, kind), np.empty(x.size, kind)
    rows, spare_rows = np.empty(x.size + 1, np.uint32), np.empty(x.size, np.uint32)
    known = int(write_keys(x.view(kind), sign, infinity, keys, rows))
    keys, rows = sort_keys(keys[:known], rows[:known], spare[:known], spare_rows[:known], width)
    own = np.flatnonzero(~np.isnan(x))
    expected = own[np.argsort(x[own], kind="stable")]
    np.testing.assert_array_equal(rows, expected)
    found = np.array([bits_of_key(key, sign) for key in keys[:40]], kind).view(dtype)
    assert_same_bits(found, x[expected[:40]] + dtype(0.0))

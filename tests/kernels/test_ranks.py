"""`ranks` on every backend, beside NumPy's `unique`."""

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from tests.bits import assert_same_bits
from tests.conftest import Namespace
from vtree import arrays
from vtree_kernels.ranks import ranks

SPECIAL = [np.nan, np.inf, -np.inf, -0.0, 0.0, 5e-324, -5e-324, 1.7e308, -1.7e308, 1.0, -1.0]


def _table(name: str) -> NDArray[Any]:
    draw = np.random.default_rng(3)
    numbers = draw.normal(size=(700, 3)) * 10.0 ** draw.integers(-40, 38, (700, 3))
    numbers[:, 1] = np.round(draw.normal(size=700), 1)
    numbers[draw.random(numbers.shape) < 0.1] = np.nan
    return {
        "random": numbers,
        "float32": numbers.astype(np.float32),
        "by columns": np.asfortranarray(numbers),
        "whole numbers": draw.integers(-3000, 3000, (500, 2)).astype(np.float64),
        "far apart": draw.integers(-30, 30, (500, 2)) * 2.0**20,
        "special values": np.array(SPECIAL * 2)[:, None],
        "special values of float32": np.array([*SPECIAL[:5], 1e-45, -1e-45, 3e38], "f4")[:, None],
        "one value": np.full((9, 1), 2.5),
        "all missing": np.full((9, 2), np.nan),
        "no rows": np.empty((0, 2)),
    }[name]


NAMES = ["random", "float32", "by columns", "whole numbers", "far apart"]
NAMES += ["special values", "special values of float32", "one value", "all missing", "no rows"]


@pytest.mark.filterwarnings("ignore:overflow encountered in cast:RuntimeWarning")
@pytest.mark.parametrize("name", NAMES)
def test_like_unique(name: str, xp: Namespace) -> None:
    values = _table(name)
    columns = list(range(values.shape[1]))[::-1]
    codes, distinct = ranks(xp.asarray(values), columns)
    native = ranks(values, columns)
    assert_same_bits(arrays.to_numpy(codes), native[0])
    for g, column in enumerate(columns):
        x = values[:, column] + 0.0
        expected, place = np.unique(x[~np.isnan(x)], return_inverse=True)
        assert_same_bits(arrays.to_numpy(distinct[g]), expected.astype(np.float64))
        assert_same_bits(native[1][g], expected.astype(np.float64))
        own = np.zeros(x.size, dtype=np.int32)
        own[~np.isnan(x)] = place + 1
        np.testing.assert_array_equal(native[0][g], own)


def test_no_columns() -> None:
    codes, distinct = ranks(np.ones((4, 2)), [])
    assert codes.shape == (0, 4) and distinct == []

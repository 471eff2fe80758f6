"""`ascending` on every backend, beside NumPy's sort."""

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from tests.bits import assert_same_bits
from tests.conftest import Namespace
from vtree import arrays
from vtree_kernels.ascending import ascending
from vtree_kernels.ascending.cpu import FEW

SPECIAL = [np.nan, np.inf, -np.inf, -0.0, 0.0, 5e-324, -5e-324, 1.7e308, -1.7e308, 1.0, -1.0]
SIZE = FEW + 300


def _column(name: str) -> NDArray[Any]:
    draw = np.random.default_rng(5)
    numbers = draw.normal(size=SIZE) * 10.0 ** draw.integers(-30, 30, SIZE)
    numbers[draw.random(SIZE) < 0.1] = np.nan
    return {
        "random": numbers,
        "float32": numbers.astype(np.float32),
        "whole": draw.integers(-9, 9, SIZE).astype(np.float64),
        "few": numbers[:50],
        "special": np.tile(SPECIAL, 1 + SIZE // len(SPECIAL)),
        "strided": np.repeat(numbers.astype(np.float32), 3)[::3],
        "missing": np.full(SIZE, np.nan, np.float32),
        "none": np.empty(0),
    }[name]


@pytest.mark.parametrize(
    "name", ["random", "float32", "whole", "few", "special", "strided", "missing", "none"]
)
def test_like_sort(name: str, xp: Namespace) -> None:
    x = _column(name)
    expected = np.sort(x[~np.isnan(x)]) + x.dtype.type(0.0)
    assert_same_bits(ascending(x), expected)
    assert_same_bits(arrays.to_numpy(ascending(xp.asarray(np.ascontiguousarray(x)))), expected)

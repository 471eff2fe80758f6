"""Equality to the last bit, which is what kernels, backends and threads owe each other."""

from typing import Any

import numpy as np
from numpy.typing import NDArray


def assert_same_bits(got: Any, expected: Any, what: str = "") -> None:
    """Compare shape and bits; −0.0 is not 0.0, and one NaN is like itself."""
    left, right = np.asarray(got), np.asarray(expected)
    assert left.shape == right.shape, f"{what}: {left.shape} is not {right.shape}"
    if left.dtype.kind == "f":
        assert left.dtype == right.dtype, what
        left, right = _words(left), _words(right)
    np.testing.assert_array_equal(left, right, err_msg=what)


def _words(array: NDArray[Any]) -> NDArray[Any]:
    return np.ascontiguousarray(array).view(f"i{array.dtype.itemsize}")

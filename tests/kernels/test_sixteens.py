from typing import Any

import numba
import numpy as np
import pytest
from numpy.typing import NDArray

from vtree_kernels._prefetch import LINE
from vtree_kernels._sixteens import number_below, trees_of


@numba.njit
def _counts(trees: Any, starts: Any, values: Any) -> Any:
    counts = np.empty((values.size, starts.shape[0]), np.int64)
    for i in range(values.size):
        for g in range(starts.shape[0]):
            counts[i, g] = number_below(trees, starts, g, values[i])
    return counts


@pytest.mark.parametrize("longest", [0, 1, 15, 16, 17, 255, 256, 257, 4096, 4097])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_counts_beside_shorter_lists(longest: int, dtype: Any) -> None:
    draw = np.random.default_rng(longest)
    lists: list[NDArray[Any]] = [
        np.sort(draw.normal(size=n).astype(dtype)) for n in (3, longest, longest // 16)
    ]
    numbers = np.concatenate(lists)
    trees, starts = trees_of(numbers, np.cumsum([0, *map(len, lists)]))
    assert trees.ctypes.data % LINE == 0
    up, down = dtype([np.inf, -np.inf])
    special = dtype([0.0, -0.0, np.inf, -np.inf, np.nan])
    values = np.concatenate([numbers, np.nextafter(numbers, up), special])
    values = np.append(values, np.nextafter(numbers, down))
    found = [np.searchsorted(each, values, side="left") for each in lists]
    expected = np.where(np.isnan(values), 0, np.array(found)).T
    np.testing.assert_array_equal(_counts(trees, starts, values), expected)

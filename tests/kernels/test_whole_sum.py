"""Sums of whole numbers: bits of the definition, in any threads."""

import numpy as np
import pytest

from vtree_kernels._threads import BLOCK, threads
from vtree_kernels.whole_sum import largest_size, whole_sum


@pytest.mark.parametrize("n_rows", [0, 1, 100, 2 * BLOCK + 77])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("products", [False, True])
@pytest.mark.parametrize("count", [1, 2])
def test_twins_agree(n_rows: int, weighted: bool, products: bool, count: int) -> None:
    draw = np.random.default_rng(n_rows)
    values = draw.normal(size=(n_rows, 2))[:, 0]  # not in one piece
    weight = draw.integers(1, 9, n_rows) if weighted else None
    given = values, 2.0**20, weight, products
    with threads(count):
        assert whole_sum(*given) == whole_sum.reference(*given)
        assert largest_size(values) == largest_size.reference(values)


def test_halves_are_even_and_weights_multiply_before_or_after() -> None:
    values, weight = np.array([0.5, 1.5, 0.25]), np.array([1, 1, 3])
    assert whole_sum(values, 1.0, None, True) == 2
    assert whole_sum(values, 1.0, weight, True) == 2
    assert whole_sum(values, 1.0, weight, False) == 3
    assert whole_sum(values, -4.0, weight, True) == -11


@pytest.mark.parametrize("wrong", [np.nan, np.inf, -np.inf])
def test_what_is_no_number_is_the_largest(wrong: float) -> None:
    found = largest_size(np.array([1.0, wrong, -2.0, -np.inf]))
    assert np.isnan(found) if np.isnan(wrong) else found == np.inf
    assert largest_size(np.array([1.0, -3.0, 2.0])) == 3.0

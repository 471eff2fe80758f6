"""Sums of whole numbers: bits of the definition, in any threads."""

import numpy as np
import pytest

from tests.cuda_host.emulation import on_device
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


@pytest.mark.parametrize("n_rows", [0, 1, 255, 257, 3000])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("products", [False, True])
def test_cuda_agrees(n_rows: int, weighted: bool, products: bool, cuda: str | int) -> None:
    draw = np.random.default_rng(n_rows)
    values = draw.normal(size=n_rows) * 2.0 ** draw.integers(-40, 3, n_rows)
    values[: min(n_rows, 3)] = [-0.0, 5e-324, -1.5 * 2.0**-20][:n_rows]
    weight = draw.integers(1, 1 << 20, n_rows) if weighted else None
    for factor in (2.0**20, -(2.0**30)):
        found = whole_sum.twin("cuda")(on_device(values), factor, on_device(weight), products)
        assert found == whole_sum.twin("cpu")(values, factor, weight, products)
    for wrong in (0.0, np.inf, np.nan, -np.nan):
        own = np.append(values, wrong)
        largest = largest_size.twin("cuda")(on_device(own))
        np.testing.assert_array_equal(largest, largest_size.twin("cpu")(own))

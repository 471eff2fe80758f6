import math

import numpy as np
import pytest

from vtree.errors import InputError
from vtree.losses.exact import exact_mean, quantile, whole_numbers


@pytest.mark.parametrize("shift", [0.0, 1e9, -3e-300])
def test_means_depend_on_no_order_and_repeat_like_weights(shift: float) -> None:
    draw = np.random.default_rng(0)
    values = draw.normal(size=501) + shift
    weight = draw.integers(1, 6, 501)
    mean = exact_mean(values, weight)
    order = draw.permutation(501)
    assert exact_mean(values[order], weight[order]) == mean
    assert exact_mean(np.repeat(values, weight), None) == mean
    exact = math.fsum(np.repeat(values, weight).tolist()) / weight.sum()
    assert mean == pytest.approx(exact, rel=1e-10, abs=1e-11 * abs(values).max())


def test_large_weights() -> None:
    values, weight = np.array([1.0, 4.0]), np.array([1 << 40, 1 << 41])
    assert exact_mean(values, weight) == pytest.approx(3.0, rel=1e-9)
    assert exact_mean(np.zeros(3), None) == 0.0


@pytest.mark.parametrize("wrong", [np.nan, np.inf, -np.inf])
def test_what_is_not_finite_is_not_added(wrong: float) -> None:
    with pytest.raises(InputError, match="no longer finite"):
        exact_mean(np.array([1.0, wrong, 0.0]), None)


def test_quantiles() -> None:
    values = np.array([3.0, 1.0, 2.0, 10.0])
    assert quantile(values, None, 0.5) == 2.5
    assert quantile(values, None, 0.8) == 10.0
    assert quantile(values, np.array([3, 1, 1, 1]), 0.5) == 3.0
    assert quantile(values, np.array([2, 1, 1, 1]), 0.5) == quantile(
        np.array([3.0, 3.0, 1.0, 2.0, 10.0]), None, 0.5
    )


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("scale", [1.0, 1e-290, 1e300])
def test_whole_numbers_are_the_nearest_of_few_bits(weighted: bool, scale: float) -> None:
    draw = np.random.default_rng(3)
    values = draw.normal(size=40_000) * scale
    weight = draw.integers(1, 4, values.size) if weighted else None
    total = values.size if weight is None else int(weight.sum())
    whole, unit = whole_numbers(values, weight, values.size, total, 20)
    times = np.ones(values.size, dtype=np.int64) if weight is None else weight
    assert np.abs(whole).max() < 2**20 * times.max()
    np.testing.assert_array_equal(whole, np.rint(values / unit).astype(np.int64) * times)
    opposite, _ = whole_numbers(values, weight, values.size, total, 20, negated=True)
    np.testing.assert_array_equal(opposite, -whole)
    raised, _ = whole_numbers(values, weight, values.size, total, 20, least=7)
    np.testing.assert_array_equal(raised, np.maximum(whole, 7))

"""Drawn weights of few digits: bits of the definition, right on the average."""

from typing import Any

import numpy as np
import pytest

from tests.bits import assert_same_bits
from vtree_kernels._threads import BLOCK, threads
from vtree_kernels.drawn_digits import drawn_digits, unit_of

N = 2 * BLOCK + 77
DRAW = np.random.default_rng(0)


def _given(n_raw: int = 1, weighted: bool = False) -> tuple[Any, ...]:
    weight = DRAW.integers(1, 9, N) if weighted else None
    return DRAW.normal(size=(N, n_raw)), DRAW.exponential(size=N), DRAW.random(N), weight, (10, 11)


@pytest.mark.parametrize("n_raw", [1, 3])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("count", [1, 2])
def test_twins_agree(n_raw: int, weighted: bool, count: int) -> None:
    given = _given(n_raw, weighted)
    with threads(count):
        found = drawn_digits(*given)
    expected = drawn_digits.reference(*given)
    for own, other in zip(found[:2], expected[:2], strict=True):
        assert_same_bits(own, other)
    assert found[2:] == expected[2:]


def test_numbers_fit_their_bits_and_are_right_on_the_average() -> None:
    gradient, factor, *rest = _given()
    plane, sums, heaviest, steepest = drawn_digits(gradient, factor, *rest)
    assert plane.min() >= 0
    assert plane.max() <= 1 << 10
    assert np.abs(sums).max() <= 1 << 11
    assert plane.sum() * unit_of(heaviest, 10) == pytest.approx(factor.sum(), rel=1e-3)
    exact = -(gradient[:, 0] * factor).sum()
    assert sums.sum() * unit_of(steepest, 11) == pytest.approx(exact, abs=0.005 * N)


@pytest.mark.parametrize("wrong", [np.nan, np.inf])
@pytest.mark.parametrize("call", [drawn_digits, drawn_digits.reference])
def test_what_is_no_number_is_told(wrong: float, call: Any) -> None:
    gradient, *rest = _given(2)
    gradient[7, 1] = wrong
    assert not np.isfinite(call(gradient, *rest)[3])


def test_all_zeros() -> None:
    _, factor, *rest = _given()
    plane, sums, _, steepest = drawn_digits(np.zeros((N, 1)), factor, *rest)
    assert steepest == 0.0
    assert not sums.any()
    assert plane.any()


def test_the_smallest_numbers_have_no_unit_to_multiply_by() -> None:
    gradient, *rest = _given()
    found = drawn_digits(gradient * 2.0**-1020, *rest)
    assert found[3] > 0.0
    for own, other in zip(found, drawn_digits.reference(gradient * 2.0**-1020, *rest), strict=True):
        assert_same_bits(np.asarray(own), np.asarray(other))

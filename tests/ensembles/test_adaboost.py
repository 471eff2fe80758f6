"""Rounds of AdaBoost against the formulas, written out row by row."""

import math
from fractions import Fraction

import numpy as np
import pytest
from numpy.typing import NDArray

from vtree.ensembles.adaboost import Weights, boost, r2, samme, weights_of
from vtree.tree import Tree

NO_TREE = Tree(*[np.zeros(1) for _ in Tree._fields])  # type: ignore[arg-type]


def test_one_round_of_samme() -> None:
    target = np.array([0, 1, 2, 0, 1])
    whole = np.array([1, 2, 3, 4, 6])
    step = samme(target, 3, 0.5)(np.array([0, 1, 0, 0, 2]), whole)
    assert step.error == 9 / 16
    assert step.alpha is not None and step.factor is not None
    expected = 0.5 * (math.log((7 / 16) / (9 / 16)) + math.log(2.0))
    assert step.alpha == pytest.approx(expected, rel=1e-14)
    np.testing.assert_allclose(
        step.factor, [1.0, 1.0, math.exp(expected), 1.0, math.exp(expected)], rtol=1e-14
    )


def test_samme_ends_without_errors_and_at_chance() -> None:
    target, whole = np.array([0, 1]), np.array([1, 1])
    assert samme(target, 2, 1.0)(target, whole) == (0.0, 1.0, None)
    assert samme(target, 2, 1.0)(np.array([0, 0]), whole) == (0.5, None, None)
    assert samme(target, 3, 1.0)(np.array([0, 0]), whole).alpha is not None


@pytest.mark.parametrize("loss", ["linear", "square", "exponential"])
def test_one_round_of_r2(loss: str) -> None:
    target, answers = np.array([1.0, 2.0, 3.0, 4.0]), np.array([1.0, 2.5, 3.0, 2.0])
    whole = np.array([3, 1, 1, 1])
    own = np.array([0.0, 0.25, 0.0, 1.0])
    own = {"linear": own, "square": own**2, "exponential": 1.0 - np.exp(-own)}[loss]
    mean = float(Fraction(0) + sum(own * whole) / 6)
    beta = mean / (1.0 - mean)
    step = r2(target, loss, 0.7)(answers, whole)
    assert step.error == pytest.approx(mean, rel=1e-8)
    assert step.alpha == pytest.approx(0.7 * math.log(1 / beta), rel=1e-8)
    assert step.factor is not None
    np.testing.assert_allclose(step.factor, beta ** (0.7 * (1.0 - own)), rtol=1e-8)


def test_r2_ends_without_errors_and_at_a_mean_loss_of_one_half() -> None:
    target = np.array([1.0, 2.0])
    assert r2(target, "linear", 1.0)(target, np.array([1, 1])) == (0.0, 1.0, None)
    assert r2(target, "linear", 1.0)(np.array([2.0, 3.0]), np.array([1, 1])).alpha is None


def test_weights_grow_where_the_learner_errs() -> None:
    target = np.array([0, 0, 1, 1])
    answers = iter([[0, 0, 1, 0], [0, 1, 1, 1], [0, 0, 1, 1]])
    seen: list[NDArray[np.float64]] = []

    def fit(weights: Weights) -> tuple[Tree, NDArray[np.int64]]:
        seen.append(weights.of_rows / weights.total)
        return NO_TREE, np.array(next(answers))

    boosted = boost(fit, samme(target, 2, 1.0), Weights(np.ones(4)), 9)
    assert boosted.errors == pytest.approx([1 / 4, 1 / 6, 0.0])
    assert boosted.alphas == pytest.approx([math.log(3), math.log(5), 1.0])
    np.testing.assert_allclose(seen[1], [1 / 6, 1 / 6, 1 / 6, 1 / 2])  # misses weigh one half
    np.testing.assert_allclose(seen[2], [1 / 10, 1 / 2, 1 / 10, 3 / 10])


def test_a_learner_at_chance_ends_it_and_is_kept_only_as_the_first() -> None:
    target = np.array([0, 1])
    answers = iter([[0, 0], [0, 0]])

    def fit(weights: Weights) -> tuple[Tree, NDArray[np.int64]]:
        return NO_TREE, np.array(next(answers))

    first = boost(fit, samme(target, 2, 1.0), Weights(np.ones(2)), 5)
    assert len(first.trees) == 1 and first.alphas == []


def test_overflowing_weights_stop_with_a_warning() -> None:
    target = np.array([0] * 50 + [1])

    def fit(weights: Weights) -> tuple[Tree, NDArray[np.int64]]:
        return NO_TREE, np.zeros(51, dtype=np.int64)

    with pytest.warns(UserWarning, match="infinite values, after 1 rounds"):
        boosted = boost(fit, samme(target, 2, 1000.0), Weights(np.ones(51)), 5)
    assert len(boosted.trees) == 1


def test_whole_multiples_are_cases_and_other_weights_what_a_case_weighs() -> None:
    first = weights_of(np.array([0.5, 1.5, 1.0]))
    assert first.times is not None
    np.testing.assert_array_equal(first.times, [1, 3, 2])
    np.testing.assert_array_equal(first.case, np.ones(3))
    assert first.total == 6.0
    np.testing.assert_array_equal(first.whole, [1, 3, 2])
    for even, times in ((1.0, None), (2.0, [2, 2]), (0.3, None), (2.0**40, None)):
        found = weights_of(np.array([even, even]))
        assert (found.times is None) is (times is None)
        assert times is None or found.times is not None and found.times.tolist() == times
        np.testing.assert_array_equal(found.case, np.ones(2))
    given = np.array([0.1, 0.7, 1.3])
    assert weights_of(given).times is None
    np.testing.assert_array_equal(weights_of(given).of_rows, given)

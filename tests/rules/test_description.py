"""Description lengths, and the subset of rules that has the least."""

import itertools

import numpy as np
import pytest
from scipy import sparse

from vtree.rules import Conditions, condition_bits, select_rules
from vtree.rules.conditions import joined
from vtree.rules.description import _Patterns, _scores, _step, exception_bits, rule_bits


def test_bits_of_conditions() -> None:
    values = np.array([[0.0, 1.0], [0.0, 2.0], [1.0, 3.0], [np.nan, 3.0]])
    bits = condition_bits(values, np.array([2, -1]))
    # levels of 2 and 1 rows of 4; three distinct numbers
    nominal, numeric = 0.5 * 1.0 + 0.25 * 2.0, 1.0 + 0.5 * np.log2(3)
    np.testing.assert_allclose(bits.branch, [nominal, numeric])
    p = np.array([nominal, numeric]) / (nominal + numeric)
    np.testing.assert_allclose(bits.feature, -(p * np.log2(p)).sum())
    halved = condition_bits(values, np.array([2, -1]), redundancy=2.0)
    np.testing.assert_allclose(halved.feature, bits.feature / 2.0)


def test_the_order_of_conditions_is_free() -> None:
    three = Conditions(np.zeros(3, int), np.zeros(3, int), np.zeros(3))
    rules = joined([three], np.zeros(1, int), np.zeros(1))
    bits = condition_bits(np.arange(8.0)[:, None], np.array([-1]))
    each = float((bits.feature + bits.branch)[0])
    assert rule_bits(rules, bits)[0] == pytest.approx(3 * each + np.log2(3) - np.log2(6))


def test_bits_of_exceptions() -> None:
    def code(n: float, e: float, x: float) -> float:
        return float(-e * np.log2(x / n) - (n - e) * np.log2(1 - x / n))

    few = exception_bits(100.0, np.array([30.0]), np.array([4.0]), np.array([6.0]))[0]
    assert few == pytest.approx(np.log2(100) + code(30, 4, 4) + code(70, 6, 5))
    many = exception_bits(100.0, np.array([70.0]), np.array([4.0]), np.array([6.0]))[0]
    assert many == pytest.approx(np.log2(100) + code(70, 4, 5) + code(30, 6, 6))
    assert exception_bits(8.0, np.array([3.0]), np.zeros(1), np.zeros(1))[0] == pytest.approx(3.0)


def test_sums_of_fractions_are_no_exceptions() -> None:
    noise = np.array([1e-15])
    exact = exception_bits(8.0, np.array([3.0]), np.zeros(1), np.zeros(1))
    assert exception_bits(8.0, np.array([3.0]), noise, noise) == pytest.approx(exact)
    whole = exception_bits(8.0, np.array([2.0]), np.array([2.0]), np.array([2.0]))
    assert exception_bits(8.0, 2.0 + noise, 2.0 - noise, 2.0 + noise) == pytest.approx(whole)


@pytest.mark.parametrize("n_rules", [1, 3, 6])
def test_no_subset_is_shorter(n_rules: int) -> None:
    random = np.random.default_rng(n_rules)
    own = random.random(60) < 0.4
    fired = (random.random((60, n_rules)) < 0.2) | (
        own[:, None] & (random.random((60, n_rules)) < 0.5)
    )
    bits = random.random(n_rules) * 10.0
    chosen = select_rules(fired, own, np.ones(60), bits)
    patterns = _Patterns(fired, own.astype(float), (~own).astype(float))
    subsets = np.array(list(itertools.product([False, True], repeat=n_rules)))
    scores = _scores(subsets, patterns, bits)
    picked = np.isin(np.arange(n_rules), chosen)
    assert _scores(picked[None, :], patterns, bits)[0] == pytest.approx(scores.min())


def test_many_rules_are_climbed_to_where_no_step_helps() -> None:
    random = np.random.default_rng(4)
    own = random.random(150) < 0.5
    fired = own[:, None] & (random.random((150, 14)) < 0.3)
    fired |= random.random((150, 14)) < 0.02
    bits = np.full(14, 6.0)
    picked = np.isin(np.arange(14), select_rules(fired, own, np.ones(150), bits))
    patterns = _Patterns(fired, own.astype(float), (~own).astype(float))
    here = _scores(picked[None, :], patterns, bits)[0]
    assert here <= _scores(picked ^ np.eye(14, dtype=bool), patterns, bits).min() + 1e-9


@pytest.mark.parametrize("share", [0.0, 0.4, 1.0])
def test_a_step_scores_what_one_rule_more_or_less_makes(share: float) -> None:
    random = np.random.default_rng(5)
    fired = random.random((40, 12)) < 0.3
    patterns = _Patterns(fired, random.random(40), random.random(40))
    bits = random.random(12) * 6.0
    subset = random.random(12) < share
    score, scores = _step(subset, sparse.csr_array(fired.T.astype(float)), patterns, bits)
    assert score == pytest.approx(_scores(subset[None, :], patterns, bits)[0], rel=1e-12)
    expected = _scores(subset ^ np.eye(12, dtype=bool), patterns, bits)
    np.testing.assert_allclose(scores, expected, rtol=1e-12)


def test_no_rules() -> None:
    nothing = np.zeros((5, 0), dtype=bool)
    assert select_rules(nothing, np.ones(5, dtype=bool), np.ones(5), np.zeros(0)).size == 0

"""Simplification of single rules."""

import numpy as np
import pytest

from vtree.pruning.error_based import added_errors
from vtree.rules import ABOVE, Conditions, simplified
from vtree.rules.conditions import joined

ADD = added_errors(0.25)


def _rule(*features: int) -> Conditions:
    return Conditions(np.array(features), np.full(len(features), ABOVE), np.zeros(len(features)))


def test_a_condition_without_effect_goes() -> None:
    random = np.random.default_rng(0)
    values = random.normal(size=(200, 2))
    label = (values[:, 0] > 0).astype(np.int64)
    weight = np.ones(200)
    rules = joined([_rule(0, 1)], np.array([1]), np.zeros(1))
    found = simplified(rules, values, label, weight, ADD)
    assert found.conditions.feature.tolist() == [0]
    n = float(label.sum())
    assert found.error[0] == pytest.approx(1.0 - 0.25 ** (1.0 / n), abs=1e-12)


def test_what_is_left_twice_is_kept_once() -> None:
    values = np.array([[1.0, -1.0], [-1.0, 1.0]] * 10)
    label = (values[:, 0] > 0).astype(np.int64)
    rules = joined([_rule(0), _rule(0)], np.array([1, 1]), np.zeros(2))
    assert simplified(rules, values, label, np.ones(20), ADD).label.tolist() == [1]


def test_rules_that_guess_no_better_go() -> None:
    values = np.array([[1.0], [-1.0]] * 10)
    label = np.array([0, 0, 1, 1] * 5)
    rules = joined([_rule(0)], np.array([1]), np.zeros(1))
    assert simplified(rules, values, label, np.ones(20), ADD).label.size == 0


def test_three_and_four_right_answers() -> None:
    # 63.0 % and 70.7 % of the golf rules
    for n, right in ((3, 0.629960525), (4, 0.707106781)):
        values = np.array([[1.0]] * n + [[-1.0]] * 10)
        label = np.array([1] * n + [0] * 10)
        rules = joined([_rule(0)], np.array([1]), np.zeros(1))
        found = simplified(rules, values, label, np.ones(n + 10), ADD)
        assert 1.0 - found.error[0] == pytest.approx(right, abs=1e-9)

"""Order, default and the final look at each rule."""

import numpy as np

from vtree.rules import decide, default_class, dropped, in_class_order

ONES = np.ones(6)


def test_the_class_with_fewest_false_alarms_comes_first() -> None:
    label = np.array([0, 0, 0, 1, 1, 1])
    fired = np.zeros((6, 3), dtype=bool)
    fired[:4, 0] = True  # class 0, one false alarm
    fired[3:, 1] = True  # class 1, none
    fired[4:, 2] = True  # class 1, errs less
    order = in_class_order(fired, np.array([0, 1, 1]), np.array([0.2, 0.3, 0.1]), label, ONES)
    assert order.tolist() == [2, 1, 0]


def test_ties_take_the_first_class_and_the_first_rule() -> None:
    fired = np.zeros((6, 2), dtype=bool)
    order = in_class_order(fired, np.array([1, 0]), np.array([0.1, 0.1]), np.zeros(6, int), ONES)
    assert order.tolist() == [1, 0]


def test_the_default_class() -> None:
    label = np.array([0, 0, 0, 1, 1, 2])
    covered = np.array([True, True, False, True, False, False])
    assert default_class(covered, label, ONES, 3) == 0  # all tie, 0 is the most frequent
    assert default_class(np.ones(6, dtype=bool), label, ONES, 3) == 0
    assert default_class(np.array([True] * 3 + [False] * 3), label, ONES, 3) == 1


def test_the_first_rule_decides() -> None:
    fired = np.array([[True, True], [False, True], [False, False]])
    assert decide(fired, np.array([5, 6]), 7).tolist() == [5, 6, 7]


def test_harmful_rules_go() -> None:
    label = np.array([1, 1, 1, 0, 0, 0])
    fired = np.zeros((6, 2), dtype=bool)
    fired[:4, 0] = True  # says 0: wrong three times where the next rule is right, right once
    fired[:3, 1] = True  # says 1
    assert dropped(fired, np.array([0, 1]), 0, label, ONES).tolist() == [1]
    assert dropped(fired[:, 1:], np.array([1]), 0, label, ONES).tolist() == [0]

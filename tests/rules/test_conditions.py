"""Conditions on rows, and the rules at the leaves of trees."""

import numpy as np

from tests.c45_golden import split_table
from vtree import C45Classifier
from vtree.rules import ABOVE, EQUALS, UP_TO, Conditions, fires, path_rules
from vtree.rules.conditions import holds, joined


def test_conditions_and_missing_values() -> None:
    values = np.array([[1.0, 0.0], [2.0, 1.0], [np.nan, np.nan]])
    conditions = Conditions(
        np.array([0, 0, 1]), np.array([UP_TO, ABOVE, EQUALS]), np.array([1.0, 1.0, 1.0])
    )
    expected = [[True, False, False], [False, True, True], [False, False, False]]
    assert holds(conditions, values).tolist() == expected


def test_a_rule_asks_for_all_of_its_conditions() -> None:
    one = Conditions(np.array([0]), np.array([ABOVE]), np.array([0.0]))
    both = Conditions(np.array([0, 1]), np.array([ABOVE, UP_TO]), np.array([0.0, 0.0]))
    none = Conditions(np.array([], int), np.array([], int), np.array([]))
    rules = joined([one, both, none], np.arange(3), np.zeros(3))
    found = fires(rules, np.array([[1.0, 1.0], [1.0, -1.0], [-1.0, -1.0]]))
    assert found.tolist() == [[True, False, True], [True, True, True], [False, False, True]]
    assert rules.of(1).feature.tolist() == [0, 1]
    assert rules.taken(np.array([1])).start.tolist() == [0, 2]


def test_each_row_follows_the_path_of_its_leaf() -> None:
    X, y, _, _ = split_table("titanic.third")
    model = C45Classifier(prune=False).fit(X, y)
    rules = path_rules(model.grown_, least_weight=0.0)
    fired = fires(rules, np.asarray(model._encode(X)))
    assert (fired.sum(axis=1) == 1).all()
    labels = model.classes_[rules.label[fired.argmax(axis=1)]]
    assert (labels == model.predict(X)).all()


def test_leaves_without_rows_make_no_rule() -> None:
    X, y, _, _ = split_table("golf_missing.all")
    model = C45Classifier(prune=False).fit(X, y)
    assert path_rules(model.grown_).label.size == 5
    assert path_rules(model.grown_, least_weight=3.0).label.size == 3

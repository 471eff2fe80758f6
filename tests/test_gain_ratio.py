"""Splits of C4.5 and ID3 on the worked tables."""

import numpy as np
import pytest

from tests.c45_golden import split_table
from vtree import C45Classifier, ID3Classifier, gain_ratio


def test_play_tennis() -> None:
    X, y, _, _ = split_table("weather_nominal.all")
    model = ID3Classifier().fit(X, y)
    assert (model.grown_.feature.size, model.get_n_leaves()) == (8, 5)
    assert list(X.columns)[model.grown_.feature[0]] == "outlook"
    assert (model.predict(X) == y).all()
    tree = model.grown_
    assert tree.gain[0] == pytest.approx(0.246749819774, abs=1e-12)
    assert tree.impurity[0] == pytest.approx(0.940285958671, abs=1e-12)


def test_no_number_splits_the_root_of_numeric_weather() -> None:
    X, y, _, _ = split_table("weather_numeric.all")
    tree = C45Classifier(prune=False).fit(X, y).grown_
    assert list(X.columns)[tree.feature[0]] == "outlook"
    sunny = tree.first_child[0] + 2
    assert tree.threshold[sunny] == 75.0  # the largest value up to the midpoint, 77.5


def test_thresholds_are_values_of_the_training_set() -> None:
    X, y, _, _ = split_table("seed_humidity.all")
    model = C45Classifier().fit(X, y)
    assert model.grown_.threshold[0] == 89.0
    assert model.grown_.feature.size == 3
    assert (model.predict(X) != y).sum() == 1
    assert 100.0 * model.predicted_errors_[0] / 14.0 == pytest.approx(25.8, abs=0.05)


@pytest.mark.parametrize(
    ("criterion", "costs", "attribute"),
    [
        ("idx", (4, 1, 1, 1), "humidity"),
        ("eg2", (4, 1, 1, 1), "humidity"),
        ("cs_id3", (4, 1, 1, 1), "humidity"),
        ("idx", (1, 1, 1, 1), "outlook"),
        ("eg2", (1, 1, 1, 1), "outlook"),
        ("cs_id3", (1, 1, 1, 1), "outlook"),
    ],
)
def test_costs_move_the_root(criterion: str, costs: tuple[float, ...], attribute: str) -> None:
    X, y, _, _ = split_table("weather_nominal.all")
    assert list(X.columns) == ["outlook", "temperature", "humidity", "windy"]
    model = C45Classifier(criterion=criterion, attribute_costs=costs, prune=False).fit(X, y)
    assert list(X.columns)[model.grown_.feature[0]] == attribute


def test_parity_has_no_gain_for_id3() -> None:
    X = np.array([["a", "c"], ["a", "d"], ["b", "c"], ["b", "d"]] * 3)
    y = (X[:, 0] == "a") != (X[:, 1] == "c")
    table = {"x": X[:, 0].tolist(), "z": X[:, 1].tolist()}
    assert ID3Classifier().fit(table, y).get_n_leaves() == 1


def test_nominal_attributes_are_asked_once_and_numbers_again() -> None:
    random = np.random.default_rng(0)
    x = random.normal(size=300)
    y = (np.abs(x) < 0.5).astype(int)
    assert C45Classifier().fit(x[:, None], y).get_depth() == 2
    levels = random.integers(0, 3, (300, 2)).astype(float)
    model = ID3Classifier(categorical_features=[True, True])
    assert model.fit(levels, random.integers(0, 2, 300)).get_depth() <= 2


def test_empty_branches_answer_with_their_parent() -> None:
    table = {"a": ["x", "x", "y", "y", "z"], "b": ["u", "u", "u", "v", "v"]}
    model = ID3Classifier().fit(table, [0, 0, 1, 0, 1])
    tree = model.grown_
    empty = np.flatnonzero(tree.weight == 0)
    parents = [int(np.flatnonzero((tree.first_child >= 0) & (tree.first_child <= e))[-1])
               for e in empty]  # fmt: skip
    np.testing.assert_array_equal(tree.value[empty], tree.value[parents])


def test_a_later_attribute_must_be_better_by_the_margin() -> None:
    worth = np.array([[0.5, 0.5 + 4e-7, 0.5 + 8e-7], [-np.inf, 0.1, 0.2], [-np.inf] * 3])
    for margin, expected in ((1e-12, [2, 2]), (1e-6, [0, 2]), (5e-7, [2, 2])):
        feature, found = gain_ratio._first_best(worth, margin)
        assert feature[:2].tolist() == expected
        assert found.tolist() == [True, True, False]

"""Altered priors beside Breiman's formulas, and the worked figures of kyphosis."""

import numpy as np
import pytest

import vtree
from tests.golden_tables import kyphosis
from tests.samples import classes
from vtree import DecisionTreeClassifier
from vtree.costs import cheapest_class, class_factors, expected_costs, prior_weight, without_costs

COUNTS = np.array([64.0, 17.0])
MISSING_COSTS_FOUR = np.array([[0.0, 1.0], [4.0, 0.0]])


def test_factors() -> None:
    assert class_factors(COUNTS, None, None).tolist() == [1.0, 1.0]
    equal = class_factors(COUNTS, np.array([0.5, 0.5]), None)
    assert (equal * COUNTS).tolist() == pytest.approx([40.5, 40.5])
    costly = class_factors(COUNTS, None, MISSING_COSTS_FOUR)
    assert (costly * COUNTS).tolist() == pytest.approx([81 * 64 / 132, 81 * 68 / 132])


def test_the_way_back() -> None:
    """Under altered weights 64 : 68; under the priors 64 : 17 again."""
    seen = np.array([[64.0, 68.0], [32.0, 0.0]])
    shares = without_costs(seen / seen.sum(axis=1, keepdims=True), MISSING_COSTS_FOUR)
    assert shares[0].tolist() == pytest.approx([64 / 81, 17 / 81])
    assert shares[1].tolist() == [1.0, 0.0]


def test_answers() -> None:
    weights = np.array([[64.0, 17.0], [8.0, 2.0], [1.0, 1.0]])
    assert expected_costs(weights, MISSING_COSTS_FOUR).tolist() == [[68, 64], [8, 8], [4, 1]]
    assert cheapest_class(weights, MISSING_COSTS_FOUR).tolist() == [1, 0, 1]
    assert cheapest_class(weights, None).tolist() == [0, 0, 0]


@pytest.mark.parametrize(
    ("parameters", "risk", "feature", "threshold", "improvement"),
    [
        ({}, 17.0, "Start", 8.5, 6.762329958708),
        ({"costs": MISSING_COSTS_FOUR}, 64.0, "Start", 12.5, 13.7460267005721),
        ({"priors": "equal"}, 40.5, None, None, 13.6707060063224),
        ({"priors": {"present": 0.5, "absent": 0.5}}, 40.5, None, None, 13.6707060063224),
    ],
)
def test_kyphosis(
    parameters: dict[str, object],
    risk: float,
    feature: str | None,
    threshold: float | None,
    improvement: float,
) -> None:
    X, y = kyphosis()
    model = DecisionTreeClassifier(min_samples_split=20, min_samples_leaf=7, **parameters)
    tree = model.fit(X, y).grown_
    assert tree.gain[0] * 81 == pytest.approx(improvement, rel=1e-12)
    if feature is not None:
        assert X.columns[tree.feature[0]] == feature
        assert tree.threshold[0] == threshold
    whole = vtree.prune(model, method="cost_complexity", X_val=X, y_val=y).subtrees_
    assert whole.risks[-1] * 81 == pytest.approx(risk, rel=1e-12)
    np.testing.assert_allclose(whole.unseen_risks, whole.risks, rtol=1e-9)


def test_the_answer_where_misses_are_costly() -> None:
    X, y = kyphosis()
    stump = DecisionTreeClassifier(costs=MISSING_COSTS_FOUR, min_samples_leaf=41).fit(X, y)
    assert stump.get_n_leaves() == 1
    assert set(stump.predict(X)) == {"present"}
    assert stump.predict_proba(X)[0].tolist() == pytest.approx([64 / 81, 17 / 81])


def test_priors_are_class_weights_that_sum_to_the_rows() -> None:
    X, y = classes(150)
    priors = np.array([0.2, 0.3, 0.5])
    share = np.bincount(y) / 150
    model = DecisionTreeClassifier(priors=priors).fit(X, y)
    by_weight = DecisionTreeClassifier().fit(X, y, (priors / share)[y])
    assert model.get_n_leaves() == by_weight.get_n_leaves()
    np.testing.assert_allclose(model.grown_.value, by_weight.grown_.value, rtol=1e-12)
    assert model.grown_.value[0].tolist() == pytest.approx(priors)
    assert model.grown_.weight[0] == pytest.approx(150)


def test_costs_of_the_same_row_sum_change_no_tree() -> None:
    X, y = classes(150)
    plain = DecisionTreeClassifier().fit(X, y)
    costly = DecisionTreeClassifier(costs=3.0 * (1.0 - np.eye(3))).fit(X, y)
    assert costly.grown_.feature.tolist() == plain.grown_.feature.tolist()
    np.testing.assert_allclose(costly.grown_.value, plain.grown_.value, rtol=1e-12)
    assert costly.predict(X).tolist() == plain.predict(X).tolist()


def test_costs_of_a_single_class() -> None:
    X, y = classes(150)
    model = DecisionTreeClassifier(costs=[[0.0]], priors=[1.0]).fit(X[y == 1], y[y == 1])
    assert model.get_n_leaves() == 1 and set(model.predict(X)) == {1}


def test_weights_under_the_priors_add_up() -> None:
    X, y = classes(150)
    costs = np.array([[0.0, 1.0, 5.0], [2.0, 0.0, 1.0], [1.0, 9.0, 0.0]])
    tree = DecisionTreeClassifier(costs=costs, priors=[0.2, 0.3, 0.5]).fit(X, y).grown_
    weight = prior_weight(tree, costs)
    assert weight[0] == pytest.approx(150)
    assert weight[tree.first_child < 0].sum() == pytest.approx(150)
    leaves = tree.first_child < 0
    by_class = (weight[:, None] * tree.value)[leaves].sum(axis=0)
    assert by_class.tolist() == pytest.approx([30, 45, 75])

import json
from typing import Any

import numpy as np
import pandas as pd
import pytest

from tests.golden_tables import GOLDEN
from tests.peer_tables import table
from tests.samples import reals
from vtree import (
    Bins,
    GradientBoostingRegressor,
    LeafwiseBoostingRegressor,
    NewtonBoostingRegressor,
    OrderedBoostingClassifier,
    OrderedBoostingRegressor,
    RandomForestRegressor,
    digest,
)
from vtree.errors import InputError, InputTypeError

WITHOUT_CHANCE: dict[str, Any] = {
    "learning_rate": 0.3,
    "score_function": "L2",
    "leaf_estimation_method": "Gradient",
    "bootstrap_type": "No",
    "random_strength": 0.0,
    "has_time": True,
}


@pytest.mark.parametrize("name", ["xgboost rising", "xgboost rising, shrunk"])
def test_models_of_xgboost(name: str) -> None:
    oracle = json.loads((GOLDEN / "boosting_options.json").read_text())[name]
    X, y = table()
    model = NewtonBoostingRegressor(n_estimators=5, **oracle["params"]).fit(X, y)
    # A value equal to a threshold goes right there.
    np.testing.assert_allclose(model.predict(X[:60] + 1e-6), oracle["prediction"], rtol=2e-6)


@pytest.mark.parametrize("mode", ["Plain", "Ordered"])
def test_models_of_catboost(mode: str) -> None:
    oracle = json.loads((GOLDEN / "boosting_options.json").read_text())[f"catboost rising, {mode}"]
    X, y = table()
    model = OrderedBoostingRegressor(n_estimators=5, **WITHOUT_CHANCE, **oracle["params"])
    np.testing.assert_allclose(model.fit(X, y).predict(X[:60]), oracle["prediction"], rtol=2e-6)
    free = model.set_params(monotone_constraints=None).fit(X, y)
    assert np.abs(free.predict(X[:60]) - oracle["prediction"]).max() > 0.1


@pytest.mark.parametrize(
    "own",
    [
        {},
        {"boosting_type": "Ordered", "depth": 4},
        {"objective": "absolute_error", "leaf_estimation_method": "Gradient"},
        {"objective": "huber", "leaf_estimation_iterations": 3},
        {"l2_leaf_reg": 0.0, "score_function": "L2", "bootstrap_type": "MVS"},
    ],
)
def test_symmetric_trees_do_not_fall(own: dict[str, Any]) -> None:
    draw = np.random.default_rng(5)
    X = draw.normal(size=(500, 4))
    X[draw.random(X.shape) < 0.05] = np.nan
    frame = pd.DataFrame(X, columns=list("abcd"))
    frame["e"] = pd.Categorical(draw.integers(0, 9, 500))
    y = np.nan_to_num(X[:, 0] + np.sin(3 * X[:, 0]) - X[:, 1] + np.cos(3 * X[:, 1]))
    y += draw.normal(scale=0.3, size=500) + frame["e"].cat.codes / 4.0
    model = OrderedBoostingRegressor(n_estimators=20, learning_rate=0.3, random_state=0, **own)
    worst = {}
    for constraints in ({"a": 1, "b": -1}, None):
        model.set_params(monotone_constraints=constraints).fit(frame, y)
        for name, sign in (("a", 1.0), ("b", -1.0)):
            rows = frame.iloc[np.repeat(np.arange(30), 60)].copy()
            rows[name] = np.tile(np.linspace(-3, 3, 60), 30)
            steps = np.diff(model.predict(rows).reshape(30, 60), axis=1) * sign
            worst[constraints is None, name] = steps.min()
    assert worst[False, "a"] == worst[False, "b"] == 0.0 > worst[True, "a"]


@pytest.mark.parametrize("path_smooth", [1.0, 30.0, 1e4])
@pytest.mark.parametrize("objective", ["squared_error", "quantile", "poisson"])
def test_answers_that_lean_on_those_above_do_not_fall(objective: str, path_smooth: float) -> None:
    draw = np.random.default_rng(3)
    X = draw.normal(size=(600, 3))
    X[draw.random(X.shape) < 0.05] = np.nan
    y = np.nan_to_num(X[:, 0] + 2.0 * np.sin(3 * X[:, 0]) + X[:, 1] * X[:, 2] - X[:, 1])
    y = np.abs(y) if objective == "poisson" else y
    model = LeafwiseBoostingRegressor(
        n_estimators=20,
        learning_rate=0.5,
        min_child_samples=1,
        objective=objective,
        path_smooth=path_smooth,
        monotone_constraints=[1, -1, 0],
    ).fit(X, y)
    for feature, sign in ((0, 1.0), (1, -1.0)):
        rows = np.repeat(X[:60], 80, axis=0)
        rows[:, feature] = np.tile(np.linspace(-3, 3, 80), 60)
        found = model.predict(rows).reshape(60, 80)
        assert (np.diff(found, axis=1) * sign >= 0.0).all()
    assert np.ptp(model.predict(X)) > 1e-3


def test_symmetric_trees_of_several_classes_have_no_directions() -> None:
    X, _ = reals(60)
    model = OrderedBoostingClassifier(n_estimators=2, monotone_constraints=[1, 0, 0, 0])
    with pytest.raises(InputError, match="monotone_constraints are for .* two classes"):
        model.fit(X, np.arange(60) % 3)
    with pytest.raises(InputError, match="holds categories"):
        model.set_params(categorical_features=[0]).fit(np.abs(X).round(), np.arange(60) % 2)


def test_monotone_constraints_hold() -> None:
    draw = np.random.default_rng(5)
    table = draw.normal(size=(400, 2))
    y = np.sin(3 * table[:, 0]) + table[:, 1] + draw.normal(scale=0.3, size=400)
    line = np.linspace(-3, 3, 200)
    for reg_lambda, reg_alpha in ((0.0, 0.0), (1.0, 0.0), (20.0, 0.5)):
        model = NewtonBoostingRegressor(
            n_estimators=30,
            monotone_constraints=[1, -1],
            reg_lambda=reg_lambda,
            reg_alpha=reg_alpha,
        ).fit(table, y)
        for other in (-1.0, 0.3, 2.0):
            rising = model.predict(np.stack([line, np.full(200, other)], axis=1))
            assert (np.diff(rising) >= -1e-12).all()
            falling = model.predict(np.stack([np.full(200, other), line], axis=1))
            assert (np.diff(falling) <= 1e-12).all()
    named = NewtonBoostingRegressor(n_estimators=2, monotone_constraints={0: 1, 1: -1})
    plain = NewtonBoostingRegressor(n_estimators=2, monotone_constraints=[1, -1])
    assert digest(named.fit(table, y)) == digest(plain.fit(table, y))


@pytest.mark.parametrize(
    ("constraints", "message"),
    [
        ([1, 0], "shape"),
        ([2, 0, 0, 0], "-1, 0 or 1"),
        ({7: 1}, r"names \[7\]"),
        ({"size": 1}, "does not have"),
        ({True: 1}, r"names \[True\], and features are numbers or names"),
        ({0: 0.5}, "-1, 0 or 1, but got"),
        ({0: "up"}, "monotone_constraints: could not convert"),
        ([None, 1, 0, 0], "array-like of -1, 0 or 1"),
    ],
)
def test_what_cannot_be_a_constraint(constraints: object, message: str) -> None:
    model = NewtonBoostingRegressor(n_estimators=1, monotone_constraints=constraints)
    with pytest.raises(InputError, match=message):
        model.fit(*reals())


def test_categories_have_no_direction() -> None:
    X, y = reals()
    model = NewtonBoostingRegressor(
        monotone_constraints=[1, 0, 0, 0], categorical_features=[0], n_estimators=1
    )
    with pytest.raises(InputError, match="column 0 holds categories"):
        model.fit(np.round(X), y)


def test_interactions_by_name_and_by_number() -> None:
    X, y = reals()
    named = {f"x{number}": X[:, number] for number in range(4)}
    for estimator in (NewtonBoostingRegressor, LeafwiseBoostingRegressor):
        by_name = estimator(n_estimators=3, interaction_constraints=[["x0", "x2"], ["x1"]])
        by_number = estimator(n_estimators=3, interaction_constraints=[(0, 2), (1,)])
        assert digest(by_name.fit(named, y)) == digest(by_number.fit(X, y))


@pytest.mark.parametrize(
    ("constraints", "error", "message"),
    [
        ([["a"]], InputError, r"interaction_constraints names \['a'\]"),
        ([[0, 9]], InputError, r"names \[9\]"),
        ([0, 1], InputTypeError, "list of lists"),
        ([], InputError, "names no feature"),
        (["ab"], InputTypeError, "list of lists"),
        ([{0: 1}], InputTypeError, "list of lists"),
        ([[True, False]], InputError, r"names \[True, False\], .* no mask"),
        ([[[0]]], InputTypeError, "interaction_constraints: unhashable"),
    ],
)
def test_what_cannot_be_interactions(constraints: object, error: type, message: str) -> None:
    model = LeafwiseBoostingRegressor(n_estimators=1, interaction_constraints=constraints)
    with pytest.raises(error, match=message):
        model.fit(*reals())


@pytest.mark.parametrize("labels", [[2, 1, 0, 3], [1, 2, 3, 4], [0.5, 1.0, 2.0, 3.0]])
@pytest.mark.parametrize(
    ("estimator", "own"),
    [
        (NewtonBoostingRegressor, {"monotone_constraints": {0: 1}}),
        (LeafwiseBoostingRegressor, {"interaction_constraints": [[0, 1]]}),
        (OrderedBoostingRegressor, {"monotone_constraints": {0: 1}}),
        (GradientBoostingRegressor, {"monotonic_cst": {0: 1}}),
        (RandomForestRegressor, {"monotonic_cst": {0: 1}}),
    ],
)
def test_a_number_that_may_be_a_name_or_a_place(
    labels: list[float], estimator: Any, own: dict[str, Any]
) -> None:
    X, y = reals()
    frame = pd.DataFrame(X, columns=labels)
    for given in (frame, dict(frame.items()), Bins(frame, max_bins=estimator().max_bins)):
        with pytest.raises(InputError, match=rf"^{next(iter(own))}=.*may be a name or a place"):
            estimator(n_estimators=2, **own).fit(given, y)
    with pytest.raises(InputError, match="may be a name or a place"):
        model = estimator(n_estimators=1, warm_start=True).fit(frame, y)
        model.set_params(n_estimators=2, **own).fit(frame, y)
    plain = estimator(n_estimators=2, random_state=0, **own).fit(X, y)
    counted = estimator(n_estimators=2, random_state=0, **own).fit(pd.DataFrame(X), y)
    assert digest(counted) == digest(plain)
    if "interaction_constraints" not in own:  # one entry a column means places
        by_place = {next(iter(own)): [1, 0, 0, 0]}
        model = estimator(n_estimators=2, random_state=0, **by_place).fit(frame, y)
        assert digest(model) == digest(plain)


def test_a_column_by_its_name_and_by_its_number() -> None:
    X, y = reals()
    frame = pd.DataFrame(X, columns=list("abcd"))
    model = NewtonBoostingRegressor(n_estimators=1, monotone_constraints={"b": -1, "a": 1, 0: -1})
    with pytest.raises(InputError, match=r"names column 0 twice, in \['a', 0\]"):
        model.fit(frame, y)


def test_groups_of_any_kind() -> None:
    X, y = reals()
    frame = pd.DataFrame(X, columns=list("abcd"))
    model = LeafwiseBoostingRegressor(n_estimators=3, interaction_constraints=[[0, 1], [2, 3]])
    expected = digest(model.fit(frame, y))
    for groups in ([range(2), range(2, 4)], [frame.columns[:2], frame.columns[2:]]):
        assert digest(model.set_params(interaction_constraints=groups).fit(frame, y)) == expected

import json

import numpy as np
import pytest

from tests.golden_tables import GOLDEN
from tests.peer_tables import table
from tests.samples import reals
from vtree import LeafwiseBoostingRegressor, NewtonBoostingRegressor, digest
from vtree.errors import InputError, InputTypeError


@pytest.mark.parametrize("name", ["xgboost rising", "xgboost rising, shrunk"])
def test_models_of_xgboost(name: str) -> None:
    oracle = json.loads((GOLDEN / "boosting_options.json").read_text())[name]
    X, y = table()
    model = NewtonBoostingRegressor(n_estimators=5, **oracle["params"]).fit(X, y)
    # A value equal to a threshold goes right there.
    np.testing.assert_allclose(model.predict(X[:60] + 1e-6), oracle["prediction"], rtol=2e-6)


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
        ({0: 0.5}, "must be -1, 0 or 1, got"),
        ({0: "up"}, "monotone_constraints: could not convert"),
        ([None, 1, 0, 0], "must be -1, 0 or 1"),
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
        ([[[0]]], InputTypeError, "interaction_constraints: unhashable"),
    ],
)
def test_what_cannot_be_interactions(constraints: object, error: type, message: str) -> None:
    model = LeafwiseBoostingRegressor(n_estimators=1, interaction_constraints=constraints)
    with pytest.raises(error, match=message):
        model.fit(*reals())

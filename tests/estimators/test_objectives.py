"""Losses by the names that users of XGBoost, LightGBM and CatBoost know."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.utils._param_validation import InvalidParameterError

import vtree
from vtree.estimators.objectives import CLASS_OBJECTIVES, REAL_OBJECTIVES, objective_of

DRAW = np.random.default_rng(0)
X = DRAW.normal(size=(80, 3))
COUNTS = DRAW.poisson(np.exp(X[:, 0])).astype(float) + 1.0

REGRESSORS = [
    vtree.NewtonBoostingRegressor,
    vtree.LeafwiseBoostingRegressor,
    vtree.OrderedBoostingRegressor,
]
CLASSIFIERS = [
    vtree.NewtonBoostingClassifier,
    vtree.LeafwiseBoostingClassifier,
    vtree.OrderedBoostingClassifier,
]


def _predicted(kind: Any, y: Any, objective: Any) -> Any:
    model = kind(n_estimators=3, objective=objective, random_state=0, n_jobs=1).fit(X, y)
    assert model.objective == objective  # what was set stays
    return model.predict_proba(X) if hasattr(model, "predict_proba") else model.predict(X)


@pytest.mark.parametrize("kind", REGRESSORS)
@pytest.mark.parametrize("name", ["count:poisson", "reg:absoluteerror", "l2", "RMSE", "reg:gamma"])
def test_a_peers_name_is_the_same_model(kind: Any, name: str) -> None:
    own = objective_of(name)
    assert own != name
    np.testing.assert_array_equal(_predicted(kind, COUNTS, name), _predicted(kind, COUNTS, own))


def test_several_quantiles_by_a_peers_name() -> None:
    given: Any = {"n_estimators": 2, "quantile_alpha": [0.1, 0.9]}
    peer = vtree.NewtonBoostingRegressor(objective="reg:quantileerror", **given).fit(X, COUNTS)
    own = vtree.NewtonBoostingRegressor(objective="quantile", **given).fit(X, COUNTS)
    assert peer.predict(X).shape == (80, 2)
    np.testing.assert_array_equal(peer.predict(X), own.predict(X))


@pytest.mark.parametrize("kind", CLASSIFIERS)
@pytest.mark.parametrize("classes", [2, 3])
def test_names_of_the_log_loss(kind: Any, classes: int) -> None:
    y = DRAW.integers(0, classes, 80)
    own = _predicted(kind, y, None)
    for name in ("binary:logistic", "multi:softprob", "binary", "multiclass", "Logloss"):
        np.testing.assert_array_equal(_predicted(kind, y, name), own)


def test_every_name_means_a_loss() -> None:
    assert {objective_of(name) for name in REAL_OBJECTIVES} <= set(vtree.losses.REGRESSION)
    assert {objective_of(name) for name in CLASS_OBJECTIVES} == {None}


@pytest.mark.parametrize("kind", REGRESSORS + CLASSIFIERS)
def test_other_names_are_refused(kind: Any) -> None:
    with pytest.raises(
        InvalidParameterError, match=r"'objective' parameter .* 'reg:pseudohubererror'"
    ):
        kind(objective="reg:pseudohubererror").fit(X, DRAW.integers(0, 2, 80))

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import vtree
from tests.samples import reals
from vtree import (
    GradientBoostingRegressor,
    LeafwiseBoostingRegressor,
    NewtonBoostingRegressor,
    OrderedBoostingRegressor,
)

X, Y = reals(160)
REGRESSORS = [
    GradientBoostingRegressor,
    NewtonBoostingRegressor,
    LeafwiseBoostingRegressor,
    OrderedBoostingRegressor,
]


@pytest.mark.parametrize("kind", REGRESSORS)
def test_what_is_set_after_a_fit_changes_no_prediction(kind: Any, tmp_path: Path) -> None:
    gradient = kind is GradientBoostingRegressor
    alpha = "alpha" if kind in (GradientBoostingRegressor, LeafwiseBoostingRegressor) else None
    loss, alpha = ("loss" if gradient else "objective"), alpha or "quantile_alpha"
    model = kind(n_estimators=3, random_state=0, **{loss: "quantile", alpha: [0.2, 0.7]})
    known = model.fit(X, Y).predict(X)
    for other in ({loss: "squared_error"}, {loss: "quantile", alpha: 0.5}):
        model.set_params(n_estimators=9, **other)
        np.testing.assert_array_equal(model.predict(X), known)
        vtree.save(model, tmp_path / "model.vtree")
        np.testing.assert_array_equal(vtree.load(tmp_path / "model.vtree").predict(X), known)
        assert model.n_estimators_ == 3
    assert model.fit(X, Y).predict(X).shape == (160,)
    if not gradient:
        counts = model.set_params(**{loss: "poisson"}).fit(X, Y.round()).predict(X)
        np.testing.assert_array_equal(model.set_params(**{loss: "huber"}).predict(X), counts)

"""Quantile forests: weights that give the mean, quantiles that cover, files that come back."""

import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.datasets import load_diabetes
from sklearn.exceptions import NotFittedError

import vtree
from tests.conftest import NAMESPACES
from tests.estimator_checks import failed_checks
from tests.samples import reals
from vtree import QuantileForestRegressor, RandomForestRegressor
from vtree.errors import InputError

X, Y = reals(120)
WEIGHT = np.arange(120.0) % 4


@pytest.mark.parametrize("bootstrap", [True, False])
@pytest.mark.parametrize("weight", [None, WEIGHT])
def test_the_weighted_mean_of_the_training_targets_is_the_prediction(
    bootstrap: bool, weight: Any
) -> None:
    model = QuantileForestRegressor(
        15, min_samples_leaf=3, max_features=2, bootstrap=bootstrap, random_state=0
    ).fit(X, Y, weight)
    weights = model.weights(X)
    np.testing.assert_allclose(np.asarray(weights.sum(axis=1)).ravel(), 1.0, rtol=1e-12)
    np.testing.assert_allclose(weights @ Y, model.predict(X), rtol=1e-9)
    plain = RandomForestRegressor(
        15, min_samples_leaf=3, max_features=2, bootstrap=bootstrap, random_state=0
    ).fit(X, Y, weight)
    assert vtree.digest(model) == vtree.digest(plain)


def test_quantiles_are_those_of_the_weighted_training_targets() -> None:
    model = QuantileForestRegressor(10, min_samples_leaf=5, random_state=0).fit(X, Y)
    levels = [0.0, 0.2, 0.5, 0.9, 1.0]
    found = model.predict_quantiles(X[:20], levels)
    order = np.argsort(Y)
    for own, weights in zip(found, model.weights(X[:20]).toarray(), strict=True):
        for value, level in zip(own, levels, strict=True):
            reached = np.cumsum(weights[order])
            held = order[weights[order] > 0]
            expected = next(
                Y[row] for row in held if reached[np.flatnonzero(order == row)[0]] >= level - 1e-12
            )
            assert value == expected
    assert (np.diff(found, axis=1) >= 0.0).all()
    np.testing.assert_array_equal(model.predict_quantiles(X[:20], 0.5), found[:, 2])


def test_one_leaf_answers_the_quantiles_of_the_sample() -> None:
    model = QuantileForestRegressor(1, max_depth=1, min_samples_leaf=120, bootstrap=False)
    model.fit(X, Y)
    levels = np.array([0.1, 0.25, 0.5, 0.99])
    expected = np.quantile(Y, levels, method="inverted_cdf")
    np.testing.assert_array_equal(model.predict_quantiles(X[:3], levels), [expected] * 3)


def test_intervals_cover_what_they_should_on_data_held_out() -> None:
    X, y = load_diabetes(return_X_y=True)
    held_out = np.arange(len(y)) % 3 == 2
    model = QuantileForestRegressor(200, min_samples_leaf=10, max_features=3, random_state=0)
    model.fit(X[~held_out], y[~held_out])
    low, median, high = model.predict_quantiles(X[held_out], [0.1, 0.5, 0.9]).T
    covered = ((low <= y[held_out]) & (y[held_out] <= high)).mean()
    assert covered == pytest.approx(0.8, abs=0.09)  # 147 rows: a standard error of 0.033
    assert (y[held_out] <= median).mean() == pytest.approx(0.5, abs=0.12)


def test_the_same_quantiles_on_every_backend() -> None:
    table = np.round(X, 1)

    def fitted(values: Any, n_jobs: int = 1) -> Any:
        model = QuantileForestRegressor(6, max_depth=4, random_state=0, n_jobs=n_jobs)
        return model.fit(values, Y).predict_quantiles(values, [0.3, 0.7])

    expected = fitted(table)
    np.testing.assert_array_equal(fitted(table, 4), expected)
    for make in NAMESPACES.values():
        with vtree.kernels("reference"):
            found = make().to_numpy(fitted(make().asarray(table)))
        np.testing.assert_array_equal(found, expected)


def test_saved_pickled_and_warm_started_models_answer_alike(tmp_path: Path) -> None:
    model = QuantileForestRegressor(6, random_state=0).fit(X, Y, WEIGHT)
    expected = model.predict_quantiles(X)
    vtree.save(model, tmp_path / "m.vtree")
    steps = QuantileForestRegressor(2, random_state=0, warm_start=True).fit(X, Y, WEIGHT)
    steps.set_params(n_estimators=6).fit(X, Y, WEIGHT)
    twins = (vtree.load(tmp_path / "m.vtree"), pickle.loads(pickle.dumps(model)), steps)
    for twin in twins:
        np.testing.assert_array_equal(twin.predict_quantiles(X), expected)


def test_what_cannot_be_asked_is_named() -> None:
    model = QuantileForestRegressor(2, random_state=0)
    with pytest.raises(NotFittedError):
        model.predict_quantiles(X)
    with pytest.raises(InputError, match="of one target"):
        model.fit(X, X[:, :2])
    model.fit(X, Y)
    for wrong in (1.5, [0.5, -0.1], [[0.5]], np.nan, "median"):
        with pytest.raises(InputError, match="numbers from 0 to 1"):
            model.predict_quantiles(X, wrong)


def test_scikit_learns_checks() -> None:
    assert not failed_checks(QuantileForestRegressor(3, bootstrap=False))

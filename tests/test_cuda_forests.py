"""Forests, bags and AdaBoost with `device="cuda"`: the CPU's models and answers, bit for bit."""

from typing import Any

import numpy as np
import pytest

from vtree import (
    AdaBoostClassifier,
    AdaBoostRegressor,
    BaggingClassifier,
    BaggingRegressor,
    DecisionTreeClassifier,
    DecisionTreeRegressor,
    ExtraTreesClassifier,
    ExtraTreesRegressor,
    QuantileForestRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
    RandomTreesEmbedding,
    digest,
)

_draw = np.random.default_rng(0)
X = np.round(_draw.normal(size=(100, 4)), 2)
AMOUNT = X[:, 0] + np.abs(X[:, 1]) + 0.3 * _draw.random(100)
X[_draw.random(X.shape) < 0.1] = np.nan
X[:, 3] = _draw.integers(0, 5, 100)
CLASS = np.digitize(AMOUNT, [0.5, 1.2])

FORESTS: dict[str, tuple[Any, dict[str, Any], Any]] = {
    "out of bag": (
        RandomForestClassifier,
        {"oob_score": True, "class_weight": "balanced_subsample", "categorical_features": [3]},
        CLASS,
    ),
    "outputs of classes": (RandomForestClassifier, {}, np.c_[CLASS, AMOUNT > 1.0].astype(int)),
    "best-first, pruned": (RandomForestClassifier, {"max_leaf_nodes": 6, "ccp_alpha": 0.01}, CLASS),
    "outputs of amounts": (RandomForestRegressor, {"max_samples": 0.5}, np.c_[AMOUNT, AMOUNT**2]),
    "cuts at random": (
        ExtraTreesClassifier,
        {"bootstrap": True, "categorical_features": [3]},
        CLASS,
    ),
    "monotone": (ExtraTreesRegressor, {"monotonic_cst": [1, 0, 0, 0]}, AMOUNT),
    "quantiles": (QuantileForestRegressor, {"min_samples_leaf": 4}, AMOUNT),
}
# The kernels' own tests go through every order of threads.
on_each = pytest.mark.parametrize(
    "cuda",
    [
        pytest.param("backward", marks=pytest.mark.cuda_host),
        pytest.param("a real one", marks=pytest.mark.cuda),
    ],
    indirect=True,
)


@on_each
@pytest.mark.usefixtures("cuda")
@pytest.mark.filterwarnings("ignore:Some inputs do not have OOB scores")
@pytest.mark.parametrize("name", FORESTS)
def test_the_same_forest(name: str) -> None:
    kind, parameters, y = FORESTS[name]
    made = [kind(6, random_state=0, device=device, **parameters) for device in ("cpu", "cuda")]
    here, there = (model.fit(X, y) for model in made)
    assert digest(there) == digest(here)
    asked = [("predict", X), ("apply", X), ("predict_quantiles", X)]
    if here.bootstrap:
        asked += [("prediction_variance", X)]
    for method, table in asked:
        if hasattr(here, method):
            np.testing.assert_array_equal(
                getattr(there, method)(table), getattr(here, method)(table)
            )
    if here.oob_score:
        np.testing.assert_array_equal(there.oob_decision_function_, here.oob_decision_function_)
    if here.bootstrap:
        lost = [model.out_of_bag_importance(X, y).importances for model in (here, there)]
        np.testing.assert_array_equal(*lost)


@on_each
@pytest.mark.usefixtures("cuda")
def test_the_same_embedding() -> None:
    made = [RandomTreesEmbedding(4, random_state=0, device=device) for device in ("cpu", "cuda")]
    here, there = (model.fit_transform(X).toarray() for model in made)
    np.testing.assert_array_equal(there, here)


ENSEMBLES = [BaggingClassifier, BaggingRegressor, AdaBoostClassifier, AdaBoostRegressor]


@on_each
@pytest.mark.usefixtures("cuda")
@pytest.mark.parametrize("ensemble", ENSEMBLES)
def test_the_same_ensemble_of_trees(ensemble: Any) -> None:
    classes = ensemble in (BaggingClassifier, AdaBoostClassifier)
    tree = DecisionTreeClassifier if classes else DecisionTreeRegressor
    y = CLASS if classes else AMOUNT
    here, there = (
        ensemble(tree(max_depth=3, device=device), n_estimators=3, random_state=0).fit(X, y)
        for device in ("cpu", "cuda")
    )
    assert digest(there) == digest(here)
    np.testing.assert_array_equal(there.predict(X), here.predict(X))


@pytest.mark.cuda
@pytest.mark.parametrize("device", ["cuda", "cuda:0"])
def test_a_tree_by_names_of_devices(device: str) -> None:
    X = np.random.default_rng(0).normal(size=(500, 4))
    y = (X[:, 0] * X[:, 1] > 0).astype(int)
    there = DecisionTreeClassifier(device=device, max_depth=4).fit(X, y)
    here = DecisionTreeClassifier(device="cpu", max_depth=4).fit(X, y)
    assert digest(there) == digest(here)
    np.testing.assert_array_equal(there.predict(X), here.predict(X))

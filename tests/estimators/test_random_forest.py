"""Random forests beside scikit-learn's: parameters, sizes of trees and accuracy."""

import inspect
from typing import Any

import numpy as np
import pytest
import sklearn.ensemble
from sklearn.datasets import load_breast_cancer, load_diabetes

import vtree

NAMES = ["RandomForestClassifier", "RandomForestRegressor"]


@pytest.mark.parametrize("name", NAMES)
def test_parameters_and_defaults_are_those_of_scikit_learn(name: str) -> None:
    ours = inspect.signature(getattr(vtree, name).__init__).parameters
    theirs = inspect.signature(getattr(sklearn.ensemble, name).__init__).parameters
    assert {key: value.default for key, value in theirs.items()}.items() <= {
        key: value.default for key, value in ours.items()
    }.items()


def test_breast_cancer_over_five_seeds() -> None:
    # scikit-learn: 0.947 to 0.968 (golden/ensembles).
    X, y = load_breast_cancer(return_X_y=True)
    held_out = np.arange(len(y)) % 3 == 2
    scores = [
        vtree.RandomForestClassifier(100, random_state=seed)
        .fit(X[~held_out], y[~held_out])
        .score(X[held_out], y[held_out])
        for seed in range(5)
    ]
    assert 0.947 <= np.mean(scores) <= 0.975, scores


def test_trees_are_as_large_as_scikit_learns() -> None:
    X, y = load_diabetes(return_X_y=True)
    models: list[Any] = [
        home.RandomForestRegressor(30, max_features=0.3, random_state=0).fit(X, y)
        for home in (vtree, sklearn.ensemble)
    ]
    ours, theirs = (np.mean([tree.tree_.node_count for tree in model]) for model in models)
    assert ours == pytest.approx(theirs, rel=0.03)


def test_a_node_draws_its_features_afresh() -> None:
    X, y = load_breast_cancer(return_X_y=True)
    model = vtree.RandomForestClassifier(20, max_features=1, max_depth=3, random_state=0)
    used = [len(set(tree.grown_.feature[tree.grown_.feature >= 0])) for tree in model.fit(X, y)]
    assert np.mean(used) > 4


def test_classifiers_try_every_threshold_of_a_thousand_values() -> None:
    draw = np.random.default_rng(0)
    X, y = draw.normal(size=(1000, 3)), draw.integers(0, 2, 1000)
    default, exact = (
        vtree.RandomForestClassifier(3, random_state=0, **more).fit(X, y)
        for more in ({}, {"max_bins": None})
    )
    assert vtree.digest(default) == vtree.digest(exact)

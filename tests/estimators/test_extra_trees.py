"""Extra trees beside scikit-learn's: parameters, cuts and accuracy."""

import inspect

import numpy as np
import pytest
import sklearn.ensemble
from sklearn.datasets import load_breast_cancer, load_diabetes

import vtree

NAMES = ["ExtraTreesClassifier", "ExtraTreesRegressor"]


@pytest.mark.parametrize("name", NAMES)
def test_parameters_and_defaults_are_those_of_scikit_learn(name: str) -> None:
    ours = inspect.signature(getattr(vtree, name).__init__).parameters
    theirs = inspect.signature(getattr(sklearn.ensemble, name).__init__).parameters
    assert {key: value.default for key, value in theirs.items()}.items() <= {
        key: value.default for key, value in ours.items()
    }.items()


def test_breast_cancer_over_five_seeds() -> None:
    # scikit-learn: 0.963 to 0.979 (golden/ensembles).
    X, y = load_breast_cancer(return_X_y=True)
    held_out = np.arange(len(y)) % 3 == 2
    scores = [
        vtree.ExtraTreesClassifier(100, random_state=seed)
        .fit(X[~held_out], y[~held_out])
        .score(X[held_out], y[held_out])
        for seed in range(5)
    ]
    assert 0.957 <= np.mean(scores) <= 0.985, scores


def test_diabetes_is_predicted_as_well_as_by_scikit_learn() -> None:
    X, y = load_diabetes(return_X_y=True)
    held_out = np.arange(len(y)) % 3 == 2
    scores = [
        [
            home.ExtraTreesRegressor(50, min_samples_leaf=3, random_state=seed)
            .fit(X[~held_out], y[~held_out])
            .score(X[held_out], y[held_out])
            for seed in range(3)
        ]
        for home in (vtree, sklearn.ensemble)
    ]
    assert np.mean(scores[0]) == pytest.approx(np.mean(scores[1]), abs=0.03)


def test_roots_are_cut_uniformly_between_the_extremes() -> None:
    x = np.linspace(2.0, 6.0, 40)[:, None] ** 2
    model = vtree.ExtraTreesRegressor(2000, max_depth=1, random_state=0).fit(x, x[:, 0])
    cuts = np.array([tree.tree_.threshold[0] for tree in model])
    assert cuts.min() >= 4.0 and cuts.max() < 36.0
    # of a uniform draw of 2000: the mean's standard error is 0.21, that of a quartile 0.3
    assert cuts.mean() == pytest.approx(20.0, abs=0.8)
    np.testing.assert_allclose(np.quantile(cuts, [0.25, 0.75]), [12.0, 28.0], atol=1.2)

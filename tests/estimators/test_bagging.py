"""Bagging over our trees: the default learner, any other, samples and scores."""

from typing import Any

import numpy as np
import pytest
from sklearn.neighbors import KNeighborsClassifier

import vtree
from tests.samples import classes, reals
from vtree import BaggingClassifier, BaggingRegressor, DecisionTreeClassifier


@pytest.mark.parametrize("bagging", [BaggingClassifier, BaggingRegressor])
def test_the_default_learner_is_a_whole_tree_of_ours(bagging: Any) -> None:
    X, y = reals() if bagging is BaggingRegressor else classes()
    model = bagging(n_estimators=40, oob_score=True, random_state=0).fit(X, y)
    assert all(type(tree).__module__.startswith("vtree.") for tree in model.estimators_)
    assert model.oob_score_ > 0.5
    for tree, rows in zip(model.estimators_, model.estimators_samples_, strict=True):
        distinct, times = np.unique(rows, return_counts=True)
        alone = type(tree)(random_state=tree.random_state).fit(X[distinct], y[distinct], times)
        assert vtree.digest(alone) == vtree.digest(tree)


def test_any_classifier_may_be_bagged() -> None:
    X, y = classes()
    for learner in (KNeighborsClassifier(), DecisionTreeClassifier(max_depth=2)):
        model = BaggingClassifier(learner, n_estimators=5, random_state=0).fit(X, y)
        assert type(model.estimators_[0]) is type(learner)
        assert model.score(X, y) > 0.7


def test_bagging_lowers_the_error_of_one_tree() -> None:
    X, y = classes(600)
    alone = DecisionTreeClassifier().fit(X[:300], y[:300]).score(X[300:], y[300:])
    model = BaggingClassifier(n_estimators=30, random_state=0).fit(X[:300], y[:300])
    assert model.score(X[300:], y[300:]) >= alone


def test_rows_in_every_sample_have_no_out_of_bag_answer() -> None:
    X = np.random.default_rng(0).normal(size=(60, 4))
    y = X[:, 0] + 1000.0
    model = BaggingRegressor(n_estimators=2, oob_score=True, random_state=0)
    with pytest.warns(UserWarning, match="OOB"):
        model.fit(X, y)
    known = ~np.isnan(model.oob_prediction_)
    assert not known.all()
    assert (model.oob_prediction_[known] > 900.0).all()
    assert model.oob_score_ > 0.5

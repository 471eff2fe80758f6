"""Fitted forests: their trees one by one, and what these answer together."""

import copy
import pickle
from typing import Any

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError

import vtree
from tests.samples import classes, reals
from vtree import (
    ExtraTreesClassifier,
    ExtraTreesRegressor,
    IsolationForest,
    QuantileForestRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
    RandomTreesEmbedding,
)

FORESTS = [
    RandomForestClassifier,
    RandomForestRegressor,
    ExtraTreesClassifier,
    ExtraTreesRegressor,
]
X, Y = classes()


@pytest.mark.parametrize("forest", FORESTS)
def test_predictions_are_the_mean_of_the_trees(forest: Any) -> None:
    model = forest(5, random_state=0).fit(X, Y)
    method = "predict_proba" if hasattr(model, "predict_proba") else "predict"
    mean = np.mean([getattr(tree, method)(X) for tree in model.estimators_], axis=0)
    np.testing.assert_allclose(getattr(model, method)(X), mean, rtol=1e-13, atol=1e-15)


@pytest.mark.parametrize("forest", FORESTS)
def test_copies_answer_alike(forest: Any) -> None:
    model = forest(3, random_state=0).fit(X, Y)
    assert len(model.estimators_) == 3  # the views are not part of a copy
    for twin in (pickle.loads(pickle.dumps(model)), copy.deepcopy(model)):
        np.testing.assert_array_equal(twin.predict(X), model.predict(X))
        assert [vtree.digest(tree) for tree in twin] == [vtree.digest(tree) for tree in model]


def test_paths_and_leaves_count_from_each_trees_own_root() -> None:
    model = RandomForestRegressor(4, max_depth=3, random_state=0).fit(*reals())
    leaf = model.apply(X)
    indicator, ends = model.decision_path(X)
    assert indicator.shape == (200, ends[-1])
    for number, tree in enumerate(model):
        np.testing.assert_array_equal(leaf[:, number], tree.apply(X))
        own = indicator[:, ends[number] : ends[number + 1]]
        np.testing.assert_array_equal(own.toarray(), tree.decision_path(X).toarray())


def test_trees_seen_before_stay_the_same_objects_when_others_come() -> None:
    model = RandomForestClassifier(2, random_state=0, warm_start=True).fit(X, Y)
    first = model.estimators_
    more = model.set_params(n_estimators=4).fit(X, Y).estimators_
    assert [own is kept for own, kept in zip(more[:2], first, strict=True)] == [True, True]
    again = RandomForestClassifier(4, random_state=0).fit(X, Y).estimators_
    assert [vtree.digest(tree) for tree in more] == [vtree.digest(tree) for tree in again]


def test_importances_are_the_mean_of_the_trees() -> None:
    model = RandomForestClassifier(6, random_state=0).fit(X, Y)
    mean = np.mean([tree.feature_importances_ for tree in model], axis=0)
    np.testing.assert_allclose(model.feature_importances_, mean / mean.sum(), rtol=1e-12)


ASKED: dict[str, tuple[Any, ...]] = {
    "apply": (X,),
    "decision_path": (X,),
    "predict": (X,),
    "predict_proba": (X,),
    "predict_log_proba": (X,),
    "predict_quantiles": (X,),
    "weights": (X,),
    "transform": (X,),
    "get_feature_names_out": (),
    "score_samples": (X,),
    "decision_function": (X,),
    "proximities": (X,),
    "out_of_bag_importance": (X, Y),
    "prediction_variance": (X,),
    "score": (X, Y),
    "__len__": (),
}
KINDS = [*FORESTS, QuantileForestRegressor, RandomTreesEmbedding, IsolationForest]


@pytest.mark.parametrize("forest", KINDS)
def test_unfitted_forests_say_so(forest: Any) -> None:
    model = forest()
    asked = [name for name in ASKED if hasattr(forest, name)]
    assert len(asked) >= 5
    for name in asked:
        with pytest.raises(NotFittedError):
            getattr(model, name)(*ASKED[name])
    for name in ("estimators_", "estimators_samples_"):
        with pytest.raises(NotFittedError):
            getattr(model, name)

"""`tree_` beside scikit-learn's, on data whose float32 and float64 are the same."""

import pickle
from typing import Any

import numpy as np
import pytest
import sklearn.tree
from numpy.typing import NDArray
from scipy import sparse

import vtree
from tests.samples import classes
from vtree import DecisionTreeClassifier, DecisionTreeRegressor
from vtree.estimators.view import TreeView, importances, paths

FIELDS = [
    "impurity",
    "n_node_samples",
    "weighted_n_node_samples",
    "missing_go_to_left",
    "value",
    "threshold",
    "feature",
]


def _data() -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
    X, y = classes(150)
    X[::8, 1] = np.nan
    weight = np.random.default_rng(0).integers(1, 4, 150).astype(float)
    return X.astype(np.float32), y, weight


@pytest.fixture(params=["one output", "two outputs", "reals"])
def pair(request: pytest.FixtureRequest) -> tuple[TreeView, Any, NDArray[Any]]:
    X, y, weight = _data()
    target = {"two outputs": np.stack([y, y > 0], axis=1)}.get(request.param, y)
    name = "DecisionTreeRegressor" if request.param == "reals" else "DecisionTreeClassifier"
    ours = getattr(vtree, name)(max_depth=2, max_bins=None).fit(X, target, weight)
    theirs = getattr(sklearn.tree, name)(max_depth=2, random_state=0).fit(X, target, weight)
    return ours.tree_, theirs.tree_, X


def _breadth_first(tree: Any) -> list[int]:
    """List the nodes of scikit-learn's tree, which are numbered depth first, in our order."""
    nodes = [0]
    for node in nodes:
        if tree.children_left[node] >= 0:
            nodes += [tree.children_left[node], tree.children_right[node]]
    return nodes


def test_arrays_are_sklearns(pair: tuple[TreeView, Any, NDArray[Any]]) -> None:
    ours, theirs, _ = pair
    order = _breadth_first(theirs)
    for field in FIELDS:
        found, expected = getattr(ours, field), getattr(theirs, field)[order]
        rtol = 1e-6 if field == "threshold" else 1e-12
        np.testing.assert_allclose(found, expected, rtol=rtol, atol=1e-12, err_msg=field)
    place = np.argsort(order)
    for field in ("children_left", "children_right"):
        child = getattr(theirs, field)[order]
        np.testing.assert_array_equal(getattr(ours, field), np.where(child < 0, -1, place[child]))
    for field in ("node_count", "max_depth", "n_leaves", "n_features", "n_outputs"):
        assert getattr(ours, field) == getattr(theirs, field)
    assert ours.n_classes.tolist() == theirs.n_classes.tolist()
    assert ours.max_n_classes == theirs.max_n_classes


@pytest.mark.parametrize("field", [*FIELDS, "children_left", "children_right", "n_classes"])
def test_a_change_that_the_model_would_not_follow_is_an_error(field: str) -> None:
    X, y, _ = _data()
    tree = DecisionTreeClassifier(max_depth=2).fit(X, y)
    own = getattr(tree.tree_, field)
    with pytest.raises(ValueError, match="read-only"):
        own[0] = -1
    assert tree.grown_.value.flags.writeable  # the model's own arrays stay what they were


def test_methods_are_sklearns(pair: tuple[TreeView, Any, NDArray[Any]]) -> None:
    ours, theirs, X = pair
    order = np.array(_breadth_first(theirs))
    np.testing.assert_array_equal(order[ours.apply(X)], theirs.apply(X))
    np.testing.assert_allclose(ours.predict(X), theirs.predict(X))
    np.testing.assert_array_equal(
        ours.decision_path(X).toarray(), theirs.decision_path(X).toarray()[:, order]
    )
    for normalize in (True, False):
        np.testing.assert_allclose(
            ours.compute_feature_importances(normalize=normalize),
            theirs.compute_feature_importances(normalize=normalize),
        )
    np.testing.assert_array_equal(ours.compute_node_depths(), theirs.compute_node_depths()[order])


def test_sparse_tables() -> None:
    X, y, _ = _data()
    X = np.nan_to_num(X)
    view = DecisionTreeClassifier().fit(X, y).tree_
    np.testing.assert_array_equal(view.apply(sparse.csr_matrix(X)), view.apply(X))


def test_arrays_outlive_the_estimator() -> None:
    X, y, _ = _data()
    model = DecisionTreeRegressor().fit(X, y)
    view = model.tree_
    value, copy = view.value, view.value.copy()
    del model
    np.testing.assert_array_equal(value, copy)
    again = pickle.loads(pickle.dumps(view))
    np.testing.assert_array_equal(again.apply(X), view.apply(X))


def test_category_splits_have_no_threshold() -> None:
    model = DecisionTreeClassifier(categorical_features=[0]).fit([[0], [1], [2]], [0, 1, 0])
    view = model.tree_
    assert np.isnan(view.threshold[0]) and view.feature[0] == 0
    assert view.threshold[1:].tolist() == [-2.0, -2.0]


def test_a_single_leaf() -> None:
    model = DecisionTreeClassifier().fit([[0.0, 1.0]], [5])
    assert importances(model.grown_, 2).tolist() == [0.0, 0.0]
    assert paths(model.grown_, np.zeros(3, dtype=np.int64)).toarray().tolist() == [[1]] * 3
    assert (model.tree_.max_depth, model.tree_.n_leaves, model.tree_.node_count) == (0, 1, 1)

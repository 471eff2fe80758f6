"""A fitted vtree tree as a scikit-learn estimator, for its plots and exports."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor
from sklearn.tree._tree import NODE_DTYPE
from sklearn.tree._tree import Tree as CythonTree
from sklearn.utils.validation import check_is_fitted

from vtree.errors import InputError
from vtree.tree import SUBSET, Tree, depth


def to_sklearn(model: Any) -> Any:
    """Return a scikit-learn DecisionTreeClassifier or DecisionTreeRegressor with the same tree.

    scikit-learn compares float32 values with the thresholds, so rows that differ from a threshold
    by less than float32 resolves may come to another leaf.

    Raises
    ------
    InputError
        If the tree splits on categories, which scikit-learn's tree cannot hold, or answers by
        costs, which it does not know.
    """
    check_is_fitted(model)
    tree: Tree = model.grown_
    if (tree.kind >= SUBSET).any():
        names = getattr(model, "feature_names_in_", None)
        used = np.unique(tree.feature[tree.kind >= SUBSET]).tolist()
        shown = [str(names[f]) if names is not None else f"column {f}" for f in used]
        raise InputError(
            f"the tree splits on categories ({', '.join(shown)}), which scikit-learn's tree "
            "cannot hold; encode these columns as numbers before fit to export the model"
        )
    if getattr(model, "costs_", None) is not None:
        raise InputError(
            "the model answers the class of least expected cost, and scikit-learn's tree the most "
            "frequent one; fit without costs to export it"
        )
    if getattr(model, "surrogates_", None) is not None:
        raise InputError(
            "the model sends rows with missing values by surrogates, which scikit-learn's tree "
            "does not know; fit with surrogates=0 and use_surrogates=2 to export it"
        )
    is_classifier = hasattr(model, "classes_")
    kind = DecisionTreeClassifier if is_classifier else DecisionTreeRegressor
    shared = set(kind().get_params(deep=False)) & set(model.get_params(deep=False))
    parameters = {name: getattr(model, name) for name in shared}
    if parameters["criterion"] == "twoing":
        parameters["criterion"] = "gini"  # which a twoing tree reports as its impurity
    twin = kind(**parameters)
    fitted = ("n_features_in_", "feature_names_in_", "n_outputs_", "max_features_")
    for name in (*fitted, "classes_", "n_classes_"):
        if hasattr(model, name):
            setattr(twin, name, getattr(model, name))
    counts = np.atleast_1d(getattr(model, "n_classes_", np.ones(model.n_outputs_, dtype=int)))
    twin.tree_ = _cython_tree(model, tree, counts.astype(np.intp))
    return twin


def _cython_tree(model: Any, tree: Tree, n_classes: Any) -> Any:
    view = model.tree_
    nodes = np.zeros(view.node_count, dtype=NODE_DTYPE)
    nodes["left_child"], nodes["right_child"] = view.children_left, view.children_right
    nodes["feature"], nodes["threshold"] = view.feature, view.threshold
    nodes["impurity"], nodes["n_node_samples"] = view.impurity, view.n_node_samples
    nodes["weighted_n_node_samples"] = view.weighted_n_node_samples
    nodes["missing_go_to_left"] = view.missing_go_to_left
    twin = CythonTree(model.n_features_in_, n_classes, model.n_outputs_)
    twin.__setstate__(
        {
            "max_depth": int(depth(tree).max()),
            "node_count": view.node_count,
            "nodes": nodes,
            "values": np.ascontiguousarray(view.value),
        }
    )
    return twin

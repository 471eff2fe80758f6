"""`save`, `load` and `digest`: a fitted estimator as a file, and as a fingerprint."""

from __future__ import annotations

import hashlib
import os
from importlib import import_module
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import is_classifier
from sklearn.utils.validation import check_is_fitted

from vtree.errors import InputError, InputTypeError, ModelFileError
from vtree.estimators.category_statistics import fingerprint as statistics_fingerprint
from vtree.interop.json_values import encode
from vtree.interop.model_checks import fault_of_model
from vtree.interop.model_file import read_model, write_model
from vtree.surrogates import fingerprint as rules_fingerprint
from vtree.tables import Schema
from vtree.tree import Tree, fingerprint

# Loading looks a name up here and nowhere else, so a file cannot name code of its own.
_HOME = {
    "AdaBoostClassifier": "vtree.estimators.adaboost",
    "AdaBoostRegressor": "vtree.estimators.adaboost",
    "BaggingClassifier": "vtree.estimators.bagging",
    "BaggingRegressor": "vtree.estimators.bagging",
    "CHAIDClassifier": "vtree.estimators.chaid",
    "CHAIDRegressor": "vtree.estimators.chaid",
    "C45Classifier": "vtree.estimators.c45",
    "DecisionTreeClassifier": "vtree.estimators.decision_tree",
    "DecisionTreeRegressor": "vtree.estimators.decision_tree",
    "ExtraTreesClassifier": "vtree.estimators.extra_trees",
    "ExtraTreesRegressor": "vtree.estimators.extra_trees",
    "GradientBoostingClassifier": "vtree.estimators.gradient_boosting",
    "GradientBoostingRegressor": "vtree.estimators.gradient_boosting",
    "IsolationForest": "vtree.estimators.isolation_forest",
    "LeafwiseBoostingClassifier": "vtree.estimators.leafwise_boosting",
    "LeafwiseBoostingRegressor": "vtree.estimators.leafwise_boosting",
    "NewtonBoostingClassifier": "vtree.estimators.newton_boosting",
    "NewtonBoostingRegressor": "vtree.estimators.newton_boosting",
    "OrderedBoostingClassifier": "vtree.estimators.ordered_boosting",
    "OrderedBoostingRegressor": "vtree.estimators.ordered_boosting",
    "QuantileForestRegressor": "vtree.estimators.quantile_forest",
    "RandomTreesEmbedding": "vtree.estimators.random_trees_embedding",
    "RandomForestClassifier": "vtree.estimators.random_forest",
    "RandomForestRegressor": "vtree.estimators.random_forest",
    "ID3Classifier": "vtree.estimators.id3",
    "RuleListClassifier": "vtree.estimators.rule_list",
}


# Estimators that ask nothing but the leaves of their trees.
_SLIM = frozenset(
    name for name in _HOME if name.startswith(("DecisionTree", "RandomForest", "ExtraTrees"))
) | {
    "GradientBoostingClassifier",
    "GradientBoostingRegressor",
    "IsolationForest",
    "LeafwiseBoostingClassifier",
    "LeafwiseBoostingRegressor",
    "NewtonBoostingClassifier",
    "NewtonBoostingRegressor",
    "QuantileForestRegressor",
    "RandomTreesEmbedding",
}

# What all members of an ensemble have in common with it, unless they say otherwise.
_SHARED = ("n_features", "feature_names", "table_names", "levels", "n_outputs", "classes")


def digest(model: Any) -> str:
    """Return the SHA-256 of a tree's canonical arrays, in hex.

    Equal data, parameters and seeds give equal digests on every backend and at any number of
    threads.

    Parameters
    ----------
    model : a fitted tree estimator, or a `Tree`

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> import vtree
    >>> X, y = load_iris(return_X_y=True)
    >>> with vtree.kernels("reference"):
    ...     plain = vtree.DecisionTreeClassifier().fit(X, y)
    >>> vtree.digest(plain) == vtree.digest(vtree.DecisionTreeClassifier(n_jobs=2).fit(X, y))
    True
    """
    if isinstance(model, Tree):
        return fingerprint(model)
    check_is_fitted(model)
    if not hasattr(model, "grown_"):
        raise InputTypeError(
            f"model is a {type(model).__name__} without trees of vtree; digest takes fitted "
            "estimators of vtree that have some"
        )
    found = fingerprint(model.grown_)
    if getattr(model, "surrogates_", None) is not None:
        found = f"{found} {rules_fingerprint(model.surrogates_)}"
    if getattr(model, "statistics_", None) is not None:
        found = f"{found} {statistics_fingerprint(model.statistics_)}"
    return hashlib.sha256(found.encode()).hexdigest() if " " in found else found


def save(
    model: Any, path: str | os.PathLike[str], *, slim: bool = False, leaves: str = "float64"
) -> None:
    """Write a fitted estimator to a file, by convention NAME.vtree.

    The file holds plain arrays and JSON (safetensors); it is complete or not there at all. It does
    not hold out-of-bag answers (`oob_score_`, `oob_prediction_`, `oob_decision_function_`), which
    the model that comes back has not.

    Parameters
    ----------
    model : a fitted estimator of vtree
    path : an existing file is replaced
    slim : whether to leave out what training knew of each node (weights, rows, impurities, gains),
        a fifth of the size; the model that comes back predicts the same bits, but knows no
        importances and has another digest. For CART, forests, bagging and boosting
    leaves : "float64", or "float32" to round what leaves of a slim model answer

    Raises
    ------
    InputTypeError
        If `model` is no estimator of vtree, or a parameter cannot be written (a random generator).
        If it is bagged or boosted of others than trees of vtree; if it cannot be slim.
    InputError
        If `leaves` is something else, or "float32" of a model that is not slim.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from sklearn.datasets import load_iris
    >>> import vtree
    >>> model = vtree.DecisionTreeClassifier().fit(*load_iris(return_X_y=True))
    >>> with TemporaryDirectory() as folder:
    ...     vtree.save(model, Path(folder) / "iris.vtree")
    ...     again = vtree.load(Path(folder) / "iris.vtree")
    >>> vtree.digest(again) == vtree.digest(model)
    True
    """
    if leaves not in ("float64", "float32") or (leaves == "float32" and not slim):
        raise InputError(
            f"leaves={leaves!r}: it is 'float64', or with slim=True 'float32'; slim is {slim}"
        )
    name = type(model).__name__
    if name not in _HOME or type(model).__module__ != _HOME[name]:
        raise InputTypeError(
            f"model is a {name}; save takes fitted estimators of vtree: {', '.join(sorted(_HOME))}"
        )
    check_is_fitted(model)
    if getattr(model, "grown_", None) is None:
        kind = type(model.estimators_[0])
        raise InputTypeError(
            f"model is {name} over {kind.__name__} of {kind.__module__.partition('.')[0]}, whose "
            "trees a file cannot hold as one. Save one over single trees of vtree "
            "(vtree.DecisionTreeClassifier, C45Classifier, CHAIDClassifier …), or pickle this one"
        )
    if slim:
        _check_slim(model)
    header, extra = header_of(model)
    if _has_members(model):
        header["members"], own = _member_parts(model, header)
        header |= _edges_of_trees(model, header)
        extra = {**extra, **own}
    write_model(path, header, model.grown_, extra, slim=np.dtype(leaves) if slim else None)


def _check_slim(model: Any) -> None:
    """Raise InputTypeError for trees that answer by more than their leaves."""
    for own in model.estimators_ if _has_members(model) else [model]:
        name = type(own).__name__
        if name not in _SLIM or getattr(own, "surrogates_", None) is not None:
            raise InputTypeError(
                f"slim=True: the trees of {name} answer by what training knew of their nodes; save "
                "it without slim"
            )


def _has_members(model: Any) -> bool:
    """Tell whether a model is of other estimators, which a file holds one by one."""
    return hasattr(model, "_take_members")


def _member_parts(
    model: Any, header: dict[str, Any]
) -> tuple[list[dict[str, Any]], dict[str, NDArray[Any]]]:
    """Return what a file says of each member of an ensemble, and their further arrays."""
    headers: list[dict[str, Any]] = []
    arrays: dict[str, NDArray[Any]] = {}
    for number, member in enumerate(model.estimators_):
        own, extra = header_of(member)
        alike = [key for key in _SHARED if encode(own[key]) == encode(header[key])]
        headers.append({key: value for key, value in own.items() if key not in alike})
        arrays |= {f"{number}.{name}": array for name, array in extra.items()}
    return headers, arrays


def _edges_of_trees(model: Any, header: dict[str, Any]) -> dict[str, Any]:
    """Return the edges of each member's bins by the features of the whole table, if there are."""
    members = header["members"]
    if not any("edges" in own for own in members):
        return {}
    every = [np.arange(header["n_features"])] * len(members)
    found = []
    for own, features in zip(members, getattr(model, "estimators_features_", every), strict=True):
        edges = dict(zip(features.tolist(), own["edges"], strict=True))
        found.append([edges.get(feature) for feature in range(header["n_features"])])
    return {"edges_of_trees": found}


def _members(
    model: Any, header: dict[str, Any], tree: Tree, extra: dict[str, NDArray[Any]]
) -> list[Any]:
    """Return the members of an ensemble that a file describes."""
    headers = header["members"]
    if len(headers) != tree.root.size:
        raise ValueError("an ensemble needs a tree a member")
    members = []
    for number, own in enumerate(headers):
        prefix = f"{number}."
        arrays = {
            name.removeprefix(prefix): each
            for name, each in extra.items()
            if name.startswith(prefix)
        }
        whole = {**{key: header[key] for key in _SHARED}, **own}
        if "members" in whole or _has_members(_blank(whole)):
            raise ValueError("the members of an ensemble are single trees")
        its_tree = model._tree_of_member(tree, number)
        fault = fault_of_model(whole, its_tree)
        if fault is not None:
            raise ValueError(fault)
        members.append(_estimator(whole, its_tree, arrays))
    return members


def _parameters(model: Any) -> dict[str, Any]:
    """Return the parameters of an estimator, another estimator among them by its own."""
    parameters: dict[str, Any] = model.get_params(deep=False)
    inner: Any = parameters.get("estimator")
    if type(inner).__name__ in _HOME:
        described = {"estimator": type(inner).__name__, "parameters": inner.get_params(deep=False)}
        parameters["estimator"] = described
    return parameters


def _blank(header: dict[str, Any]) -> Any:
    """Return the unfitted estimator that a header describes."""
    home = import_module(_HOME[header["estimator"]])
    parameters = dict(header["parameters"])
    inner = parameters.get("estimator")
    if isinstance(inner, dict):
        of_inner = import_module(_HOME[inner["estimator"]])
        parameters["estimator"] = getattr(of_inner, inner["estimator"])(**inner["parameters"])
    return getattr(home, header["estimator"])(**parameters)


def header_of(
    model: Any, parameters: dict[str, Any] | None = None
) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    """Return what a file says of an estimator besides its trees: the header, further arrays.

    parameters: its own, where those of the file are others.
    """
    names = getattr(model, "feature_names_in_", None)
    more, extra = model._more_to_save()
    header = {
        "estimator": type(model).__name__,
        "parameters": _parameters(model) if parameters is None else parameters,
        "n_features": model.n_features_in_,
        "feature_names": None if names is None else [str(each) for each in names],
        "table_names": None if model.schema_.names is None else list(model.schema_.names),
        "levels": list(model.schema_.levels),
        "n_outputs": model.n_outputs_,
        "max_features": model.max_features_,
        "classes": getattr(model, "classes_", None),
        **more,
    }
    return header, extra


def load(path: str | os.PathLike[str]) -> Any:
    """Read an estimator that `save` wrote, or a checkpoint. Nothing in the file is executed.

    See `save` for an example.

    Raises
    ------
    FileNotFoundError
        If there is no such file.
    ModelFileError
        If the file is no model, is damaged, or is hostile.
    """
    header, tree, extra = read_model(path)
    try:
        model = _estimator(header, tree, extra)
        if _has_members(model):
            model._take_members(_members(model, header, tree, extra))
        return model
    except (KeyError, TypeError, ValueError) as error:
        raise ModelFileError(
            f"{str(path)!r} does not describe a model that this version of vtree knows: "
            f"{type(error).__name__}: {error}. Save the model again with this version."
        ) from error


def _estimator(header: dict[str, Any], tree: Tree, extra: dict[str, NDArray[Any]]) -> Any:
    model = _blank(header)
    model._validate_params()
    classes = header["classes"]
    if (classes is None) == is_classifier(model):
        raise ValueError("its classes do not fit its kind of estimator")
    per_output = [] if classes is None else classes if isinstance(classes, list) else [classes]
    if classes is not None:
        model.classes_ = classes
        counts = [own.size for own in per_output]
        model.n_classes_ = np.asarray(counts) if isinstance(classes, list) else counts[0]
    model.n_outputs_ = header["n_outputs"]
    if hasattr(model, "_take_loss"):
        model._take_loss(header["own"]["loss"])
    classes_of_leaf = max((own.size for own in per_output), default=1)
    width = getattr(model, "_values_per_node", classes_of_leaf * header["n_outputs"])
    if tree.value.shape[1] != width or (per_output and len(per_output) != header["n_outputs"]):
        raise ValueError(f"its leaves hold {tree.value.shape[1]} values where {width} belong")
    if not isinstance(header["max_features"], int):
        raise TypeError("max_features is not a whole number")
    model.n_features_in_ = header["n_features"]
    if header["feature_names"] is not None:
        model.feature_names_in_ = np.asarray(header["feature_names"], dtype=object)
    names = header["table_names"]
    model.schema_ = Schema(
        None if names is None else tuple(map(str, names)), tuple(header["levels"])
    )
    model.max_features_ = header["max_features"]
    return _with_trees(model, tree, header, extra)


def _with_trees(
    model: Any, tree: Tree, header: dict[str, Any], extra: dict[str, NDArray[Any]]
) -> Any:
    if hasattr(model, "_learn_costs"):
        model._learn_costs()
    model.grown_ = tree
    model._take_saved(header, extra)
    return model

"""What a tree's features are called, and their levels: columns of the table, or made of them."""

from __future__ import annotations

import copy
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from vtree.errors import InputError, InputTypeError

# Signs that would break a line, or change what stands before them.
_CONTROLS = {code: repr(chr(code))[1:-1] for code in [*range(32), *range(127, 160), 0x2028, 0x2029]}


def check_model(model: Any, function: str, *, max_depth: Any = None, decimals: Any = 2) -> None:
    """Raise NotFittedError, or what says why `function` cannot show a model with these arguments.

    Raises
    ------
    InputError
        A depth or a number of decimals below 0.
    InputTypeError
        Another library's model, or another type of number.
    """
    check_is_fitted(model)
    if not hasattr(model, "grown_"):
        raise InputTypeError(
            f"model is a {type(model).__module__.partition('.')[0]} {type(model).__name__} without "
            f"trees of vtree, but {function} shows fitted trees of vtree. scikit-learn's are shown "
            "by the functions in sklearn.tree."
        )
    for name, value in {"max_depth": max_depth, "decimals": decimals}.items():
        if value is None and name == "max_depth":
            continue
        if isinstance(value, bool) or not isinstance(value, Integral):
            raise InputTypeError(f"{name}={value!r} must be a whole number from 0 up")
        if value < 0:
            raise InputError(f"{name}={value!r} must be a whole number from 0 up")


def named(model: Any, feature_names: Any, class_names: Any) -> Any:
    """Return a fitted model, or a copy to be shown, with other names of features and classes.

    Parameters
    ----------
    model : a fitted model
    feature_names : None, or sequence of F strings
    class_names : None, or sequence of K strings, in the order of `classes_`

    Raises
    ------
    InputError
        Another number of names; names of classes for a model of numbers or of several outputs.
    InputTypeError
        Something else than a sequence.
    """
    if feature_names is None and class_names is None:
        return model
    shown = copy.copy(model)
    if class_names is not None:
        classes = getattr(model, "classes_", None)
        if classes is None or isinstance(classes, list):
            has = "no classes" if classes is None else "classes of several outputs"
            raise InputError(f"class_names must be None, for the model has {has}")
        shown.classes_ = _names("class_names", class_names, len(classes), "classes")
    if feature_names is not None:
        names = _names("feature_names", feature_names, model.n_features_in_, "features")
        shown.feature_names_in_ = names
    members = vars(model).get("estimators_")
    if isinstance(members, list):  # a member that tells its thresholds itself is shown instead
        columns = vars(model).get("estimators_features_", [slice(None)] * len(members))
        shown.estimators_ = [
            _member(own, shown, feature_names is not None, class_names is not None, places)
            for own, places in zip(members, columns, strict=True)
        ]
    return shown


def _member(own: Any, model: Any, features: bool, classes: bool, places: Any) -> Any:
    """Return a member of an ensemble with the names of the ensemble's features and classes."""
    shown = copy.copy(own)
    if features:
        shown.feature_names_in_ = model.feature_names_in_[places]
    if classes:
        shown.classes_ = model.classes_
    return shown


def _names(argument: str, given: Any, count: int, what: str) -> NDArray[Any]:
    if isinstance(given, str | bool) or not hasattr(given, "__len__"):
        raise InputTypeError(f"{argument}={given!r} must be a sequence of {count:,} names")
    if len(given) != count:
        raise InputError(f"{argument} has {len(given):,} names, but the model has {count:,} {what}")
    names = np.empty(count, dtype=object)
    names[:] = [str(name) for name in given]
    return names


def on_one_line(text: str) -> str:
    r"""Write line breaks and other control characters as Python does.

    >>> print(on_one_line("size\n(cm)"))
    size\n(cm)
    """
    return text.translate(_CONTROLS)


def feature_name(model: Any, feature: int) -> str:
    """Return the name of a feature that a node of a fitted model splits on."""
    names = getattr(model, "feature_names_in_", None)
    if feature >= model.n_features_in_:
        return str(model.derived_names_[feature - model.n_features_in_])
    return f"feature {feature}" if names is None else str(names[feature])


def feature_levels(model: Any, feature: int) -> NDArray[Any] | None:
    """Return the levels of a feature, None of one that holds numbers."""
    if feature >= model.n_features_in_:
        return None
    levels: NDArray[Any] | None = model.schema_.levels[feature]
    return levels

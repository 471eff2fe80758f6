"""What a tree's features are called, and their levels: columns of the table, or made of them."""

from __future__ import annotations

from numbers import Integral
from typing import Any

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

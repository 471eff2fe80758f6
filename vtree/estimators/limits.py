"""scikit-learn's stopping parameters, fractions and names, as plain amounts."""

from __future__ import annotations

import math
from numbers import Integral, Real
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.utils._param_validation import (
    Interval,
    InvalidParameterError,
    Options,
    RealNotInt,
    StrOptions,
)

from vtree.errors import InputError, own_errors


class ParameterError(InputError, InvalidParameterError):
    """A parameter of an estimator cannot be used; scikit-learn's own kind of error, too."""


class ChecksParameters:
    """Mixin of estimators whose parameters scikit-learn checks: errors are of this family."""

    def _validate_params(self) -> None:
        try:
            super()._validate_params()  # type: ignore[misc]
        except InvalidParameterError as error:
            raise ParameterError(str(error)) from None
        self._refuse_truth_values()

    def _refuse_truth_values(self) -> None:
        """Raise ParameterError for True or False where numbers belong, and would count as 1 or 0.

        scikit-learn's intervals of whole numbers take them.
        """
        rules: dict[str, Any] = self._parameter_constraints  # type: ignore[attr-defined]
        for name, value in self.get_params(deep=False).items():  # type: ignore[attr-defined]
            if not isinstance(value, bool | np.bool_) or not isinstance(rules.get(name), list):
                continue
            numbers = [str(rule) for rule in rules[name] if isinstance(rule, Interval)]
            if numbers and "boolean" not in rules[name]:
                raise ParameterError(
                    f"The {name!r} parameter of {type(self).__name__} must be "
                    f"{' or '.join(numbers)}. Got {value!r} instead."
                )


class Names(StrOptions):
    """Names to choose from; a message tells them in the order of the alphabet, not of a set."""

    def __str__(self) -> str:
        """Return what stands in a message."""
        return f"a str among {', '.join(repr(each) for each in sorted(self.options))}"


class Amounts(NamedTuple):
    """Limits in rows, weights and decreases."""

    max_depth: int | None
    min_split: int
    min_leaf: int
    min_weight: float
    min_decrease: float
    total_weight: float


CONSTRAINTS: dict[str, list[Any]] = {
    "splitter": [StrOptions({"best", "random"})],
    "max_depth": [Interval(Integral, 1, None, closed="left"), None],
    "min_samples_split": [
        Interval(Integral, 2, None, closed="left"),
        Interval(RealNotInt, 0.0, 1.0, closed="right"),
    ],
    "min_samples_leaf": [
        Interval(Integral, 1, None, closed="left"),
        Interval(RealNotInt, 0.0, 1.0, closed="neither"),
    ],
    "min_weight_fraction_leaf": [Interval(Real, 0.0, 0.5, closed="both")],
    "max_features": [
        Interval(Integral, 1, None, closed="left"),
        Interval(RealNotInt, 0.0, 1.0, closed="right"),
        StrOptions({"sqrt", "log2"}),
        None,
    ],
    "random_state": ["random_state"],
    "max_leaf_nodes": [Interval(Integral, 2, None, closed="left"), None],
    "min_impurity_decrease": [Interval(Real, 0.0, None, closed="left")],
    "ccp_alpha": [Interval(Real, 0.0, None, closed="left")],
    "monotonic_cst": ["array-like", dict, None],
    "surrogates": [Interval(Integral, 0, None, closed="left")],
    "use_surrogates": [Options(Integral, {0, 1, 2})],
    "surrogate_counts": [StrOptions({"sides", "rpart"})],
    "feature_costs": ["array-like", None],
    "max_bins": [Interval(Integral, 2, 65_535, closed="both"), None],
    "categorical_features": [StrOptions({"from_dtype"}), "array-like", None],
    "min_samples_category": [Interval(Integral, 1, None, closed="left")],
    "unknown_categories": [StrOptions({"missing", "error"})],
    "device": [str],
    "n_jobs": [
        Interval(Integral, 1, None, closed="left"),
        Interval(Integral, None, -1, closed="right"),
        None,
    ],
    "histogram_budget": [Interval(Integral, 1, None, closed="left")],
}


def amounts(estimator: Any, n_rows: int, total_weight: float) -> Amounts:
    """Return the limits of an estimator for a table of `n_rows` rows."""
    leaf, split = estimator.min_samples_leaf, estimator.min_samples_split
    min_leaf = most(leaf) if isinstance(leaf, Integral) else math.ceil(leaf * n_rows)
    min_split = most(split) if isinstance(split, Integral) else max(2, math.ceil(split * n_rows))
    return Amounts(
        max_depth=None if estimator.max_depth is None else most(estimator.max_depth),
        min_split=max(min_split, 2 * min_leaf),
        min_leaf=min_leaf,
        min_weight=float(estimator.min_weight_fraction_leaf) * total_weight,
        min_decrease=float(estimator.min_impurity_decrease),
        total_weight=total_weight,
    )


def most(amount: Any) -> int:
    """Return a number of rows or levels as one that kernels can hold, and no table reaches."""
    return min(int(amount), 2**31 - 1)


def feature_count(max_features: int | float | str | None, n_features: int) -> int:
    """Return how many features a node draws."""
    if max_features is None:
        return n_features
    if max_features == "sqrt":
        return max(1, int(math.sqrt(n_features)))
    if max_features == "log2":
        return max(1, int(math.log2(n_features)))
    if isinstance(max_features, Integral):
        return most(max_features)
    return max(1, int(float(max_features) * n_features))


def feature_costs(costs: Any, n_features: int) -> NDArray[np.float64] | None:
    """Return `feature_costs` as (F,) numbers, checked, or None.

    Raises
    ------
    InputError
        Other than a positive number a feature.
    """
    if costs is None:
        return None
    with own_errors("feature_costs"):
        vector = np.asarray(costs, dtype=np.float64)
    if vector.shape != (n_features,):
        raise InputError(
            f"feature_costs has the shape {vector.shape}, but X has {n_features} features; pass "
            "one number a feature"
        )
    if not (np.isfinite(vector).all() and (vector > 0.0).all()):
        raise InputError(f"feature_costs must be positive, got {vector.tolist()}")
    return vector

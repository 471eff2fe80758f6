"""The target of a fit: which values are known, and whether they are labels or numbers."""

from decimal import Decimal
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from vtree.errors import InputError
from vtree.tables.levels import is_missing

CLASSIFIER, REGRESSOR = "DecisionTreeClassifier", "DecisionTreeRegressor"

# What --model calls a system: its classifier, and its regressor.
SYSTEMS = {
    "tree": (CLASSIFIER, REGRESSOR),
    "chaid": ("CHAIDClassifier", "CHAIDRegressor"),
    "random_forest": ("RandomForestClassifier", "RandomForestRegressor"),
    "extra_trees": ("ExtraTreesClassifier", "ExtraTreesRegressor"),
    "bagging": ("BaggingClassifier", "BaggingRegressor"),
    "adaboost": ("AdaBoostClassifier", "AdaBoostRegressor"),
    "newton": ("NewtonBoostingClassifier", "NewtonBoostingRegressor"),
    "gbm": ("GradientBoostingClassifier", "GradientBoostingRegressor"),
    "leafwise": ("LeafwiseBoostingClassifier", "LeafwiseBoostingRegressor"),
    "ordered": ("OrderedBoostingClassifier", "OrderedBoostingRegressor"),
    "c45": ("C45Classifier", "C45Classifier"),
    "id3": ("ID3Classifier", "ID3Classifier"),
    "c45rules": ("RuleListClassifier", "RuleListClassifier"),
}

# Systems that know no target, and their estimators.
WITHOUT_TARGET = {"isolation_forest": "IsolationForest"}

# So many distinct whole numbers are taken for labels, more for an amount.
MOST_WHOLE_LABELS = 20

_LABELS = (str, bool, np.bool_)
_NUMBERS = (int, float, Decimal, np.number, np.bool_)


class Target(NamedTuple):
    """A column to predict."""

    model: str  # the name of the estimator for it
    why: str  # that one
    values: NDArray[Any]  # (known,) labels, or float64
    rows: NDArray[np.int64]  # (known,) where in the table


def read_target(values: list[Any], name: str, kind: str) -> Target:
    """Read the values (N,) of column `name` for an estimator, or for what suits them of a system.

    Raises
    ------
    InputError
        No value at all, times, labels where the model predicts numbers, or amounts where the
        system predicts labels.
    """
    rows = np.flatnonzero([not is_missing(value) for value in values])
    if rows.size == 0:
        raise InputError(f"--target: the column {name!r} has no values")
    known = [values[row] for row in rows.tolist()]
    for value in known:
        if not isinstance(value, _LABELS + _NUMBERS):
            raise InputError(
                f"--target: the column {name!r} holds a value of type {type(value).__name__!r}; "
                "a target must be of numbers, strings or booleans"
            )
    model, why = kind, "as --model says"
    if kind in SYSTEMS:
        are_labels, why = _suggested(known)
        classifier, regressor = SYSTEMS[kind]
        if not are_labels and classifier == regressor:
            raise InputError(
                f"--model {kind} predicts labels, but the column {name!r} holds "
                f"{len(set(known))} different numbers: take tree or chaid for amounts, or "
                f"--model {classifier} if each number is a label"
            )
        model = classifier if are_labels else regressor
    if model in {classifier for classifier, _ in SYSTEMS.values()}:
        return Target(model, why, _labels(known), rows)
    return Target(model, why, numbers_in(known, name, "--target"), rows)


def no_target(n_rows: int, kind: str) -> Target:
    """Return what stands for a target where the model of a system, or an estimator, knows none."""
    why = "it looks for outliers and predicts no column"
    return Target(WITHOUT_TARGET.get(kind, kind), why, np.zeros(n_rows), np.arange(n_rows))


def knows_no_target(kind: str) -> bool:
    """Tell whether a system or an estimator goes without a target."""
    return kind in WITHOUT_TARGET or kind in WITHOUT_TARGET.values()


def numbers_in(values: list[Any], name: str, option: str) -> NDArray[np.float64]:
    """Return the values of column `name` as float64 (N,); raise InputError where one is none."""
    for value in values:
        if is_missing(value) or not isinstance(value, _NUMBERS):
            held = "a missing value" if is_missing(value) else repr(value)
            raise InputError(f"{option}: the column {name!r} must hold numbers, but holds {held}")
    return np.array(values, dtype=np.float64)


def _suggested(known: list[Any]) -> tuple[bool, str]:
    """Return (whether the values look like labels, the reason)."""
    if any(isinstance(value, _LABELS) for value in known):
        return True, "the target holds labels"
    distinct = set(known)
    if len(distinct) <= MOST_WHOLE_LABELS and all(float(each).is_integer() for each in distinct):
        return True, f"the target holds {len(distinct)} different whole numbers"
    return False, "the target holds numbers"


def _labels(known: list[Any]) -> NDArray[Any]:
    if any(isinstance(value, str) for value in known):
        return np.array([str(value) for value in known], dtype=object)
    if all(isinstance(value, int | np.integer | np.bool_) for value in known):
        return np.array(known)
    return np.array(known, dtype=np.float64)

"""What ensembles of any learner ask of it, and tell it in their own words."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import is_classifier, is_regressor
from sklearn.utils.validation import _num_features

from vtree import arrays
from vtree.errors import InputError, VTreeError, own_errors
from vtree.estimators.base import TableEstimator
from vtree.estimators.class_costs import prior_vector
from vtree.estimators.limits import ParameterError
from vtree.estimators.targets import row_weights
from vtree.tables import check_width, read_table


def check_kind(ensemble: Any, learner: Any) -> None:
    """Raise ParameterError for a regressor in a classifier, and the other way round."""
    if not hasattr(learner, "__sklearn_tags__"):  # it does not say what it is
        return
    wanted, other = "classifier", "Regressor"
    unfit = is_regressor(learner)
    if is_regressor(ensemble):
        wanted, other = "regressor", "Classifier"
        unfit = is_classifier(learner)
    if unfit:
        name = type(ensemble).__name__
        for_it = name.removesuffix("Classifier").removesuffix("Regressor") + other
        raise ParameterError(
            f"The 'estimator' parameter of {name} must be a {wanted}. Got "
            f"{type(learner).__name__} instead; {for_it} takes such"
        )


def by_class_numbers(learner: Any, classes: NDArray[Any]) -> dict[str, Any]:
    """Return the parameters of a learner that name classes (K,), with the classes' numbers."""
    given: Any = learner.get_params(deep=False)
    found: dict[str, Any] = {}
    weight, priors = given.get("class_weight"), given.get("priors")
    if isinstance(weight, Mapping):
        # What cannot be used is refused there.
        row_weights(None, weight, classes[:, None], classes.size)
        found["class_weight"] = {
            number: weight[label]
            for number, label in enumerate(classes.tolist())
            if label in weight
        }
    if isinstance(priors, Mapping):
        vector = prior_vector(priors, classes)
        assert vector is not None
        found["priors"] = vector.tolist()
    return found


def check_feature_count(X: Any, expected: int, owner: str) -> None:
    """Raise InputError if X has another number of features; owner: who expects them."""
    if not hasattr(X, "shape") and hasattr(X, "__arrow_c_stream__"):
        return  # it may be read only once
    with own_errors("X"):
        found = len(X) if isinstance(X, Mapping) else _num_features(X)
    check_width(found, expected, owner)


@contextmanager
def told_of_plain_tables(ensemble: Any, learner: Any, X: Any, *, gaps: bool) -> Iterator[None]:
    """Let errors say that a learner of ours that is no tree gets X as an array of numbers.

    gaps: whether numbers may be missing there.
    """
    try:
        yield
    except (TypeError, ValueError) as error:
        if not isinstance(learner, TableEstimator) or _is_plain(X, gaps=gaps):
            raise
        may, tables = "which may be missing", "categories"
        if not gaps:
            may, tables = "none of them missing", "categories or gaps"
        raise InputError(
            f"X: {type(ensemble).__name__} hands {type(learner).__name__} a plain array of "
            f"numbers, {may}. Take single trees, such as vtree's DecisionTree…, for estimator= "
            f"where a table holds {tables}, or encode its columns ({str(error).partition('. ')[0]})"
        ) from error


def _is_plain(X: Any, *, gaps: bool) -> bool:
    """Tell whether a table holds numbers alone."""
    try:
        table = read_table(X)
    except VTreeError:
        return True  # what is wrong with it is something else
    categories = any(each is not None for each in table.schema.levels)
    return not categories and (gaps or not np.isnan(arrays.to_numpy(table.values)).any())

"""The door for constraints of features in boosting: by their numbers, or by their names."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from numbers import Number
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vtree.constraints import Together
from vtree.errors import InputError, InputTypeError, own_errors
from vtree.estimators.bins import labels_of


def monotone_directions(
    constraints: Any, model: Any, argument: str = "monotone_constraints"
) -> NDArray[np.int8] | None:
    """Return the parameter `argument` as (F,) int8, checked, or None.

    constraints: −1, 0 or 1 a feature, or a dict from names (or numbers) of features.

    Raises
    ------
    InputError
        Another length, other values, unknown names, or a direction for categories.
    """
    if constraints is None:
        return None
    n_features = model.n_features_in_
    with own_errors(argument, "Pass -1, 0 or 1 a feature."):
        if isinstance(constraints, Mapping):
            directions = by_column(constraints, _names(model), n_features, argument)
        else:
            directions = np.asarray(constraints, dtype=np.float64)
    if directions.shape != (n_features,):
        has = directions.shape[0] if directions.ndim == 1 else directions.shape
        raise InputError(
            f"{argument} has shape {has} but the input data X has {n_features} features. Pass -1, "
            "0 or 1 a feature, or a dict from names of features"
        )
    if not np.isin(directions, [-1, 0, 1]).all():
        raise InputError(
            f"{argument} must be None or an array-like of -1, 0 or 1, but got "
            f"{np.unique(directions)}"
        )
    for feature, levels in enumerate(model.schema_.levels):
        if levels is not None and directions[feature] != 0:
            raise InputError(
                f"{argument}[{feature}] is {int(directions[feature])}, but column {feature} "
                "holds categories, which have no order; set it to 0"
            )
    if not directions.any():
        return None
    return directions.astype(np.int8)


def together(constraints: Any, model: Any, *, others_alone: bool) -> Together | None:
    """Return `interaction_constraints` as sets of features, checked, or None.

    constraints: lists of names or numbers of features, which may stand on one path together.
    others_alone: whether features in no list may split, with no other above or below (XGBoost's
        rule), or not at all (LightGBM's).

    Raises
    ------
    InputError, InputTypeError
        No lists of features, or unknown features.
    """
    if constraints is None:
        return None
    is_list = isinstance(constraints, Sequence | np.ndarray) and not isinstance(constraints, str)
    if not is_list or not all(map(_is_group, constraints)):
        raise InputTypeError(
            f"interaction_constraints={constraints!r} must be a list of lists of features, such as "
            "[[0, 1], [2, 3]] or [['age', 'size'], ['colour']]"
        )
    n_features = model.n_features_in_
    sets = np.zeros((len(constraints), n_features), dtype=np.bool_)
    for own, features in zip(sets, constraints, strict=True):
        numbers = _numbers(list(features), _names(model), n_features, "interaction_constraints")
        own[numbers] = True
    if others_alone:
        alone = np.eye(n_features, dtype=np.bool_)
        sets = np.concatenate([sets, alone[~sets.any(axis=0)]])
    if not sets.any():
        raise InputError(
            f"interaction_constraints={constraints!r} names no feature, so that none may split; "
            "pass None for no constraints"
        )
    return Together(sets)


def by_column(
    constraints: Mapping[Any, Any], names: Sequence[str], n_features: int, argument: str
) -> NDArray[np.float64]:
    """Return a dict from names (if the table has some) or numbers of features as (F,), else 0."""
    directions = np.zeros(n_features)
    own = _numbers(list(constraints), names, n_features, argument)
    twice = sorted({number for number in own if own.count(number) > 1})
    if twice:
        keys = [name for name, number in zip(constraints, own, strict=True) if number in twice]
        raise InputError(
            f"{argument} names column {twice[0]} twice, in {keys}; name each column once, by its "
            "name or by its number"
        )
    directions[own] = list(constraints.values())
    return directions


def refuse_other_numbers(model: Any, X: Any) -> None:
    """Raise InputError for features by number where the columns of X have other numbers for names.

    Whether 0 is the first column of a frame or the one that is called 0 cannot be told.
    """
    labels = labels_of(X)
    if not any(isinstance(label, Number) for label in labels) or labels == [*range(len(labels))]:
        return
    for argument in ("monotone_constraints", "monotonic_cst", "interaction_constraints"):
        given = getattr(model, argument, None)
        features = list(given) if isinstance(given, Mapping) else _members(given)
        if any(isinstance(feature, Number) for feature in features):
            shown = f"{labels[:10]}{' …' if len(labels) > 10 else ''}"
            or_else = ", or give a list of one entry a column" if isinstance(given, Mapping) else ""
            raise InputError(
                f"{argument}={given!r} has features by number, but the columns of X are called "
                f"{shown}, so that a number may be a name or a place. Rename them by X.columns = "
                f"X.columns.astype(str) and give names, such as {str(labels[0])!r}{or_else}"
            )


def _members(groups: Any) -> list[Any]:
    """Return the features in all groups, of what may be no list of groups."""
    outer = groups if isinstance(groups, Collection) else ()
    return [feature for own in outer if _is_group(own) for feature in own]


def _is_group(own: Any) -> bool:
    return isinstance(own, Collection) and not isinstance(own, str | bytes | Mapping)


def _names(model: Any) -> list[str]:
    return list(getattr(model, "feature_names_in_", []))


def _numbers(
    features: list[Any], names: Sequence[str], n_features: int, argument: str
) -> list[int]:
    """Return the numbers of features that are given by name or number."""
    place: dict[Any, int] = {name: number for number, name in enumerate(names)}
    place.update({number: number for number in range(n_features)})
    booleans = [name for name in features if isinstance(name, bool | np.bool_)]
    if booleans:
        raise InputError(
            f"{argument} names {booleans}, and features are numbers or names; it is no mask: give "
            "the numbers of the features that are meant"
        )
    with own_errors(argument, "Features are numbers or names."):
        unknown = [name for name in features if name not in place]
    if unknown:
        known = list(names) or f"columns without names: give numbers from 0 to {n_features - 1}"
        raise InputError(f"{argument} names {unknown}, which X does not have; it has {known}")
    return [place[name] for name in features]

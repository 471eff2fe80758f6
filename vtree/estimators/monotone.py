"""The door for monotone constraints of boosting: a sequence, or features by name."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vtree.errors import InputError, own_errors


def monotone_directions(constraints: Any, model: Any) -> NDArray[np.int8] | None:
    """Return `monotone_constraints` as (F,) int8, checked, or None.

    constraints: −1, 0 or 1 a feature, or a dict from names (or numbers) of features.

    Raises
    ------
    InputError
        Another length, other values, unknown names, or a direction for categories.
    """
    if constraints is None:
        return None
    n_features = model.n_features_in_
    if isinstance(constraints, Mapping):
        directions = _by_name(constraints, model)
    else:
        with own_errors("monotone_constraints"):
            directions = np.asarray(constraints)
    if directions.shape != (n_features,):
        raise InputError(
            f"monotone_constraints has the shape {directions.shape}, but X has {n_features} "
            "features; pass -1, 0 or 1 a feature"
        )
    if not np.isin(directions, [-1, 0, 1]).all():
        raise InputError(
            f"monotone_constraints must be -1, 0 or 1, got {np.unique(directions).tolist()}"
        )
    for feature, levels in enumerate(model.schema_.levels):
        if levels is not None and directions[feature] != 0:
            raise InputError(
                f"monotone_constraints[{feature}] is {directions[feature]}, but column {feature} "
                "holds categories, which have no order; set it to 0"
            )
    if not directions.any():
        return None
    return directions.astype(np.int8)


def _by_name(constraints: Mapping[Any, Any], model: Any) -> NDArray[np.int64]:
    names = list(getattr(model, "feature_names_in_", []))
    place = {name: number for number, name in enumerate(names)}
    place.update({number: number for number in range(model.n_features_in_)})
    unknown = [name for name in constraints if name not in place]
    if unknown:
        raise InputError(
            f"monotone_constraints names {unknown}, which X does not have; it has "
            f"{names or model.n_features_in_}"
        )
    directions = np.zeros(model.n_features_in_, dtype=np.int64)
    for name, direction in constraints.items():
        directions[place[name]] = direction
    return directions

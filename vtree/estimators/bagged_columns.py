"""Some columns of a table for one tree of a bag, and the tree's parameters for them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import narwhals as nw
import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse

from vtree import arrays
from vtree.estimators.bins import Bins, columns_of_bins
from vtree.estimators.feature_constraints import by_column
from vtree.tables import Schema
from vtree.tables.choice import ordinal_columns

Integers = NDArray[np.int64]

# Parameters that hold one entry a column.
_BY_COLUMN = ("monotonic_cst", "feature_costs", "attribute_costs")


def columns_of(X: Any, features: Integers) -> Any:
    """Return the columns `features` of a table of any kind; repeated ones get names of their own.

    >>> columns_of({"a": [1], "b": [2]}, np.array([1, 0, 1]))
    {'b': [2], 'a': [1], 'b (2)': [2]}
    """
    if isinstance(X, Bins):
        return columns_of_bins(X, features, _own_names)
    if issparse(X):
        return X.tocsc()[:, features]
    if isinstance(X, Mapping):
        own = [list(X.items())[feature] for feature in features.tolist()]
        names = _own_names([name for name, _ in own])
        return dict(zip(names, (column for _, column in own), strict=True))
    if arrays.is_numpy(X):  # masked ones too
        return X[:, features]
    if arrays.is_array(X):
        return arrays.namespace(X).take(X, arrays.like(features, X), axis=1)
    frame = _frame(X)
    if frame is None:
        return np.asarray(X)[:, features]
    series = [frame[:, feature] for feature in features.tolist()]
    if np.unique(features).size < features.size:
        names = _own_names([each.name for each in series])
        series = [each.alias(name) for each, name in zip(series, names, strict=True)]
    return frame.select(*series).to_native()


def _frame(X: Any) -> nw.DataFrame[Any] | None:
    """Return a data frame as narwhals has it, None for what is none."""
    frame = nw.from_native(X, eager_only=True, pass_through=True)
    if isinstance(frame, nw.DataFrame):
        return frame
    return nw.from_arrow(X, backend="pyarrow") if hasattr(X, "__arrow_c_stream__") else None


def _each_column(given: Any, schema: Schema, name: str) -> NDArray[Any]:
    if isinstance(given, Mapping):
        return by_column(given, list(schema.names or []), len(schema.levels), name)
    return np.asarray(given)


def parameters_of(learner: Any, schema: Schema, features: Integers) -> dict[str, Any]:
    """Return the parameters of a learner that speak of columns, for `features` alone.

    schema: of the whole table, as the learner reads it.
    """
    given = learner.get_params(deep=False)
    found: dict[str, Any] = {
        name: _each_column(given[name], schema, name)[features]
        for name in _BY_COLUMN
        if given.get(name) is not None
    }
    if not isinstance(given.get("categorical_features"), str | None):
        found["categorical_features"] = [schema.levels[own] is not None for own in features]
    if not isinstance(given.get("ordinal_features"), str | None):
        known = ordinal_columns(given["ordinal_features"], len(schema.levels), schema.names)
        assert known.chosen is not None
        orders = {
            place: known.orders[own]
            for place, own in enumerate(features.tolist())
            if own in known.orders
        }
        found["ordinal_features"] = orders or known.chosen[features].tolist()
    return found


def _own_names(names: list[Any]) -> list[Any]:
    """Return names of which none is twice."""
    if len(set(names)) == len(names):
        return names
    count: dict[Any, int] = {}
    found = []
    for name in names:
        count[name] = count.get(name, 0) + 1
        found.append(str(name) if count[name] == 1 else f"{name} ({count[name]})")
    return found

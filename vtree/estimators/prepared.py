"""A training set past the door, and what rows of weight zero mean there: they are absent."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from vtree import arrays
from vtree.arrays import Array
from vtree.estimators.bins import Bins
from vtree.tables import Schema, with_seen_levels
from vtree.targets import Targets


class Prepared(NamedTuple):
    """A training set past the door."""

    values: Array  # (N, F) where the engine works, rows without weight left out
    schema: Schema
    targets: Targets
    n_rows: int  # of the table as it came
    total_weight: float
    kept: NDArray[np.int64] | slice  # which rows of the table those of `values` are
    given: Any = None  # the table as it came


def kept_rows(
    values: Array, weight: NDArray[np.float64] | None
) -> tuple[Array, NDArray[np.int64] | slice]:
    """Return (values without rows of weight zero, which rows were kept)."""
    if weight is None or (weight > 0.0).all():
        return values, slice(None)
    rows = np.flatnonzero(weight > 0.0)
    return arrays.namespace(values).take(values, arrays.like(rows, values), axis=0), rows


def known_levels(
    X: Any, values: Array, schema: Schema, weight: NDArray[np.float64] | None
) -> tuple[Array, Schema]:
    """Return (values, schema) of X without the levels that only rows of weight zero have.

    weight (N,): of the rows of `values`. `Bins` keep the levels of the table they were made of.
    """
    if weight is None or isinstance(X, Bins) or (weight > 0.0).all():
        return values, schema
    return with_seen_levels(values, schema, np.flatnonzero(weight > 0.0))


def of_known_levels(X: Any, data: Prepared) -> Prepared:
    """Return what was prepared of X without the levels that only rows left out have."""
    if isinstance(data.kept, slice) or isinstance(X, Bins):
        return data
    every = np.arange(data.values.shape[0])
    values, schema = with_seen_levels(data.values, data.schema, every)
    return data._replace(values=values, schema=schema)

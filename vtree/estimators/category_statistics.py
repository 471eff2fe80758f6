"""Target statistics of an estimator's table: which columns have them, how rows get them."""

from __future__ import annotations

import hashlib
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vtree import arrays
from vtree.arrays import Array
from vtree.ensembles.derivatives import Weights
from vtree.ensembles.target_statistics import (
    MOST_TUPLES,
    Kind,
    Rows,
    Statistics,
    keys_of,
    of_new_rows,
    rows_of,
)
from vtree.errors import InputError

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

_MOST_SOURCES = 1_000


def sources_of(n_levels: Integers, one_hot: int, most: int) -> tuple[tuple[int, ...], ...]:
    """Return the columns that have statistics, alone and up to `most` side by side.

    n_levels (F,): of each column, −1 for numbers. Columns of at most `one_hot` levels have none
    alone.
    """
    categorical = np.flatnonzero(n_levels >= 0).tolist()
    found: list[tuple[int, ...]]
    found = [(column,) for column in categorical if n_levels[column] > one_hot]
    for size in range(2, most + 1):
        found += list(combinations(categorical, size))
        if len(found) > _MOST_SOURCES:
            raise InputError(
                f"max_ctr_complexity={most} makes more than {_MOST_SOURCES:,} combinations of the "
                f"{len(categorical)} columns of categories. Lower it."
            )
    for source in found:
        if np.prod(n_levels[list(source)] + 1.0) > MOST_TUPLES:
            raise InputError(
                f"max_ctr_complexity={most} combines the columns {source}, whose levels make more "
                "combinations than an integer can count. Lower it."
            )
    return tuple(found)


def statistic_rows(
    values: Array,
    sources: tuple[tuple[int, ...], ...],
    n_levels: Integers,
    y: Floats,
    weights: Weights,
    kinds: tuple[Kind, ...],
) -> Rows:
    """Return what statistics are made from, y (N, V) being the targets of each."""
    keys = keys_of(_levels(values, n_levels.size), sources, n_levels)
    return rows_of(keys, y, weights.whole, weights.unit, kinds)


def widened(values: Array, statistics: Statistics, n_levels: Integers) -> Array:
    """Return a table (N, F) with the statistics of new rows behind its own columns, float64."""
    own = _levels(values, n_levels.size)
    derived = of_new_rows(statistics, keys_of(own, statistics.columns, n_levels))
    xp = arrays.namespace(values)
    return xp.concat([xp.astype(values, xp.float64), arrays.like(derived, values)], axis=1)


def _levels(values: Array, n_features: int) -> Floats:
    return arrays.to_numpy(values)[:, :n_features].astype(np.float64, copy=False)


def fingerprint(statistics: Statistics) -> str:
    """Return the SHA-256 of statistics, in hex."""
    sha = hashlib.sha256()
    for name, array in as_arrays(statistics).items():
        little = np.ascontiguousarray(array).astype(array.dtype.newbyteorder("<"), copy=False)
        sha.update(f"{name} {little.dtype.str} {little.shape};".encode())
        sha.update(little.tobytes())
    return sha.hexdigest()


def as_arrays(statistics: Statistics) -> dict[str, NDArray[Any]]:
    """Return statistics as arrays for a file."""
    widest = max(len(source) for source in statistics.columns)
    columns = [[*source, *[-1] * (widest - len(source))] for source in statistics.columns]
    return {
        "statistics.columns": np.asarray(columns, dtype=np.int64),
        "statistics.sizes": np.asarray([own.size for own in statistics.keys], dtype=np.int64),
        "statistics.keys": np.concatenate(statistics.keys),
        "statistics.means": np.concatenate(statistics.means),
        "statistics.prior": statistics.prior,
    }


def from_arrays(extra: dict[str, NDArray[Any]], n_levels: Integers, width: int) -> Statistics:
    """Return what `as_arrays` wrote, width being J; raise ValueError or KeyError for others."""
    names = ("columns", "sizes", "keys", "means", "prior")
    if extra.keys() != {f"statistics.{name}" for name in names}:
        raise ValueError("it has other arrays than those of its statistics")
    columns, sizes, keys, means, prior = (extra[f"statistics.{name}"] for name in names)
    whole = all(own.dtype == np.int64 for own in (columns, sizes, keys))
    real = all(own.dtype == np.float64 and np.isfinite(own).all() for own in (means, prior))
    if not whole or not real or columns.ndim != 2 or sizes.shape != columns.shape[:1]:
        raise ValueError("its statistics are not numbers in the shapes of statistics")
    if (sizes < 1).any() or int(sizes.sum()) != keys.size or prior.shape != (sizes.size, width):
        raise ValueError("its statistics do not fit each other")
    if means.shape != (keys.size, width) or keys.ndim != 1:
        raise ValueError("its statistics do not fit their categories")
    sources = tuple(tuple(row[row >= 0].tolist()) for row in columns)
    if not all(_is_source(source, n_levels) for source in sources):
        raise ValueError("its statistics are of columns that hold no categories")
    border = np.cumsum(sizes)[:-1]
    own_keys = tuple(np.split(keys, border))
    if any((np.diff(own) <= 0).any() for own in own_keys):
        raise ValueError("its statistics have categories in disorder")
    return Statistics(sources, own_keys, tuple(np.split(means, border)), prior)


def _is_source(source: tuple[int, ...], n_levels: Integers) -> bool:
    known = bool(source) and max(source) < n_levels.size
    return known and all(n_levels[column] >= 0 for column in source)

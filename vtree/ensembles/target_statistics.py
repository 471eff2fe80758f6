"""Target statistics: a category as the mean target of its rows (Prokhorenkova et al., 2018, §3).

Category k of a source, which is one column of categories or several side by side, gets

    (Σ w y + a P) / (Σ w + a)    over the rows of k, with a = 1 and P the mean of all targets

from all training rows where new rows are predicted. A training row would see its own target in
that; so in training the sums are over the rows that come before it in a random order.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from vtree.losses import whole_numbers

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

PRIOR_WEIGHT = 1.0  # a

# Categories of several columns are numbered by one integer.
MOST_TUPLES = 1 << 62


class Statistics(NamedTuple):
    """What training learnt of Q sources, V statistics each."""

    columns: tuple[tuple[int, ...], ...]  # (Q,) the columns of the table in each source
    keys: tuple[Integers, ...]  # of the categories in training (U,), ascending
    means: tuple[Floats, ...]  # (U, V)
    prior: Floats  # (V,) P, what categories get that training did not see


class Rows(NamedTuple):
    """What statistics are made from: N rows."""

    keys: tuple[Integers, ...]  # Q times (N,) the category of each row in each source
    sums: Integers  # (N, V) weighted targets as whole numbers
    unit: float  # what one of them stands for
    weight: Integers | None  # (N,) None for ones
    weight_unit: float


def rows_of(
    keys: tuple[Integers, ...], y: Floats, weight: Integers | None, weight_unit: float
) -> Rows:
    """Return the rows with targets y (N, V), whole weights (N,) in units of `weight_unit`."""
    n_rows, n_targets = y.shape
    total = n_rows if weight is None else int(weight.sum())
    own = None if weight is None else np.repeat(weight, n_targets)
    sums, unit = whole_numbers(y.reshape(-1), own, n_rows, total)
    return Rows(keys, sums.reshape(y.shape), unit * weight_unit, weight, weight_unit)


def prior_of(rows: Rows) -> Floats:
    """Return the mean target of all rows, (V,)."""
    total = rows.sums.shape[0] if rows.weight is None else int(rows.weight.sum())
    share: Floats = rows.sums.sum(axis=0) * rows.unit / (total * rows.weight_unit)
    return share


def keys_of(
    levels: Floats, columns: tuple[tuple[int, ...], ...], n_levels: Integers
) -> tuple[Integers, ...]:
    """Return the number of each row's category in each source, Q times (N,).

    levels (N, F): level numbers, NaN where missing, which is a category of its own.
    """
    found = []
    for source in columns:
        key = np.zeros(levels.shape[0], dtype=np.int64)
        for column in source:
            code = np.where(np.isnan(levels[:, column]), 0.0, levels[:, column] + 1.0)
            key = key * (int(n_levels[column]) + 1) + code.astype(np.int64)
        found.append(key)
    return tuple(found)


def learnt(rows: Rows, columns: tuple[tuple[int, ...], ...]) -> Statistics:
    """Return the statistics of all rows."""
    prior = prior_of(rows)
    known, means = [], []
    for key in rows.keys:
        own, place = np.unique(key, return_inverse=True)
        weight = np.ones(key.size) if rows.weight is None else rows.weight.astype(np.float64)
        count = np.bincount(place, weight, own.size)[:, None]  # exact, as all sums
        sums = [np.bincount(place, each.astype(np.float64), own.size) for each in rows.sums.T]
        known.append(own)
        means.append(_smoothed(np.stack(sums, axis=1), count, rows, prior))
    return Statistics(columns, tuple(known), tuple(means), prior)


def of_new_rows(statistics: Statistics, keys: tuple[Integers, ...]) -> Floats:
    """Return the statistics of rows with these categories, (N, Q · V)."""
    found = []
    for own, known, means in zip(keys, statistics.keys, statistics.means, strict=True):
        place = np.minimum(np.searchsorted(known, own), known.size - 1)
        seen = known[place] == own
        found.append(np.where(seen[:, None], means[place], statistics.prior))
    return np.concatenate(found, axis=1)


def of_rows_before(rows: Rows, order: Integers) -> Floats:
    """Return what each row gets from those before it, (N, Q · V); order (N,): rows by place."""
    prior = prior_of(rows)
    found = []
    for key in rows.keys:
        by_category = order[np.argsort(key[order], kind="stable")]
        sorted_key = key[by_category]
        begin = np.flatnonzero(np.append(True, sorted_key[1:] != sorted_key[:-1]))
        lengths = np.diff(np.append(begin, key.size))
        sums = _before(rows.sums[by_category], begin, lengths)
        whole = np.ones(key.size, dtype=np.int64) if rows.weight is None else rows.weight
        count = _before(whole[by_category][:, None], begin, lengths)
        statistic = np.empty(sums.shape)
        statistic[by_category] = _smoothed(sums, count, rows, prior)
        found.append(statistic)
    return np.concatenate(found, axis=1)


def _before(values: Integers, begin: Integers, lengths: Integers) -> Integers:
    """Return the sums (N, V) over the rows of a segment before each row."""
    running = np.cumsum(values, axis=0) - values
    before: Integers = running - np.repeat(running[begin], lengths, axis=0)
    return before


def _smoothed(sums: Any, count: Any, rows: Rows, prior: Floats) -> Floats:
    weight = count * rows.weight_unit + PRIOR_WEIGHT
    mean: Floats = (sums * rows.unit + PRIOR_WEIGHT * prior) / weight
    return mean

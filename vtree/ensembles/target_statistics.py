"""Target statistics: what a category stands for (Prokhorenkova et al., CatBoost, 2018, §3).

Category k of a source, which is one column of categories or several side by side, gets

    (Σ w y + a P) / (Σ w + a)    over the rows of k, P being a prior that weighs a

from all training rows where new rows are predicted: a mean target, or of classes a share. A
training row would see its own target in that; so in training the sums are over the rows that come
before it in a random order. And it gets, by all rows in training, too,

    (Σ w + a P) / (m + a)    where m is the largest Σ w of a category.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from vtree.losses import whole_numbers

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

# Categories of several columns are numbered by one integer.
MOST_TUPLES = 1 << 62


class Prior(NamedTuple):
    """What a category is taken for until rows tell."""

    mean: float | None = None  # P, None for the mean of all targets
    weight: float = 1.0  # a


class Kind(NamedTuple):
    """A kind of statistic, told once a prior."""

    priors: tuple[Prior, ...] = (Prior(),)
    counts: bool = False  # of rows, not of targets
    above: bool = False  # the share of the classes above each one but the last, not of each
    even: bool = False  # whether bins are as wide as each other between 0 and 1, not quantiles
    borders: int = 15  # between bins


class Column(NamedTuple):
    """One statistic of a source."""

    kind: Kind
    prior: Prior
    target: int  # of the V, where the kind is of targets


class Statistics(NamedTuple):
    """What training learnt of Q sources, J statistics each."""

    columns: tuple[tuple[int, ...], ...]  # (Q,) the columns of the table in each source
    keys: tuple[Integers, ...]  # of the categories in training (U,), ascending
    means: tuple[Floats, ...]  # (U, J)
    prior: Floats  # (Q, J) what categories get that training did not see


class Rows(NamedTuple):
    """What statistics are made from: N rows."""

    keys: tuple[Integers, ...]  # Q times (N,) the category of each row in each source
    sums: Integers  # (N, V) weighted targets as whole numbers
    unit: float  # what one of them stands for
    weight: Integers | None  # (N,) None for ones
    weight_unit: float
    kinds: tuple[Kind, ...]


def rows_of(
    keys: tuple[Integers, ...],
    y: Floats,
    weight: Integers | None,
    weight_unit: float,
    kinds: tuple[Kind, ...] = (Kind(),),
) -> Rows:
    """Return the rows with targets y (N, V), whole weights (N,) in units of `weight_unit`."""
    n_rows, n_targets = y.shape
    total = n_rows if weight is None else int(weight.sum())
    own = None if weight is None else np.repeat(weight, n_targets)
    sums, unit = whole_numbers(y.reshape(-1), own, n_rows, total)
    return Rows(keys, sums.reshape(y.shape), unit * weight_unit, weight, weight_unit, kinds)


def prior_of(rows: Rows) -> Floats:
    """Return the mean target of all rows, (V,)."""
    total = rows.sums.shape[0] if rows.weight is None else int(rows.weight.sum())
    share: Floats = rows.sums.sum(axis=0) * rows.unit / (total * rows.weight_unit)
    return share


def columns_of(kinds: tuple[Kind, ...], n_targets: int) -> tuple[Column, ...]:
    """Return what each of the J statistics of a source is, n_targets being V."""
    found = []
    for kind in kinds:
        width = n_targets - 1 if kind.above and n_targets > 1 else n_targets
        targets = range(1 if kind.counts else width)
        found += [Column(kind, prior, target) for prior in kind.priors for target in targets]
    return tuple(found)


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
    known, means, prior = [], [], []
    nothing = np.zeros((1, rows.sums.shape[1]), dtype=np.int64), np.zeros((1, 1))
    for key in rows.keys:
        own, place = np.unique(key, return_inverse=True)
        weight = np.ones(key.size) if rows.weight is None else rows.weight.astype(np.float64)
        count = np.bincount(place, weight, own.size)[:, None]  # exact, as all sums
        sums = [np.bincount(place, each.astype(np.float64), own.size) for each in rows.sums.T]
        known.append(own)
        means.append(_told(rows, np.stack(sums, axis=1), count, count, count.max()))
        prior.append(_told(rows, *nothing, nothing[1], count.max()))
    return Statistics(columns, tuple(known), tuple(means), np.concatenate(prior))


def of_new_rows(statistics: Statistics, keys: tuple[Integers, ...]) -> Floats:
    """Return the statistics of rows with these categories, (N, Q · J)."""
    found = []
    for source, key in enumerate(keys):
        known, means = statistics.keys[source], statistics.means[source]
        place = np.minimum(np.searchsorted(known, key), known.size - 1)
        seen = known[place] == key
        found.append(np.where(seen[:, None], means[place], statistics.prior[source]))
    return np.concatenate(found, axis=1)


def of_rows_before(rows: Rows, order: Integers) -> Floats:
    """Return what each row gets from those before it, (N, Q · J); order (N,): rows by place."""
    whole = np.ones(order.size, dtype=np.int64) if rows.weight is None else rows.weight
    found = []
    for key in rows.keys:
        by_category = order[np.argsort(key[order], kind="stable")]
        sorted_key = key[by_category]
        begin = np.flatnonzero(np.append(True, sorted_key[1:] != sorted_key[:-1]))
        lengths = np.diff(np.append(begin, key.size))
        sums = _before(rows.sums[by_category], begin, lengths)
        weight = whole[by_category]
        count = _before(weight[:, None], begin, lengths)
        size = np.add.reduceat(weight, begin)
        own = _told(rows, sums, count, np.repeat(size, lengths)[:, None], size.max())
        statistic = np.empty(own.shape)
        statistic[by_category] = own
        found.append(statistic)
    return np.concatenate(found, axis=1)


def _before(values: Integers, begin: Integers, lengths: Integers) -> Integers:
    """Return the sums (N, V) over the rows of a segment before each row."""
    running = np.cumsum(values, axis=0) - values
    before: Integers = running - np.repeat(running[begin], lengths, axis=0)
    return before


def _told(rows: Rows, sums: Any, count: Any, size: Any, most: Any) -> Floats:
    """Return the J statistics of what has these sums of targets (M, V) and weights (M, 1).

    size (M, 1): the whole weight of its category; most: the largest one.
    """
    mean = prior_of(rows)
    found = []
    for kind, prior, target in columns_of(rows.kinds, rows.sums.shape[1]):
        if kind.counts:
            share = size * rows.weight_unit + prior.weight * (prior.mean or 0.0)
            found.append(share / (most * rows.weight_unit + prior.weight))
            continue
        own, usual = sums[:, target : target + 1], mean[target]
        if kind.above and sums.shape[1] > 1:
            own, usual = sums[:, target + 1 :].sum(axis=1, keepdims=True), mean[target + 1 :].sum()
        toward = prior.weight * (usual if prior.mean is None else prior.mean)
        found.append((own * rows.unit + toward) / (count * rows.weight_unit + prior.weight))
    return np.concatenate(found, axis=1)

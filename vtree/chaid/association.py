"""Tests of association between the groups of a predictor and the target.

They work on float64 statistics of levels or groups, T as their last axis: class weights for the
chi-square and likelihood-ratio tests; weight, sum of targets and sum of squares within for the
F test. Groups outside a mask do not count. Sums over groups and classes are cumulative, so that
padding cannot change a bit.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from vtree.chaid.tails import log, log_chi_square_tail, log_f_tail

Floats = NDArray[np.float64]
Mask = NDArray[np.bool_]

_FEW = 8  # numbers, added one by one


class AssociationTest(NamedTuple):
    """How groups are compared.

    log_p(stats (E, G, T), mask (E, G)) -> (E,) log of the p-value of each table.
    pool(stats (E, G, T), mask (E, G)) -> (E, T) the statistics of all groups as one.
    size(stats (..., T)) -> (...) weight of each group.
    rates(stats (G, T)) -> (G, C) what groups are ordered by where not all subsets can be tried:
        shares of the classes, or means.
    formula, unit: what log_p works out, by name, and the weight that one integer stands for.
    """

    log_p: Callable[[Floats, Mask], Floats]
    pool: Callable[[Floats, Mask], Floats]
    size: Callable[[Floats], Floats]
    rates: Callable[[Floats], Floats]
    formula: str
    unit: float
    adds: bool = True  # whether `pool` adds up and nothing else, whole numbers


def pearson(unit: float) -> AssociationTest:
    """Return Pearson's test, X² = Σ (n − e)²/e; `unit` is the weight that one integer stands for.

    >>> titanic = np.array([[[122.0, 203.0], [167.0, 118.0], [528.0, 178.0]]])
    >>> p = np.exp(pearson(1.0).log_p(titanic, np.ones((1, 3), dtype=bool)))
    >>> f"{p[0]:.6e}"
    '1.282678e-29'
    """
    log_p = partial(_log_p_of_table, _pearson, unit)
    return AssociationTest(log_p, _sums, _total, _shares, "pearson", unit)


def likelihood_ratio(unit: float) -> AssociationTest:
    """Return the likelihood-ratio test, G² = 2 Σ n log(n/e)."""
    log_p = partial(_log_p_of_table, _likelihood_ratio, unit)
    return AssociationTest(log_p, _sums, _total, _shares, "likelihood_ratio", unit)


def f_test(unit: float) -> AssociationTest:
    """Return the test of equal means, F = (between / (g − 1)) / (within / (n − g))."""
    log_p = partial(_log_p_of_means, unit)
    return AssociationTest(log_p, _pooled_moments, _weight, _means, "f", unit, adds=False)


def _sum(values: Floats, axis: int) -> Floats:
    """Add up along an axis from first to last, whatever its length."""
    total: Floats
    if values.shape[axis] > _FEW:
        total = np.take(np.cumsum(values, axis=axis), -1, axis=axis)
        return total
    before: tuple[Any, ...] = (slice(None),) * (axis % values.ndim)
    total = values[(*before, 0)]
    for place in range(1, values.shape[axis]):  # the same without the sums on the way
        total = total + values[(*before, place)]
    return total


def _sums(stats: Floats, mask: Mask) -> Floats:
    return _sum(np.where(mask[..., None], stats, 0.0), -2)


def _total(stats: Floats) -> Floats:
    return _sum(stats, -1)


def _shares(stats: Floats) -> Floats:
    return stats / _total(stats)[:, None]


def _weight(stats: Floats) -> Floats:
    return stats[..., 0]


def _means(stats: Floats) -> Floats:
    return stats[:, 1:2] / stats[:, :1]


def _log_p_of_table(
    statistic: Callable[[Floats, Floats, Floats, Floats], Floats],
    unit: float,
    stats: Floats,
    mask: Mask,
) -> Floats:
    """Return log p of tables (E, G, J), empty rows and columns left out; 0 where one is left."""
    counts = np.where(mask[..., None], stats, 0.0)
    rows, columns = _sum(counts, 2), _sum(counts, 1)
    whole = _sum(rows, 1)
    df = ((rows > 0.0).sum(axis=1) - 1.0) * ((columns > 0.0).sum(axis=1) - 1.0)
    told = df > 0.0
    if not told.all():
        counts, rows, columns, whole = (each[told] for each in (counts, rows, columns, whole))
    value = statistic(counts, rows[:, :, None], columns[:, None, :], whole[:, None, None])
    result = np.zeros(df.size)
    result[told] = log_chi_square_tail(value * unit, df[told])
    return result


def _pearson(counts: Floats, rows: Floats, columns: Floats, whole: Floats) -> Floats:
    # Whole numbers until the one division: exactly zero where shares are equal, and of two rows
    # the same whichever comes first.
    deviation = counts * whole - rows * columns
    expected = np.where(rows * columns > 0.0, rows * columns, 1.0)
    return _sum(_sum(deviation * deviation / (expected * whole), 1), 1)


def _likelihood_ratio(counts: Floats, rows: Floats, columns: Floats, whole: Floats) -> Floats:
    expected = np.where(counts > 0.0, rows * columns, 1.0)
    ratio = np.where(counts > 0.0, counts * whole, 1.0) / expected
    value = 2.0 * _sum(_sum(counts * log(ratio), 1), 1)
    return np.maximum(value, 0.0)


def _log_p_of_means(unit: float, stats: Floats, mask: Mask) -> Floats:
    """Return log p of groups with moments (E, G, 3)."""
    weight = np.where(mask, stats[..., 0], 0.0)
    groups = (weight > 0.0).sum(axis=1)
    within = _sum(np.where(mask, stats[..., 2], 0.0), 1)
    between = _between(stats, mask)
    df_within = _sum(weight, 1) * unit - groups
    result = np.zeros(groups.size)
    told = (groups > 1) & (df_within > 0.0) & (between > 0.0)
    result[told & (within == 0.0)] = -np.inf
    told = np.flatnonzero(told & (within > 0.0))
    df_between = groups[told] - 1.0
    with np.errstate(over="ignore"):
        value = (between[told] / df_between) / (within[told] / df_within[told])
    result[told] = log_f_tail(value, df_between, df_within[told])
    return result


def _between(stats: Floats, mask: Mask) -> Floats:
    """Return Σ_g n_g (mean_g − mean)² of moments (E, G, 3), (E,)."""
    weight = np.where(mask, stats[..., 0], 0.0)
    sums = np.where(mask, stats[..., 1], 0.0)
    whole, total = _sum(weight, 1)[:, None], _sum(sums, 1)[:, None]
    # As for tables: no rounding before the division while the products are below 2^53.
    deviation = sums * whole - weight * total
    some = np.where(weight > 0.0, weight, 1.0)
    whole = np.where(whole > 0.0, whole, 1.0)
    return _sum(deviation / some * (deviation / whole) / whole, 1)


def _pooled_moments(stats: Floats, mask: Mask) -> Floats:
    kept = np.where(mask[..., None], stats, 0.0)
    pooled = _sum(kept, 1)
    pooled[:, 2] += _between(stats, mask)
    return pooled

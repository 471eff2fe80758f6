"""`merging` in Numba: problems in parallel, each with a table of all its pairs' p-values."""

from __future__ import annotations

import math
from functools import cache
from typing import Any

import numba
import numpy as np
from numpy.typing import NDArray

import vtree_kernels.elementary.cpu  # registers `log`  # noqa: F401
from vtree_kernels import _threads
from vtree_kernels._registered import register_jitable
from vtree_kernels._special import addresses, value_of, value_of_two
from vtree_kernels.elementary.reference import log
from vtree_kernels.merging import reference
from vtree_kernels.merging.reference import ENOUGH, LEAST, SMALL, STEPS, TINY, Groups, Rule

FORMULAS = ("pearson", "likelihood_ratio")
_MOST_LEVELS = 1024  # of which a table of pairs takes 8 MiB
_ALONE = 16  # problems a task
_SETTINGS: Any = {"cache": True, "nogil": True, "error_model": "numpy"}
# Called by compiled code alone: a third of the time to compile goes without doors for others.
_INNER: Any = {**_SETTINGS, "no_cpython_wrapper": True, "no_cfunc_wrapper": True}

_addresses = cache(addresses)


@register_jitable
def _fraction(a: float, half: float) -> float:
    """Return x + 1 − a − 1(1 − a)/(x + 3 − a − …), see `vtree.chaid.tails`."""
    value = above = half + 1.0 - a
    below = 0.0
    for k in range(1, STEPS):
        numerator, denominator = k * (a - k), half + (2.0 * k + 1.0) - a
        below = denominator + numerator * below
        above = denominator + numerator / above
        below = 1.0 / (SMALL if below == 0.0 else below)
        above = SMALL if above == 0.0 else above
        change = above * below
        value = value * change
        if abs(change - 1.0) < ENOUGH:
            break
    return value


@numba.njit(**_INNER)
def _log_tail(x, df, special):  # type: ignore[no-untyped-def]
    """Return log P(X ≥ x) of a chi-square variable."""
    half = x / 2.0
    if df == 2.0:
        return -half
    tail = value_of(special.erfc, math.sqrt(half)) if df == 1.0 else 0.0
    if df != 1.0:
        tail = value_of_two(special.chdtrc, df, x)
    if tail >= TINY or not math.isfinite(x):
        return log(tail) if tail > 0.0 else -np.inf
    a = df / 2.0
    own = value_of(special.gammaln, a)
    return -half + a * log(half) - own - log(_fraction(a, half))


@numba.njit(**_INNER)
def _half_of_ratio(count, expected, whole):  # type: ignore[no-untyped-def]
    return count * log(count * whole / expected) if count > 0.0 else 0.0


@register_jitable
def _share(count: float, expected: float, whole: float, by_ratio: bool) -> float:
    """Return what one cell adds to the statistic, for G² half of it."""
    if by_ratio:
        half: float = _half_of_ratio(count, expected, whole)
        return half
    deviation = count * whole - expected
    return deviation * deviation / ((expected if expected > 0.0 else 1.0) * whole)


@register_jitable
def _tail(total: float, some_rows: int, some_columns: int, test: Any) -> float:
    by_ratio, unit, special = test
    value = max(2.0 * total, 0.0) if by_ratio else total
    found: float = _log_tail(value * unit, (some_rows - 1.0) * (some_columns - 1.0), special)
    return found


@numba.njit(**_INNER)
def _pair(table, low, high, test):  # type: ignore[no-untyped-def]
    """Return log p of two groups of table (G, J)."""
    first, second, some_columns = 0.0, 0.0, 0
    for j in range(table.shape[1]):
        first += table[low, j]
        second += table[high, j]
        some_columns += table[low, j] + table[high, j] > 0.0
    if first == 0.0 or second == 0.0 or some_columns < 2:
        return 0.0
    total, whole = 0.0, first + second
    for j in range(table.shape[1]):
        column = table[low, j] + table[high, j]
        own = _share(table[low, j], first * column, whole, test[0])
        total += own + _share(table[high, j], second * column, whole, test[0])
    return max(_tail(total, 2, some_columns, test), LEAST)


@numba.njit(**_INNER)
def _whole(table, alive, test):  # type: ignore[no-untyped-def]
    """Return log p of the table of all groups."""
    whole, some_rows, some_columns, total = 0.0, 0, 0, 0.0
    rows = np.zeros(alive.size)
    for g in range(alive.size):
        for j in range(table.shape[1]):
            rows[g] += table[g, j] if alive[g] else 0.0
        some_rows += rows[g] > 0.0
        whole += rows[g]
    for j in range(table.shape[1]):
        column, own = 0.0, 0.0
        for g in range(alive.size):
            column += table[g, j] if alive[g] else 0.0
        for g in range(alive.size):
            if alive[g]:
                own += _share(table[g, j], rows[g] * column, whole, test[0])
        some_columns += column > 0.0
        total += own
    if some_rows < 2 or some_columns < 2:
        return 0.0
    return _tail(total, some_rows, some_columns, test)


@register_jitable
def _may_pair(alive: Any, ordinal: bool, floating: int, low: int, high: int) -> bool:
    """Tell whether two groups may merge, low < high."""
    if not (alive[low] and alive[high]):
        return False
    if not ordinal or high == floating:
        return True
    between = 0
    for g in range(low + 1, high):
        between += alive[g]
    return between == 0


@register_jitable
def _look(pairs: Any, alive: Any, ordinal: bool, floating: int, low: int) -> tuple[float, int]:
    """Return (log p, partner) of the best pair of a group with one behind it."""
    best, partner = -np.inf, -1
    for high in range(low + 1, alive.size):
        may = _may_pair(alive, ordinal, floating, low, high)
        if may and pairs[low, high] > best:
            best, partner = pairs[low, high], high
    return best, partner


@register_jitable
def _start(table: Any, alive: Any, found: Any, kind: Any, test: Any) -> int:
    """Work out all pairs, and each group's best partner; return how many groups there are."""
    (pairs, closest, partner), (ordinal, floating), n = found, kind, 0
    for g in range(alive.size):
        n += alive[g]
        closest[g], partner[g] = -np.inf, -1
        for high in range(g + 1, alive.size):
            if _may_pair(alive, ordinal, floating, g, high):
                pairs[g, high] = _pair(table, g, high, test)
        if alive[g]:
            closest[g], partner[g] = _look(pairs, alive, ordinal, floating, g)
    return n


@register_jitable
def _must(table: Any, alive: Any, n: int, least: float, rule: Any) -> bool:
    """Tell whether the closest pair merges whatever its p-value."""
    _, most_groups, exhaustive, small_first = rule
    if exhaustive or n > most_groups:
        return True
    if small_first:
        for g in range(alive.size):
            size = 0.0
            for j in range(table.shape[1]):
                size += table[g, j]
            if alive[g] and size < least:
                return True
    return False


@register_jitable
def _join(table: Any, alive: Any, label: Any, first: int, second: int) -> None:
    for j in range(table.shape[1]):
        table[first, j] += table[second, j]
    alive[second] = False
    for g in range(alive.size):
        label[g] = first if label[g] == second else label[g]


@register_jitable
def _refresh(groups: Any, found: Any, first: int, second: int, kind: Any, test: Any) -> None:
    """Work out the pairs of the new group `first`, and who is whose best partner."""
    (table, alive, _), (pairs, closest, partner), (ordinal, floating) = groups, found, kind
    closest[second] = -np.inf
    for g in range(alive.size):
        low, high = min(g, first), max(g, first)
        if g != first and _may_pair(alive, ordinal, floating, low, high):
            pairs[low, high] = _pair(table, low, high, test)
    for g in range(alive.size):
        if not alive[g]:
            continue
        if g == first or partner[g] == first or partner[g] == second:
            closest[g], partner[g] = _look(pairs, alive, ordinal, floating, g)
        elif g < first and _may_pair(alive, ordinal, floating, g, first):
            own = pairs[g, first]
            if own > closest[g] or (own == closest[g] and first < partner[g]):
                closest[g], partner[g] = own, first


@register_jitable
def _closest(closest: Any) -> int:
    """Return the first group of the most similar pair."""
    first = 0
    for g in range(closest.size):
        first = g if closest[g] > closest[first] else first
    return first


@register_jitable
def _copy(source: Any, target: Any) -> None:
    for g in range(source[0].size):
        target[0][g], target[1][g] = source[0][g], source[1][g]


@register_jitable
def _merge(
    groups: Any,
    found: Any,
    best: Any,
    ordinal: bool,
    floating: int,
    least: float,
    rule: Any,
    test: Any,
) -> None:
    """Merge the levels of one problem in place.

    groups: table (G, J), alive and label (G,); found: pairs (G, G), closest and partner (G,), and
    best: alive and label (G,), to work in.
    """
    (table, alive, label), (_, closest, partner) = groups, found
    n, best_log_p = _start(table, alive, found, (ordinal, floating), test), np.inf
    while True:
        own = _whole(table, alive, test) if rule[2] and n <= rule[1] else np.inf
        if own < best_log_p:
            best_log_p = own
            _copy((alive, label), best)
        first = _closest(closest)
        alike = closest[first] > rule[0]
        if n <= 2 or not (alike or _must(table, alive, n, least, rule)):
            break
        second, n = partner[first], n - 1
        _join(table, alive, label, first, second)
        floating = -1 if second == floating else floating
        _refresh(groups, found, first, second, (ordinal, floating), test)
    if rule[2]:
        _copy(best, (alive, label))


@numba.njit(**_SETTINGS)
def _merge_all(stats, alive, label, ordinal, floating, least, rule, test, begin, end):  # type: ignore[no-untyped-def]
    n_levels = alive.shape[1]
    found = np.empty((n_levels, n_levels)), np.empty(n_levels), np.empty(n_levels, np.int64)
    best = np.empty(n_levels, np.bool_), np.empty(n_levels, np.int64)
    for p in range(begin, end):
        groups = stats[p], alive[p], label[p]
        _merge(groups, found, best, ordinal[p], floating[p], least[p], rule, test)


def takes(stats: Any, test: Any, resplit: Any) -> bool:
    """Tell whether the twin knows the test, the pairs are not too many, and SciPy tells its own."""
    known = resplit is None and test.formula in FORMULAS and stats.shape[1] <= _MOST_LEVELS
    return known and _addresses() is not None


def merging(
    stats: NDArray[np.float64],
    alive: NDArray[np.bool_],
    floating: NDArray[np.int64],
    ordinal: NDArray[np.bool_],
    least: NDArray[np.float64],
    rule: Rule,
    test: Any,
    resplit: Any = None,
) -> Groups:
    """Return the groups of all problems; see the package for the contract."""
    if not takes(stats, test, resplit):
        return reference.merging(stats, alive, floating, ordinal, least, rule, test, resplit)
    n, n_levels, n_classes = stats.shape
    groups = Groups(np.tile(np.arange(n_levels), (n, 1)), alive.copy())
    table = np.where(alive[..., None], stats, 0.0)
    own_rule = (rule.log_alpha, rule.most_groups, rule.exhaustive, rule.small_first)
    own_test = (test.formula == "likelihood_ratio", float(test.unit), _addresses())

    def task(index: int) -> None:
        begin, end = index * _ALONE, min((index + 1) * _ALONE, n)
        _merge_all(
            table, groups.alive, groups.label, ordinal, floating, least, own_rule, own_test,
            begin, end,
        )  # fmt: skip

    _threads.run(task, -(-n // _ALONE), work=20 * n * n_levels * n_levels * n_classes)
    return groups

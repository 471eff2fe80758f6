"""Which rules of a class to keep: those whose description is shortest (Quinlan 1993, §5.2).

The bits to write a set of rules down, halved, and those to name its exceptions are added.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.special import gammaln

from vtree.elementary import log2
from vtree.rules.conditions import Rules

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
Booleans = NDArray[np.bool_]

EXHAUSTIVE_UP_TO = 10  # rules of a class
RULE_WEIGHT = 0.5  # of the bits of rules beside those of exceptions


class Bits(NamedTuple):
    """What a condition on each feature costs, (F,): to name the feature, and the branch."""

    feature: Floats
    branch: Floats


def condition_bits(values: Floats, n_levels: Integers, redundancy: float = 1.0) -> Bits:
    """Return what conditions on each feature cost.

    values : (N, F) training rows; n_levels : (F,), −1 for numeric features; redundancy : by how
    much the bits of naming a feature are divided, where features repeat each other.
    """
    branch = np.zeros(n_levels.size)
    for feature in range(n_levels.size):
        x = values[:, feature]
        known = x[~np.isnan(x)]
        if n_levels[feature] < 0:
            distinct = np.unique(known).size + int(known.size < x.size)
            branch[feature] = 1.0 + 0.5 * _log2(distinct) if distinct > 1 else 0.0
        else:
            counts = np.unique(known, return_counts=True)[1].astype(np.float64)
            share = counts / x.size
            branch[feature] = float(np.sum(share * (_log2(x.size) - log2(counts))))
    total = branch.sum()
    share = branch / total if total > 0.0 else branch
    named = -share * log2(np.where(share > 0.0, share, 1.0))
    # Naming a feature costs the entropy of which one it is.
    return Bits(np.full(n_levels.size, named.sum() / redundancy), branch)


def _log2(number: float) -> float:
    return float(log2(np.asarray([float(number)]))[0])


def _log2_factorial(n: Integers) -> Floats:
    found: Floats = gammaln(n + 1.0) / np.log(2.0)
    return found


def rule_bits(rules: Rules, bits: Bits) -> Floats:
    """Return the bits to write down each rule, (R,); the order of its conditions is free."""
    each = (bits.feature + bits.branch)[rules.conditions.feature]
    sizes = np.diff(rules.start)
    owner = np.repeat(np.arange(sizes.size), sizes)
    total = np.bincount(owner, each, sizes.size)
    found: Floats = total + np.log2(np.maximum(sizes, 1)) - _log2_factorial(sizes)
    return found


def exception_bits(
    n: float, fired: Floats, false_positives: Floats, false_negatives: Floats
) -> Floats:
    """Return the bits to name exceptions among rows that fire and those that do not.

    C4.5's biased code: both kinds are expected to be alike in number where most rows lie.
    """
    half = (false_positives + false_negatives) / 2.0
    many = fired > n / 2.0
    covered = _share_bits(fired, false_positives, np.where(many, half, false_positives))
    others = _share_bits(n - fired, false_negatives, np.where(many, false_negatives, half))
    return _log2(n) + covered + others


def _share_bits(n: Floats, errors: Floats, expected: Floats) -> Floats:
    """Return −e log2 q − (n − e) log2(1 − q), q = expected / n.

    0 where all or none are expected: then errors are as many, but for the rounding of sums of
    fractional weights, which is no exception.
    """
    inside = (expected > 1e-6) & (expected < n - 1e-6)
    q = np.where(inside, expected / np.where(n > 0.0, n, 1.0), 0.5)
    bits = -errors * log2(q) - (n - errors) * log2(1.0 - q)
    return np.where(inside, bits, 0.0)


class _Patterns(NamedTuple):
    """Rows by which rules of the class cover them, P patterns."""

    covers: Booleans  # (P, R)
    own: Floats  # (P,) weight of the rows of the class
    other: Floats  # (P,)


def select_rules(fired: Booleans, own: Booleans, weight: Floats, bits: Floats) -> Integers:
    """Return which rules of one class to keep, ascending.

    Up to ten rules, all subsets are tried, otherwise rules are added and removed one at a time,
    once from none and once from all of them, the better end being kept.

    Parameters
    ----------
    fired : (N, R) which rows each rule covers
    own : (N,) which rows are of the class
    weight : (N,)
    bits : (R,) to write down each rule
    """
    if bits.size == 0:
        return np.empty(0, dtype=np.int64)
    # Eight rules a byte, for rows are sorted by all their bytes.
    packed = np.packbits(fired, axis=1)
    distinct, first, place = np.unique(packed, axis=0, return_index=True, return_inverse=True)
    place = np.reshape(place, -1)
    patterns = _Patterns(
        fired[first],
        np.bincount(place, weight * own, distinct.shape[0]).astype(np.float64),
        np.bincount(place, weight * ~own, distinct.shape[0]).astype(np.float64),
    )
    if bits.size <= EXHAUSTIVE_UP_TO:
        subsets = (np.arange(1 << bits.size)[:, None] >> np.arange(bits.size)) & 1 > 0
        return np.flatnonzero(subsets[np.argmin(_scores(subsets, patterns, bits))])
    ends = [_climbed(np.full(bits.size, full), patterns, bits) for full in (False, True)]
    return np.flatnonzero(min(ends, key=lambda end: end[0])[1])


def _scores(subsets: Booleans, patterns: _Patterns, bits: Floats) -> Floats:
    """Return the bits of each of S subsets (S, R)."""
    covered = (subsets.astype(np.float64) @ patterns.covers.T.astype(np.float64)) > 0.0
    hits, false_positives = covered @ patterns.own, covered @ patterns.other
    return _description(patterns, hits, false_positives, subsets @ bits, subsets.sum(axis=1))


def _description(
    patterns: _Patterns, hits: Floats, false_positives: Floats, rules: Floats, sizes: Integers
) -> Floats:
    """Return the bits of S sets of rules, (S,), all arguments but the first (S,).

    hits, false_positives : weight of what the rules cover, of the class and of others; rules :
    bits of the rules of a set, in whatever order; sizes : how many there are.
    """
    of_class = patterns.own.sum()
    n = float(of_class + patterns.other.sum())
    exceptions = exception_bits(n, hits + false_positives, false_positives, of_class - hits)
    found: Floats = RULE_WEIGHT * (rules - _log2_factorial(sizes)) + exceptions
    return found


def _climbed(subset: Booleans, patterns: _Patterns, bits: Floats) -> tuple[float, Booleans]:
    """Return (bits, subset) where no rule more or less shortens the description."""
    covers = sparse.csr_array(patterns.covers.T.astype(np.float64))
    score, scores = _step(subset, covers, patterns, bits)
    while True:
        best = int(np.argmin(scores))
        if not scores[best] < score - 1e-9:
            return score, subset
        subset = subset.copy()
        subset[best] ^= True
        score, scores = _step(subset, covers, patterns, bits)


def _step(
    subset: Booleans, covers: sparse.csr_array, patterns: _Patterns, bits: Floats
) -> tuple[float, Floats]:
    """Return the bits of a subset, and of those with each one rule more or less, (R,).

    covers : (R, P). A rule more adds the patterns that none covers, one less takes away those that
    it covers alone, so a step reads what rules cover once, however many subsets there are.
    """
    times = covers.T @ subset.astype(np.float64)
    weights = np.stack([patterns.own, patterns.other], axis=1)  # (P, 2)
    here = weights[times > 0.0].sum(axis=0)
    added, lost = (covers @ (weights * (times == count)[:, None]) for count in (0.0, 1.0))
    sign = np.where(subset, -1, 1)
    there = here + np.where(subset[:, None], -lost, added)
    # The subset itself is one of the sets, so that all are summed alike.
    sums = np.concatenate([here[None], there])
    rules = bits[subset].sum() + np.append(0.0, sign * bits)
    sizes = np.count_nonzero(subset) + np.append(0, sign)
    found = _description(patterns, sums[:, 0], sums[:, 1], rules, sizes)
    return float(found[0]), found[1:]

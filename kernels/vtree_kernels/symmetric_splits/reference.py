"""The definition of `symmetric_splits` in NumPy, one level after another."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from vtree_kernels.joint.reference import joint
from vtree_kernels.mixing import bell, next_state

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]


class Rule(NamedTuple):
    """What a tree is grown by."""

    depth: int
    shrink: float  # in the unit of the weights
    cosine: bool
    spread: float  # standard deviation of what chance adds to scores
    state: np.uint64  # from which its draws follow
    key: np.uint64  # of the root


class Levels(NamedTuple):
    """The splits of D levels."""

    column: Integers  # (D,)
    bin: Integers  # codes up to this one go left
    following: Integers  # the next code that rows have, 0 if none
    missing_child: Integers
    score: Floats


class _Planes(NamedTuple):
    """What `joint` asks of a layout."""

    weight: int = 1
    first: int = 2
    outputs: int = 1


def symmetric_splits(
    codes: NDArray[Any],
    weight: Integers | None,
    sums: Integers,
    features: Integers,
    n_bins: Integers,
    n_codes: int,
    rule: Rule,
) -> tuple[Levels, Integers]:
    """Return (the levels, the leaf of each row); see the package for the contract."""
    n_rows, n_columns = codes.shape
    one = np.ones(n_rows, dtype=np.int64)
    planes = np.stack([one, one if weight is None else weight, sums], axis=1)
    leaf, key = np.zeros(n_rows, dtype=np.int64), np.asarray([rule.key], dtype=np.uint64)
    found: list[tuple[Any, ...]] = []
    for depth in range(rule.depth):
        hist = np.zeros((key.size, n_columns, n_codes, 3), dtype=np.int64)
        for column in range(n_columns):
            np.add.at(hist[:, column], (leaf, codes[:, column]), planes)
        score = _scores(hist, key, depth, features, n_bins, rule)
        best = int(np.argmax(score))
        if score.reshape(-1)[best] == -np.inf:
            break
        column, way, bin = (int(place) for place in np.unravel_index(best, score.shape))
        count = hist[:, column, :, 0].sum(axis=0)
        later = np.flatnonzero(count[bin + 1 :] > 0)
        following = bin + 1 + int(later[0]) if later.size else 0
        missing_child = 1 - way
        if count[0] == 0:
            missing_child = 0 if 2 * int(count[: bin + 1].sum()) > n_rows else 1
        found.append((column, bin, following, missing_child, score[column, way, bin]))
        code = codes[:, column]
        leaf = 2 * leaf + np.where(code == 0, missing_child, code > bin)
        with np.errstate(over="ignore"):
            own = next_state(np.zeros(1, np.uint64), key)
            key = next_state(own[:, None], np.arange(2, dtype=np.uint64)).reshape(-1)
    splits = np.asarray([each[:4] for each in found], dtype=np.int64).reshape(-1, 4)
    column_of, bin_of, next_of, missing_of = splits.T
    scores = np.asarray([each[4] for each in found], dtype=np.float64)
    return Levels(column_of, bin_of, next_of, missing_of, scores), leaf


def _scores(
    hist: Integers,
    key: NDArray[np.uint64],
    depth: int,
    features: Integers,
    n_bins: Integers,
    rule: Rule,
) -> Floats:
    """Return the score of each candidate, (F, 2, B)."""
    order = np.argsort(key)
    total = hist[:, 0].sum(axis=1)
    worth, size = joint(hist, total, order, order, rule.shrink, False, _Planes())
    score: Floats = worth
    if rule.cosine:
        filled = size > 0.0
        length = np.sqrt(np.where(filled, size, 1.0))
        score = np.where(filled, worth / length, np.where(np.isinf(worth), worth, 0.0))
    if rule.spread > 0.0:
        code = np.arange(hist.shape[2])
        with np.errstate(over="ignore"):
            level = next_state(np.asarray([rule.state]), np.uint64(depth))
            column = next_state(level, features.astype(np.uint64))
            drawn = bell(next_state(column[:, None], code.astype(np.uint64)))
        score = score + (drawn * rule.spread)[:, None, :]
        score = np.where((code <= n_bins[:, None])[:, None, :], score, -np.inf)
    return score

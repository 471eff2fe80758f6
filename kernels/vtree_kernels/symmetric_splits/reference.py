"""The definition of `symmetric_splits` in NumPy, one level after another."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from vtree_kernels.joint.reference import joint
from vtree_kernels.mixing import bell, next_state

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

OF_ITS_OWN = 1 << 16  # in place of a code: what a column's best candidate draws once more


class Columns(NamedTuple):
    """What is known of F columns."""

    feature: Integers  # (F,) what draws call them
    n_bins: Integers  # (F,)
    one_hot: NDArray[np.bool_]  # (F,) whether candidates part one code from all others


class Rule(NamedTuple):
    """What trees are grown by."""

    depth: int
    shrink: float  # in the unit of the weights
    cosine: bool
    spread: float  # standard deviation of what chance adds to scores
    state: np.uint64  # from which its draws follow
    key: np.uint64  # of the roots
    n_trees: int = 1
    judged: bool = False  # those of the second half judge those of the first


class Levels(NamedTuple):
    """The splits of D levels."""

    column: Integers  # (D,)
    bin: Integers  # codes up to this one go left
    following: Integers  # the next code that rows have, 0 if none
    missing_child: Integers
    score: Floats


class _Planes(NamedTuple):
    """What `joint` asks of a layout."""

    outputs: int
    weight: int = 1
    first: int = 2


def symmetric_splits(
    codes: NDArray[Any],
    weight: Integers | None,
    sums: Integers,
    tree: Integers,
    columns: Columns,
    n_codes: int,
    rule: Rule,
) -> tuple[Levels, Integers]:
    """Return (the levels, the leaf of each row); see the package for the contract."""
    n_rows, n_columns = codes.shape
    one = np.ones(n_rows, dtype=np.int64)
    planes = np.column_stack([one, one if weight is None else weight, sums])
    leaf, key = np.zeros(n_rows, dtype=np.int64), np.asarray([rule.key], dtype=np.uint64)
    found: list[tuple[Any, ...]] = []
    for depth in range(rule.depth):
        hist = np.zeros((key.size * rule.n_trees, n_columns, n_codes, planes.shape[1]), np.int64)
        for column in range(n_columns):
            np.add.at(hist[:, column], (leaf * rule.n_trees + tree, codes[:, column]), planes)
        score, place = _scores(hist, key, depth, columns, rule)
        column = int(np.argmax(score))
        if score[column] == -np.inf:
            break
        way, bin = divmod(int(place[column]), n_codes)
        count = hist[:, column, :, 0].sum(axis=0)
        code = codes[:, column]
        if columns.one_hot[column]:
            following, missing_child, right = 0, int(bin != 0), code != bin
        else:
            later = np.flatnonzero(count[bin + 1 :] > 0)
            following = bin + 1 + int(later[0]) if later.size else 0
            missing_child = 1 - way
            if count[0] == 0:
                missing_child = 0 if 2 * int(count[: bin + 1].sum()) > n_rows else 1
            right = np.where(code == 0, missing_child, code > bin)
        found.append((column, bin, following, missing_child, score[column]))
        leaf = 2 * leaf + right
        with np.errstate(over="ignore"):
            own = next_state(np.zeros(1, np.uint64), key)
            key = next_state(own[:, None], np.arange(2, dtype=np.uint64)).reshape(-1)
    splits = np.asarray([each[:4] for each in found], dtype=np.int64).reshape(-1, 4)
    column_of, bin_of, next_of, missing_of = splits.T
    scores = np.asarray([each[4] for each in found], dtype=np.float64)
    return Levels(column_of, bin_of, next_of, missing_of, scores), leaf


def _scores(
    hist: Integers, key: NDArray[np.uint64], depth: int, columns: Columns, rule: Rule
) -> tuple[Floats, Integers]:
    """Return (each column's score, its candidate's place among ways and codes), both (F,).

    hist (L T, F, B, S), trees side by side.
    """
    half = rule.n_trees // 2 if rule.judged else rule.n_trees
    learn = (np.argsort(key)[:, None] * rule.n_trees + np.arange(half)).reshape(-1)
    judge = learn + (half if rule.judged else 0)
    total = hist[:, 0].sum(axis=1)
    planes = _Planes(hist.shape[3] - 2)
    worth, size = joint(hist, total, learn, judge, rule.shrink, False, planes)
    apart = joint(hist, total, learn, judge, rule.shrink, True, planes)
    one_hot = columns.one_hot[:, None, None]
    worth, size = np.where(one_hot, apart[0], worth), np.where(one_hot, apart[1], size)
    score: Floats = worth
    if rule.cosine:
        filled = size > 0.0
        length = np.sqrt(np.where(filled, size, 1.0))
        score = np.where(filled, worth / length, np.where(np.isinf(worth), worth, 0.0))
    plain, own = score.reshape(score.shape[0], -1), 0.0
    if rule.spread > 0.0:
        code = np.append(np.arange(hist.shape[2]), OF_ITS_OWN)
        with np.errstate(over="ignore"):
            level = next_state(np.asarray([rule.state]), np.uint64(depth))
            column = next_state(level, columns.feature.astype(np.uint64))
            drawn = bell(next_state(column[:, None], code.astype(np.uint64))) * rule.spread
        score, own = score + drawn[:, None, :-1], drawn[:, -1]
        score = np.where((code[:-1] <= columns.n_bins[:, None])[:, None, :], score, -np.inf)
    place = score.reshape(plain.shape).argmax(axis=1)
    return plain[np.arange(place.size), place] + own, place

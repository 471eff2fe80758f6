"""Which rows a tree of a forest grows from, and how often each counts.

A bootstrap sample (Breiman, Bagging predictors, Machine Learning 1996) is held as its distinct
rows, ascending, and their multiplicities. The draws are scikit-learn's: NumPy's Mersenne twister,
seeded with the tree's own number, so that the same `random_state` draws the same rows there.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.random import sample_without_replacement

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

_DRAWS = 1 << 16  # at a time

CLASS_WEIGHT_UNIT = 2.0**-20  # what class weights of a sample are rounded to


class Bootstrap(NamedTuple):
    """How the samples of trees are drawn."""

    n_rows: int  # of the table
    size: int  # draws a tree
    probability: Floats | None = None  # (N,) of each row, None: all alike
    balanced: Integers | None = None  # (N, O) classes that shall weigh the same within a sample


class Sample(NamedTuple):
    """One tree's rows."""

    rows: Integers  # (R,) distinct, ascending
    times: NDArray[Any]  # (R,) int64 or int32, positive: how often each counts, in units of `unit`
    unit: float = 1.0
    features: Integers | None = None  # the only ones that may split, ascending; None: all


class Subsample(NamedTuple):
    """How rows and features of trees are drawn by bagging: features first, then rows."""

    n_rows: int  # of the table
    size: int  # rows a tree
    n_features: int  # of the table
    width: int  # features a tree
    replace: bool  # whether a row may be drawn more than once
    probability: Floats | None = None  # (N,) of each row, None: all alike


def drawn_subsample(subsample: Subsample, seed: int) -> tuple[Integers, Integers]:
    """Return (features (width,), row numbers (size,)) in the order of the draws."""
    random = np.random.RandomState(seed)  # noqa: NPY002  (scikit-learn's generator)
    n_rows, size, n_features, width, replace, probability = subsample
    features = sample_without_replacement(n_features, width, random_state=random)
    if probability is not None:
        rows = random.choice(n_rows, size, replace=replace, p=probability)
    elif replace:
        rows = random.randint(0, n_rows, size)
    else:
        rows = sample_without_replacement(n_rows, size, random_state=random)
    return features.astype(np.int64), rows.astype(np.int64)


def subsample_of(subsample: Subsample, seed: int) -> Sample:
    """Return the rows and features of the tree with this seed."""
    features, drawn = drawn_subsample(subsample, seed)
    rows, times = np.unique(drawn, return_counts=True)
    every = subsample.width == subsample.n_features
    times = times.astype(np.int32)
    return Sample(rows, times, features=None if every else np.sort(features))


def drawn_rows(bootstrap: Bootstrap, seed: int) -> NDArray[np.int32]:
    """Return the row numbers in the order of the draws, (size,)."""
    random = np.random.RandomState(seed)  # noqa: NPY002  (scikit-learn's generator)
    if bootstrap.probability is None:
        drawn = random.randint(0, bootstrap.n_rows, bootstrap.size)
    else:
        drawn = random.choice(bootstrap.n_rows, bootstrap.size, p=bootstrap.probability)
    return drawn.astype(np.int32)


def counts_of(bootstrap: Bootstrap, seed: int) -> NDArray[np.int32]:
    """Return how often each row was drawn, (N,)."""
    if bootstrap.probability is not None:
        drawn = drawn_rows(bootstrap, seed)
        return np.bincount(drawn, minlength=bootstrap.n_rows).astype(np.int32)
    random = np.random.RandomState(seed)  # noqa: NPY002  (scikit-learn's generator)
    counts, one = np.zeros(bootstrap.n_rows, dtype=np.int32), np.int32(1)  # 40 times as fast as 1
    for done in range(0, bootstrap.size, _DRAWS):  # all at once would take three times the counts
        count = min(_DRAWS, bootstrap.size - done)
        np.add.at(counts, random.randint(0, bootstrap.n_rows, count), one)
    return counts


def sample(bootstrap: Bootstrap, seed: int) -> Sample:
    """Return the rows of the tree with this seed."""
    counts = counts_of(bootstrap, seed)
    rows = np.flatnonzero(counts)
    if bootstrap.balanced is None:
        return Sample(rows, counts[rows])
    factor = _balance(bootstrap.balanced[rows], counts[rows])
    whole = np.maximum(np.rint(factor / CLASS_WEIGHT_UNIT), 1.0).astype(np.int64)
    return Sample(rows, counts[rows] * whole, CLASS_WEIGHT_UNIT)


def _balance(classes: Integers, counts: NDArray[Any]) -> Floats:
    """Return total / (classes · weight of the row's class), multiplied over outputs, (R,)."""
    factor = np.ones(counts.size)
    for own in classes.T:
        weight = np.bincount(own, counts)
        present = int((weight > 0).sum())
        factor *= counts.sum() / (present * weight[own])
    return factor

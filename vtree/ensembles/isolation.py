"""Isolation: how soon random splits part a row from all others (Liu, Ting & Zhou, ICDM 2008)."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from vtree.elementary import log
from vtree.tree import Tree, depth

Floats = NDArray[np.float64]


def average_path_length(n_rows: Any) -> Floats:
    """Return the mean depth of a row in a random tree grown to the end on `n_rows` (M,) rows, (M,).

    c(n) = 2 H(n − 1) − 2 (n − 1) / n, an unsuccessful search in a binary search tree (equation 1),
    with H(i) taken as ln i + Euler's constant, and c(2) = 1.
    """
    n = np.asarray(n_rows, dtype=np.float64)
    many = np.maximum(n, 3.0)
    harmonic = np.asarray(log(many - 1.0)) + np.euler_gamma
    length: Floats = 2.0 * harmonic - 2.0 * (many - 1.0) / many
    return np.where(n > 2.0, length, np.where(n == 2.0, 1.0, 0.0))


def with_path_lengths(tree: Tree, size: int) -> Tree:
    """Return trees grown on `size` rows each, whose nodes answer path lengths in units of c(size).

    A node's own is its depth, and what it would have taken to part its rows.
    """
    length = depth(tree) + average_path_length(tree.n_rows)
    whole = float(average_path_length(size))
    # One row alone is neither near nor far: scikit-learn gives it the score of the average.
    share = length / whole if whole > 0.0 else np.ones(length.size)
    return tree._replace(value=share[:, None])


def anomaly_score(mean: Floats) -> Floats:
    """Return 2^−mean of the trees' path lengths (N,) in units of c (equation 2), 0 … 1."""
    score: Floats = np.exp2(-mean)
    return score

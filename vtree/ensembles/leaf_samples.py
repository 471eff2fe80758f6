"""Which training rows speak in a forest's answer, and how loud: quantiles and proximities.

A forest's mean is Σ_i w_i(x) y_i, w_i the mean over trees of row i's share of the leaf that x comes
to; the same weights give the whole distribution of y (Meinshausen, Quantile regression forests,
JMLR 7, 2006, equations 4 – 6).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

_CELLS = 1 << 22  # of a block of answers, dense at worst
_ROUNDING = 1e-12  # what sums of weights that should meet a level may lack


def leaf_columns(leaf: Integers, n_nodes: int) -> sparse.csr_matrix:
    """Return which nodes the rows come to, (N, M), ones; leaf (N, T): nodes of all trees in one."""
    n_rows, n_trees = leaf.shape
    ends = np.arange(0, n_rows * n_trees + 1, n_trees)
    ones = np.ones(n_rows * n_trees)
    return sparse.csr_matrix((ones, np.sort(leaf, axis=1).reshape(-1), ends), (n_rows, n_nodes))


def shares_of_rows(leaf: NDArray[Any], times: NDArray[Any], n_nodes: int) -> sparse.csr_matrix:
    """Return each training row's share of each leaf, over the number of trees, (M, N).

    leaf (N, T): where training rows come to; times (N, T): how often each tree drew them, or what
    they weigh in it.
    """
    n_rows, n_trees = leaf.shape
    row = np.repeat(np.arange(n_rows), n_trees)
    node, weight = leaf.reshape(-1), times.reshape(-1).astype(np.float64)
    drawn = weight > 0.0
    node, row, weight = node[drawn], row[drawn], weight[drawn]
    total = np.bincount(node, weight, minlength=n_nodes)
    share = weight / (total[node] * n_trees)
    return sparse.coo_matrix((share, (node, row)), shape=(n_nodes, n_rows)).tocsr()


def blocks(n_rows: int, width: int) -> list[slice]:
    """Return slices of `n_rows` rows of which one has at most so many cells of `width` a row."""
    step = max(1, _CELLS // max(1, width))
    return [slice(first, first + step) for first in range(0, n_rows, step)]


def weighted_quantiles(weights: sparse.csr_matrix, y: Floats, levels: Floats) -> Floats:
    """Return the least y whose weights up to it reach each level, (N, Q).

    weights (N, R) of the training rows, a sum of one a row; y (R,) ascending.
    """
    weights = weights.tocsr()
    weights.sort_indices()
    found = np.empty((weights.shape[0], levels.size))
    for row, (first, last) in enumerate(zip(weights.indptr[:-1], weights.indptr[1:], strict=True)):
        reached = np.cumsum(weights.data[first:last])
        place = np.searchsorted(reached, levels * reached[-1] - _ROUNDING, side="left")
        found[row] = y[weights.indices[first:last][np.minimum(place, reached.size - 1)]]
    return found


def proximities(ours: sparse.csr_matrix, theirs: sparse.csr_matrix, most: int) -> sparse.csr_matrix:
    """Return in what share of the trees two rows come to one leaf, (N, R).

    ours (N, M), theirs (R, M): as `leaf_columns` says. The `most` largest of a row are kept, of
    equal ones the first.
    """
    n_trees = int(ours[0].sum())
    parts = []
    for block in blocks(ours.shape[0], theirs.shape[0]):
        together = (ours[block] @ theirs.T).tocsr()
        together.sort_indices()
        parts.append(_largest(together, most))
    return sparse.vstack(parts).tocsr() / n_trees


def _largest(table: sparse.csr_matrix, most: int) -> sparse.csr_matrix:
    """Return the table with the `most` largest entries of each row."""
    row = np.repeat(np.arange(table.shape[0]), np.diff(table.indptr))
    order = np.lexsort((table.indices, -table.data, row))
    rank = np.arange(order.size) - table.indptr[row[order]]
    kept = np.sort(order[rank < most])
    entries = (table.data[kept], (row[kept], table.indices[kept]))
    return sparse.coo_matrix(entries, shape=table.shape).tocsr()

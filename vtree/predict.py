"""Prediction: encoded rows → leaves, or the sum of what their leaves answer."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from vtree import arrays
from vtree.arrays import Array
from vtree.tree import THRESHOLD, Tree, children
from vtree_kernels.accumulate import accumulate
from vtree_kernels.traverse import traverse

_SHARES = 2.0**40  # to so many parts sums of shares are told apart


def totals(
    tree: Tree,
    values: Array,
    value: NDArray[np.float64],
    column: NDArray[np.int64],
    n_columns: int,
) -> Array:
    """Return the sum over trees of the values of each row's leaf, (N, n_columns) float64.

    values (N, F) as in `leaves`, whose namespace the answer is in; value (M, V) of the nodes;
    column (T,): tree t adds to columns column[t] … column[t] + V − 1. Trees are added in order.
    """
    total: Array = accumulate(
        values,
        tree.root,
        tree.feature,
        tree.kind,
        tree.threshold,
        tree.first_child,
        tree.missing_child,
        tree.map_offset,
        tree.branch_map,
        value,
        column,
        n_columns,
    )
    return total


def leaves(tree: Tree, values: Array) -> NDArray[np.int32]:
    """Return the node where each row comes to rest in each tree, (N, T), on the host.

    values (N, F): raw numbers, category levels by number, NaN for missing.
    """
    found: Any = traverse(
        values,
        tree.root,
        tree.feature,
        tree.kind,
        tree.threshold,
        tree.first_child,
        tree.missing_child,
        tree.map_offset,
        tree.branch_map,
    )
    return arrays.to_numpy(found)


def shares_of_leaves(tree: Tree, values: Array) -> NDArray[np.float64]:
    """Return what one tree answers (N, K) where a row without a value goes to all branches.

    Each branch counts by its share of the training weight (Quinlan 1993, §3.2). values (N, F) as
    for `leaves`. Where no branch has any weight, the node itself answers.
    """
    resting = leaves(tree, values)[:, 0].astype(np.int64)
    answer = tree.value[resting]
    row = np.flatnonzero(tree.first_child[resting] >= 0)
    if row.size == 0:
        return answer
    own = arrays.to_numpy(arrays.namespace(values).take(values, arrays.like(row, values), axis=0))
    node, source, weight = resting[row], np.arange(row.size), np.ones(row.size)
    answer[row] = 0.0
    while node.size:
        ends = tree.first_child[node] < 0
        np.add.at(answer, row[source[ends]], weight[ends, None] * tree.value[node[ends]])
        node, source, weight = node[~ends], source[~ends], weight[~ends]
        node, source, weight = _one_step(tree, own, node, source, weight, answer, row)
    # Classes that share alike on paper must not differ by the order in which branches answer.
    answer[row] = np.rint(answer[row] * _SHARES) / _SHARES
    return answer


def _one_step(
    tree: Tree,
    values: NDArray[Any],
    node: NDArray[np.int64],
    source: NDArray[np.int64],
    weight: NDArray[np.float64],
    answer: NDArray[np.float64],
    row: NDArray[np.int64],
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64]]:
    """Return (node, source, weight) one level down; values[source] are the rows on the way."""
    x = values[source, tree.feature[node]].astype(np.float64)
    missing = np.isnan(x)
    first = tree.first_child[node].astype(np.int64)
    child = (x > tree.threshold[node]).astype(np.int64)
    mapped = (tree.kind[node] != THRESHOLD) & ~missing
    child[mapped] = tree.branch_map[tree.map_offset[node[mapped]] + x[mapped].astype(np.int64) + 1]
    spread = np.flatnonzero(missing)
    below = children(tree.first_child, tree.n_children, node[spread])
    counts = tree.n_children[node[spread]].astype(np.int64)
    parent = np.repeat(spread, counts)
    total = np.zeros(node.size)
    np.add.at(total, parent, tree.weight[below])
    stays = missing & (total == 0.0)
    np.add.at(answer, row[source[stays]], weight[stays, None] * tree.value[node[stays]])
    share = weight[parent] * (tree.weight[below] / np.where(total > 0.0, total, 1.0)[parent])
    some = share > 0.0
    known = ~missing
    return (
        np.concatenate([(first + child)[known], below[some]]),
        np.concatenate([source[known], source[parent[some]]]),
        np.concatenate([weight[known], share[some]]),
    )

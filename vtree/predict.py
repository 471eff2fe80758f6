"""Prediction: encoded rows → leaves, or the sum of what their leaves answer."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from vtree import arrays
from vtree.arrays import Array
from vtree.tree import Tree, children
from vtree_kernels.accumulate import accumulate
from vtree_kernels.descend import descend
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


class Parts(NamedTuple):
    """Rows where they come to rest, some in several leaves: P parts of them."""

    row: NDArray[np.int64]  # (P,)
    node: NDArray[np.int64]
    share: NDArray[np.float64]  # of the row, positive; they add up to 1

    def taken(self, chosen: NDArray[Any]) -> Parts:
        """Return some parts, by number or mask."""
        return Parts(self.row[chosen], self.node[chosen], self.share[chosen])


def parts_in_leaves(tree: Tree, values: Array) -> Parts:
    """Return where the rows rest in one tree if those without a value go to all branches.

    Each branch gets its share of the training weight (Quinlan 1993, §3.2). values (N, F) as for
    `leaves`. Where no branch has any weight, the row stays at the node.
    """
    node = leaves(tree, values)[:, 0].astype(np.int64)
    open_parts = Parts(np.arange(node.size), node, np.ones(node.size))
    ended = []
    own: Any = None
    while True:
        inner = tree.first_child[open_parts.node] >= 0
        ended.append(open_parts.taken(~inner))
        if not inner.any():
            row, node, share = (np.concatenate(each) for each in zip(*ended, strict=True))
            return Parts(row, node, share)
        own = arrays.to_numpy(values) if own is None else own
        stays, spread = _spread(tree, open_parts.taken(inner))
        ended.append(stays)
        fields = (tree.feature, tree.kind, tree.threshold, tree.first_child, tree.map_offset)
        node = descend(own, spread.row, spread.node, *fields, tree.branch_map)
        open_parts = spread._replace(node=node)


def _spread(tree: Tree, parts: Parts) -> tuple[Parts, Parts]:
    """Return (the parts at nodes whose branches have no weight, the others in all branches)."""
    below = children(tree.first_child, tree.n_children, parts.node)
    parent = np.repeat(np.arange(parts.node.size), tree.n_children[parts.node])
    total = np.bincount(parent, tree.weight[below], parts.node.size)
    stays = total == 0.0
    share = parts.share[parent] * (tree.weight[below] / np.where(stays, 1.0, total)[parent])
    some = share > 0.0
    return (
        parts.taken(stays),
        Parts(parts.row[parent[some]], below[some], share[some]),
    )


def shares_of_leaves(tree: Tree, values: Array) -> NDArray[np.float64]:
    """Return what one tree answers (N, K) where a row without a value asks all branches."""
    row, node, share = parts_in_leaves(tree, values)
    answer = np.zeros((values.shape[0], tree.value.shape[1]))
    whole = share == 1.0
    answer[row[whole]] = tree.value[node[whole]]
    divided = np.flatnonzero(~whole)
    np.add.at(answer, row[divided], share[divided, None] * tree.value[node[divided]])
    # Classes that share alike on paper must not differ by the order in which branches answer.
    several = row[divided]
    answer[several] = np.rint(answer[several] * _SHARES) / _SHARES
    return answer

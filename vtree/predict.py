"""Prediction: encoded rows → leaves, or the sum of what their leaves answer."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from vtree import arrays
from vtree.arrays import Array
from vtree.tree import Tree
from vtree_kernels.accumulate import accumulate
from vtree_kernels.traverse import traverse


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

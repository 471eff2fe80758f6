"""Prediction: encoded rows → leaves. What a leaf answers is its row of `Tree.value`."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from vtree import arrays
from vtree.arrays import Array
from vtree.tree import Tree
from vtree_kernels.traverse import traverse


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

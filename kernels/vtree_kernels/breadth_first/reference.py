"""The definition of `breadth_first`: level by level, then sorted by tree."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray


def children(
    first_child: NDArray[Any], n_children: NDArray[np.int32], nodes: NDArray[np.int64]
) -> NDArray[np.int64]:
    """Return all children of `nodes`, in the order of `nodes`."""
    counts = n_children[nodes].astype(np.int64)
    before = np.cumsum(counts) - counts
    offset = np.arange(counts.sum()) - np.repeat(before, counts)
    below: NDArray[np.int64] = np.repeat(first_child[nodes].astype(np.int64), counts) + offset
    return below


def levels(
    first_child: NDArray[np.int32], n_children: NDArray[np.int32], root: NDArray[np.int32]
) -> list[NDArray[np.int64]]:
    """Return the nodes of each level, all trees together, in the order of their parents."""
    found: list[NDArray[np.int64]] = []
    nodes = root.astype(np.int64)
    while nodes.size:
        found.append(nodes)
        nodes = children(first_child, n_children, nodes[first_child[nodes] >= 0])
    return found


def breadth_first(
    first_child: NDArray[Any], n_children: NDArray[Any], root: NDArray[Any]
) -> NDArray[np.int64]:
    """Return the nodes in order; see the package for the contract."""
    n_children = np.broadcast_to(n_children, first_child.shape)
    by_level = levels(first_child, n_children, root)
    owner = np.zeros(first_child.size, dtype=np.int64)
    owner[root] = np.arange(root.size)
    for nodes in by_level[:-1]:
        internal = nodes[first_child[nodes] >= 0]
        below = children(first_child, n_children, internal)
        owner[below] = np.repeat(owner[internal], n_children[internal])
    order = np.concatenate(by_level)
    by_tree: NDArray[np.int64] = order[np.argsort(owner[order], kind="stable")]
    return by_tree

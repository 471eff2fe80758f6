"""`tree_`: one fitted tree with the attributes and methods of scikit-learn's `Tree`."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from vtree.arrays import to_numpy
from vtree.errors import InputError
from vtree.predict import leaves
from vtree.tree import Tree, depth, parents

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

NO_CHILD = -1
NO_FEATURE = -2
NO_THRESHOLD = -2.0


class TreeView:
    """A binary tree of M nodes, numbered breadth first, as scikit-learn's users know it.

    Category splits have no threshold (NaN); `children_left` takes the codes that their branch map
    sends to child 0. The arrays are read-only, for the model would not follow a change: see
    `vtree.prune` for smaller trees.
    """

    def __init__(self, tree: Tree, n_features: int, n_classes: Integers) -> None:
        internal = tree.first_child >= 0
        self._tree = tree
        self.n_features = n_features
        self.n_classes = n_classes
        self.n_outputs = n_classes.size
        self.max_n_classes = int(n_classes.max())
        self.node_count = self.capacity = int(tree.feature.size)
        self.max_depth = int(depth(tree).max())
        self.n_leaves = int((~internal).sum())
        first = tree.first_child.astype(np.int64)
        self.children_left: Integers = np.where(internal, first, NO_CHILD)
        self.children_right: Integers = np.where(internal, first + 1, NO_CHILD)
        self.feature: Integers = np.where(internal, tree.feature, NO_FEATURE).astype(np.int64)
        threshold = np.where(tree.kind > 0, np.nan, tree.threshold)
        self.threshold: Floats = np.where(internal, threshold, NO_THRESHOLD)
        self.impurity = tree.impurity
        self.n_node_samples = tree.n_rows.astype(np.int64)
        self.weighted_n_node_samples = tree.weight
        self.missing_go_to_left = (internal & (tree.missing_child == 0)).astype(np.uint8)
        self.value = tree.value.reshape(-1, self.n_outputs, self.max_n_classes)
        for name, field in vars(self).items():
            if isinstance(field, np.ndarray):
                own = field.view()  # some are the model's own
                own.flags.writeable = False
                setattr(self, name, own)

    def apply(self, X: Any) -> Integers:
        """Return the leaf of each row, (N,)."""
        return leaves(self._tree, _dense(X))[:, 0].astype(np.int64)

    def predict(self, X: Any) -> Floats:
        """Return class shares or means, (N, max_n_classes) or (N, outputs, max_n_classes)."""
        value: Floats = self.value[self.apply(X)]
        return value[:, 0] if self.n_outputs == 1 else value

    def decision_path(self, X: Any) -> sparse.csr_matrix:
        """Return a matrix (N, M) with a 1 at each node that a row passes."""
        return paths(self._tree, self.apply(X))

    def compute_feature_importances(self, normalize: bool = True) -> Floats:
        """Return each feature's summed decrease of impurity, (F,)."""
        return importances(self._tree, self.n_features, normalize=normalize)

    def compute_node_depths(self) -> Integers:
        """Return each node's depth, the root's being 1, (M,)."""
        return depth(self._tree) + 1


def _dense(X: Any) -> Any:
    return X.toarray() if sparse.issparse(X) else to_numpy(X)


def importances(tree: Tree, n_features: int, *, normalize: bool = True) -> Floats:
    """Return Σ over the nodes that split on a feature of their weighted decrease, (F,)."""
    _ask_statistics(tree)
    internal = np.flatnonzero(tree.first_child >= 0)
    total = np.zeros(n_features)
    np.add.at(total, tree.feature[internal], tree.gain[internal])
    whole = total.sum()
    return total / whole if normalize and whole > 0.0 else total


def _ask_statistics(tree: Tree) -> None:
    """Raise InputError for trees of a slim model file."""
    if not tree.weight.any():
        raise InputError(
            "the model comes from a file that was saved with slim=True, which leaves out what "
            "importances are made of; save it without"
        )


def split_shares(tree: Tree, n_features: int, kind: str) -> Floats:
    """Return each feature's share of the splits' gain or cover, or of their number, (F,)."""
    _ask_statistics(tree)
    internal = np.flatnonzero(tree.first_child >= 0)
    count = np.bincount(tree.feature[internal], minlength=n_features).astype(np.float64)
    each: Floats | None = {"gain": tree.gain, "cover": tree.weight}.get(kind.removeprefix("total_"))
    total = count
    if each is not None:
        total = np.bincount(tree.feature[internal], each[internal], n_features).astype(np.float64)
    if kind in ("gain", "cover"):
        total = total / np.maximum(count, 1.0)
    whole = float(total.sum())
    shares: Floats = total / whole if whole > 0.0 else total
    return shares


def paths(tree: Tree, leaf: Integers) -> sparse.csr_matrix:
    """Return which nodes lie between the root and each row's `leaf`, (N, M)."""
    parent = parents(tree)
    node = leaf.astype(np.int64)
    row = np.arange(leaf.size)
    rows, nodes = [], []
    while node.size:
        rows.append(row)
        nodes.append(node)
        above = parent[node]
        row, node = row[above >= 0], above[above >= 0]
    where = (np.concatenate([*rows, row]), np.concatenate([*nodes, node]))
    ones = np.ones(where[0].size, dtype=np.int64)
    return sparse.csr_matrix((ones, where), shape=(leaf.size, tree.feature.size))

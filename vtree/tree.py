"""`Tree`: decision trees as arrays over nodes, any number of roots.

Children of a node are neighbours: child j of node m is first_child[m] + j, so binary and multiway
trees are one structure. Nodes are numbered breadth first, tree by tree, whatever order they were
grown in; so a parent comes before its children, and a sweep over all nodes needs no recursion.
"""

from __future__ import annotations

import hashlib
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

THRESHOLD, SUBSET, MULTIWAY = 0, 1, 2


class Tree(NamedTuple):
    """M nodes of T trees as NumPy arrays; K values a node (outputs times classes)."""

    feature: NDArray[np.int32]  # (M,) −1 at leaves
    kind: NDArray[np.int8]  # (M,) THRESHOLD (leaves too), SUBSET, MULTIWAY
    bin: NDArray[np.int32]  # (M,) codes up to this one go to child 0
    threshold: NDArray[np.float64]  # (M,) values up to this one go to child 0
    first_child: NDArray[np.int32]  # (M,) −1 at leaves
    n_children: NDArray[np.int32]  # (M,) 0 at leaves
    missing_child: NDArray[np.int32]  # (M,) the branch of a missing value, −1: it stays here
    map_offset: NDArray[np.int64]  # (M,) start in branch_map, −1: none
    branch_map: NDArray[Any]  # (P,) child number of each code, node after node, see `child_dtype`
    value: NDArray[np.float64]  # (M, K) class shares or means
    weight: NDArray[np.float64]  # (M,) sum of sample weights
    n_rows: NDArray[np.int64]  # (M,)
    impurity: NDArray[np.float64]  # (M,)
    gain: NDArray[
        np.float64
    ]  # (M,) decrease of impurity, times weight over the root's; 0 at leaves
    root: NDArray[np.int32]  # (T,)


def child_dtype(n_children: int) -> type[np.unsignedinteger[Any]]:
    """Return the dtype of branch maps with numbers below `n_children`: uint8, or else uint16."""
    return np.uint8 if n_children <= 256 else np.uint16


def depth(tree: Tree) -> NDArray[np.int64]:
    """Return each node's distance from its root, (M,)."""
    depths = np.zeros(tree.feature.size, dtype=np.int64)
    for nodes in levels(tree.first_child, tree.n_children, tree.root):
        internal = nodes[tree.first_child[nodes] >= 0]
        depths[children(tree.first_child, tree.n_children, internal)] = np.repeat(
            depths[internal] + 1, tree.n_children[internal]
        )
    return depths


def parents(tree: Tree) -> NDArray[np.int64]:
    """Return each node's parent, (M,), −1 at roots."""
    parent = np.full(tree.feature.size, -1, dtype=np.int64)
    internal = np.flatnonzero(tree.first_child >= 0)
    parent[children(tree.first_child, tree.n_children, internal)] = np.repeat(
        internal, tree.n_children[internal]
    )
    return parent


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


def canonical(tree: Tree) -> Tree:
    """Return the same trees with nodes renumbered and unreachable nodes dropped."""
    return collapse(tree, tree.first_child >= 0)


def collapse(tree: Tree, internal: NDArray[np.bool_]) -> Tree:
    """Return the trees in which only nodes marked `internal` (M,) keep their children."""
    first_child = np.where(internal, tree.first_child, -1).astype(np.int32)
    order = _breadth_first(first_child, tree.n_children, tree.root)
    number = np.full(tree.feature.size, -1, dtype=np.int64)
    number[order] = np.arange(order.size)
    keeps = internal[order]
    first = first_child[order]
    offset, branch_map = _repack(tree, order[keeps])
    map_offset = np.full(order.size, -1, dtype=np.int64)
    map_offset[keeps] = offset

    def of_split(array: NDArray[Any], at_leaf: float) -> NDArray[Any]:
        return np.where(keeps, array[order], at_leaf).astype(array.dtype)

    return tree._replace(
        feature=of_split(tree.feature, -1),
        kind=of_split(tree.kind, THRESHOLD),
        bin=of_split(tree.bin, 0),
        threshold=of_split(tree.threshold, 0.0),
        first_child=np.where(first >= 0, number[first], -1).astype(np.int32),
        n_children=of_split(tree.n_children, 0),
        missing_child=of_split(tree.missing_child, -1),
        map_offset=map_offset,
        branch_map=branch_map,
        value=tree.value[order],
        weight=tree.weight[order],
        n_rows=tree.n_rows[order],
        impurity=tree.impurity[order],
        gain=of_split(tree.gain, 0.0),
        root=number[tree.root].astype(np.int32),
    )


def _breadth_first(
    first_child: NDArray[np.int32], n_children: NDArray[np.int32], root: NDArray[np.int32]
) -> NDArray[np.int64]:
    """Return the reachable nodes tree by tree, each tree breadth first."""
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


def _repack(tree: Tree, nodes: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.uint8]]:
    """Return (map_offset of `nodes`, branch_map) with their maps back to back, in their order."""
    starts = np.sort(tree.map_offset[tree.map_offset >= 0])  # maps lie back to back in `tree` too
    old = tree.map_offset[nodes]
    mapped = old >= 0
    ends = np.append(starts[1:], tree.branch_map.size)
    length = np.zeros(nodes.size, dtype=np.int64)
    length[mapped] = ends[np.searchsorted(starts, old[mapped])] - old[mapped]
    offset = np.where(mapped, np.cumsum(length) - length, -1)
    within = np.arange(length.sum()) - np.repeat(np.cumsum(length) - length, length)
    return offset, tree.branch_map[np.repeat(old, length) + within]


def joined(trees: list[Tree]) -> Tree:
    """Return all trees of several as those of one, in order."""
    fields: dict[str, Any] = {
        name: np.concatenate([getattr(tree, name) for tree in trees]) for name in Tree._fields
    }
    nodes = np.cumsum([0] + [tree.feature.size for tree in trees])
    maps = np.cumsum([0] + [tree.branch_map.size for tree in trees])
    for name, before in (("root", nodes), ("first_child", nodes), ("map_offset", maps)):
        own = [getattr(tree, name) for tree in trees]
        moved = [
            np.where(a >= 0, a + b, a).astype(a.dtype)
            for a, b in zip(own, before[:-1], strict=True)
        ]
        fields[name] = np.concatenate(moved)
    return Tree(**fields)


def one_tree(tree: Tree, number: int) -> Tree:
    """Return tree `number` alone, of trees whose nodes stand together, as after `canonical`."""
    return _some_trees(tree, number, number + 1)


def first_trees(tree: Tree, count: int) -> Tree:
    """Return the first trees of several whose nodes stand tree after tree."""
    return tree if count >= tree.root.size else _some_trees(tree, 0, count)


def _some_trees(tree: Tree, first: int, last: int) -> Tree:
    ends = np.append(tree.root, tree.feature.size)
    begin, end = int(ends[first]), int(ends[last])
    own = {name: array[begin:end] for name, array in tree._asdict().items()}
    offset = own["map_offset"]
    # Maps lie back to back in the order of their nodes.
    unmapped = tree.branch_map.size
    from_map, to_map = (
        int(later[later >= 0].min(initial=unmapped))
        for later in (tree.map_offset[begin:], tree.map_offset[end:])
    )
    own["map_offset"] = np.where(offset >= 0, offset - from_map, -1)
    below = own["first_child"]
    own["first_child"] = np.where(below >= 0, below - begin, -1).astype(np.int32)
    own["root"] = (tree.root[first:last] - begin).astype(np.int32)
    own["branch_map"] = tree.branch_map[from_map:to_map]
    return Tree(**own)


def sum_upward(tree: Tree, own: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return, per node, its own number plus those of all nodes below it, (M,)."""
    total = own.astype(np.float64, copy=True)
    parent = parents(tree)
    for nodes in reversed(levels(tree.first_child, tree.n_children, tree.root)[1:]):
        # `nodes` hold siblings in order, so the order of additions is fixed: first child first.
        np.add.at(total, parent[nodes], total[nodes])
    return total


def fingerprint(tree: Tree) -> str:
    """Return the SHA-256 of the canonical arrays, names, dtypes and shapes included, in hex."""
    sha = hashlib.sha256()
    for name, array in tree._asdict().items():
        little = np.ascontiguousarray(array).astype(array.dtype.newbyteorder("<"), copy=False)
        sha.update(f"{name} {little.dtype.str} {little.shape};".encode())
        sha.update(little.tobytes())
    return sha.hexdigest()

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

from vtree_kernels import own_pages
from vtree_kernels.breadth_first import breadth_first
from vtree_kernels.breadth_first import children as children
from vtree_kernels.breadth_first import levels as levels

THRESHOLD, SUBSET, MULTIWAY = 0, 1, 2


class Tree(NamedTuple):
    """M nodes of T trees as NumPy arrays; K values a node (outputs times classes)."""

    feature: NDArray[np.int32]  # (M,) −1 at leaves
    kind: NDArray[np.int8]  # (M,) THRESHOLD (leaves too), SUBSET, MULTIWAY
    bin: NDArray[Any]  # (M,) uint8, uint16 or int32: codes up to this one go to child 0
    threshold: NDArray[np.float64]  # (M,) values up to this one go to child 0
    first_child: NDArray[np.int32]  # (M,) −1 at leaves
    n_children: NDArray[Any]  # (M,) int8 or int32, see `narrow`: 0 at leaves
    missing_child: NDArray[Any]  # (M,) of its dtype: the branch of missing values, −1: they stay
    map_offset: NDArray[Any]  # (M,) int32 or int64: start in branch_map, −1: none
    branch_map: NDArray[Any]  # (P,) child number of each code, node after node, see `child_dtype`
    value: NDArray[np.float64]  # (M, K) class shares or means
    weight: NDArray[np.float64]  # (M,) sum of sample weights
    n_rows: NDArray[Any]  # (M,) int32 or int64
    impurity: NDArray[np.float64]  # (M,)
    gain: NDArray[
        np.float64
    ]  # (M,) decrease of impurity, times weight over the root's; 0 at leaves
    root: NDArray[np.int32]  # (T,)


def child_dtype(n_children: int) -> type[np.unsignedinteger[Any]]:
    """Return the dtype of branch maps with numbers below `n_children`: uint8, or else uint16."""
    return np.uint8 if n_children <= 256 else np.uint16


# Fields that are kept in fewer bytes where they fit; a fingerprint takes them in these.
WIDE: dict[str, type[np.signedinteger[Any]]] = {
    **dict.fromkeys(("bin", "n_children", "missing_child"), np.int32),
    **dict.fromkeys(("map_offset", "n_rows"), np.int64),
}
_MOST_OF_1, _MOST_OF_2, _MOST = (int(np.iinfo(own).max) for own in (np.uint8, np.uint16, np.int32))


def narrow(tree: Tree) -> Tree:
    """Return the trees with bins, branches and counts in as few bytes as they take.

    Seventeen fewer a node of most trees: 68 with two classes.
    """
    child = np.int8 if int(tree.n_children.max(initial=0)) <= _MOST_OF_1 // 2 else np.int32
    rows = np.int32 if int(tree.n_rows.max(initial=0)) <= _MOST else np.int64
    return tree._replace(
        bin=tree.bin.astype(_codes(int(tree.bin.max(initial=0))), copy=False),
        n_children=tree.n_children.astype(child, copy=False),
        missing_child=tree.missing_child.astype(child, copy=False),
        map_offset=tree.map_offset.astype(_offsets(tree.branch_map.size), copy=False),
        n_rows=tree.n_rows.astype(rows, copy=False),
    )


def _codes(most: int) -> type[np.integer[Any]]:
    """Return the dtype of numbers of bins up to `most`."""
    if most > _MOST_OF_2:
        return np.int32
    return np.uint8 if most <= _MOST_OF_1 else np.uint16


def _offsets(size: int) -> type[np.signedinteger[Any]]:
    """Return the dtype of offsets in branch maps of `size` entries."""
    return np.int32 if size <= _MOST else np.int64


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


def canonical(tree: Tree) -> Tree:
    """Return the same trees with nodes renumbered and unreachable nodes dropped."""
    return collapse(tree, tree.first_child >= 0)


def is_in_order(tree: Tree) -> bool:
    """Tell whether nodes stand as in a canonical tree, none unreachable and none with a map."""
    if tree.branch_map.size:
        return False
    order = breadth_first(tree.first_child, tree.n_children, tree.root)
    return order.size == tree.feature.size and bool((order[1:] > order[:-1]).all())


def collapse(tree: Tree, internal: NDArray[np.bool_]) -> Tree:
    """Return the trees in which only nodes marked `internal` (M,) keep their children."""
    first_child = np.where(internal, tree.first_child, -1).astype(np.int32)
    order = breadth_first(first_child, tree.n_children, tree.root)
    number = np.full(tree.feature.size, -1, dtype=np.int64)
    number[order] = np.arange(order.size)
    keeps = internal[order]
    first = first_child[order]
    map_offset, branch_map = repacked(tree.map_offset, tree.branch_map, order, keeps)

    def of_split(array: NDArray[Any], at_leaf: float) -> NDArray[Any]:
        kept: NDArray[Any] = np.where(keeps, array[order], array.dtype.type(at_leaf))
        return kept

    kept = tree._replace(
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
    return narrow(kept)


def repacked(
    map_offset: NDArray[np.int64],
    branch_map: NDArray[Any],
    nodes: NDArray[np.int64],
    keeps: NDArray[np.bool_],
) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return (map_offset, branch_map) of `nodes` in their order, their maps back to back.

    keeps: which of them keep theirs.
    """
    offset = np.full(nodes.size, -1, dtype=_offsets(branch_map.size))
    if not branch_map.size:
        return offset, branch_map
    starts = np.sort(map_offset[map_offset >= 0])  # maps lie back to back in `branch_map`, too
    mapped = np.flatnonzero(keeps & (map_offset[nodes] >= 0))
    old = map_offset[nodes[mapped]]
    ends = np.append(starts[1:], branch_map.size)
    length = ends[np.searchsorted(starts, old)] - old
    offset[mapped] = before = np.cumsum(length) - length
    within = np.arange(length.sum()) - np.repeat(before, length)
    return offset, branch_map[np.repeat(old, length) + within]


def joined(trees: list[Tree]) -> Tree:
    """Return all trees of several as those of one, in order."""
    nodes = np.cumsum([0] + [tree.feature.size for tree in trees])
    maps = np.cumsum([0] + [tree.branch_map.size for tree in trees])
    trees = [_with_offsets(tree, int(maps[-1])) for tree in trees]
    fields: dict[str, Any] = {
        name: np.concatenate([getattr(tree, name) for tree in trees]) for name in Tree._fields
    }
    for name, before in (("root", nodes), ("first_child", nodes), ("map_offset", maps)):
        own = [getattr(tree, name) for tree in trees]
        moved = [
            np.where(a >= 0, a + b, a).astype(a.dtype)
            for a, b in zip(own, before[:-1], strict=True)
        ]
        fields[name] = np.concatenate(moved)
    return Tree(**fields)


def _with_offsets(tree: Tree, size: int) -> Tree:
    """Return the trees with offsets that reach as far as branch maps of `size` entries."""
    dtype = np.result_type(tree.map_offset, _offsets(size))
    return tree._replace(map_offset=tree.map_offset.astype(dtype, copy=False))


class Gathering:
    """Trees that come one after another, put into the arrays of one as they come.

    So none of them is held twice. Room for trees to come is reserved by those before; pages that
    nothing is written to are never taken. They are usual ones, where NumPy asks for large pages: of
    these each field would hold one that is written in part.
    """

    def __init__(self, n_trees: int) -> None:
        """Expect about `n_trees` trees."""
        self._n_trees = n_trees
        self._arrays: dict[str, NDArray[Any]] = {}
        self._used = dict.fromkeys(Tree._fields, 0)

    def add(self, tree: Tree) -> int:
        """Append all trees of `tree`; return how many they are."""
        nodes, maps = self._used["feature"], self._used["branch_map"]
        before = {"root": nodes, "first_child": nodes}
        if tree.branch_map.size:
            before["map_offset"] = maps
        left = max(0, self._n_trees - self._used["root"])
        tree = _with_offsets(tree, maps + tree.branch_map.size)
        for name, own in tree._asdict().items():
            used = self._used[name]
            whole = self._arrays.get(name)
            if whole is None or used + len(own) > len(whole) or whole.dtype < own.dtype:
                whole = self._arrays[name] = self._roomier(name, own, left / tree.root.size)
            place = whole[used : used + len(own)]
            place[...] = own
            if before.get(name):  # by arithmetic: to tell places apart takes twice as long
                place += place.dtype.type(before[name]) * (place >= 0)
            self._used[name] = used + len(own)
        return tree.root.size

    def _roomier(self, name: str, own: NDArray[Any], left: float) -> NDArray[Any]:
        """Return the array of a field with room for `left` times as many as in `own`, and more."""
        used, before = self._used[name], self._arrays.get(name, own[:0])
        room = used + max(len(own), int(1.1 * left * len(own)))
        shape, dtype = (room, *own.shape[1:]), np.result_type(before, own)
        whole = own_pages({name: (shape, dtype)})[name]
        whole[:used] = before[:used]
        return whole

    def so_far(self) -> Tree:
        """Return a copy of the trees so far."""
        return Tree(**{name: own[: self._used[name]].copy() for name, own in self._arrays.items()})

    def whole(self) -> Tree:
        """Return the trees, after which none can be added."""
        for name, own in self._arrays.items():
            used = self._used[name]
            if own.base is None:  # not on pages of its own
                own.resize((used, *own.shape[1:]), refcheck=False)
            self._arrays[name] = own[:used]
        return Tree(**self._arrays)


def one_tree(tree: Tree, number: int) -> Tree:
    """Return tree `number` alone, of trees whose nodes stand together, as after `canonical`."""
    return some_trees(tree, number, number + 1)


def first_trees(tree: Tree, count: int) -> Tree:
    """Return the first trees of several whose nodes stand tree after tree."""
    return tree if count >= tree.root.size else some_trees(tree, 0, count)


def some_trees(tree: Tree, first: int, last: int) -> Tree:
    """Return trees first … last − 1 of several whose nodes stand tree after tree."""
    ends = np.append(tree.root, tree.feature.size)
    begin, end = int(ends[first]), int(ends[last])
    own = {name: array[begin:end] for name, array in tree._asdict().items()}
    below = own["first_child"]
    own["first_child"] = np.where(below >= 0, below - begin, -1).astype(np.int32)
    own["root"] = (tree.root[first:last] - begin).astype(np.int32)
    if not tree.branch_map.size:
        return Tree(**own)
    offset = own["map_offset"]
    # Maps lie back to back in the order of their nodes.
    unmapped = tree.branch_map.size
    from_map, to_map = (
        int(later[later >= 0].min(initial=unmapped))
        for later in (tree.map_offset[begin:], tree.map_offset[end:])
    )
    own["map_offset"] = np.where(offset >= 0, offset - from_map, -1)
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
    """Return the SHA-256 of the canonical arrays, names, dtypes and shapes included, in hex.

    Fields that may be narrow count as what they are in `WIDE`.
    """
    sha = hashlib.sha256()
    for name, array in tree._asdict().items():
        wide = WIDE.get(name) if array.dtype.kind in "iu" else None
        dtype = np.dtype(wide or array.dtype).newbyteorder("<")
        little = np.ascontiguousarray(array).astype(dtype, copy=False)
        sha.update(f"{name} {little.dtype.str} {little.shape};".encode())
        sha.update(little.tobytes())
    return sha.hexdigest()

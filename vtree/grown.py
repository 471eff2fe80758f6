"""`Grown`: the nodes of trees while they grow, in the order they were made."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from vtree import arrays
from vtree.arrays import Array
from vtree.histogram import Rows
from vtree.targets import Targets
from vtree.tree import children
from vtree_kernels import own_pages
from vtree_kernels.breadth_first import breadth_first
from vtree_kernels.histogram import packed_sums
from vtree_kernels.offspring import Family, offspring
from vtree_kernels.segment_sums import segment_sums

Integers = NDArray[np.int64]

_BLOCK = 1 << 16  # rows whose statistics are summed at a time, so that little is copied
_LEAST_ROOM = 64  # nodes


class Grown(NamedTuple):
    """M nodes in the order they were made, children of a node next to each other.

    Where nodes have grown all that is below them by themselves, `start`, `stop`, `depth`,
    `parent` and `first_child` are int32.
    """

    tree: Integers  # (M,) number of the root
    parent: Integers  # (M,) −1 at roots
    depth: Integers  # (M,)
    key: NDArray[np.uint64]  # (M,) the path from the root, hashed
    start: Integers  # (M,) its rows are order[start : stop]
    stop: Integers
    total: Integers  # (M, S)
    lower: NDArray[np.float64]  # (M,) bounds of its center
    upper: NDArray[np.float64]
    feature: NDArray[np.int32]  # (M,) −1: no split was looked for, or none is legal
    kind: NDArray[np.int8]
    bin: NDArray[np.int32]
    threshold: NDArray[np.float64]
    gain: NDArray[np.float64]  # −inf where feature is −1
    missing_child: NDArray[np.int32]
    map_offset: Integers  # (M,) −1: none
    n_children: NDArray[np.int32]  # (M,) of the split that was found, 0 without one
    branch_offset: Integers  # (M,) its children's statistics among `Branches.total`
    first_child: Integers  # (M,) −1: not split (yet)


class Branches(NamedTuple):
    """What the splits found so far say of their branches, split after split."""

    map: NDArray[Any]  # (P,) child number of each code
    total: Integers  # (C, S) statistics of each child


def no_branches(n_statistics: int) -> Branches:
    """Return those of no split."""
    return Branches(np.empty(0, np.uint8), np.empty((0, n_statistics), np.int64))


# What a new node has of each field, unless it is told.
_NEW = {
    **dict.fromkeys(("tree", "depth", "start", "stop", "kind", "bin", "n_children"), 0),
    **dict.fromkeys(("parent", "feature", "missing_child", "map_offset"), -1),
    **dict.fromkeys(("branch_offset", "first_child"), -1),
    **{"key": 0, "total": 0, "threshold": 0.0},
    **{"lower": -np.inf, "upper": np.inf, "gain": -np.inf},
}
_KINDS: dict[str, Any] = {
    **dict.fromkeys(("feature", "bin", "missing_child", "n_children"), np.int32),
    **dict.fromkeys(("lower", "upper", "threshold", "gain"), np.float64),
    **{"key": np.uint64, "kind": np.int8},
}

# As bytes, which nobody can write to.
_HELD_ONCE = {
    name: np.asarray(value, dtype=_KINDS.get(name, np.int64)).tobytes()
    for name, value in _NEW.items()
}

_OF_GROWTH = ("parent", "depth", "key", "branch_offset")


def blank(count: int, n_statistics: int) -> Grown:
    """Return `count` nodes without rows."""
    fields = {name: alike(name, count).copy() for name in _NEW if name != "total"}
    return Grown(**fields, total=np.zeros((count, n_statistics), np.int64))


def alike(name: str, count: int) -> NDArray[Any]:
    """Return a field of `count` nodes that all have what new ones have, held once."""
    dtype = _KINDS.get(name, np.int64)
    return np.ndarray(count, dtype, _HELD_ONCE[name], strides=(0,))


def _with_room(grown: Grown, room: Grown | None, count: int) -> Grown:
    """Return arrays that begin with `grown` and have room for `count` new nodes or more behind.

    room: those that `grown` is the beginning of, if there are any.
    """
    needed = grown.feature.size + count
    if room is not None and room.feature.size >= needed:
        return room
    room = blank(max(2 * needed, _LEAST_ROOM), grown.total.shape[1])
    for name, own in grown._asdict().items():
        getattr(room, name)[: own.shape[0]] = own
    return room


def plant(start: Integers, total: Integers, keys: NDArray[np.uint64]) -> Grown:
    """Return the roots, one a segment of rows, with their totals (T, S)."""
    grown = blank(*total.shape)
    return grown._replace(
        tree=np.arange(start.size - 1),
        key=keys,
        start=start[:-1],
        stop=start[1:],
        total=total,
    )


def rows_of_roots(roots: Sequence[Array]) -> Array:
    """Return the row numbers of trees one after another, int32, a copy of them."""
    if arrays.is_numpy(roots[0]):
        return np.concatenate(roots, dtype=np.int32)
    return arrays.namespace(roots[0]).concat(roots)


def order_of(rows: Array, n_trees: int, codes: Array) -> Array:
    """Return the roots' rows where the codes are; all rows in their order need not go there."""
    n_rows = codes.shape[0]
    if not arrays.is_numpy(rows):
        return rows
    if arrays.is_numpy(codes) or not _are_all(rows, n_trees, n_rows):
        return arrays.like(rows, codes)
    xp = arrays.namespace(codes)
    return xp.arange(n_rows, dtype=xp.int32, device=arrays.device(codes))


def root_totals(
    start: Integers, targets: Targets, rows: Array, there: Rows, order: Array
) -> Integers:
    """Return the statistics (T, S) of roots, one a segment of `rows`.

    there, order: statistics and rows once more, where the codes are, for what lies nowhere else.
    """
    layout = targets.layout
    total = np.zeros((start.size - 1, layout.n_statistics), dtype=np.int64)
    total[:, 0] = np.diff(start)
    if not targets.on_host:
        weight = [] if there.weight is None else [there.weight[:, None]]
        own = arrays.namespace(order).concat([*weight, there.sums], axis=1)
        total[:, 1:] = arrays.to_numpy(segment_sums(own, order, start[:-1], start[1:]))
        return total
    if targets.packed is not None:
        total[:, 1:] = packed_sums(rows, start[:-1], start[1:], targets.packed)
    all_rows = _are_all(rows, start.size - 1, len(targets.label))
    for root, (a, z) in enumerate(pairwise(start.tolist())):
        for first in range(a, z, _BLOCK):
            block = slice(first, min(first + _BLOCK, z))
            _add_rows(total[root], targets, block if all_rows else rows[block])
    return total


def _add_rows(total: Integers, targets: Targets, rows: NDArray[Any] | slice) -> None:
    """Add the statistics of some rows, but for their number, to `total` (S,)."""
    layout = targets.layout
    weight = None if targets.weight is None else targets.weight[rows]
    if weight is not None:
        total[1] += weight.sum()
        weight = weight.astype(np.float64)  # exact, as all sums
    for output, own in enumerate(targets.sums[rows].T):
        total[layout.first + output] += own.sum()
    for own in targets.label[rows].T:
        total += np.bincount(own, weight, layout.n_statistics).astype(np.int64)


def _are_all(rows: NDArray[np.int32], n_trees: int, n_rows: int) -> bool:
    """Tell whether the rows of trees are all of a table, ascending; one tree has none twice."""
    return rows.size == n_rows if n_trees == 1 else _is_every_one(rows, n_rows)


def _is_every_one(rows: NDArray[Any], n_rows: int) -> bool:
    """Tell whether numbers are all below `n_rows`, ascending: most trees have all rows."""
    return rows.size == n_rows and bool((rows == np.arange(n_rows, dtype=rows.dtype)).all())


def branch_totals(grown: Grown, branches: Branches, chosen: Integers) -> Integers:
    """Return the statistics (C, S) of the branches of `chosen` nodes, node after node."""
    total: Integers = branches.total[children(grown.branch_offset, grown.n_children, chosen)]
    return total


def with_children(
    grown: Grown, room: Grown | None, chosen: Integers, total: Integers
) -> tuple[Grown, Grown, Integers]:
    """Return (nodes with the children of `chosen` appended, their room, the children).

    total (C, S): the children's statistics, node after node. Their rows stand in this order in the
    node's segment; what is left of it stays with the node. room: arrays, blank behind, that `grown`
    is the beginning of; None before the first call.
    """
    before, count = grown.feature.size, total.shape[0]
    room = _with_room(grown, room, count)
    joined = Grown._make(field[: before + count] for field in room)
    offspring(chosen, before, total, Family(*(getattr(joined, name) for name in Family._fields)))
    return joined, room, np.arange(before, before + count)


def breadth_first_of(grown: Grown, n_trees: int) -> tuple[Grown, Integers, Integers]:
    """Return (the nodes that can be reached, tree by tree, their numbers in `grown`, the roots).

    Each tree is in order of its levels; the first nodes of `grown` are the roots. What only growth
    asks for is forgotten.
    """
    old_root = np.arange(n_trees)
    if n_trees == 1 and _is_breadth_first(grown):
        return grown, np.arange(grown.feature.size), old_root
    order = breadth_first(grown.first_child, grown.n_children, old_root)
    number = np.full(grown.feature.size + 1, -1)  # one more for what is no node, −1
    number[order] = np.arange(order.size)
    fields: dict[str, Any] = {name: alike(name, order.size) for name in _OF_GROWTH}
    others = {name: own for name, own in grown._asdict().items() if name not in fields}
    apart = {name: own for name, own in others.items() if own.strides[0]}
    fields |= {name: own[: order.size] for name, own in others.items() if name not in apart}
    fields |= own_pages(
        {name: ((order.size, *own.shape[1:]), own.dtype) for name, own in apart.items()}
    )
    for name, own in apart.items():
        np.take(own, order, axis=0, out=fields[name], mode="clip")
    fields["first_child"][...] = number[fields["first_child"]]
    return Grown(**fields), order, number[old_root]


def _is_breadth_first(grown: Grown) -> bool:
    """Tell whether the nodes of one tree stand in the order of its levels, none out of reach."""
    parent, n_nodes = grown.parent, grown.feature.size
    # Then parents ascend, and each node is one of the children that there are.
    if n_nodes > 1 and (parent[1] < 0 or (parent[2:] < parent[1:-1]).any()):
        return False
    return int((grown.n_children * (grown.first_child >= 0)).sum()) == n_nodes - 1


def used_features(grown: Grown, nodes: Integers, n_features: int) -> NDArray[np.bool_]:
    """Return which features the splits above `nodes` use, (L, F)."""
    used = np.zeros((nodes.size, n_features), dtype=np.bool_)
    above = grown.parent[nodes]
    while (inside := np.flatnonzero(above >= 0)).size:
        used[inside, grown.feature[above[inside]]] = True
        above = np.where(above >= 0, grown.parent[above], -1)
    return used

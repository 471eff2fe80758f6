"""Growth: the loop that turns binned rows into trees.

    while an order asks for nodes to split:
        route their rows  →  their children are the frontier
        histograms  →  best splits of the frontier

Everything that tells one system from another comes in as a function or a small NamedTuple: the
criterion and the limits of a split (`Search`), what stops a node (`Stops`), which nodes to split
next (`Order`). One frontier holds the nodes of all roots, so many trees grow in the same calls.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from vtree import arrays, draws
from vtree.arrays import Array
from vtree.binning import Bins
from vtree.constraints import children_bounds
from vtree.histogram import (
    DEFAULT_BUDGET,
    Rows,
    Segments,
    build,
    build_level,
    check_budget,
    node_bytes,
    nodes_that_fit,
    rows_of,
)
from vtree.purity import impure
from vtree.splits import (
    Found,
    NodeRows,
    Nodes,
    Search,
    Splits,
    best_splits,
    joined_splits,
)
from vtree.targets import Targets
from vtree_kernels.route import route

Integers = NDArray[np.int64]


class Stops(NamedTuple):
    """When a node stays a leaf, besides being pure or without a legal split."""

    max_depth: int | None = None
    min_rows_split: int = 2
    min_gain: float = -np.inf  # the least total decrease of a split


class Grown(NamedTuple):
    """M nodes in the order they were made, children of a node next to each other."""

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
    left: Integers  # (M, S)
    map_offset: Integers  # (M,) −1: none
    first_child: Integers  # (M,) −1: not split (yet)


# order(grown) → the nodes to split now, or none when the trees are done
Order = Callable[[Grown], Integers]


class Plan(NamedTuple):
    """All that growth needs to know besides the data."""

    search: Search
    stops: Stops = Stops()
    budget: int = DEFAULT_BUDGET


def level_order(grown: Grown) -> Integers:
    """Split every node that has a split."""
    return np.flatnonzero((grown.feature >= 0) & (grown.first_child < 0))


class _Kept(NamedTuple):
    """The histograms of the last round's nodes, from which their children's are derived."""

    hists: list[Array | None]  # one a group, (L, G, B, S); None where none is needed
    nodes: Integers  # (L,) whose they are


def grow(
    bins: Bins,
    targets: Targets,
    plan: Plan,
    order: Order = level_order,
    roots: Sequence[NDArray[np.int64]] | None = None,
) -> tuple[Grown, NDArray[np.int32], NDArray[np.uint8]]:
    """Grow one tree a root.

    Parameters
    ----------
    bins : the binned table, N rows
    targets : the rows' statistics
    plan : what to search, when to stop, how much memory to use
    order : which nodes to split next
    roots : row numbers of each tree, ascending; None for one tree of all rows

    Returns
    -------
    (grown, rows, branch_map) : the nodes, the row numbers that their segments refer to, and the
        branch maps of subset splits back to back

    Raises
    ------
    MemoryBudgetError
        If the histogram of a single node exceeds the budget.
    """
    check_budget(bins, targets.layout, plan.budget)
    rows = rows_of(targets, bins.groups[0].codes)
    if roots is None:
        roots = [np.arange(bins.n_rows)]
    start = np.cumsum([0] + [len(root) for root in roots])
    order_of_rows = arrays.like(np.concatenate(roots), bins.groups[0].codes, dtype=np.int32)
    grown = _plant(start, targets, order_of_rows)
    frontier = np.arange(len(roots))
    branch_maps: list[NDArray[np.uint8]] = []
    kept: _Kept | None = None
    while frontier.size:
        wanted = _may_split(grown, frontier, order_of_rows, targets, plan)
        if wanted.size:
            splits, nodes, kept = _search(grown, wanted, kept, order_of_rows, bins, rows, plan)
            _write(grown, nodes, splits, plan.stops, branch_maps)
        chosen = order(grown)
        chosen = chosen[np.argsort(grown.start[chosen])]
        order_of_rows = _route(grown, chosen, order_of_rows, bins, branch_maps)
        grown, frontier = _with_children(grown, chosen, order_of_rows, targets, plan.search)
    return grown, arrays.to_numpy(order_of_rows), _joined(branch_maps)


def _joined(branch_maps: list[NDArray[np.uint8]]) -> NDArray[np.uint8]:
    return np.concatenate([*branch_maps, np.empty(0, dtype=np.uint8)])


def _nodes(count: int, n_statistics: int) -> Grown:
    """Return `count` blank nodes."""
    whole = np.zeros(count, dtype=np.int64)
    planes = np.zeros((count, n_statistics), dtype=np.int64)
    nothing = np.full(count, -1)
    return Grown(
        tree=whole,
        parent=nothing,
        depth=whole.copy(),
        key=np.zeros(count, dtype=np.uint64),
        start=whole.copy(),
        stop=whole.copy(),
        total=planes,
        lower=np.full(count, -np.inf),
        upper=np.full(count, np.inf),
        feature=nothing.astype(np.int32),
        kind=np.zeros(count, dtype=np.int8),
        bin=np.zeros(count, dtype=np.int32),
        threshold=np.zeros(count),
        gain=np.full(count, -np.inf),
        missing_child=nothing.astype(np.int32),
        left=planes.copy(),
        map_offset=nothing.copy(),
        first_child=nothing.copy(),
    )


def _plant(start: Integers, targets: Targets, order: Array) -> Grown:
    """Return the roots, one a segment of `order`, with their totals."""
    layout = targets.layout
    grown = _nodes(start.size - 1, layout.n_statistics)
    rows = arrays.to_numpy(order)
    total = np.zeros((start.size - 1, layout.n_statistics), dtype=np.int64)
    total[:, 0] = np.diff(start)
    weight = None if targets.weight is None else targets.weight[rows]
    if weight is not None:
        total[:, 1] = np.add.reduceat(weight, start[:-1])
    for output in range(targets.sums.shape[1]):
        sums = np.add.reduceat(targets.sums[rows, output], start[:-1])
        total[:, layout.first + output] = sums
    for output in range(targets.label.shape[1]):
        label = targets.label[rows, output]
        for root, (a, z) in enumerate(pairwise(start.tolist())):
            own = None if weight is None else weight[a:z].astype(np.float64)  # exact, as all sums
            total[root] += np.bincount(label[a:z], own, layout.n_statistics).astype(np.int64)
    return grown._replace(
        tree=np.arange(start.size - 1),
        key=np.atleast_1d(draws.mix(np.arange(start.size - 1))),
        start=start[:-1],
        stop=start[1:],
        total=total,
    )


def _may_split(
    grown: Grown, frontier: Integers, order: Array, targets: Targets, plan: Plan
) -> Integers:
    """Return the nodes of the frontier that are worth a search."""
    stops, limits, weight = plan.stops, plan.search.limits, targets.layout.weight
    n_rows, weights = grown.total[frontier, 0], grown.total[frontier, weight]
    may = n_rows >= max(stops.min_rows_split, 2 * limits.min_rows)
    may &= weights >= 2.0 * limits.min_weight
    if stops.max_depth is not None:
        may &= grown.depth[frontier] < stops.max_depth
    frontier = frontier[may]
    mixed = impure(
        grown.total[frontier], grown.start[frontier], grown.stop[frontier], order, targets
    )
    return frontier[mixed]


def _search(
    grown: Grown,
    wanted: Integers,
    kept: _Kept | None,
    order: Array,
    bins: Bins,
    rows: Rows,
    plan: Plan,
) -> tuple[Splits, Integers, _Kept | None]:
    """Return (splits, the nodes they belong to, histograms to derive their children's from)."""
    all_groups = node_bytes(bins, rows.layout)
    # Keeping a level for its children pays while it is small: parents, children and the search's
    # results are held together then. Wider levels are built in slices, as fast and in less memory.
    if 6 * all_groups * wanted.size > plan.budget:
        return _search_in_slices(grown, wanted, order, bins, rows, plan), wanted, None
    segments, nodes = _segments(grown, wanted, kept)
    request = _request(grown, nodes, order, rows)
    hists: list[Array | None] = []
    found = []
    for g, group in enumerate(bins.groups):
        hist = None
        if plan.search.needs_sums(group):
            previous = None if kept is None else kept.hists[g]
            hist = build_level(group, rows, order, segments, previous)
        hists.append(hist)
        found.append(plan.search.find(group, hist, request, plan.search, bins))
    return best_splits(found, request, plan.search, bins), nodes, _Kept(hists, nodes)


def _search_in_slices(
    grown: Grown, wanted: Integers, order: Array, bins: Bins, rows: Rows, plan: Plan
) -> Splits:
    """Build and search as many nodes at a time as fit, one group of features after another."""
    # Small slices stay nearer to the processor and cost nothing: a slice is many tasks.
    step = nodes_that_fit(bins, rows.layout, plan.budget // 8)
    parts = []
    for first in range(0, wanted.size, step):
        nodes = wanted[first : first + step]
        request = _request(grown, nodes, order, rows)
        found: list[Found] = []
        for group in bins.groups:
            hist = None
            if plan.search.needs_sums(group):
                hist = build(group, rows, order, grown.start[nodes], grown.stop[nodes])
            found.append(plan.search.find(group, hist, request, plan.search, bins))
        parts.append(best_splits(found, request, plan.search, bins))
    return joined_splits(parts)


def _request(grown: Grown, nodes: Integers, order: Array, rows: Rows) -> Nodes:
    return Nodes(
        grown.total[nodes],
        grown.key[nodes],
        grown.lower[nodes],
        grown.upper[nodes],
        NodeRows(order, grown.start[nodes], grown.stop[nodes], rows),
    )


def _segments(grown: Grown, wanted: Integers, kept: _Kept | None) -> tuple[Segments, Integers]:
    """Decide which histograms to build and which to derive from a kept parent.

    Returns (segments, the wanted nodes in the order of their histograms).
    """
    slot = np.full(grown.feature.size + 1, -1)  # one more for the parent of roots, −1
    if kept is not None:
        slot[kept.nodes] = np.arange(kept.nodes.size)
    parent = grown.parent[wanted]
    sibling = np.where(parent < 0, -1, 2 * grown.first_child[parent] + 1 - wanted)
    own_rows = grown.total[wanted, 0]
    fewer = np.where(sibling < 0, 0, grown.total[sibling, 0])
    # Of two equal siblings the first is built.
    larger = (own_rows > fewer) | ((own_rows == fewer) & (wanted > sibling))
    derived = wanted[(slot[parent] >= 0) & larger]
    their_siblings = 2 * grown.first_child[grown.parent[derived]] + 1 - derived
    built = np.setdiff1d(wanted, derived)
    unwanted = np.setdiff1d(their_siblings, built)
    all_built = np.concatenate([unwanted, built])
    place = np.empty(grown.feature.size, dtype=np.int64)
    place[all_built] = np.arange(all_built.size)
    segments = Segments(
        start=grown.start[all_built],
        stop=grown.stop[all_built],
        sibling=place[their_siblings],
        parent_slot=slot[grown.parent[derived]],
        unwanted=unwanted.size,
    )
    return segments, np.concatenate([built, derived])


def _write(
    grown: Grown,
    nodes: Integers,
    splits: Splits,
    stops: Stops,
    branch_maps: list[NDArray[np.uint8]],
) -> None:
    """Store the splits that gain enough, and their branch maps."""
    enough = (splits.feature >= 0) & (splits.gain >= stops.min_gain)
    own = nodes[enough]
    for name in ("feature", "kind", "bin", "threshold", "gain", "missing_child", "left"):
        getattr(grown, name)[own] = getattr(splits, name)[enough]
    used = sum(each.size for each in branch_maps)
    for index, branch_map in splits.child_of_code.items():
        if enough[index]:
            grown.map_offset[nodes[index]] = used
            branch_maps.append(branch_map)
            used += branch_map.size


def _route(
    grown: Grown,
    chosen: Integers,
    order: Array,
    bins: Bins,
    branch_maps: list[NDArray[np.uint8]],
) -> Array:
    """Sort the rows of `chosen` nodes (ascending start) by child."""
    maps = _joined(branch_maps)
    for group in bins.groups:
        own = chosen[np.isin(grown.feature[chosen], group.features)]
        if own.size == 0:
            continue
        order, _ = route(
            order,
            grown.start[own],
            grown.stop[own],
            group.codes,
            np.searchsorted(group.features, grown.feature[own]),
            grown.kind[own],
            grown.bin[own],
            grown.missing_child[own],
            grown.map_offset[own],
            maps,
            2,
        )
    return order


def _with_children(
    grown: Grown, chosen: Integers, order: Array, targets: Targets, search: Search
) -> tuple[Grown, Integers]:
    """Return (nodes with the two children of each chosen node appended, the children)."""
    first = grown.feature.size + 2 * np.arange(chosen.size)
    grown.first_child[chosen] = first
    twice = np.repeat(chosen, 2)
    second = np.tile([0, 1], chosen.size)
    left = grown.left[chosen]
    total = np.stack([left, grown.total[chosen] - left], axis=1).reshape(-1, left.shape[1])
    middle = grown.start[twice] + left[:, 0].repeat(2)
    new = _nodes(twice.size, left.shape[1])._replace(
        tree=grown.tree[twice],
        parent=twice,
        depth=grown.depth[twice] + 1,
        key=draws.child_key(grown.key[twice], second),
        start=np.where(second == 0, grown.start[twice], middle),
        stop=np.where(second == 0, middle, grown.stop[twice]),
        total=total,
    )
    if search.monotone is not None and chosen.size:
        centers = search.criterion.center(total, new.start, new.stop, order, targets)
        ordered = centers[:, targets.layout.ordered - targets.layout.first]
        direction = search.monotone[grown.feature[chosen]]
        lower, upper = children_bounds(
            grown.lower[chosen], grown.upper[chosen], ordered[::2], ordered[1::2], direction
        )
        new = new._replace(lower=lower.reshape(-1), upper=upper.reshape(-1))
    pairs: Any = zip(grown, new, strict=True)
    joined = Grown(*map(np.concatenate, pairs))
    return joined, np.arange(grown.feature.size, joined.feature.size)

"""Growth: the loop that turns binned rows into trees.

    while an order asks for nodes to split:
        route their rows  →  their children are the frontier
        histograms  →  best splits of the frontier

Everything that tells one system from another comes in as a function or a small NamedTuple: the
search for splits (`Searcher`), what stops a node (`Stops`), which nodes to split next (`Order`),
which way rows go (`Router`). One frontier holds the nodes of all roots, so many trees grow in the
same calls.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from vtree import arrays, draws
from vtree.arrays import Array
from vtree.binning import Bins, Group
from vtree.constraints import children_bounds
from vtree.grown import (
    Branches,
    Grown,
    branch_totals,
    no_branches,
    plant,
    used_features,
    with_children,
)
from vtree.histogram import (
    DEFAULT_BUDGET,
    Segments,
    build,
    build_level,
    check_budget,
    node_bytes,
    nodes_that_fit,
    parts_that_fit,
    per_feature,
    rows_of,
)
from vtree.purity import impure
from vtree.routing import Data, Router, by_branch, by_value, unmoved
from vtree.splits import NodeRows, Nodes, Search, Searcher, Splits, joined_splits
from vtree.subtrees import rule_of, which_alone, with_subtrees, worth_whole
from vtree.targets import Targets
from vtree.thresholds import with_lines
from vtree_kernels.scan import Layout
from vtree_kernels.search import search as rows_search
from vtree_kernels.subtree import Rule, subtree

Integers = NDArray[np.int64]


# Measured from 64 to 512: below, histograms of 257 codes cost more than all else in a node.
FEW_ROWS = 256
# How many times as many rows are few on a device, where all features of a node are searched at once
# and to store histograms takes their time from memory. From the roofline, not measured yet.
MORE_ROWS = 32


class Stops(NamedTuple):
    """When a node stays a leaf, besides being pure or without a legal split."""

    max_depth: int | None = None
    min_rows_split: int = 2
    min_gain: float = -np.inf  # the least total decrease of a split


class Order(Protocol):
    """Which nodes to split next."""

    @property
    def max_leaves(self) -> int | None:
        """How many leaves a tree is asked for at most; None for all that there are."""

    def __call__(self, grown: Grown) -> Integers:
        """Return the nodes to split now, none when the trees are done.

        Others may have been split ahead of their turn.
        """


class Plan(NamedTuple):
    """All that growth needs to know besides the data."""

    search: Searcher
    stops: Stops = Stops()
    budget: int = DEFAULT_BUDGET
    router: Router = by_branch
    few_rows: int = FEW_ROWS  # up to so many, a node is searched without its histograms
    alone: bool = True  # nodes with few rows may grow all that is below them by themselves
    # (grown, nodes (L,)) → (L,) what bounds of nodes hold for the search: what they answer, where
    # splits are judged by what children answer that lean on it, or their places in chains.
    answers: Callable[[Grown, Integers], NDArray[np.float64]] | None = None


class _LevelOrder:
    """Split every node that has a split."""

    max_leaves = None

    def __call__(self, grown: Grown) -> Integers:
        return np.flatnonzero((grown.feature >= 0) & (grown.first_child < 0))


level_order = _LevelOrder()


class _Kept(NamedTuple):
    """The histograms of the last round's nodes, from which their children's are derived."""

    hists: list[Array | None]  # one a group, (L, G, B, S); None where none is needed
    nodes: Integers  # (L,) whose they are


def grow(
    bins: Bins,
    targets: Targets,
    plan: Plan,
    order: Order = level_order,
    roots: Sequence[NDArray[Any]] | None = None,
    keys: NDArray[np.uint64] | None = None,
) -> tuple[Grown, NDArray[np.int32], NDArray[np.uint8]]:
    """Grow one tree a root.

    Parameters
    ----------
    bins : the binned table, N rows
    targets : the rows' statistics
    plan : what to search, when to stop, how much memory to use
    order : which nodes to split next
    roots : row numbers of each tree, ascending, none twice; None for one tree of all rows
    keys : of the roots (T,), from which all draws in a tree follow; None for their numbers

    Returns
    -------
    (grown, rows, branch_map) : the nodes, the row numbers that their segments refer to, and the
        branch maps of subset splits back to back

    Raises
    ------
    MemoryBudgetError
        If the histogram of a single node in a single feature exceeds the budget.
    """
    bins = with_lines(_fitting(bins, targets.layout, plan))
    if roots is None:
        roots = [np.arange(bins.n_rows)]
    codes = bins.groups[0].codes
    start = np.cumsum([0] + [len(root) for root in roots])
    # The roots are the caller's; their order is growth's own, which routers change in place.
    rows = np.concatenate(roots, dtype=np.int32)
    order_of_rows = _order(rows, len(roots), codes)
    data = Data(bins, targets, rows_of(targets, codes), order_of_rows)
    if keys is None:
        keys = np.atleast_1d(draws.mix(np.arange(len(roots))))
    grown = plant(start, targets, rows, keys)
    frontier = np.arange(len(roots))
    _settle(grown, frontier, plan)
    branches = no_branches(targets.layout.n_statistics)
    kept: _Kept | None = None
    room: Grown | None = None
    rule = _rule_alone(plan, order, data, len(roots))
    if rule is not None:  # all will be grown, and an order that wants less takes it from there
        order = level_order
    waiting = [frontier[:0]]
    while frontier.size:
        if rule is not None:
            alone = which_alone(grown, frontier, data, rule)
            waiting.append(frontier[alone])
            frontier = frontier[~alone]
        branches, kept = _split(grown, frontier, kept, branches, data, plan)
        chosen = order(grown)
        if not chosen.size:
            break
        chosen = chosen[np.argsort(grown.start[chosen])]
        total = branch_totals(grown, branches, chosen)
        data, total = plan.router(grown, chosen, total, branches.map, data)
        grown, room, frontier = with_children(grown, room, chosen, total)
        _settle(grown, frontier, plan)
        _bound(grown, chosen, frontier, data, plan.search)
    few = np.concatenate(waiting)
    if rule is not None and few.size:
        assert isinstance(plan.search, Search)  # others have no rule
        grown, data = with_subtrees(grown, few, data, rule, plan.search.size)
    return grown, arrays.to_numpy(data.order), branches.map


def _order(rows: NDArray[np.int32], n_trees: int, codes: Array) -> Array:
    """Return the roots' rows where the codes are; all rows of a tree need not go there."""
    n_rows = codes.shape[0]
    if arrays.is_numpy(codes) or n_trees != 1 or rows.size != n_rows:
        return arrays.like(rows, codes)
    xp = arrays.namespace(codes)
    return xp.arange(n_rows, dtype=xp.int32, device=arrays.device(codes))


def _rule_alone(plan: Plan, order: Order, data: Data, n_trees: int) -> Rule | None:
    """Return how nodes with few rows grow all that is below them, if they do that here."""
    # Other routers look at other rows.
    usual = plan.router in (by_branch, by_value, unmoved)
    if not plan.alone or not usual or not subtree.is_native(data.order):
        return None
    stops = plan.stops
    rule = rule_of(
        plan.search,
        data.bins,
        max_depth=stops.max_depth,
        min_rows_split=stops.min_rows_split,
        min_gain=stops.min_gain,
    )
    if rule is None or not subtree.is_native(data.order, rule):
        return None
    if order.max_leaves is None:
        return rule
    most = n_trees * worth_whole(order.max_leaves, data, rule)
    return rule if data.order.shape[0] <= most else None


def _fitting(bins: Bins, layout: Layout, plan: Plan) -> Bins:
    """Return the table in groups of which one node's histograms fit the budget, or raise."""
    check_budget(_summed(bins, plan.search), layout, plan.budget)
    groups: list[Group] = []
    for group in bins.groups:
        needed = plan.search.needs_sums(group)
        groups += parts_that_fit(group, layout, plan.budget) if needed else [group]
    return bins._replace(groups=tuple(groups))


def _summed(bins: Bins, search: Searcher) -> list[Group]:
    """Return the groups whose histograms the search asks for."""
    return [group for group in bins.groups if search.needs_sums(group)]


def _split(
    grown: Grown,
    frontier: Integers,
    kept: _Kept | None,
    branches: Branches,
    data: Data,
    plan: Plan,
) -> tuple[Branches, _Kept | None]:
    """Write the splits of the frontier's nodes; return (all branches, histograms for the next)."""
    wanted = _may_split(grown, frontier, data, plan)
    if not wanted.size:
        return branches, kept
    nodes = (grown.total[wanted], grown.start[wanted], grown.stop[wanted])
    several = impure(*nodes, data.order, data.targets.layout, data.rows.identity)
    # A device says which nodes are pure together with what the search found, so that the host
    # waits for it once a level: to search a few pure ones costs less.
    early = arrays.on_host(several)
    if early:
        wanted = wanted[arrays.to_numpy(several)]
        if not wanted.size:
            return branches, kept
    splits, found, kept = _search(grown, wanted, kept, data, plan)
    mixed = None if early else wanted[arrays.to_numpy(several)]
    return _write(grown, found, splits, plan.stops, branches, mixed), kept


def _may_split(grown: Grown, frontier: Integers, data: Data, plan: Plan) -> Integers:
    """Return the nodes of the frontier that are not too small or too deep for a split."""
    stops, limits, weight = plan.stops, plan.search.limits, data.targets.layout.weight
    n_rows, weights = grown.total[frontier, 0], grown.total[frontier, weight]
    may = n_rows >= max(stops.min_rows_split, 2 * limits.min_rows)
    may &= weights >= 2.0 * limits.min_weight
    if stops.max_depth is not None:
        may &= grown.depth[frontier] < stops.max_depth
    worth: Integers = frontier[may]
    return worth


def _search(
    grown: Grown, wanted: Integers, kept: _Kept | None, data: Data, plan: Plan
) -> tuple[Splits, Integers, _Kept | None]:
    """Return (splits, the nodes they belong to, histograms to derive their children's from)."""
    few = _few_rows(grown, wanted, data, plan)
    if few.all():
        return _search_in_slices(grown, wanted, data, plan, few_rows=True), wanted, None
    if few.any():
        many, nodes, left = _search_together(grown, wanted[~few], kept, data, plan)
        rest = _search_in_slices(grown, wanted[few], data, plan, few_rows=True)
        return joined_splits([many, rest]), np.concatenate([nodes, wanted[few]]), left
    return _search_together(grown, wanted, kept, data, plan)


def _few_rows(grown: Grown, wanted: Integers, data: Data, plan: Plan) -> NDArray[np.bool_]:
    """Return which nodes are searched without their histograms."""
    n_rows = grown.total[wanted, 0]
    if arrays.on_host(data.order):
        return np.asarray(n_rows <= plan.few_rows)
    # There a launch for some of the nodes costs more than the cells of these.
    few = rows_search.is_native(data.order) and (n_rows <= MORE_ROWS * plan.few_rows).all()
    return np.full(n_rows.shape, few, dtype=np.bool_)


def _search_together(
    grown: Grown, wanted: Integers, kept: _Kept | None, data: Data, plan: Plan
) -> tuple[Splits, Integers, _Kept | None]:
    """Do it for nodes with many rows, whose histograms serve their children."""
    bins, rows, search = data.bins, data.rows, plan.search
    all_groups = node_bytes(_summed(bins, search), rows.layout)
    # Keeping a level for its children pays while it is small: parents, children and the search's
    # results are held together then. Wider levels are built in slices, as fast and in less memory.
    if 6 * all_groups * wanted.size > plan.budget:
        return _search_in_slices(grown, wanted, data, plan), wanted, None
    segments, nodes = _segments(grown, wanted, kept)
    request = _request(grown, nodes, data, search)
    hists: list[Array | None] = []
    found = []
    for g, group in enumerate(bins.groups):
        hist = None
        if search.needs_sums(group):
            previous = None if kept is None else kept.hists[g]
            hist = build_level(group, rows, data.order, segments, previous)
        hists.append(hist)
        own = None if hist is None else per_feature(group, hist)
        found.append(search.find(group, own, request, bins))
    return search.choose(found, request, bins), nodes, _Kept(hists, nodes)


def _search_in_slices(
    grown: Grown, wanted: Integers, data: Data, plan: Plan, *, few_rows: bool = False
) -> Splits:
    """Search as many nodes at a time as fit, one group of features after another."""
    bins, search = data.bins, plan.search
    needs = [search.needs_sums(group, few_rows=few_rows) for group in bins.groups]
    built = [group for group, needed in zip(bins.groups, needs, strict=True) if needed]
    # On the host small slices stay nearer to the processor and cost nothing: a slice is many
    # tasks. Elsewhere the host waits for each.
    shares = 8 if arrays.on_host(data.order) else 1
    step = nodes_that_fit(built, bins.n_bins.size, data.rows.layout, plan.budget // shares)
    parts = []
    for first in range(0, wanted.size, step):
        nodes = wanted[first : first + step]
        request = _request(grown, nodes, data, search)
        found = []
        for group, needed in zip(bins.groups, needs, strict=True):
            hist = None
            if needed:
                own = (grown.start[nodes], grown.stop[nodes])
                hist = per_feature(group, build(group, data.rows, data.order, *own))
            found.append(search.find(group, hist, request, bins))
        parts.append(search.choose(found, request, bins))
    return joined_splits(parts)


def _request(grown: Grown, nodes: Integers, data: Data, search: Searcher) -> Nodes:
    used = used_features(grown, nodes, data.bins.n_bins.size) if search.uses_once else None
    return Nodes(
        grown.total[nodes],
        grown.key[nodes],
        grown.lower[nodes],
        grown.upper[nodes],
        NodeRows(data.order, grown.start[nodes], grown.stop[nodes], data.rows),
        used,
        grown.depth[nodes],
        grown.tree[nodes],
    )


def _segments(grown: Grown, wanted: Integers, kept: _Kept | None) -> tuple[Segments, Integers]:
    """Decide which histograms to build and which to derive from a kept parent.

    Returns (segments, the wanted nodes in the order of their histograms).
    """
    slot = np.full(grown.feature.size + 1, -1)  # one more for the parent of roots, −1
    if kept is not None:
        slot[kept.nodes] = np.arange(kept.nodes.size)
    parent = grown.parent[wanted]
    # Only of two children that share all rows of their parent is one what the other leaves.
    paired = (parent >= 0) & (grown.n_children[parent] == 2)
    sibling = np.where(paired, 2 * grown.first_child[parent] + 1 - wanted, -1)
    together = grown.total[wanted, 0] + grown.total[sibling, 0]
    sibling = np.where(together == grown.total[parent, 0], sibling, -1)
    own_rows = grown.total[wanted, 0]
    fewer = np.where(sibling < 0, 0, grown.total[sibling, 0])
    # Of two equal siblings the first is built.
    larger = (own_rows > fewer) | ((own_rows == fewer) & (wanted > sibling))
    is_derived = (slot[parent] >= 0) & (sibling >= 0) & larger
    derived, their_siblings = wanted[is_derived], sibling[is_derived]
    built = np.sort(wanted[~is_derived])
    place = np.full(grown.feature.size, -1)
    place[built] = 0
    unwanted = np.sort(their_siblings[place[their_siblings] < 0])
    all_built = np.concatenate([unwanted, built])
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
    branches: Branches,
    mixed: Integers | None,
) -> Branches:
    """Store the splits that gain enough; return the branches with those of all appended.

    mixed: the only nodes to split, None for all of them.
    """
    enough = (splits.feature >= 0) & (splits.gain >= stops.min_gain)
    if mixed is not None:
        enough &= np.isin(nodes, mixed)
    own = nodes[enough]
    for name in ("feature", "kind", "bin", "threshold", "gain", "missing_child", "n_children"):
        getattr(grown, name)[own] = getattr(splits, name)[enough]
    before = np.cumsum(splits.n_children) - splits.n_children
    grown.branch_offset[own] = branches.total.shape[0] + before[enough]
    used = branches.map.size
    maps = [branches.map]
    for index, branch_map in splits.child_of_code.items():
        if enough[index]:
            grown.map_offset[nodes[index]] = used
            maps.append(branch_map)
            used += branch_map.size
    total = np.concatenate([branches.total, splits.child_total])
    return Branches(np.concatenate(maps), total)


def _settle(grown: Grown, new: Integers, plan: Plan) -> None:
    """Write what `new` nodes answer, where the search asks for it."""
    if plan.answers is not None and new.size:
        grown.lower[new] = grown.upper[new] = plan.answers(grown, new)


def _bound(grown: Grown, chosen: Integers, new: Integers, data: Data, search: Searcher) -> None:
    """Narrow the bounds of the `new` pairs of children, those of the `chosen` nodes."""
    if search.monotone is None or not chosen.size:
        return
    layout = data.targets.layout
    centers = search.criterion.center(
        grown.total[new], grown.start[new], grown.stop[new], data.order, data.targets
    )
    ordered = centers[:, layout.ordered - layout.first]
    low, high = (np.repeat(bound[chosen], 2) for bound in (grown.lower, grown.upper))
    ordered = np.clip(ordered, low, high)
    lower, upper = children_bounds(
        grown.lower[chosen],
        grown.upper[chosen],
        ordered[::2],
        ordered[1::2],
        search.monotone[grown.feature[chosen]],
    )
    grown.lower[new], grown.upper[new] = lower.reshape(-1), upper.reshape(-1)

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

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vtree import arrays, draws
from vtree.arrays import Array
from vtree.binning import Bins, Group
from vtree.choice import Splits
from vtree.constraints import children_bounds
from vtree.frontier import Kept, search_frontier, summed_groups
from vtree.grown import (
    Branches,
    Grown,
    branch_totals,
    no_branches,
    order_of,
    plant,
    root_totals,
    rows_of_roots,
    with_children,
)
from vtree.histogram import (
    check_budget,
    parts_that_fit,
    rows_of,
)
from vtree.plan import Order, Plan, Stops, level_order, may_split
from vtree.purity import impure
from vtree.routing import Data, by_branch, by_value, unmoved
from vtree.splits import Search, Searcher
from vtree.subtrees import (
    is_worth_compiling,
    rule_of,
    rule_of_leaves,
    which_alone,
    with_subtrees,
)
from vtree.targets import Targets
from vtree.thresholds import with_lines
from vtree_kernels import give_back
from vtree_kernels.scan import Layout
from vtree_kernels.subtree import Rule, subtree

Integers = NDArray[np.int64]

# From so many rows on, what histograms took goes back to the system before nodes grow alone.
MANY_ROWS = 1 << 17


def grow(
    bins: Bins,
    targets: Targets,
    plan: Plan,
    order: Order = level_order,
    roots: Sequence[Array] | None = None,
    keys: NDArray[np.uint64] | None = None,
) -> tuple[Grown, Array, NDArray[np.uint8]]:
    """Grow one tree a root.

    Parameters
    ----------
    bins : the binned table, N rows
    targets : the rows' statistics
    plan : what to search, when to stop, how much memory to use
    order : which nodes to split next
    roots : row numbers of each tree, ascending, none twice; None for one tree of all rows. They may
        lie where the codes are if the numbers of `targets` do
    keys : of the roots (T,), from which all draws in a tree follow; None for their numbers

    Returns
    -------
    (grown, rows, branch_map) : the nodes, the row numbers that their segments refer to (int32,
        where the codes are), and the branch maps of subset splits back to back

    Raises
    ------
    MemoryBudgetError
        If the histogram of a single node in a single feature exceeds the budget.
    """
    bins = with_lines(_fitting(bins, targets.layout, plan))
    if roots is None:
        roots = [np.arange(bins.n_rows)]
    codes, n_trees = bins.groups[0].codes, len(roots)
    start = np.cumsum([0] + [root.shape[0] for root in roots])
    # The roots are the caller's; their order is growth's own, which routers change in place.
    rows = rows_of_roots(roots)
    del roots  # all rows, 8 bytes each, of a tree that was given none
    data = Data(bins, targets, rows_of(targets, codes), order_of(rows, n_trees, codes))
    if keys is None:
        keys = np.atleast_1d(draws.mix(np.arange(n_trees)))
    grown = plant(start, root_totals(start, targets, rows, data.rows, data.order), keys)
    frontier = np.arange(n_trees)
    _settle(grown, frontier, plan)
    branches = no_branches(targets.layout.n_statistics)
    kept: Kept | None = None
    room: Grown | None = None
    rule = _rule_alone(plan, order, data, n_trees)
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
    kept = room = None
    few = np.concatenate(waiting)
    grown, data, maps = _with_all_below(grown, few, data, rule, plan.search, branches.map)
    return grown, data.order, maps


def _with_all_below(
    grown: Grown,
    few: Integers,
    data: Data,
    rule: Rule | None,
    search: Searcher,
    maps: NDArray[Any],
) -> tuple[Grown, Data, NDArray[Any]]:
    """Let nodes with few rows grow by themselves; the rows of their leaves are sorted then."""
    if rule is None or not few.size:
        return grown, data, maps
    if data.order.shape[0] >= MANY_ROWS:
        give_back()
    assert isinstance(search, Search)  # others have no rule
    return with_subtrees(grown, few, data, rule, search, maps)


def _rule_alone(plan: Plan, order: Order, data: Data, n_trees: int) -> Rule | None:
    """Return how nodes with few rows grow all that is below them, if they do that here."""
    # Other routers look at other rows.
    usual = plan.router in (by_branch, by_value, unmoved)
    if not plan.alone or not usual or not subtree.is_native(data.order):
        return None
    many = plan.many or n_trees > 1
    if not is_worth_compiling(plan.search, data.bins, many_trees=many):
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
    return rule_of_leaves(rule, order.max_leaves, data, n_trees, plan.budget)


def _fitting(bins: Bins, layout: Layout, plan: Plan) -> Bins:
    """Return the table in groups of which one node's histograms fit the budget, or raise."""
    check_budget(summed_groups(bins, plan.search), layout, plan.budget)
    groups: list[Group] = []
    for group in bins.groups:
        needed = plan.search.needs_sums(group)
        groups += parts_that_fit(group, layout, plan.budget) if needed else [group]
    return bins._replace(groups=tuple(groups))


def _split(
    grown: Grown,
    frontier: Integers,
    kept: Kept | None,
    branches: Branches,
    data: Data,
    plan: Plan,
) -> tuple[Branches, Kept | None]:
    """Write the splits of the frontier's nodes; return (all branches, histograms for the next)."""
    wanted = may_split(grown, frontier, data, plan)
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
    splits, found, kept = search_frontier(grown, wanted, kept, data, plan)
    mixed = None if early else wanted[arrays.to_numpy(several)]
    return _write(grown, found, splits, plan.stops, branches, mixed), kept


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
    layout, criterion = data.targets.layout, search.criterion
    if criterion.answer is not None:
        ordered = criterion.answer(grown.total[new].T, layout)
    else:
        rows = grown.start[new], grown.stop[new], data.order
        centers = criterion.center(grown.total[new], *rows, data.targets)
        ordered = centers[:, layout.ordered - layout.first]
    lower, upper = children_bounds(
        grown.lower[chosen],
        grown.upper[chosen],
        ordered[::2],
        ordered[1::2],
        search.monotone[grown.feature[chosen]],
    )
    grown.lower[new], grown.upper[new] = lower.reshape(-1), upper.reshape(-1)

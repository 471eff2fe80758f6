"""The search of a frontier: which nodes get histograms, which of these are kept or derived.

nodes with few rows     their rows tell (kernel `search`)
the others, together    histograms of one of two siblings are built; the other's are its
parent's, kept from the last round, less those
where these would not   histograms of some nodes at a time, all of them built
fit the budget
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from vtree import arrays
from vtree.arrays import Array
from vtree.binning import Bins, Group
from vtree.choice import NodeRows, Nodes, Splits, joined_splits
from vtree.grown import Grown, used_features
from vtree.histogram import build, build_level, node_bytes, nodes_that_fit, per_feature
from vtree.plan import Plan
from vtree.routing import Data
from vtree.splits import Searcher
from vtree_kernels.derive import derive
from vtree_kernels.search import search as rows_search
from vtree_kernels.siblings import Siblings, siblings

Integers = NDArray[np.int64]

# How many times as many rows are few on a device, where all features of a node are searched at once
# and to store histograms takes their time from memory. From the roofline, not measured yet.
MORE_ROWS = 32


class Kept(NamedTuple):
    """The histograms of the last round's nodes, from which their children's are derived."""

    hists: list[Array | None]  # one a group, (L, G, B, S); None where none is needed
    nodes: Integers  # (L,) whose they are


def search_frontier(
    grown: Grown, wanted: Integers, kept: Kept | None, data: Data, plan: Plan
) -> tuple[Splits, Integers, Kept | None]:
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
    grown: Grown, wanted: Integers, kept: Kept | None, data: Data, plan: Plan
) -> tuple[Splits, Integers, Kept | None]:
    """Do it for nodes with many rows, whose histograms serve their children."""
    bins, rows, search = data.bins, data.rows, plan.search
    all_groups = node_bytes(summed_groups(bins, search), rows.layout)
    # Keeping a level for its children pays while it is small: parents, children and the search's
    # results are held together then. Wider levels are built in slices, as fast and in less memory.
    if 6 * all_groups * wanted.size > plan.budget:
        return _search_in_slices(grown, wanted, data, plan), wanted, None
    segments = _segments(grown, wanted, kept)
    nodes = segments.nodes
    request = _request(grown, nodes, data, search)
    hists: list[Array | None] = []
    found = []
    for g, group in enumerate(bins.groups):
        hist, derived = None, None
        if search.needs_sums(group):
            previous = None if kept is None else kept.hists[g]
            hist, derived = build_level(group, rows, data.order, segments, previous)
            if derived is not None and not search.derives(group):
                derive(hist, derived)
                derived = None
        hists.append(hist)
        own = None if hist is None else per_feature(group, hist)
        found.append(search.find(group, own, request._replace(derived=derived), bins))
    return search.choose(found, request, bins), nodes, Kept(hists, nodes)


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


def _segments(grown: Grown, wanted: Integers, kept: Kept | None) -> Siblings:
    """Decide which histograms to build and which to derive from a kept parent."""
    before = wanted[:0] if kept is None else kept.nodes
    tree = grown.parent, grown.first_child, grown.n_children, grown.total
    return siblings(wanted, before, *tree, grown.start, grown.stop)


def summed_groups(bins: Bins, search: Searcher) -> list[Group]:
    """Return the groups whose histograms the search asks for."""
    return [group for group in bins.groups if search.needs_sums(group)]

"""Nodes with few rows grow all that is below them by themselves, in one call for all such nodes.

What a level costs besides its rows (its calls, its arrays of results) would be most of the time
near the leaves, where there are many levels of few rows. They wait until the levels are done, so
that many tasks share the processors, or one launch does it all.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from vtree import arrays, draws
from vtree.binning import Bins, Group
from vtree.grown import Grown, alike
from vtree.routing import Data
from vtree.splits import Search, Searcher
from vtree.thresholds import missing_branch, thresholds
from vtree_kernels import own_pages
from vtree_kernels.breadth_first import breadth_first
from vtree_kernels.subtree import Rule, Starts, Statistics, Subtrees, Table, subtree

Integers = NDArray[np.int64]

# Rows up to which a node does without the histograms of its parent and its sibling.
FEW = 1_024
# With a share of the features drawn, histograms of all of them cost more than they save; the limit
# is what a task's columns may take of the cache.
FEW_DRAWN = 1 << 17
# Elsewhere a node has a block of threads to itself, in whose memory its rows have to fit. From the
# roofline of the design: no device has measured it yet.
FEW_ON_DEVICE = 1_024
# So many rows in all nodes cost less than the calls of a level.
FEW_IN_ALL = 1 << 13
# From 50,000 × 28 with 1,023 leaves: 1.5 s leaf by leaf, 0.08 s whole; 0.3 s with all features.
ROWS_A_LEAF_DRAWN = 1_024
ROWS_A_LEAF = 64

# What such nodes have alike, with all others of their trees: they split by numbers, unbound; and
# what nobody asks for when growth is over.
_ALIKE = ("kind", "map_offset", "lower", "upper", "key", "branch_offset")
_OF_ALL = (*_ALIKE, "parent", "first_child", "n_children")

_KEPT = ("start", "stop", "depth", "total", "feature", "gain")
_OF_SPLITS = ("bin", "next", "missing_left", "missing", "threshold")
_SPLIT = ("bin", "threshold", "missing_child")


def rule_of(
    search: Searcher, bins: Bins, *, max_depth: int | None, min_rows_split: int, min_gain: float
) -> Rule | None:
    """Return how a node grows what is below it, None if that takes more than its own rows."""
    if not isinstance(search, Search) or search.uses_once or search.criterion.by_rows:
        return None
    draw = search.draw
    if search.monotone is not None or search.leaning:
        return None
    if search.legal or bins.is_categorical.any():
        return None
    if draw.random_threshold and not draw.raw:
        return None
    n_features = bins.n_bins.size
    return Rule(
        search.criterion.gain,
        search.layout,
        search.limits,
        -1 if max_depth is None else max_depth,
        min_rows_split,
        min_gain,
        search.feature_costs,
        n_features if draw.max_features is None else draw.max_features,
        np.uint64(draws.mix(draw.seed, draws.FEATURE_ORDER)),
        np.uint64(draws.mix(draw.seed, draws.THRESHOLD)),
        draw.raw,
    )


def worth_whole(max_leaves: int, data: Data, rule: Rule) -> int:
    """Return up to how many rows a tree is grown whole for an order that asks for a few leaves.

    A leaf that such an order asks for costs it what so many rows of a whole tree cost.
    """
    a_leaf = ROWS_A_LEAF_DRAWN if _few_are_drawn(data, rule) else ROWS_A_LEAF
    return max(FEW_IN_ALL, a_leaf * max_leaves)


def _few_are_drawn(data: Data, rule: Rule) -> bool:
    return rule.raw or 3 * rule.max_features <= data.bins.n_bins.size


def which_alone(grown: Grown, frontier: Integers, data: Data, rule: Rule) -> NDArray[np.bool_]:
    """Return which nodes of the frontier shall grow by themselves."""
    n_rows = grown.total[frontier, 0]
    most = FEW_DRAWN if _few_are_drawn(data, rule) else FEW
    if not arrays.on_host(data.order):
        most = FEW_ON_DEVICE
    elif n_rows.sum() <= FEW_IN_ALL:
        most = FEW_IN_ALL
    return np.asarray(n_rows <= most)


def with_subtrees(
    grown: Grown, own: Integers, data: Data, rule: Rule, size: int
) -> tuple[Grown, Data]:
    """Return (nodes with all that is below the `own` ones appended, their rows sorted by leaf).

    size: the plane that tells the larger child, see `Search.size`.
    """
    own = own[np.argsort(grown.start[own])]
    bins, rows = data.bins, data.rows
    found = subtree(
        data.order,
        Starts(
            grown.start[own], grown.stop[own], grown.depth[own], grown.key[own], grown.total[own]
        ),
        Table(
            tuple(_codes(group) for group in bins.groups),
            tuple(group.features for group in bins.groups),
            bins.n_bins + 1,
            bins.values if rule.raw else None,
        ),
        Statistics(rows.label, rows.weight, rows.sums, rows.identity),
        rule,
    )
    data = data._replace(order=found.rows)
    if grown.feature.size == 1 and _is_in_order(found):
        only = {name: getattr(found, name) for name in (*_KEPT, *_OF_SPLITS)}
        fields = _fields(only, found.first_child, bins, rule, size)
        return Grown(**fields, tree=alike("tree", found.key.size)), data
    order, first_child, tree = _in_order(grown, own, found)
    known = np.flatnonzero(order >= found.key.size)  # nodes of `grown`
    before = order[known] - found.key.size
    given = np.full(grown.feature.size, -1)
    given[own] = np.arange(own.size)
    order[known] = given[before]
    made = _taken(found, order)
    del found  # large, as is `made`
    at_levels = given[before] < 0
    fields = _fields(made, first_child, bins, rule, size)
    del made
    for name, field in fields.items():
        if name not in _OF_ALL:
            field[known[at_levels]] = getattr(grown, name)[before[at_levels]]
    return Grown(**fields, tree=tree), data


def _codes(group: Group) -> Any:
    """Return codes by column where they are all near, otherwise by row."""
    near = group.by_column is not None and group.codes.shape[0] <= FEW_IN_ALL
    return group.by_column if near else group.codes


def _is_in_order(found: Subtrees) -> bool:
    """Tell whether the nodes of one tree are breadth first, with no place left out."""
    first = found.first_child[found.first_child >= 0]
    in_turn = np.arange(1, 2 * first.size, 2)
    return found.key.size == 2 * first.size + 1 and bool((first == in_turn).all())


def _fields(
    made: dict[str, NDArray[Any]],
    first_child: NDArray[np.int32],
    bins: Bins,
    rule: Rule,
    size: int,
) -> dict[str, NDArray[Any]]:
    """Return the fields of `Grown`, but `tree`."""
    return {
        **{name: alike(name, first_child.size) for name in _ALIKE},
        **{name: made[name] for name in _KEPT},
        **_splits(made, first_child, bins, rule, size),
        "parent": _parents(first_child),
        "first_child": first_child,
        "n_children": np.where(first_child >= 0, np.int32(2), np.int32(0)),
    }


def _in_order(
    grown: Grown, own: Integers, found: Subtrees
) -> tuple[Integers, NDArray[np.int32], Integers]:
    """Return (the order of all nodes, the first child of each in that order, its tree).

    Nodes of `found` go by their places there, those of `grown` by what stands behind all places.
    """
    n_places = found.key.size
    below = np.append(found.first_child, grown.first_child.astype(np.int32))
    at_levels = below[n_places:]
    at_levels[at_levels >= 0] += np.int32(n_places)
    at_levels[own] = found.first_child[: own.size]
    n_trees = int(grown.tree.max()) + 1
    root = n_places + np.arange(n_trees)
    order = breadth_first(below, np.full(below.size, 2, np.int32), root)
    tree = alike("tree", order.size)
    if n_trees > 1:
        is_root = (order >= n_places) & (order < n_places + n_trees)
        tree = np.cumsum(is_root) - 1
        roots_first = np.argsort(~is_root, kind="stable")
        order, tree = order[roots_first], tree[roots_first]
    number = np.empty(below.size, np.int32)
    number[order] = np.arange(order.size, dtype=np.int32)
    first = below[order]
    return order, np.where(first >= 0, number[first], np.int32(-1)), tree


def _taken(found: Subtrees, places: Integers) -> dict[str, NDArray[Any]]:
    """Return what `found` has of some places; anything for place −1."""
    fields: dict[str, NDArray[Any]] = {}
    for names in (_KEPT, _OF_SPLITS):  # on pages of their own: some are needed longer
        own = {name: getattr(found, name) for name in names}
        fields |= own_pages(
            {name: ((places.size, *field.shape[1:]), field.dtype) for name, field in own.items()}
        )
        for name, field in own.items():
            np.take(field, places, axis=0, out=fields[name], mode="clip")
    return fields


def _splits(
    made: dict[str, NDArray[Any]],
    first_child: NDArray[np.int32],
    bins: Bins,
    rule: Rule,
    size: int,
) -> dict[str, NDArray[Any]]:
    """Return bin, threshold and the branch of missing values of each node."""
    split = np.flatnonzero((first_child >= 0) & (made["feature"] >= 0))
    bin, threshold = thresholds(
        made["feature"][split].astype(np.int64),
        made["bin"][split].astype(np.int64),
        made["next"][split].astype(np.int64),
        bins,
        made["threshold"][split] if rule.raw else None,
    )
    # Where all weights are one, the segments of the rows are at hand, and smaller.
    sizes = made["total"][:, size] if size else made["stop"] - made["start"]
    missing_child = missing_branch(
        made["missing_left"][split],
        made["missing"][split],
        sizes[first_child[split]],
        sizes[split],
    )
    of_splits: tuple[NDArray[Any], ...] = (bin.astype(np.int32), threshold, missing_child)
    fields = {}
    for name, own in zip(_SPLIT, of_splits, strict=True):
        fields[name] = np.zeros(first_child.size, own.dtype)
        fields[name][split] = own
    return fields


def _parents(first_child: NDArray[np.int32]) -> NDArray[np.int32]:
    """Return the parent of each node, −1 at roots."""
    parent = np.full(first_child.size, -1, dtype=np.int32)
    split = np.flatnonzero(first_child >= 0)
    first = first_child[split]
    parent[first] = parent[first + 1] = split
    return parent

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
from vtree.arrays import Array
from vtree.binning import Bins, Group
from vtree.choice import Legal, subset_maps
from vtree.constraints import Together
from vtree.grown import Grown, alike, used_features
from vtree.routing import Data
from vtree.sampling import Columns
from vtree.splits import Search, Searcher
from vtree.thresholds import lines_of
from vtree_kernels import own_pages
from vtree_kernels.breadth_first import breadth_first
from vtree_kernels.choice import missing_branch
from vtree_kernels.gaps import Lines, gaps
from vtree_kernels.subtree import (
    MOST_BYTES,
    Levels,
    Rule,
    Starts,
    Statistics,
    Table,
    Usable,
    bytes_of_sums,
    packed_bits,
    subtree,
)

Integers = NDArray[np.int64]

# Rows up to which a node does without the histograms of its parent and its sibling.
FEW = 1_024
# With a share of the features drawn, histograms of all of them cost more than they save; the limit
# is what a task's columns may take of the cache.
FEW_DRAWN = 1 << 17
# Histograms of many classes cost more than to add rows again for the classes that there are.
ROWS_A_CLASS = 32
# Elsewhere a node has a block of threads to itself, in whose memory its rows have to fit. From the
# roofline of the design: no device has measured it yet.
FEW_ON_DEVICE = 1_024
# So many rows in all nodes cost less than the calls of a level.
FEW_IN_ALL = 1 << 13
# Where all features are looked at, the sums of large nodes by code are kept for their children's.
# Measured with two threads: trees without a limit of depth have more nodes, which these share.
FEW_WITH_SUMS = 1 << 15
FEW_OF_LIMITED = 1 << 16
# A leaf of a few that an order asks for costs it what so many rows of a whole tree cost, from
# 50,000 × 28 with 1,023 leaves: 1.5 s leaf by leaf, 0.08 s whole; 0.3 s with all features.
ROWS_A_LEAF_DRAWN = 1_024
ROWS_A_LEAF = 64
# Rows of a tree up to which one thread grows it leaf by leaf in the time of all in level loops.
WHOLE = 1 << 17

# Rows from which loops around constraints and categories are compiled: that takes ten seconds,
# once, and a hundred trees of fewer rows less than half a second level by level.
MANY_ENOUGH = 1_024

# What such nodes have alike, with all others of their trees: they split by numbers, and are unbound
# unless a rule asks for bounds; and what nobody asks for when growth is over.
_ALIKE = ("kind", "map_offset", "lower", "upper", "key", "branch_offset")

_KEPT = ("feature", "total", "gain", "depth", "start", "stop")
_BOUNDS = ("lower", "upper")
_OF_SPLITS = ("bin", "next", "missing_left", "missing", "threshold")
_SPLIT = {"bin": np.int32, "threshold": np.float64, "missing_child": np.int32}

_AT_LEAVES = {"bin": 0, "threshold": 0.0, "missing_child": -1}

_BLOCK = 8_192  # nodes whose splits are settled at a time, which takes some memory
_FEW_NODES = 64


def rule_of(
    search: Searcher, bins: Bins, *, max_depth: int | None, min_rows_split: int, min_gain: float
) -> Rule | None:
    """Return how a node grows what is below it, None if that takes more than its own rows."""
    if not isinstance(search, Search) or search.criterion.by_rows:
        return None
    draw = search.draw
    if search.leaning or (search.monotone is not None and draw.raw):
        return None
    levels = levels_of(search, bins)
    if bins.is_categorical.any() and levels is None:
        return None
    n_features = bins.n_bins.size
    if search.legal:
        # A table of some of the columns: not a copy of a large one, and no draw among all.
        drawn = draw.raw or draw.leaves_out(n_features)
        if drawn or (bins.n_rows > WHOLE and legal_columns(search, bins) is not None):
            return None
        if not all(isinstance(each, Columns | Together) for each in search.legal):
            return None
    if draw.random_threshold and not draw.raw:
        return None
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
        answer=None if search.monotone is None else search.criterion.answer,
        monotone=search.monotone,
        levels=levels,
        usable=_usable(search.legal, n_features),
    )


def is_worth_compiling(search: Searcher, bins: Bins, *, many_trees: bool) -> bool:
    """Tell whether the loop for such nodes pays for the seconds that it compiles at its first use.

    One loop serves all where nothing but numbers and gains say how nodes split. What says more is
    compiled by itself: one tree is not worth that, nor are many small ones.
    """
    legal = isinstance(search, Search) and bool(search.legal)
    plain = search.monotone is None and not legal and not bins.is_categorical.any()
    return plain or (many_trees and bins.n_rows >= MANY_ENOUGH)


def levels_of(search: Search, bins: Bins) -> Levels | None:
    """Return how categorical features split; None without any, or where subsets are all tried."""
    rules = [
        search.subsets.rule(search.layout, group.n_codes)
        for group in bins.groups
        if group.categorical
    ]
    if search.draw.raw or not rules or rules[0] is None or None in rules:
        return None
    return Levels(rules[0], bins.is_categorical, search.min_level_rows)


def legal_columns(search: Search, bins: Bins) -> Integers | None:
    """Return the features that may split some node, ascending; None for all."""
    for each in search.legal:
        if isinstance(each, Columns) and each.by_tree < 1.0:
            return each.of_tree(bins.n_bins.size)
    return None


def _usable(legal: tuple[Legal, ...], n_features: int) -> Usable | None:
    """Return what the features of nodes follow from, None where these do not differ."""
    columns = next((each for each in legal if isinstance(each, Columns)), Columns())
    together = _together(legal)
    if together is None and not columns.differ:
        return None
    return Usable(
        np.arange(n_features, dtype=np.uint64),
        columns.counts(n_features)[1:],
        (columns.state(1), columns.state(2)),
        np.empty((n_features, 0), np.uint64) if together is None else packed_bits(together.sets.T),
    )


def _together(legal: tuple[Legal, ...]) -> Together | None:
    return next((each for each in legal if isinstance(each, Together)), None)


def rule_of_leaves(
    rule: Rule, max_leaves: int, data: Data, n_trees: int, budget: int
) -> Rule | None:
    """Return how trees grow whole for an order that asks for a few leaves; None for level by level.

    budget: bytes that the histograms of one tree may take.
    """
    n_rows = data.order.shape[0]
    limited = rule._replace(max_leaves=max_leaves)
    drawn = _some_are_drawn(data, rule)
    if not drawn and n_rows <= n_trees * WHOLE and subtree.is_native(data.order, limited):
        node = bytes_of_sums(data.bins.n_bins + 1, rule.layout)
        if node <= MOST_BYTES and node * max_leaves <= budget:
            return limited
    a_leaf = ROWS_A_LEAF_DRAWN if _few_are_drawn(data, rule) else ROWS_A_LEAF
    return rule if n_rows <= n_trees * max(FEW_IN_ALL, a_leaf * max_leaves) else None


def _some_are_drawn(data: Data, rule: Rule) -> bool:
    return rule.raw or rule.max_features < data.bins.n_bins.size


def _few_are_drawn(data: Data, rule: Rule) -> bool:
    return rule.raw or 3 * rule.max_features <= data.bins.n_bins.size


def which_alone(grown: Grown, frontier: Integers, data: Data, rule: Rule) -> NDArray[np.bool_]:
    """Return which nodes of the frontier shall grow by themselves."""
    n_rows = grown.total[frontier, 0]
    if rule.max_leaves:  # of whole trees
        return np.ones(n_rows.shape, dtype=np.bool_)
    most = FEW_DRAWN
    if not _few_are_drawn(data, rule):
        most = min(FEW_DRAWN, max(FEW, ROWS_A_CLASS * rule.layout.classes))
    if not arrays.on_host(data.order):
        most = FEW_ON_DEVICE
    else:
        few_in_all = FEW_WITH_SUMS if rule.max_depth < 0 else FEW_OF_LIMITED
        # The children of stumps are not searched: no sums are kept for them.
        if rule.max_depth == 1 or _some_are_drawn(data, rule):
            few_in_all = FEW_IN_ALL
        most = few_in_all if n_rows.sum() <= few_in_all else most
    return np.asarray(n_rows <= most)


def with_subtrees(
    grown: Grown, own: Integers, data: Data, rule: Rule, search: Search, maps: NDArray[Any]
) -> tuple[Grown, Data, NDArray[Any]]:
    """Return (nodes with all that is below the `own` ones appended, rows sorted by leaf, maps).

    maps: the branch maps of the nodes so far; those of new nodes come behind.
    """
    size, columns = search.size, legal_columns(search, data.bins)
    own = own[np.argsort(grown.start[own], kind="stable")]  # of roots, the order of trees
    bins, rows = data.bins, data.rows
    found = subtree(
        data.order,
        _starts(grown, own, rule, _together(search.legal), bins.n_bins.size),
        _table(bins, rule, columns),
        Statistics(rows.label, rows.weight, rows.sums, rows.identity, rows.compact),
        _among(rule, columns),
    )
    if columns is not None:  # −1 is the last of them; what places between hold is of no account
        numbers = np.append(columns, -1).astype(np.int32)
        found = found._replace(feature=numbers.take(found.feature, mode="wrap"))
    data = data._replace(order=found.rows)
    places = {name: field for name, field in found._asdict().items() if field is not None}
    ways = places.pop("ways", None)
    del found, places["rows"], places["key"]  # large, and let go step by step
    if grown.feature.size == 1 and _is_in_order(places["first_child"]):
        first = places["first_child"]
        settled = _settled(places, slice(None), lines_of(places["feature"], bins), rule.raw, size)
        kept = {name: places[name] for name in (*_KEPT, *_BOUNDS) if name in places}
        fields = kept | settled
        if ways is not None:
            subsets, maps = subset_maps(ways, fields, bins, maps)
            fields |= subsets
        return Grown(**(_others(first) | fields), tree=alike("tree", first.size)), data, maps
    n_places = places["feature"].size
    order, first, tree = _in_order(grown, own, places["first_child"])
    known = np.flatnonzero(order >= n_places)  # nodes of `grown`
    before = order[known] - n_places
    given = np.full(grown.feature.size, -1)
    given[own] = np.arange(own.size)
    at_levels = given[before] < 0
    order[known] = np.maximum(given[before], 0)
    fields = _in_turn(places, order, bins, rule.raw, size)
    if ways is not None:
        ways = ways[order]
        ways[known[at_levels]] = 0
        fields["feature"][known[at_levels]] = -1  # for now: maps of these are there
        subsets, maps = subset_maps(ways, fields, bins, maps)
        fields |= subsets
    for name, field in fields.items():
        field[known[at_levels]] = getattr(grown, name)[before[at_levels]]
    return Grown(**(_others(first) | fields), tree=tree), data, maps


def _starts(
    grown: Grown, own: Integers, rule: Rule, together: Together | None, n_features: int
) -> Starts:
    bounded, sets = rule.answer is not None, None
    if together is not None:
        sets = packed_bits(together.holding(used_features(grown, own, n_features)))
    elif rule.usable is not None:
        sets = np.empty((own.size, 0), np.uint64)
    return Starts(
        grown.start[own],
        grown.stop[own],
        grown.depth[own],
        grown.key[own],
        grown.total[own],
        grown.lower[own] if bounded else None,
        grown.upper[own] if bounded else None,
        sets,
    )


def _among(rule: Rule, columns: Integers | None) -> Rule:
    """Return the rule for a table of some columns."""
    if columns is None:
        return rule
    fields = {"costs": rule.costs, "monotone": rule.monotone}
    own: Any = {name: each[columns] for name, each in fields.items() if each is not None}
    if rule.levels is not None:
        categorical = rule.levels.categorical[columns]
        levels = rule.levels._replace(categorical=categorical) if categorical.any() else None
        own["levels"] = levels
    if rule.usable is not None:
        number, sets = (each[columns] for each in (rule.usable.number, rule.usable.sets))
        own["usable"] = rule.usable._replace(number=number, sets=sets)
    return rule._replace(**own)


def _table(bins: Bins, rule: Rule, columns: Integers | None) -> Table:
    """Return the codes of all columns, or of some, by their numbers among these."""
    values = bins.values if rule.raw else None
    if columns is None:
        features = tuple(group.features for group in bins.groups)
        return Table(tuple(map(_codes, bins.groups)), features, bins.n_bins + 1, values)
    codes, features = [], ()
    for group in bins.groups:
        inside = np.isin(group.features, columns)
        if inside.any():
            features = (*features, np.searchsorted(columns, group.features[inside]))
            codes.append(_of_columns(_codes(group), np.flatnonzero(inside)))
    if values is not None:
        values = _of_columns(values, columns)
    return Table(tuple(codes), features, bins.n_bins[columns] + 1, values)


def _codes(group: Group) -> Any:
    """Return codes by column where each column is near, otherwise by row."""
    near = group.by_column is not None and group.codes.shape[0] <= WHOLE
    return group.by_column if near else group.codes


def _of_columns(table: Array, columns: Integers) -> Array:
    """Return some columns of a table, in memory as it is."""
    own = arrays.like(columns, table)
    with arrays.at_home(table):
        xp = arrays.namespace(table)
        if arrays.is_numpy(table) and table.flags.f_contiguous:
            return np.take(table.T, own, axis=0).T
        return xp.take(table, own, axis=1)


def _is_in_order(first_child: NDArray[np.int32]) -> bool:
    """Tell whether the nodes of one tree are breadth first, with no place left out."""
    for nodes in (first_child[:_FEW_NODES], first_child):  # mostly the first ones are not
        first = nodes[nodes >= 0]
        if (first != np.arange(1, 2 * first.size, 2)).any():
            return False
    return first_child.size == 2 * first.size + 1


def _in_order(
    grown: Grown, own: Integers, below: NDArray[np.int32]
) -> tuple[Integers, NDArray[np.int32], Integers]:
    """Return (the order of all nodes, the first child of each in that order, its tree).

    below: the first child of each place. Nodes that were found go by their places, those of `grown`
    by what stands behind all places, but for roots that are places.
    """
    n_places, n_trees = below.size, int(grown.tree.max()) + 1
    root = np.arange(n_trees)
    if own.size < grown.feature.size:
        at_levels = grown.first_child.astype(np.int32)
        at_levels[at_levels >= 0] += np.int32(n_places)
        at_levels[own] = below[: own.size]
        below = np.append(below, at_levels)
        root += n_places
    order = breadth_first(below, np.full(1, 2, np.int32), root)
    tree = alike("tree", order.size)
    split = below[order] >= 0
    # Two by two, children stand behind the roots in the order of their parents.
    first = np.full(order.size, -1, np.int32)
    first[split] = np.arange(n_trees, order.size, 2, dtype=np.int32)
    if n_trees > 1:
        is_root = (order >= root[0]) & (order <= root[-1])
        tree = np.cumsum(is_root) - 1
        roots_first = np.argsort(~is_root, kind="stable")
        order, first, tree = order[roots_first], first[roots_first], tree[roots_first]
    return order, first, tree


def _in_turn(
    places: dict[str, NDArray[Any]], order: Integers, bins: Bins, raw: bool, size: int
) -> dict[str, NDArray[Any]]:
    """Return what differs from node to node, in order.

    `places` are let go of: what belongs to splits first, then one field after another.
    """
    fields = own_pages({"feature": (order.shape, np.int32)})
    np.take(places["feature"], order, out=fields["feature"], mode="clip")
    fields |= own_pages({name: (order.shape, dtype) for name, dtype in _SPLIT.items()})
    lines = lines_of(fields["feature"], bins)
    for start in range(0, order.size, _BLOCK):
        block = slice(start, start + _BLOCK)
        split = np.flatnonzero(fields["feature"][block] >= 0)
        settled = _settled(places, order[block][split], lines, raw, size)
        for name, at_leaves in _AT_LEAVES.items():
            field = fields[name][block]
            field[...] = at_leaves
            field[split] = settled[name]
    for name in (*_OF_SPLITS, "first_child"):
        del places[name]
    for name in (*_KEPT[1:], *_BOUNDS):
        if name not in places:
            continue
        own = places.pop(name)
        fields |= own_pages({name: ((order.size, *own.shape[1:]), own.dtype)})
        np.take(own, order, axis=0, out=fields[name], mode="clip")
    return fields


def _settled(
    places: dict[str, NDArray[Any]], nodes: Integers | slice, lines: Lines, raw: bool, size: int
) -> dict[str, NDArray[Any]]:
    """Return bin, threshold and the branch of missing values of some nodes."""
    at = {name: places[name][nodes] for name in ("feature", "first_child", *_OF_SPLITS)}
    gap = (at["feature"], at["bin"], at["next"])
    bin, threshold = gaps(*gap, lines, at["threshold"] if raw else None)

    def size_of(nodes: Integers | NDArray[np.int32] | slice) -> NDArray[Any]:
        # Where all weights are one, the segments of the rows are at hand, and smaller.
        if size:
            return np.asarray(places["total"][nodes, size])
        return np.asarray(places["stop"][nodes] - places["start"][nodes])

    missing_child = missing_branch(
        at["missing_left"], at["missing"], size_of(np.maximum(at["first_child"], 0)), size_of(nodes)
    )
    missing_child[at["first_child"] < 0] = -1
    return {"bin": bin, "threshold": threshold, "missing_child": missing_child}


def _others(first_child: NDArray[np.int32]) -> dict[str, NDArray[Any]]:
    """Return what follows from the first children of nodes in order, and what all have alike."""
    parent = np.full(first_child.size, -1, dtype=np.int32)
    split = np.flatnonzero(first_child >= 0)
    first = first_child[split]
    parent[first] = parent[first + 1] = split
    return {
        **{name: alike(name, first_child.size) for name in _ALIKE},
        "first_child": first_child,
        "parent": parent,
        "n_children": np.int32(2) * (first_child >= 0),
    }

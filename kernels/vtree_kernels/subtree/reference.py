"""The definition of `subtree`: one node after another, by the kernels of the level loop."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from vtree_kernels.best_first import best_first
from vtree_kernels.cuts import cut_sums, extremes
from vtree_kernels.histogram import Compact, histogram, numbers_of
from vtree_kernels.level_subsets import Prefixes, Sorted, level_subsets
from vtree_kernels.mixing import below, between, mixed, share
from vtree_kernels.scan import Best, Limits, scan, with_counts
from vtree_kernels.search import search
from vtree_kernels.subtree.bounds import narrowed
from vtree_kernels.subtree.usable import Usable, Words, packed_bits

Integers = NDArray[np.int64]


class Starts(NamedTuple):
    """The nodes to begin with, L of them."""

    start: Integers  # (L,)
    stop: Integers
    depth: Integers
    key: NDArray[np.uint64]
    total: Integers  # (L, S)
    lower: NDArray[np.float64] | None = None  # (L,) bounds of what they answer, of a rule with an
    upper: NDArray[np.float64] | None = None  # `answer`
    sets: Words | None = None  # (L, W) of a rule with `usable`: those that hold all features above


class Table(NamedTuple):
    """Codes in one or more arrays, and raw values where thresholds are drawn among them."""

    codes: tuple[NDArray[Any], ...]  # each (N, G)
    features: tuple[Integers, ...]  # each (G,): the numbers of the columns
    n_codes: Integers  # (F,)
    values: NDArray[Any] | None = None  # (N, F), NaN for missing


class Statistics(NamedTuple):
    """What each of N rows adds, as `histogram` takes it."""

    label: NDArray[np.int32]  # (N, O)
    weight: NDArray[Any] | None  # (N,) int64, on the host or int32
    sums: Integers  # (N, J)
    identity: NDArray[np.float64] | None  # (N, O) of real targets; (N, 0): never known to be equal
    compact: Compact | None = None  # packed words that are all there is of weight and sums

    def of(self, rows: Any) -> Statistics:
        """Return what some rows have, numbers or a slice, weight and sums by themselves."""
        fields: Any = [None if field is None else field[rows] for field in self[:4]]
        own = Statistics(*fields)
        if self.compact is None or not self.compact.packed or self.sums.shape[1]:
            return own
        weight, sums = numbers_of(self.compact, rows)
        return own._replace(weight=weight, sums=sums)


class Levels(NamedTuple):
    """How categorical features split."""

    rule: Prefixes | Sorted
    categorical: NDArray[np.bool_]  # (F,) which features these are
    least_rows: int  # a level with fewer rows in a node counts as missing there


class Rule(NamedTuple):
    """When and how a node splits."""

    gain: Callable[[Any, Any, Any], Any]
    layout: Any
    limits: Limits
    max_depth: int
    min_rows_split: int
    min_gain: float
    costs: NDArray[np.float64] | None  # (F,)
    max_features: int
    order_state: np.uint64
    cut_state: np.uint64
    raw: bool
    max_leaves: int = 0  # of what a given node grows, best first; 0: no limit
    # (the S planes of a side, layout) → what it answers, where a node has bounds of that
    answer: Callable[[Any, Any], Any] | None = None
    usable: Usable | None = None  # which features may split a node; None: all
    monotone: NDArray[np.int8] | None = None  # (F,) 1, −1: the answer must not de-, increase; 0
    levels: Levels | None = None  # None: no feature is categorical


class Subtrees(NamedTuple):
    """Places of M nodes, and the order of the rows that their segments refer to.

    Where neither a given node stands nor a child of one that does, nothing is set.
    """

    rows: NDArray[np.int32]  # (R,)
    start: NDArray[np.int32]  # (M,)
    stop: NDArray[np.int32]
    depth: NDArray[np.int32]
    key: NDArray[np.uint64]
    total: Integers  # (M, S)
    first_child: NDArray[np.int32]  # (M,) −1: not split
    feature: NDArray[np.int32]  # (M,) −1: not split
    gain: NDArray[np.float64]  # (M,) −inf where not split; what follows is not set there
    bin: NDArray[np.int32]  # as `scan` returns it
    next: NDArray[np.int32]
    missing_left: NDArray[np.bool_]
    missing: NDArray[np.int32]
    threshold: NDArray[np.float64]  # (M,) where it is drawn
    lower: NDArray[np.float64] | None = None  # (M,) bounds, None without a rule's `answer`
    upper: NDArray[np.float64] | None = None
    # (M, 2 W), None without a rule's `levels`. Of a split by one, bit c % 64 of word c / 64
    # says that code c goes left, that of word W + c / 64 that it goes as missing values do
    ways: NDArray[np.uint64] | None = None


# Of a node's sums by code in all features; larger ones are not kept for its children's.
MOST_BYTES = 1 << 20

# What is not of 32 bits: row numbers are, and so are numbers of nodes.
KINDS: dict[str, type[np.generic]] = {
    **{"gain": np.float64, "threshold": np.float64},
    **{"missing_left": np.bool_, "key": np.uint64, "total": np.int64},
    **{"lower": np.float64, "upper": np.float64, "ways": np.uint64},
}


ALWAYS = Subtrees._fields[
    1 : Subtrees._fields.index("lower")
]  # what there is of nodes whatever the rule


def fields_of(rule: Rule) -> tuple[str, ...]:
    """Return the names of what there is of nodes."""
    absent = () if rule.answer is not None else ("lower", "upper")
    absent = absent if rule.levels is not None else (*absent, "ways")
    return tuple(name for name in Subtrees._fields[1:] if name not in absent)


def words_of(levels: Levels, n_codes: Integers) -> int:
    """Return how many words the ways of all codes of a feature take, 2 W."""
    return 2 * -(-int(n_codes[levels.categorical].max()) // 64)


def bytes_of_sums(n_codes: Integers, layout: Any) -> int:
    """Return what a node's sums by code take in all features, of n_codes (F,), to be kept."""
    return 8 * n_codes.size * int(n_codes.max()) * int(layout.n_stored)


def places(found: Subtrees, n_given: int) -> Integers:
    """Return the places of the first `n_given` nodes and of all below them, ascending."""
    filled = np.arange(found.key.size) < n_given
    level = np.flatnonzero(filled)
    while level.size:
        first = found.first_child[level]
        level = np.concatenate([first[first >= 0], first[first >= 0] + 1])
        filled[level] = True
    return np.flatnonzero(filled)


class _Split(NamedTuple):
    gain: float
    feature: int
    bin: int
    next: int
    missing_left: bool
    missing: int
    left: Integers  # (S,)
    threshold: float
    goes_left: NDArray[np.bool_]
    ways: NDArray[np.uint64] | None = None


def subtree(
    rows: NDArray[np.int32], nodes: Starts, table: Table, statistics: Statistics, rule: Rule
) -> Subtrees:
    """Return the nodes and all below them; see the package for the contract."""
    before, rows, statistics = rows, rows.copy(), statistics.of(slice(None))
    given = {name: own for name, own in nodes._asdict().items() if own is not None}
    made: list[dict[str, Any]] = [
        {name: own[node] for name, own in given.items()} for node in range(nodes.key.size)
    ]
    number = 0
    no_ways = np.zeros(
        0 if rule.levels is None else words_of(rule.levels, table.n_codes), np.uint64
    )
    while number < len(made):
        node = made[number]
        split = _best(rows[node["start"] : node["stop"]], node, table, statistics, rule)
        node.update(first_child=-1, feature=-1, gain=-np.inf, bin=0, next=0)
        node.update(missing_left=False, missing=0, threshold=0.0, ways=no_ways)
        if split is not None:
            fields = {name: own for name, own in split._asdict().items() if own is not None}
            node.update(fields, first_child=len(made))
            own = rows[node["start"] : node["stop"]]
            own[:] = np.concatenate([own[split.goes_left], own[~split.goes_left]])
            middle = node["start"] + int(split.goes_left.sum())
            borders = ((node["start"], middle), (middle, node["stop"]))
            totals = (split.left, node["total"] - split.left)
            bounds = _bounds(node, split.feature, totals, rule)
            sets = {}
            if rule.usable is not None:
                sets = {"sets": node["sets"] & rule.usable.sets[split.feature]}
            for side, ((a, z), total) in enumerate(zip(borders, totals, strict=True)):
                key = mixed(mixed(np.uint64(0), node["key"]), np.uint64(side))
                child = {"start": a, "stop": z, "depth": node["depth"] + 1}
                made.append({**child, "key": key, "total": total, **bounds[side], **sets})
        number += 1
    found = _columns(rows, made, fields_of(rule), nodes.total.shape[1])
    return _limited(found, nodes, before, rule.max_leaves) if rule.max_leaves else found


def _bounds(
    node: dict[str, Any], feature: int, totals: tuple[Integers, Integers], rule: Rule
) -> tuple[dict[str, float], dict[str, float]]:
    """Return the bounds of both children, where nodes have some."""
    if rule.answer is None or rule.monotone is None:
        return {}, {}
    left, right = (rule.answer(total[:, None], rule.layout) for total in totals)
    lower, upper = (np.array([node[name]]) for name in ("lower", "upper"))
    found = narrowed(lower, upper, left, right, rule.monotone[[feature]])
    lowest, highest, *others = (float(bound[0]) for bound in found)
    return {"lower": lowest, "upper": highest}, dict(zip(("lower", "upper"), others, strict=True))


def _limited(
    found: Subtrees, nodes: Starts, before: NDArray[np.int32], max_leaves: int
) -> Subtrees:
    """Return the nodes with the splits of largest gain alone, those that growth best first makes.

    The others fall off; rows of a leaf stand in the order `before`.
    """
    n_children, root = np.full(found.key.size, 2), np.arange(len(nodes.key))
    split, _ = best_first.reference(
        found.gain, found.feature, found.first_child, n_children, root, max_leaves - 1
    )
    kept = np.zeros(found.key.size, dtype=np.bool_)
    kept[split] = True
    found = found._replace(
        first_child=np.where(kept, found.first_child, np.int32(-1)),
        feature=np.where(kept, found.feature, np.int32(-1)),
        gain=np.where(kept, found.gain, -np.inf),
    )
    reached = places(found, root.size)
    for leaf in reached[found.first_child[reached] < 0].tolist():
        a, z = int(found.start[leaf]), int(found.stop[leaf])
        given = np.flatnonzero((nodes.start <= a) & (z <= nodes.stop) & (nodes.stop > a))
        for own in given[:1].tolist():
            whole = before[nodes.start[own] : nodes.stop[own]]
            found.rows[a:z] = whole[np.isin(whole, found.rows[a:z])]
    return found


def _columns(
    rows: NDArray[np.int32], made: list[dict[str, Any]], names: tuple[str, ...], n_statistics: int
) -> Subtrees:
    fields: Any = {
        name: np.array([node[name] for node in made], dtype=KINDS.get(name, np.int32))
        for name in names
    }
    result = Subtrees(rows, **fields)
    return result._replace(total=result.total.reshape(-1, n_statistics))


def _best(
    rows: NDArray[np.int32], node: dict[str, Any], table: Table, statistics: Statistics, rule: Rule
) -> _Split | None:
    total, limits = node["total"], rule.limits
    if node["depth"] == rule.max_depth or rows.size < max(rule.min_rows_split, 2 * limits.min_rows):
        return None
    if total[rule.layout.weight] < 2.0 * limits.min_weight:
        return None
    if not _differ(rows, total, statistics.identity, rule.layout):
        return None
    best, worth = None, -np.inf
    varied = False
    for looked, feature in enumerate(_order(node, rule, table.n_codes.size)):
        if looked >= rule.max_features and varied:
            break
        found, varies = _found(rows, node, feature, table, statistics, rule)
        varied = varied or varies
        own = found.gain if rule.costs is None else found.gain / rule.costs[feature]
        if found.gain > -np.inf and (best is None or own > worth):
            best, worth = found, own
    return best if best is not None and best.gain >= rule.min_gain else None


def _differ(
    rows: NDArray[np.int32], total: Integers, identity: NDArray[np.float64] | None, layout: Any
) -> bool:
    if identity is not None:
        own = identity[rows]
        return own.shape[1] == 0 or bool((own != own[:1]).any())
    classes = total[layout.first :].reshape(layout.outputs, layout.classes)
    return bool(((classes > 0).sum(axis=1) > 1).any())


def _order(node: dict[str, Any], rule: Rule, n_features: int) -> list[int]:
    if rule.usable is not None:
        own = rule.usable.of_node(node["depth"], node["key"], node["sets"])
        return [int(feature) for feature in np.flatnonzero(own)]
    order = list(range(n_features))
    if rule.max_features >= n_features:
        return order
    state = mixed(rule.order_state, node["key"])
    for turn in range(n_features):
        left = np.uint64(n_features - turn)
        other = turn + int(below(mixed(state, np.uint64(turn)), left))
        order[turn], order[other] = order[other], order[turn]
    return order


def _found(
    rows: NDArray[np.int32],
    node: dict[str, Any],
    feature: int,
    table: Table,
    statistics: Statistics,
    rule: Rule,
) -> tuple[_Split, bool]:
    """Return (the best split by one feature, whether it varies)."""
    start, stop = np.array([0]), np.array([rows.size])
    total = node["total"][None, :]
    bounds = (np.array([node.get(*each)]) for each in (("lower", -np.inf), ("upper", np.inf)))
    direction = None if rule.monotone is None else rule.monotone[[feature]]
    own = (statistics.label, statistics.weight, statistics.sums)
    after: Any = (direction, *bounds, rule.limits, rule.gain, rule.layout)
    threshold, ways = 0.0, None
    if rule.raw:
        assert table.values is not None
        column = table.values[:, [feature]]
        threshold = _cut(column, rows, node["key"], feature, rule)
        stored, counted = rule.layout.n_stored, rule.layout.implied == 0
        cut = np.array([[threshold]])
        wanted = np.array([[True]])
        hist = cut_sums(column, rows, start, stop, wanted, cut, *own, stored, counted)
        best = scan(hist, total, np.array([[1]], dtype=np.int32), *after)
        place = column[rows, 0]
        goes_left = place <= threshold
        missing = np.isnan(place)
    else:
        codes, at = next(
            (codes, int(np.searchsorted(features, feature)))
            for codes, features in zip(table.codes, table.features, strict=True)
            if feature in features
        )
        column, n_codes = codes[:, at : at + 1], int(table.n_codes[feature])
        place = column[rows, 0]
        if rule.levels is not None and rule.levels.categorical[feature]:
            best, way = _subset(column, rows, total, own, n_codes, rule.levels, rule)
            goes_left, missing = way[place] > 0, way[place] < 0
            ways = _packed(way, words_of(rule.levels, table.n_codes))
        else:
            best = search(column, rows, start, stop, *own, n_codes, total, *after)
            goes_left, missing = place <= best.bin[0, 0], place == 0
    first = Best(*(np.asarray(field)[0, 0] for field in best))
    goes_left = np.where(missing, first.missing_left, goes_left)
    split = _Split(
        float(first.gain),
        feature,
        int(first.bin),
        int(first.next),
        bool(first.missing_left),
        int(first.missing),
        first.left,
        threshold,
        goes_left,
        ways,
    )
    return split, bool(first.varies)


def _subset(
    column: NDArray[Any],
    rows: NDArray[np.int32],
    total: Integers,
    own: Any,
    n_codes: int,
    levels: Levels,
    rule: Rule,
) -> tuple[Best, NDArray[np.int8]]:
    """Return (the best subset of a node's levels, the way of each code)."""
    stored, counted = rule.layout.n_stored, rule.layout.implied == 0
    borders = np.array([0]), np.array([rows.size])
    given: Any = (column, rows, *borders, *own, n_codes, stored, counted)
    hist = histogram(*given)
    hist, n_levels = with_counts(hist, total.shape[1], rule.layout), np.array([n_codes - 1])
    rest = levels.least_rows, n_levels, rule.limits, rule.gain, rule.layout
    best, ways = level_subsets(hist, total, levels.rule, *rest)
    return best, ways[0, 0]


def _packed(ways: NDArray[np.int8], n_words: int) -> NDArray[np.uint64]:
    """Return the ways of a feature's codes as `Subtrees` holds them."""
    bits = np.zeros((2, 32 * n_words), dtype=np.bool_)
    bits[:, : ways.size] = ways > 0, ways < 0
    return packed_bits(bits).reshape(-1)


def _cut(
    column: NDArray[Any], rows: NDArray[np.int32], key: np.uint64, feature: int, rule: Rule
) -> float:
    """Return the threshold that is drawn for one feature, ∞ where it is constant."""
    wanted = np.array([[True]])
    least, greatest = extremes(column, rows, np.array([0]), np.array([rows.size]), wanted)
    low, high = float(least[0, 0]), float(greatest[0, 0])
    if not low < high:
        return np.inf
    word = mixed(mixed(rule.cut_state, key), np.uint64(feature))
    return between(low, high, float(share(word)))

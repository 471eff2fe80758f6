"""`SurrogateRouter`: sends rows by their own value, by surrogates, by the larger side, or not."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from vtree import arrays
from vtree.binning import Bins
from vtree.grown import Grown
from vtree.histogram import DEFAULT_BUDGET
from vtree.routing import Data
from vtree.surrogates.agreement import (
    Counts,
    Sent,
    best_surrogates,
    either_side,
    find_surrogates,
)
from vtree.surrogates.rules import Rules, child_of, follow, joined, places, with_surrogates
from vtree.targets import Targets
from vtree.tree import Tree
from vtree_kernels.partition import partition

Integers = NDArray[np.int64]

_STAYS = 2  # the branch of rows that no rule can send anywhere


class SurrogateRouter:
    """A `Router` that looks for the surrogates of the nodes it routes, and keeps them.

    count: the most surrogates of a node; to_larger: whether a row that none of them can send goes
    with the larger side (the weight of the rows that the split itself sends; nowhere on a tie), or
    stays at the node; counts: what makes levels a surrogate.
    """

    def __init__(
        self,
        count: int,
        *,
        to_larger: bool,
        budget: int = DEFAULT_BUDGET,
        counts: Counts = either_side,
    ) -> None:
        self.count = count
        self.counts = counts
        self.to_larger = to_larger
        self.budget = budget
        self._found: list[Rules] = []

    def __call__(
        self,
        grown: Grown,
        chosen: Integers,
        total: Integers,
        branch_map: NDArray[np.uint8],
        data: Data,
    ) -> tuple[Data, Integers]:
        """Sort the rows of the `chosen` nodes by child; see `vtree.routing.Router`."""
        child = np.zeros(data.order.shape[0], dtype=np.uint8)
        rows = arrays.to_numpy(data.order).astype(np.int64)
        totals = np.zeros((chosen.size, 2, total.shape[1]), dtype=np.int64)
        # The rows of one tree's nodes are disjoint; those of several trees may be the same ones.
        for tree in np.unique(grown.tree[chosen]).tolist():
            own = np.flatnonzero(grown.tree[chosen] == tree)
            nodes = chosen[own]
            lengths = grown.stop[nodes] - grown.start[nodes]
            node = np.repeat(np.arange(own.size), lengths)
            before = np.repeat(np.cumsum(lengths) - lengths, lengths)
            positions = np.arange(node.size) - before + grown.start[nodes][node]
            way, totals[own] = self._ways(grown, nodes, node, rows[positions], branch_map, data)
            child[positions] = np.where(way < 0, _STAYS, way)
        if chosen.size == 0:
            return data, total
        rule = (arrays.like(child, data.order), _STAYS + 1)
        order = partition(data.order, grown.start[chosen], grown.stop[chosen], *rule)
        return data._replace(order=order), totals.reshape(-1, total.shape[1])

    def rules(self, grown: Grown, tree: Tree) -> Rules:
        """Return what was found, for the nodes of the finished tree."""
        roots = np.arange(tree.root.size, dtype=np.int32)
        unfinished = tree._replace(first_child=grown.first_child.astype(np.int32), root=roots)
        return follow(joined(self._found), unfinished, tree)

    def _ways(
        self,
        grown: Grown,
        nodes: Integers,
        node: Integers,
        rows: Integers,
        branch_map: NDArray[np.uint8],
        data: Data,
    ) -> tuple[NDArray[np.int8], Integers]:
        """Return the child, or −1, of `rows` (R,) of nodes[node], and what both get (L, 2, S)."""
        own = _own_rules(grown, nodes, branch_map, data.bins)
        way = _sent_by(own, node, rows, data.bins)
        known = side_totals(rows, node, way, nodes.size, data.targets)
        sides = known[:, :, data.targets.layout.weight]
        larger = np.where(sides[:, 0] == sides[:, 1], -1, np.where(sides[:, 0] > sides[:, 1], 0, 1))
        grown.missing_child[nodes] = larger if self.to_larger else -1
        rules, lost = own, np.flatnonzero(way < 0)
        if self.count:
            sent = _sent(grown, nodes, node, rows, way, known, data)
            means = _means(known, data.targets)
            ties = means[:, 0] < means[:, 1]  # low values to the side of the larger mean (rpart)
            own_feature = own.feature.astype(np.int64)
            found = find_surrogates(sent, own_feature, ties, data.bins, self.budget, self.counts)
            fields = best_surrogates(found, sides, self.count, data.bins)
            rules = with_surrogates(own, fields, found.ways, data.bins.n_bins)
            way[lost] = _sent_by(rules, node[lost], rows[lost], data.bins)
        self._found.append(rules._replace(node=nodes[rules.node].astype(np.int32)))
        left = np.flatnonzero(way < 0)
        way[left] = grown.missing_child[nodes][node[left]]
        more = side_totals(rows[lost], node[lost], way[lost], nodes.size, data.targets)
        return way, known + more


def _sent(
    grown: Grown,
    nodes: Integers,
    node: Integers,
    rows: Integers,
    way: NDArray[np.int8],
    known: Integers,
    data: Data,
) -> Sent:
    """Return the rows of `nodes` and where these send them; known (L, 2, S): of both sides."""
    targets = data.targets
    by_row = np.full(data.bins.n_rows, 2, dtype=np.int32)
    by_row[rows] = np.where(way < 0, 2, way)
    counts, n_rows = None, known[:, :, 0]
    if targets.weight is not None:
        # So that a row of weight three is as good as three rows.
        counts = 1 + (targets.weight * targets.weight_unit >= 2.0).astype(np.int64)
        told = np.flatnonzero(way >= 0)
        key = node[told] * 2 + way[told]
        n_rows = np.bincount(key, counts[rows[told]], 2 * nodes.size).reshape(-1, 2)
    return Sent(
        data.order,
        grown.start[nodes],
        grown.stop[nodes],
        by_row,
        targets.weight,
        counts,
        n_rows.astype(np.int64),
        known[:, :, targets.layout.weight],
    )


def side_totals(
    rows: Integers, node: Integers, way: NDArray[np.int8], n_nodes: int, targets: Targets
) -> Integers:
    """Return the statistics (L, 2, S) of the rows that each of L nodes sends to either child."""
    if way.size and way.min() < 0:
        sent = np.flatnonzero(way >= 0)
        rows, node, way = rows[sent], node[sent], way[sent]
    key = node * 2 + way
    layout = targets.layout
    total = np.zeros((layout.n_statistics, 2 * n_nodes))
    total[0] = np.bincount(key, minlength=2 * n_nodes)
    weight = None if targets.weight is None else targets.weight[rows].astype(np.float64)
    if weight is not None:
        total[1] = np.bincount(key, weight, 2 * n_nodes)
    for output in range(targets.sums.shape[1]):  # whole numbers below 2^53: exact as floats
        sums = targets.sums[:, output].take(rows).astype(np.float64)
        total[layout.first + output] = np.bincount(key, sums, 2 * n_nodes)
    for output in range(targets.label.shape[1]):
        cell = targets.label[:, output].take(rows).astype(np.int64)
        cell *= 2 * n_nodes
        cell += key
        total += np.bincount(cell, weight, total.size).reshape(total.shape)
    return total.T.reshape(n_nodes, 2, -1).astype(np.int64)


def _means(known: Integers, targets: Targets) -> NDArray[np.float64]:
    """Return the mean class number, or target, of both sides of each node, (L, 2)."""
    layout = targets.layout
    weight = np.maximum(known[:, :, layout.weight], 1).astype(np.float64)
    own = known[:, :, layout.first : layout.first + layout.classes].astype(np.float64)
    number = np.arange(layout.classes) if layout.classes > 1 else np.ones(1)
    means: NDArray[np.float64] = (own * number).sum(axis=2) / weight
    return means


def _own_rules(grown: Grown, nodes: Integers, branch_map: NDArray[np.uint8], bins: Bins) -> Rules:
    """Return the splits of `nodes` as the rules of nodes 0, 1, 2 and so on."""
    feature = grown.feature[nodes].astype(np.int64)
    length = np.where(bins.is_categorical[feature], bins.n_bins[feature] + 1, 0)
    before = np.cumsum(length) - length
    within = np.arange(length.sum()) - np.repeat(before, length)
    return Rules(
        node=np.arange(nodes.size, dtype=np.int32),
        feature=grown.feature[nodes],
        kind=grown.kind[nodes],
        bin=np.where(length > 0, 0, grown.bin[nodes]).astype(np.int32),
        threshold=np.where(length > 0, 0.0, grown.threshold[nodes]),
        low_child=np.zeros(nodes.size, dtype=np.int8),
        map_offset=np.where(length > 0, before, -1),
        branch_map=branch_map[np.repeat(grown.map_offset[nodes], length) + within],
        agreement=np.ones(nodes.size),
        adjusted=np.ones(nodes.size),
    )


def _sent_by(rules: Rules, node: Integers, rows: Integers, bins: Bins) -> NDArray[np.int8]:
    """Return the child that the first usable rule of its node sends each row to, or −1."""
    first, count = places(rules, int(node.max(initial=-1)) + 1)
    way = np.full(node.size, -1, dtype=np.int8)
    for rank in range(int(count.max(initial=0))):
        lost = np.flatnonzero((way < 0) & (rank < count[node]))
        which = first[node[lost]] + rank
        code = _codes(bins, rows[lost], rules.feature[which])
        way[lost] = child_of(rules, which, code > rules.bin[which], code)
    return way


def _codes(bins: Bins, rows: Integers, feature: NDArray[np.int32]) -> Integers:
    """Return the code of each row in its feature, (R,)."""
    code = np.zeros(rows.size, dtype=np.int64)
    for group in bins.groups:
        column = np.full(bins.n_bins.size, -1)  # looked up: a search takes longer for every row
        column[group.features] = np.arange(group.features.size)
        at = column.take(feature)
        own = np.flatnonzero(at >= 0)
        if own.size == 0:
            continue
        asked = rows
        if own.size < rows.size:
            at, asked = at[own], rows[own]
        at += asked * group.features.size
        xp = arrays.namespace(group.codes)
        taken: Any = xp.take(xp.reshape(group.codes, (-1,)), arrays.like(at, group.codes))
        code[own] = arrays.to_numpy(taken)
    return code

"""The search of CHAID: from a level's histograms to multiway splits by adjusted p-values."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from vtree import arrays, draws
from vtree.arrays import Array
from vtree.binning import Bins, Group
from vtree.chaid.adjusting import judge
from vtree.chaid.association import AssociationTest
from vtree.chaid.merging import Problems, Rules
from vtree.choice import Nodes, Splits
from vtree.criteria import Criterion
from vtree.tree import MULTIWAY, Tree, child_dtype, children, levels
from vtree_kernels.scan import Layout, Limits, with_counts

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]


class Sizes(NamedTuple):
    """What a child must weigh: the less of `least` and `share` of its parent, rounded up."""

    least: float
    share: float
    unit: float  # the weight that one unit of integer weight stands for

    def of(self, weight: Floats) -> Floats:
        """Return the least integer weight of children of nodes with integer `weight`."""
        return np.minimum(np.ceil(self.share * weight * self.unit), self.least) / self.unit


class NodeTests(NamedTuple):
    """Adjusted p-values of nodes that were searched, and the nodes' keys."""

    key: NDArray[np.uint64]  # (L,)
    log_p: Floats  # (L, F)


def joined_tests(record: list[NodeTests], n_features: int) -> NodeTests:
    """Return the tests of all searches, sorted by key."""
    key = np.concatenate([np.empty(0, dtype=np.uint64), *(each.key for each in record)])
    log_p = np.concatenate([np.empty((0, n_features)), *(each.log_p for each in record)])
    order = np.argsort(key, kind="stable")
    return NodeTests(key[order], log_p[order])


def log_p_of_nodes(tree: Tree, tested: NodeTests) -> Floats:
    """Return log of the adjusted p-values (M, F) of a tree's nodes, NaN where none was tested."""
    key = node_keys(tree)
    log_p = np.full((key.size, tested.log_p.shape[1]), np.nan)
    if tested.key.size:
        place = np.minimum(np.searchsorted(tested.key, key), tested.key.size - 1)
        known = tested.key[place] == key
        log_p[known] = tested.log_p[place[known]]
    return log_p


def node_keys(tree: Tree) -> NDArray[np.uint64]:
    """Return the keys that growth gave the nodes of a tree, which pruning does not change, (M,)."""
    key = np.zeros(tree.feature.size, dtype=np.uint64)
    key[tree.root] = draws.mix(np.arange(tree.root.size))
    for nodes in levels(tree.first_child, tree.n_children, tree.root):
        inner = nodes[tree.first_child[nodes] >= 0]
        below = children(tree.first_child, tree.n_children, inner)
        parent = np.repeat(inner, tree.n_children[inner])
        key[below] = draws.child_key(key[parent], below - tree.first_child[parent])
    return key


class Found(NamedTuple):
    """The groups of each predictor of a group of features, on the host."""

    log_p: Floats  # (L, G) adjusted
    child: NDArray[np.int16]  # (L, G, B) of each code, −1 where the node has no row of it
    table: Integers  # (L, G, B, S)


class ChaidSearch(NamedTuple):
    """How CHAID looks for splits, see `vtree.splits.Searcher`."""

    criterion: Criterion  # what the reported decrease is of
    layout: Layout
    limits: Limits
    test: AssociationTest
    statistics: Callable[
        [Integers, Layout], Floats
    ]  # (table (..., S), layout) → (..., T) what `test` works on
    rules: Rules
    sizes: Sizes
    bonferroni: bool
    log_alpha_split: float
    ordinal: NDArray[np.bool_]  # (F,)
    record: list[NodeTests]  # grows with each call of `choose`
    monotone: None = None
    uses_once: bool = False

    def needs_sums(self, group: Group, *, few_rows: bool = False) -> bool:
        """Tell whether `find` asks for the histograms of a group."""
        return True

    def derives(self, group: Group) -> bool:
        """Tell that `find` asks for whole histograms."""
        return False

    def find(self, group: Group, hist: Array | None, nodes: Nodes, bins: Bins) -> Found:
        """Return the groups and the adjusted p-value of each predictor in each node."""
        whole = with_counts(hist, self.layout.n_statistics, self.layout)
        table = arrays.to_numpy(whole).astype(np.int64)
        n_nodes, n_features, n_codes = table.shape[:3]
        least = self.sizes.of(nodes.total[:, self.layout.weight].astype(np.float64))
        flat = table.reshape(n_nodes * n_features, n_codes, -1)
        ordinal = np.tile(self.ordinal[group.features], n_nodes)
        problems, code = _problems(
            self.statistics(flat, self.layout),
            flat[..., 0] > 0,
            ordinal,
            np.repeat(least, n_features),
        )
        verdict = judge(problems, self.test, self.rules, bonferroni=self.bonferroni)
        number = np.cumsum(verdict.groups.alive, axis=1) - 1
        child = np.full(flat.shape[:2], -1, dtype=np.int16)
        row, place = np.nonzero(code >= 0)
        child[row, code[row, place]] = number[row, verdict.groups.label[row, place]]
        shape = (n_nodes, n_features)
        return Found(verdict.log_p.reshape(shape), child.reshape(*shape, n_codes), table)

    def choose(self, found: list[Found], nodes: Nodes, bins: Bins) -> Splits:
        """Return each node's split by the most significant predictor, the first of equals."""
        place = np.argsort(np.concatenate([group.features for group in bins.groups]))
        log_p = np.concatenate([each.log_p for each in found], axis=1)[:, place]
        self.record.append(NodeTests(nodes.key, log_p))
        feature = np.argmin(log_p, axis=1)
        split = log_p[np.arange(feature.size), feature] <= self.log_alpha_split
        home = {
            f: (each, g)
            for group, each in zip(bins.groups, found, strict=True)
            for g, f in enumerate(group.features.tolist())
        }
        maps: dict[int, NDArray[Any]] = {}
        totals: list[Integers] = []
        missing_child = np.full(feature.size, -1, dtype=np.int32)
        n_children = np.zeros(feature.size, dtype=np.int32)
        for node in np.flatnonzero(split).tolist():
            f = int(feature[node])
            each, g = home[f]
            child = each.child[node, g, : bins.n_bins[f] + 1].astype(np.int64)
            total = _child_totals(child, each.table[node, g])
            totals.append(total)
            n_children[node] = total.shape[0]
            maps[node] = branch_map(child, total[:, self.layout.weight], bool(self.ordinal[f]))
            missing_child[node] = maps[node][0]
        return Splits(
            feature=np.where(split, feature, -1).astype(np.int32),
            kind=np.full(feature.size, MULTIWAY, dtype=np.int8),
            bin=np.zeros(feature.size, dtype=np.int32),
            threshold=np.zeros(feature.size),
            gain=self._gains(totals, n_children),
            missing_child=missing_child,
            n_children=n_children,
            child_total=np.concatenate([*totals, nodes.total[:0]]),
            child_of_code=maps,
        )

    def _gains(self, totals: list[Integers], n_children: NDArray[np.int32]) -> Floats:
        """Return each node's total decrease, the sum over joining its children one by one."""
        gain = np.full(n_children.size, -np.inf)
        split = np.flatnonzero(n_children)
        gain[split] = 0.0
        for place in range(1, int(n_children.max(initial=0))):
            own = np.flatnonzero(n_children[split] > place)
            so_far = np.stack([totals[node][:place].sum(axis=0) for node in own]).astype(float)
            next_one = np.stack([totals[node][place] for node in own]).astype(float)
            gain[split[own]] += self.criterion.gain(so_far.T, next_one.T, self.layout)
        return gain


def _problems(
    stats: Floats, present: NDArray[np.bool_], ordinal: NDArray[np.bool_], least: Floats
) -> tuple[Problems, NDArray[np.int64]]:
    """Return (the problems, the code of each of their levels (P, G), −1 for pads).

    stats (P, B, T) and present (P, B), code 0 for missing values.
    """
    n_codes = present.shape[1]
    last = np.roll(np.arange(n_codes), -1)  # 1, 2, …, 0: the missing category comes last
    n_levels = present.sum(axis=1)
    width = max(1, int(n_levels.max(initial=1)))
    code = last[np.argsort(~present[:, last], axis=1, kind="stable")[:, :width]]
    filled = np.arange(width) < n_levels[:, None]
    own = np.take_along_axis(stats, code[..., None], axis=1)
    problems = Problems(
        stats=np.where(filled[..., None], own, 0.0),
        n_levels=n_levels,
        ordinal=ordinal,
        floating=ordinal & present[:, 0] & (n_levels > 1),
        least=least,
    )
    return problems, np.where(filled, code, -1)


def _child_totals(child: Integers, table: Integers) -> Integers:
    """Return the statistics (C, S) of the children of codes with statistics `table` (B, S)."""
    codes = np.flatnonzero(child >= 0)
    total = np.zeros((int(child.max()) + 1, table.shape[1]), dtype=np.int64)
    np.add.at(total, child[codes], table[codes])
    return total


def branch_map(child: Integers, weight: Integers, ordinal: bool) -> NDArray[Any]:
    """Return the child of each code, those without rows in the node (−1) included.

    A missing value goes to the heaviest child (of C, with weight each), an ordinal level with the
    nearest level below it (or else above), a nominal level with the node's first level.

    >>> branch_map(np.array([-1, -1, 0, -1, 1]), np.array([3, 9]), True).tolist()
    [1, 0, 0, 0, 1]
    """
    mapped = child.copy()
    seen = np.flatnonzero(child[1:] >= 0) + 1
    if seen.size:
        codes = np.arange(1, child.size)
        below = np.maximum(np.searchsorted(seen, codes, side="right") - 1, 0)
        nearest = child[seen[below]] if ordinal else np.full(codes.size, child[seen[0]])
        mapped[1:] = np.where(child[1:] >= 0, child[1:], nearest)
    else:
        mapped[1:] = int(np.argmax(weight))
    if mapped[0] < 0:
        mapped[0] = int(np.argmax(weight))
    return mapped.astype(child_dtype(weight.size))


def class_levels(table: Integers, layout: Layout) -> Floats:
    """Return the class weights (..., J) of tables (..., S)."""
    return table[..., layout.first : layout.first + layout.classes].astype(np.float64)

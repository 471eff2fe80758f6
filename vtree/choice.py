"""Choice: what was found in each feature → the split of each node, `Splits`."""

from __future__ import annotations

from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from vtree.arrays import Array
from vtree.binning import Bins
from vtree.histogram import Rows
from vtree.sampling import Draw, drawn_places
from vtree.thresholds import thresholds
from vtree.tree import SUBSET
from vtree_kernels.choice import choice
from vtree_kernels.derive import Derived
from vtree_kernels.scan import Best

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]


class NodeRows(NamedTuple):
    """Where the rows of L nodes are: order[start[l] : stop[l]]."""

    order: Array
    start: Integers  # (L,)
    stop: Integers
    statistics: Rows


class Nodes(NamedTuple):
    """The nodes to search, L of them, on the host."""

    total: Integers  # (L, S)
    key: NDArray[np.uint64]  # (L,)
    lower: Floats  # (L,) bounds of the center, for monotone constraints
    upper: Floats
    rows: NodeRows | None = None  # for criteria that judge rows
    used: NDArray[np.bool_] | None = None  # (L, F) features of the splits above
    depth: Integers | None = None  # (L,)
    tree: Integers | None = None  # (L,) the number of its root
    derived: Derived | None = None  # whose histograms are rubbish yet, if `Searcher.derives`


class Splits(NamedTuple):
    """The best split of each of L nodes, on the host."""

    feature: NDArray[np.int32]  # (L,) −1: no legal split
    kind: NDArray[np.int8]
    bin: NDArray[np.int32]
    threshold: Floats
    gain: Floats  # (L,) total decrease, −inf without a split
    missing_child: NDArray[np.int32]
    n_children: NDArray[np.int32]  # (L,) 0 without a split
    child_total: Integers  # (C, S) statistics of the children, node after node
    child_of_code: dict[int, NDArray[Any]]  # node → child of each code, but for thresholds


class Found(NamedTuple):
    """What the search in one group of features found, on the host."""

    best: Best  # (L, G)
    threshold: Floats | None  # (L, G), where thresholds are drawn
    goes_left: NDArray[np.int8] | None  # (L, G, B), where features are categorical


class Legal(Protocol):
    """A rule by which features may split a node."""

    def __call__(self, nodes: Nodes, n_features: int) -> NDArray[np.bool_]:
        """Return the features that may split each node, (L, F)."""


class Rules(Protocol):
    """By what features of a node are preferred, besides their gains."""

    @property
    def draw(self) -> Draw:
        """Which features a node may use, and which one comes first."""

    @property
    def legal(self) -> tuple[Legal, ...]:
        """Rules by which features may split a node, all of them."""

    @property
    def feature_costs(self) -> Floats | None:
        """(F,) the gain of a split is worth that much less."""

    @property
    def size(self) -> int:
        """The plane by which one child is larger than the other."""


class _Candidates(NamedTuple):
    """The best split of each node in each feature, all groups side by side, on the host."""

    best: Best  # (L, F)
    threshold: Floats | None  # (L, F) drawn ones
    goes_left: dict[int, NDArray[np.int8]]  # categorical feature → (L, B)


def best_splits(found: list[Found], nodes: Nodes, rules: Rules, bins: Bins) -> Splits:
    """Choose each node's split among the features: largest gain, then first in its draw.

    Without a draw, the lowest feature of equal gains. Where features have costs, the largest gain
    for its cost.

    found: one entry a group of `bins`, as `search_group` returns them.
    """
    candidates = _side_by_side(found, bins)
    gain, worth, place = _legal_gains(candidates.best, nodes, rules)
    rest = nodes.total, rules.size, bins.is_categorical
    chosen = choice(gain, candidates.best, *rest, worth, place)
    feature, split = chosen.feature, chosen.n_children > 0
    drawn = candidates.threshold
    if drawn is not None:
        drawn = drawn[np.arange(feature.size), feature]
    bin, threshold = thresholds(feature, chosen.bin, chosen.following, bins, drawn)
    maps = {
        node: _branch_map(candidates.goes_left[f][node], bins.n_bins[f], chosen.missing_child[node])
        for node, f in enumerate(feature.tolist() if candidates.goes_left else [])
        if f in candidates.goes_left and split[node]
    }
    return Splits(
        feature=np.where(split, feature, -1).astype(np.int32),
        kind=chosen.kind,
        bin=bin,
        threshold=threshold,
        gain=chosen.gain,
        missing_child=chosen.missing_child,
        n_children=chosen.n_children,
        child_total=chosen.child_total,
        child_of_code=maps,
    )


def _legal_gains(
    best: Best, nodes: Nodes, rules: Rules
) -> tuple[Floats, Floats | None, Integers | None]:
    """Return (gains, −∞ of features that may not split a node; what they are worth; places).

    As the kernel `choice` takes them.
    """
    gain, n_features = best.gain, best.gain.shape[1]
    place = None
    if rules.draw.leaves_out(n_features):
        place = drawn_places(rules.draw, nodes.key, best.varies)
        gain = np.where(place < n_features, gain, -np.inf)
    for rule in rules.legal:
        gain = np.where(rule(nodes, n_features), gain, -np.inf)
    return gain, None if rules.feature_costs is None else gain / rules.feature_costs, place


def joined_splits(parts: list[Splits]) -> Splits:
    """Return the splits of several lists of nodes as those of one."""
    sizes = np.cumsum([0] + [part.feature.size for part in parts])
    fields: Any = [np.concatenate(each) for each in zip(*(p[:-1] for p in parts), strict=True)]
    maps = {
        int(before) + node: branch_map
        for before, part in zip(sizes, parts, strict=False)
        for node, branch_map in part.child_of_code.items()
    }
    return Splits._make([*fields, maps])


def _side_by_side(found: list[Found], bins: Bins) -> _Candidates:
    """Put the groups' results into columns by feature number."""
    goes_left: dict[int, NDArray[np.int8]] = {}
    for group, each in zip(bins.groups, found, strict=True):
        if each.goes_left is not None:
            columns_left = enumerate(group.features.tolist())
            goes_left.update({f: each.goes_left[:, g] for g, f in columns_left})
    if len(found) == 1:
        return _Candidates(found[0].best, found[0].threshold, goes_left)
    place = np.argsort(np.concatenate([group.features for group in bins.groups]))
    every = zip(*(each.best for each in found), strict=True)
    best = Best._make(np.concatenate(parts, axis=1)[:, place] for parts in every)
    threshold = None
    if any(each.threshold is not None for each in found):
        threshold = np.zeros(best.gain.shape)
        for group, each in zip(bins.groups, found, strict=True):
            if each.threshold is not None:
                threshold[:, group.features] = each.threshold
    return _Candidates(best, threshold, goes_left)


def _branch_map(
    goes_left: NDArray[np.int8], n_levels: int, missing_child: int
) -> NDArray[np.uint8]:
    """Return the child of each code of a categorical feature; goes_left is 1, 0 or −1 (absent)."""
    own = goes_left[: n_levels + 1]
    absent = own < 0
    absent[0] = True  # no level, but missing values
    return _children(own, absent, np.asarray(missing_child))


def _children(goes_left: NDArray[Any], absent: NDArray[Any], missing_child: Any) -> NDArray[Any]:
    """Return the child of each code (…, B): 0 of those on the left, and where missing values go."""
    child: NDArray[Any] = np.where(absent, missing_child, 1 - goes_left).astype(np.uint8)
    return child


def subset_maps(
    ways: NDArray[np.uint64], fields: dict[str, NDArray[Any]], bins: Bins, maps: NDArray[Any]
) -> tuple[dict[str, NDArray[Any]], NDArray[Any]]:
    """Return (kind and map offset of nodes, branch maps with theirs behind).

    ways (M, 2 W): as `vtree_kernels.subtree` returns them; fields: features and branches of missing
    values (M,).
    """
    feature = fields["feature"]
    split = np.flatnonzero((feature >= 0) & bins.is_categorical[feature])
    n_codes = bins.n_bins[feature[split]] + 1
    bits = np.unpackbits(
        ways[split].astype("<u8").view(np.uint8).reshape(split.size, 2, 4 * ways.shape[1]),
        axis=2,
        bitorder="little",
    )
    child = _children(bits[:, 0], bits[:, 1], fields["missing_child"][split, None])
    kind = np.zeros(feature.size, np.int8)
    kind[split] = SUBSET
    offset = np.full(feature.size, -1)
    offset[split] = maps.size + np.cumsum(n_codes) - n_codes
    there = np.arange(child.shape[1]) < n_codes[:, None]
    return {"kind": kind, "map_offset": offset}, np.concatenate([maps, child[there]])

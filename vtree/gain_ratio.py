"""The search of ID3 and C4.5: one branch a level, or a cut in two; judged by information.

Every feature of a node is given its gain and its split information; a `Worth` then compares them
all at once, as C4.5's rule "the best ratio among those of at least average gain" must.
Rows without a value count by what they leave of the gain: it is multiplied by the known share.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from vtree import arrays
from vtree.arrays import Array
from vtree.binning import Bins, Group, midpoints
from vtree.choice import Nodes, Splits
from vtree.criteria import Criterion
from vtree.criteria.information import Worth, information, logarithms
from vtree.sorted_rows import SortedRows
from vtree.tree import MULTIWAY, THRESHOLD, child_dtype
from vtree_kernels.branches import branches
from vtree_kernels.entropy_cuts import Cuts, Reach, Rule, cuts, reach_of
from vtree_kernels.entropy_cuts.reference import TOLERANCE
from vtree_kernels.level_groups import level_groups
from vtree_kernels.scan import Layout, Limits, with_counts

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
Codes = NDArray[np.int32]

_GAP = 1e-5  # values of neighbours must differ by more, or no cut comes between


class FoundCuts(NamedTuple):
    """Numeric features of a group: gain and split information (L, G), and the cuts."""

    gain: Floats
    info: Floats
    cuts: Cuts


class FoundBranches(NamedTuple):
    """Nominal features of a group: gain and split information (L, G), and the histograms."""

    gain: Floats
    info: Floats
    hist: Array  # (L, G, B, S) as it was built, and where
    branch: Codes | None = None  # (L, G, B − 1) of each level where they may share one
    n_branches: Integers | None = None  # (L, G)


class Merging(NamedTuple):
    """How levels share branches, see `vtree_kernels.level_groups`."""

    by_ratio: bool


class InformationSearch(NamedTuple):
    """How C4.5 and ID3 look for splits."""

    criterion: Criterion
    layout: Layout
    unit: float  # the weight of one unit of integer weight
    worth: Worth
    averaged: NDArray[np.bool_]  # (F,) attributes that count in the average gain
    reach: tuple[Reach, ...]  # F times, see `reaches`
    min_weight: float = 2.0  # of at least two branches, and of both sides of a cut
    corrected: bool = True  # whether the choice of a cut is paid for, log2(tries) / W
    margin: float = TOLERANCE  # by how much a later attribute or cut must be better
    merges: Merging | None = None  # how levels are grouped; None for a branch each
    limits: Limits = Limits()
    monotone: NDArray[np.int8] | None = None
    uses_once: bool = True
    sorted_rows: SortedRows | None = None  # kept by the router

    def needs_sums(self, group: Group, *, few_rows: bool = False) -> bool:
        """Tell whether `find` asks for the histograms of a group."""
        return group.categorical

    def derives(self, group: Group) -> bool:
        """Tell that `find` asks for whole histograms."""
        return False

    def find(
        self, group: Group, hist: Array | None, nodes: Nodes, bins: Bins
    ) -> FoundCuts | FoundBranches:
        """Return gains and split informations of each node in each feature of a group."""
        if group.categorical:
            return self._branches(group, hist, nodes, bins)
        return self._cuts(group, nodes, bins)

    def _branches(
        self, group: Group, hist: Array | None, nodes: Nodes, bins: Bins
    ) -> FoundBranches:
        assert nodes.used is not None and hist is not None
        whole = nodes.total[:, self.layout.weight].astype(np.float64) * self.unit
        found = branches(
            hist, arrays.like(whole, hist), self.layout, self.unit, float(self.min_weight)
        )
        gain, info, filled = (arrays.to_numpy(field) for field in found)
        legal = (filled >= 2) & ~nodes.used[:, group.features]
        apart = FoundBranches(np.where(legal, gain, -np.inf), info, hist)
        return apart if self.merges is None else self._merged(apart, group, whole, bins)

    def _merged(
        self, apart: FoundBranches, group: Group, whole: Floats, bins: Bins
    ) -> FoundBranches:
        """Return the same with levels grouped, in features of more than two."""
        assert self.merges is not None
        gain, info, table = apart.gain.copy(), apart.info.copy(), arrays.to_numpy(apart.hist)
        n_levels = bins.n_bins[group.features]
        branch = np.broadcast_to(np.arange(table.shape[2] - 1), (*gain.shape, table.shape[2] - 1))
        branch, count = branch.astype(np.int32), np.broadcast_to(n_levels, gain.shape).copy()
        first = self.layout.first - self.layout.implied
        for i in np.flatnonzero(n_levels > 2).tolist():
            classes = table[:, i, 1 : n_levels[i] + 1, first : first + self.layout.classes]
            weights = classes.astype(np.float64) * self.unit
            missing = whole - weights.sum(axis=(1, 2))  # exact, as all sums
            found = level_groups(weights, missing, float(self.min_weight), self.merges.by_ratio)
            gain[:, i], info[:, i], count[:, i] = found.gain, found.info, found.count
            branch[:, i, : n_levels[i]] = found.group
        return FoundBranches(gain, info, table, branch, count)

    def _cuts(self, group: Group, nodes: Nodes, bins: Bins) -> FoundCuts:
        assert nodes.rows is not None
        order, start, stop, rows = nodes.rows
        found = cuts(
            group.codes,
            order,
            start,
            stop,
            rows.label,
            rows.weight,
            [self.reach[feature] for feature in group.features.tolist()],
            self.layout,
            self.unit,
            Rule(self.min_weight, margin=self.margin),
            None if self.sorted_rows is None else self.sorted_rows.of(group),
        )
        host = Cuts(*(arrays.to_numpy(field) for field in found))
        plane = self.layout.weight
        whole = nodes.total[:, plane].astype(np.float64)[:, None] * self.unit
        left = host.left[..., plane].astype(np.float64) * self.unit
        known = host.known[..., plane].astype(np.float64) * self.unit
        gain = host.gain
        if self.corrected:
            gain = gain - logarithms(np.maximum(host.tries, 1).astype(np.float64)) / whole
        gain = np.where(gain > 0.0, gain, -np.inf)
        info = information(np.stack([whole - known, left, known - left], axis=2)) / whole
        return FoundCuts(gain, info, host)

    def choose(self, found: list[FoundCuts | FoundBranches], nodes: Nodes, bins: Bins) -> Splits:
        """Return the split of each node that is worth most, of equal ones the first."""
        shape = (nodes.key.size, bins.n_bins.size)
        gain, info = np.full(shape, -np.inf), np.zeros(shape)
        for group, own in zip(bins.groups, found, strict=True):
            gain[:, group.features], info[:, group.features] = own.gain, own.info
        worth = self.worth(gain, info, self.averaged)
        feature, split = _first_best(worth, self.margin)
        whole = nodes.total[:, self.layout.weight].astype(np.float64)
        decrease = gain[np.arange(feature.size), feature] * whole
        return _splits(found, bins, feature, split, np.where(split, decrease, -np.inf), self.layout)


def _first_best(worth: Floats, margin: float) -> tuple[Integers, NDArray[np.bool_]]:
    """Return (the best feature, whether there is any) of worth (L, F).

    From the first feature to the last, one is best if it is worth more than `margin` more.
    """
    feature, best = np.zeros(worth.shape[0], dtype=np.int64), np.full(worth.shape[0], -np.inf)
    for f in range(worth.shape[1]):
        better = worth[:, f] > best + margin
        feature[better], best[better] = f, worth[better, f]
    return feature, best > -np.inf


def reaches(bins: Bins) -> tuple[Reach, ...]:
    """Return behind which codes of each feature cuts may come; nominal ones have none.

    Codes that stand for single values must differ by more than `_GAP`.
    """
    example = bins.groups[0].codes
    found = []
    for feature, values in enumerate(bins.distinct):
        own = np.empty(0) if bins.is_categorical[feature] else values
        if own is None:
            own = np.arange(float(bins.n_bins[feature]))
        found.append(reach_of(arrays.like(own, example), _GAP))
    return tuple(found)


def _splits(
    found: list[FoundCuts | FoundBranches],
    bins: Bins,
    feature: Integers,
    split: NDArray[np.bool_],
    gain: Floats,
    layout: Layout,
) -> Splits:
    kind = np.where(bins.is_categorical[feature], MULTIWAY, THRESHOLD)
    n_children = _n_children(found, bins, feature, split)
    begin = np.cumsum(n_children) - n_children
    total = np.zeros((int(n_children.sum()), layout.n_statistics), dtype=np.int64)
    bin, threshold = np.zeros(feature.size, dtype=np.int32), np.zeros(feature.size)
    maps: dict[int, NDArray[Any]] = {}
    for group, own in zip(bins.groups, found, strict=True):
        chosen = np.flatnonzero(split & np.isin(feature, group.features))
        column = np.searchsorted(group.features, feature[chosen])
        cells = None if isinstance(own, FoundCuts) else _cells(own.hist, chosen, column)
        for i in np.unique(column).tolist():
            f, nodes = int(group.features[i]), chosen[column == i]
            if isinstance(own, FoundCuts):
                left, known = own.cuts.left[nodes, i], own.cuts.known[nodes, i]
                total[begin[nodes]], total[begin[nodes] + 1] = left, known - left
                places = own.cuts.bin[nodes, i], own.cuts.following[nodes, i]
                bin[nodes], threshold[nodes] = _snapped(bins, f, *places)
                continue
            branch = _branch_of_level(own, nodes, i, int(bins.n_bins[f]))
            assert cells is not None
            stats = with_counts(cells[column == i][:, None], layout.n_statistics, layout)
            of_levels = stats[:, 0, 1 : branch.shape[1] + 1]
            np.add.at(total, begin[nodes][:, None] + branch, of_levels)
            dtype = child_dtype(int(n_children[nodes].max()))
            with_missing = np.pad(branch, ((0, 0), (1, 0))).astype(dtype)
            maps.update(zip(nodes.tolist(), with_missing, strict=True))
    return Splits(
        feature=np.where(split, feature, -1).astype(np.int32),
        kind=kind.astype(np.int8),
        bin=bin,
        threshold=threshold,
        gain=gain,
        missing_child=np.full(feature.size, -1, dtype=np.int32),
        n_children=n_children.astype(np.int32),
        child_total=total,
        child_of_code=maps,
    )


def _cells(hist: Array, nodes: Integers, column: Integers) -> NDArray[Any]:
    """Return hist[nodes, column] (n, B, S) on the host; no more than that is brought there."""
    xp = arrays.namespace(hist)
    flat = xp.reshape(hist, (-1, *hist.shape[2:]))
    return arrays.to_numpy(xp.take(flat, arrays.like(nodes * hist.shape[1] + column, hist), axis=0))


def _n_children(
    found: list[FoundCuts | FoundBranches], bins: Bins, feature: Integers, split: NDArray[np.bool_]
) -> Integers:
    number = np.where(bins.is_categorical[feature], bins.n_bins[feature], 2)
    for group, own in zip(bins.groups, found, strict=True):
        if isinstance(own, FoundBranches) and own.n_branches is not None:
            nodes = np.flatnonzero(np.isin(feature, group.features))
            places = np.searchsorted(group.features, feature[nodes])
            number[nodes] = own.n_branches[nodes, places]
    return np.where(split, number, 0)


def _branch_of_level(own: FoundBranches, nodes: Integers, i: int, n_levels: int) -> Codes:
    """Return the branch of each level of a feature in some nodes, (n, V)."""
    if own.branch is not None:
        return own.branch[nodes, i, :n_levels]
    return np.broadcast_to(np.arange(n_levels, dtype=np.int32), (nodes.size, n_levels))


def _snapped(bins: Bins, feature: int, code: Codes, following: Codes) -> tuple[Codes, Floats]:
    """Return (codes, values) of the largest training values up to the middle of gaps (n,).

    Where codes stand for ranges, only the edges between them divide codes and values alike.
    """
    values = bins.distinct[feature]
    if values is None:
        return code, bins.edges[feature][code - 1]
    middle = midpoints(values[code - 1], values[following - 1])
    last = np.searchsorted(values, middle, side="right")
    return last.astype(np.int32), values[last - 1]

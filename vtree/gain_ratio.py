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
from vtree.criteria import Criterion
from vtree.criteria.information import Worth, information
from vtree.elementary import log2
from vtree.splits import Nodes, Splits
from vtree.tree import MULTIWAY, THRESHOLD, child_dtype
from vtree_kernels.entropy_cuts import Cuts, Rule, cuts
from vtree_kernels.entropy_cuts.reference import SLACK, TOLERANCE
from vtree_kernels.scan import Layout, Limits, with_counts

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]


class FoundCuts(NamedTuple):
    """Numeric features of a group: gain and split information (L, G), and the cuts."""

    gain: Floats
    info: Floats
    cuts: Cuts


class FoundBranches(NamedTuple):
    """Nominal features of a group: gain and split information (L, G), and the histograms."""

    gain: Floats
    info: Floats
    hist: Integers  # (L, G, B, S)


class InformationSearch(NamedTuple):
    """How C4.5 and ID3 look for splits."""

    criterion: Criterion
    layout: Layout
    unit: float  # the weight of one unit of integer weight
    worth: Worth
    averaged: NDArray[np.bool_]  # (F,) attributes that count in the average gain
    min_weight: float = 2.0  # of at least two branches, and of both sides of a cut
    corrected: bool = True  # whether the choice of a cut is paid for, log2(tries) / W
    margin: float = TOLERANCE  # by how much a later attribute or cut must be better
    limits: Limits = Limits()
    monotone: NDArray[np.int8] | None = None
    uses_once: bool = True

    def needs_sums(self, group: Group, *, few_rows: bool = False) -> bool:
        """Tell whether `find` asks for the histograms of a group."""
        return group.categorical

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
        assert nodes.used is not None
        table = arrays.to_numpy(with_counts(hist, self.layout.n_statistics, self.layout))
        parts = table[:, :, 1:, :].astype(np.float64) * self.unit
        known = parts.sum(axis=2)  # exact: integers times a power of two, or small integers
        branch = parts[..., self.layout.weight]  # (L, G, V)
        first = self.layout.first
        below = information(parts[..., first:])
        total = np.zeros(below.shape[:2])
        for v in range(below.shape[2]):
            total = total + below[:, :, v]
        whole = nodes.total[:, self.layout.weight].astype(np.float64)[:, None] * self.unit
        gain = _gain(information(known[..., first:]), total, known[..., self.layout.weight], whole)
        legal = (branch >= self.min_weight * SLACK).sum(axis=2) >= 2
        legal &= ~nodes.used[:, group.features]
        missing = whole - known[..., self.layout.weight]
        info = information(np.concatenate([missing[..., None], branch], axis=2)) / whole
        return FoundBranches(np.where(legal, gain, -np.inf), info, table)

    def _cuts(self, group: Group, nodes: Nodes, bins: Bins) -> FoundCuts:
        assert nodes.rows is not None
        order, start, stop, rows = nodes.rows
        values = [_values(bins, feature) for feature in group.features.tolist()]
        found = cuts(
            group.codes,
            order,
            start,
            stop,
            rows.label,
            rows.weight,
            [arrays.like(own, group.codes) for own in values],
            self.layout,
            self.unit,
            Rule(self.min_weight, margin=self.margin),
        )
        host = Cuts(*(arrays.to_numpy(field) for field in found))
        plane = self.layout.weight
        whole = nodes.total[:, plane].astype(np.float64)[:, None] * self.unit
        left = host.left[..., plane].astype(np.float64) * self.unit
        known = host.known[..., plane].astype(np.float64) * self.unit
        gain = host.gain
        if self.corrected:
            gain = gain - log2(np.maximum(host.tries, 1).astype(np.float64)) / whole
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
        return _splits(found, bins, feature, split, np.where(split, decrease, -np.inf))


def _first_best(worth: Floats, margin: float) -> tuple[Integers, NDArray[np.bool_]]:
    """Return (the best feature, whether there is any) of worth (L, F).

    From the first feature to the last, one is best if it is worth more than `margin` more.
    """
    feature, best = np.zeros(worth.shape[0], dtype=np.int64), np.full(worth.shape[0], -np.inf)
    for f in range(worth.shape[1]):
        better = worth[:, f] > best + margin
        feature[better], best[better] = f, worth[better, f]
    return feature, best > -np.inf


def _gain(before: Floats, after: Floats, known: Floats, whole: Floats) -> Floats:
    """Return known / whole · (before − after) / known, 0 where nothing is known."""
    safe = np.where(known > 0.0, known, 1.0)
    gain: Floats = known / whole * ((before - after) / safe)
    return gain


def _values(bins: Bins, feature: int) -> Floats:
    """Return what the codes of a numeric feature stand for; ranks where they stand for ranges."""
    own = bins.distinct[feature]
    return np.arange(float(bins.n_bins[feature])) if own is None else own


def _splits(
    found: list[FoundCuts | FoundBranches],
    bins: Bins,
    feature: Integers,
    split: NDArray[np.bool_],
    gain: Floats,
) -> Splits:
    place = {int(f): (g, i) for g, group in enumerate(bins.groups)
             for i, f in enumerate(group.features)}  # fmt: skip
    n_children = np.zeros(feature.size, dtype=np.int32)
    bin = np.zeros(feature.size, dtype=np.int32)
    threshold = np.zeros(feature.size)
    totals: list[Integers] = []
    maps: dict[int, NDArray[Any]] = {}
    for node in np.flatnonzero(split).tolist():
        f = int(feature[node])
        g, i = place[f]
        own = found[g]
        if isinstance(own, FoundBranches):
            n_children[node] = bins.n_bins[f]
            totals.append(own.hist[node, i, 1 : bins.n_bins[f] + 1])
            levels = np.arange(bins.n_bins[f])
            maps[node] = np.append(0, levels).astype(child_dtype(levels.size))
            continue
        n_children[node] = 2
        left, known = own.cuts.left[node, i], own.cuts.known[node, i]
        totals.append(np.stack([left, known - left]))
        bin[node], threshold[node] = _snapped(
            bins, f, int(own.cuts.bin[node, i]), int(own.cuts.following[node, i])
        )
    width = (
        found[0].hist.shape[3]
        if isinstance(found[0], FoundBranches)
        else (found[0].cuts.left.shape[2])
    )
    return Splits(
        feature=np.where(split, feature, -1).astype(np.int32),
        kind=np.where(bins.is_categorical[feature], MULTIWAY, THRESHOLD).astype(np.int8),
        bin=bin,
        threshold=threshold,
        gain=gain,
        missing_child=np.full(feature.size, -1, dtype=np.int32),
        n_children=n_children,
        child_total=np.concatenate([*totals, np.empty((0, width), dtype=np.int64)]),
        child_of_code=maps,
    )


def _snapped(bins: Bins, feature: int, code: int, following: int) -> tuple[int, float]:
    """Return (code, value) of the largest training value up to the middle of a gap.

    Where codes stand for ranges, only the edges between them divide codes and values alike.
    """
    values = bins.distinct[feature]
    if values is None:
        return code, float(bins.edges[feature][code - 1])
    middle = midpoints(values[code - 1 : code], values[following - 1 : following])
    last = int(np.searchsorted(values, middle[0], side="right"))
    return last, float(values[last - 1])

"""Split search: histograms, or the rows themselves → each node's best split in each feature.

Every kind of candidate becomes a scan over ordered codes: thresholds in the order of the codes,
category subsets as prefixes of the levels sorted by their mean. Only for several classes and few
levels are all subsets tried, by one matrix product.
"""

from __future__ import annotations

from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from vtree import arrays
from vtree.arrays import Array
from vtree.binning import Bins, Group
from vtree.choice import Found, Legal, Nodes, Splits, best_splits
from vtree.criteria import Criterion
from vtree.random_cuts import LEFT, random_cuts
from vtree.sampling import Draw, random_thresholds
from vtree.subsets import BestSubsets, Subsets, subset_splits
from vtree_kernels.level_subsets import best_prefixes, without_rare_levels
from vtree_kernels.medians import medians
from vtree_kernels.scan import Best, Layout, Limits, scan, with_counts
from vtree_kernels.search import search as rows_search

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]


class Searcher(Protocol):
    """How a system looks for splits; growth asks it level by level."""

    @property
    def criterion(self) -> Criterion:
        """What nodes predict."""

    @property
    def limits(self) -> Limits:
        """What children must have."""

    @property
    def monotone(self) -> NDArray[np.int8] | None:
        """(F,) −1, 0, 1; None for systems without, and all whose splits are not binary."""

    @property
    def uses_once(self) -> bool:
        """Whether it asks which features were used above a node, `Nodes.used`."""

    def needs_sums(self, group: Group, *, few_rows: bool = False) -> bool:
        """Tell whether `find` asks for the histograms of a group, in nodes with few rows or any."""

    def derives(self, group: Group) -> bool:
        """Tell whether `find` derives larger siblings' histograms itself, see `Nodes.derived`."""

    def find(self, group: Group, hist: Array | None, nodes: Nodes, bins: Bins) -> Any:
        """Return what the search finds in one group of features, hist (L, G, B, S) or None."""

    def choose(self, found: list[Any], nodes: Nodes, bins: Bins) -> Splits:
        """Return each node's split from what `find` returned, one entry a group of `bins`."""


class Search(NamedTuple):
    """How binary splits are looked for: the same for all nodes of a tree."""

    criterion: Criterion
    layout: Layout
    limits: Limits
    draw: Draw
    monotone: NDArray[np.int8] | None  # (F,) −1, 0, 1
    min_level_rows: int = 1  # a category with fewer rows in a node counts as missing there
    uses_once: bool = False
    feature_costs: Floats | None = None  # (F,) the gain of a split is worth that much less
    legal: tuple[Legal, ...] = ()  # rules by which features may split a node, all of them
    subsets: Subsets = BestSubsets()
    leaning: bool = False  # whether gains ask what the node answers, its bounds both
    curved: bool = False  # whether weights are second derivatives

    @property
    def size(self) -> int:
        """The plane by which one child is larger than the other: where values miss that none did.

        Weight, so that a row of weight three is three rows. Second derivatives say how sure rows
        are, not how many; beside them rows are counted, as weights have no plane of their own.
        """
        return 0 if self.curved else self.layout.weight

    def find(self, group: Group, hist: Array | None, nodes: Nodes, bins: Bins) -> Found:
        """Return the best split of each node in each feature of a group."""
        if self.criterion.by_rows:
            return search_rows(group, hist, nodes, self, bins)
        if hist is None and not self.draw.raw:
            return search_few_rows(group, nodes, self)
        return search_group(group, hist, nodes, self, bins)

    def choose(self, found: list[Found], nodes: Nodes, bins: Bins) -> Splits:
        """Return the best split of each node."""
        return best_splits(found, nodes, self, bins)

    def needs_sums(self, group: Group, *, few_rows: bool = False) -> bool:
        """Tell whether `find` asks for the histograms of a group, in nodes with few rows or any."""
        if self.draw.raw and not group.categorical:
            return False
        rows_suffice = not group.categorical and not self.draw.random_threshold
        return not (rows_suffice and (few_rows or self.criterion.by_rows))

    def derives(self, group: Group) -> bool:
        """Tell whether `find` derives larger siblings' histograms itself, as `scan` does."""
        scanned = not (group.categorical or self.criterion.by_rows or self.draw.random_threshold)
        return scanned and group.bundles is None

    def directions(self, group: Group) -> NDArray[np.int8] | None:
        """Return the monotone constraints of a group (G,), None if it has none."""
        monotone = None if self.monotone is None else self.monotone[group.features]
        return monotone if monotone is not None and monotone.any() else None


def search_group(
    group: Group, hist: Array | None, nodes: Nodes, search: Search, bins: Bins
) -> Found:
    """Return the best split of each node (L) in each feature of a group, hist (L, G, B, S)."""
    gain, layout = search.criterion.gain, search.layout
    raw = search.draw.raw and not group.categorical
    if group.categorical or (search.draw.random_threshold and not raw):
        hist = with_counts(hist, layout.n_statistics, layout)
    if group.categorical:
        limits, least, n_levels = search.limits, search.min_level_rows, bins.n_bins[group.features]
        if search.leaning:
            layout = layout._replace(lower=arrays.like(nodes.lower[:, None, None], hist))
        rest = (limits, gain, layout, least, n_levels, search.subsets)
        best, goes_left = subset_splits(hist, nodes.total, *rest)
        return Found(best, None, goes_left)
    threshold: Floats | None = None
    allowed: NDArray[np.int32] | None = None
    if raw:
        assert nodes.rows is not None
        hist, threshold = random_cuts(
            search.draw, nodes.key, bins.values, group.features, *nodes.rows
        )
        allowed = np.full(threshold.shape, LEFT, dtype=np.int32)
    elif search.draw.random_threshold:
        allowed, threshold = _allowed(group, hist, nodes, search.draw, bins)
    found = scan(
        hist,
        arrays.like(nodes.total, hist),
        None if allowed is None else arrays.like(allowed, hist),
        *_constraints(group, nodes, search, hist),
        search.limits,
        gain,
        layout,
        nodes.derived,
    )
    return Found(Best(*(arrays.to_numpy(field) for field in found)), threshold, None)


def _constraints(
    group: Group, nodes: Nodes, search: Search, example: Array
) -> tuple[Array, Array, Array]:
    """Return (directions, lower, upper) as `scan` takes them, where `example` lies, or None."""
    if search.monotone is None and not search.leaning:
        return None, None, None
    own, bounds = search.directions(group), (nodes.lower, nodes.upper)
    lower, upper = (arrays.like(bound, example) for bound in bounds)
    return None if own is None else arrays.like(own, example), lower, upper


def search_few_rows(group: Group, nodes: Nodes, search: Search) -> Found:
    """Return the same as `search_group` for a numeric group, from the nodes' rows themselves."""
    assert nodes.rows is not None
    order, start, stop, own = nodes.rows
    best = rows_search(
        group.codes,
        order,
        start,
        stop,
        own.label,
        own.weight,
        own.sums,
        group.n_codes,
        arrays.like(nodes.total, group.codes),
        *_constraints(group, nodes, search, group.codes),
        search.limits,
        search.criterion.gain,
        search.layout,
        own.compact,
    )
    return Found(Best(*(arrays.to_numpy(field) for field in best)), None, None)


def search_rows(
    group: Group, hist: Array | None, nodes: Nodes, search: Search, bins: Bins
) -> Found:
    """Return the best split of each node (L) in each feature of a group, by absolute errors.

    hist (L, G, B, S) is asked for categories, whose levels are ordered by their mean target (a
    heuristic here: for medians no order is known to hold the best subset), and for drawn
    thresholds.
    """
    shape = (nodes.key.size, group.features.size)
    if not group.categorical:
        allowed, threshold = np.zeros(shape, dtype=np.int32), None
        if search.draw.random_threshold:
            allowed, threshold = _allowed(group, hist, nodes, search.draw, bins)
        best = _scan_rows(group, nodes, search, allowed, None)
        return Found(Best(*(arrays.to_numpy(field) for field in best)), threshold, None)
    hist = without_rare_levels(hist, search.min_level_rows)
    present = arrays.to_numpy(hist[..., 0] > 0)

    def scan_in_order(order: Array) -> Best:
        place = np.argsort(arrays.to_numpy(order), axis=2, kind="stable")
        places = np.where(present, place, 0).astype(np.int32)
        return _scan_rows(group, nodes, search, np.zeros(shape, dtype=np.int32), places)

    layout = search.layout
    planes = tuple(layout.first + output for output in range(layout.outputs))
    best, goes_left = best_prefixes(hist, layout, planes, scan_in_order)
    return Found(best, None, goes_left)


def _scan_rows(
    group: Group,
    nodes: Nodes,
    search: Search,
    allowed: NDArray[np.int32],
    places: NDArray[np.int32] | None,
) -> Best:
    assert nodes.rows is not None
    order, start, stop, own = nodes.rows
    assert own.ranks is not None
    monotone = search.directions(group)
    return medians(
        group.codes,
        order,
        start,
        stop,
        own.weight,
        own.sums,
        own.ranks,
        None if places is None else arrays.like(places, group.codes),
        arrays.like(nodes.total, group.codes),
        arrays.like(allowed, group.codes),
        None if monotone is None else arrays.like(monotone, group.codes),
        arrays.like(nodes.lower, group.codes),
        arrays.like(nodes.upper, group.codes),
        search.limits,
        search.layout,
        group.n_codes,
    )


def _allowed(
    group: Group, hist: Array, nodes: Nodes, draw: Draw, bins: Bins
) -> tuple[NDArray[np.int32], Floats]:
    """Return (the only code allowed, its threshold), each (L, G)."""
    shape = (hist.shape[0], group.features.size)
    xp = arrays.namespace(hist)
    codes = xp.arange(hist.shape[2], dtype=xp.int64, device=arrays.device(hist))
    filled = (hist[..., 0] > 0) & (codes >= 1)
    lowest = arrays.to_numpy(xp.min(xp.where(filled, codes, hist.shape[2]), axis=2))
    highest = arrays.to_numpy(xp.max(xp.where(filled, codes, 0), axis=2))
    allowed, threshold = np.zeros(shape, dtype=np.int32), np.zeros(shape)
    for g, feature in enumerate(group.features.tolist()):
        allowed[:, g], threshold[:, g] = random_thresholds(
            draw, nodes.key, bins, feature, lowest[:, g], highest[:, g]
        )
    return allowed, threshold

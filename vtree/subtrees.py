"""Nodes with few rows grow all that is below them by themselves, in one call for all such nodes.

What a level costs besides its rows (its calls, its arrays of results) would be most of the time
near the leaves, where there are many levels of few rows. They wait until the levels are done, so
that many tasks share the processors, or one launch does it all.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from vtree import arrays, draws
from vtree.binning import Bins
from vtree.grown import Grown, extended
from vtree.routing import Data
from vtree.splits import Search, Searcher
from vtree.thresholds import missing_branch, thresholds
from vtree.tree import THRESHOLD
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


def which_alone(grown: Grown, frontier: Integers, data: Data, rule: Rule) -> NDArray[np.bool_]:
    """Return which nodes of the frontier shall grow by themselves."""
    n_rows = grown.total[frontier, 0]
    drawn = rule.raw or 3 * rule.max_features <= data.bins.n_bins.size
    most = FEW_DRAWN if drawn else FEW
    if not arrays.on_host(data.order):
        most = FEW_ON_DEVICE
    elif n_rows.sum() <= FEW_IN_ALL:
        most = FEW_IN_ALL
    return np.asarray(n_rows <= most)


def with_subtrees(grown: Grown, own: Integers, data: Data, rule: Rule) -> tuple[Grown, Data]:
    """Return (nodes with all that is below the `own` ones appended, their rows sorted by leaf)."""
    own = own[np.argsort(grown.start[own])]
    bins, rows = data.bins, data.rows
    found = subtree(
        data.order,
        Starts(
            grown.start[own], grown.stop[own], grown.depth[own], grown.key[own], grown.total[own]
        ),
        Table(
            tuple(group.codes for group in bins.groups),
            tuple(group.features for group in bins.groups),
            bins.n_bins + 1,
            bins.values if rule.raw else None,
        ),
        Statistics(rows.label, rows.weight, rows.sums, rows.identity),
        rule,
    )
    return _joined(grown, own, found, bins, rule), data._replace(order=found.rows)


def _joined(grown: Grown, own: Integers, found: Subtrees, bins: Bins, rule: Rule) -> Grown:
    """Append what was found below the `own` nodes."""
    new = found.parent.size - own.size
    place = np.concatenate([own, grown.feature.size + np.arange(new)])
    below = slice(own.size, None)
    above = np.searchsorted(grown.stop[own], found.start[below], side="right")
    joined = extended(
        grown,
        new,
        tree=grown.tree[own][above],
        parent=place[found.parent[below]],
        depth=found.depth[below],
        key=found.key[below],
        start=found.start[below],
        stop=found.stop[below],
        total=found.total[below],
    )
    _write(joined, place, found, bins, rule)
    return joined


def _write(grown: Grown, place: Integers, found: Subtrees, bins: Bins, rule: Rule) -> None:
    split = np.flatnonzero(found.first_child >= 0)
    first = found.first_child[split]
    feature = found.feature[split].astype(np.int64)
    drawn = found.threshold[split] if rule.raw else None
    bin, threshold = thresholds(
        feature, found.bin[split].astype(np.int64), found.next[split].astype(np.int64), bins, drawn
    )
    n_left, n_rows = found.total[first, 0], found.total[split, 0]
    at = place[split]
    grown.feature[at], grown.kind[at], grown.bin[at] = feature, THRESHOLD, bin
    grown.threshold[at], grown.gain[at] = threshold, found.gain[split]
    grown.missing_child[at] = missing_branch(
        found.missing_left[split], found.missing[split], n_left, n_rows
    )
    grown.n_children[at], grown.first_child[at] = 2, place[first]

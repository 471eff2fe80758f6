"""Category subsets: which levels of a categorical feature go left.

Two classes, or real targets: the best subset is a prefix of the levels sorted by their mean
(Fisher 1958; Breiman et al. 1984, theorem 4.5), so one scan over sorted levels is exact.
Three classes and more, up to 12 levels: all 2^(levels − 1) − 1 subsets.
Above: for each class in turn the levels are sorted by that class's share and scanned; the best
prefix of all these orders is taken. This is a heuristic. Sorting by the first principal component
would need eigenvectors, whose last bits differ between libraries; shares are one division.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from vtree import arrays
from vtree.arrays import Array
from vtree_kernels.level_subsets import (
    Prefixes,
    Sorted,
    level_subsets,
    with_absent,
    without_rare_levels,
)
from vtree_kernels.scan import Best, Layout, Limits
from vtree_kernels.scan.reference import first_maximum, scores

ALL_SUBSETS_UP_TO = 12  # levels
_SLICE_CELLS = 1 << 24  # float64 numbers of one product of subsets and statistics

Gain = Callable[[Any, Any, Any], Any]


class Subsets(Protocol):
    """How subsets of levels are looked for."""

    def rule(self, layout: Layout, n_codes: int) -> Prefixes | Sorted | None:
        """Return how, for features of up to `n_codes`; None: all subsets are tried."""


class BestSubsets(NamedTuple):
    """The best subset where one scan finds it or they are few; else the best of some orders."""

    def rule(self, layout: Layout, n_codes: int) -> Prefixes | None:
        """Return the orders of levels: by the mean of each output, or by each class's share."""
        if layout.classes > 2 or (layout.outputs > 1 and layout.classes > 1):
            if n_codes - 1 <= ALL_SUBSETS_UP_TO:
                return None
            return Prefixes(tuple(range(layout.first, layout.n_statistics)))
        return Prefixes(tuple(layout.ordered + output for output in range(layout.outputs)))


class WeightyLevels(NamedTuple):
    """The best prefix of the levels sorted by their answer, as XGBoost looks for it.

    A level lighter than limits.min_weight could be no leaf and answers 0, as one without rows does:
    such levels stand between those that answer less and those that answer more, and go with either
    side. One side has fewer than `most` levels.
    """

    most: int = 64

    def rule(self, layout: Layout, n_codes: int) -> Prefixes:
        """Return how levels of one target are sorted."""
        return Prefixes((layout.ordered,), light=True, reach=self.most - 1)


class OneRule(NamedTuple):
    """One rule for all features."""

    levels: Prefixes | Sorted

    def rule(self, layout: Layout, n_codes: int) -> Prefixes | Sorted:
        """Return it."""
        return self.levels


def subset_splits(
    hist: Array,
    total: NDArray[np.int64],
    limits: Limits,
    gain: Gain,
    layout: Layout,
    min_level_rows: int = 1,
    n_levels: NDArray[np.int64] | None = None,
    subsets: Subsets = BestSubsets(),  # noqa: B008  (it has no state)
) -> tuple[Best, NDArray[np.int8]]:
    """Return the best subset of each node and feature.

    hist (L, G, B, S), total (L, S); n_levels (G,) of the features, None for B − 1. Returns (Best
    on the host, goes_left (L, G, B) int8): for each code 1 left, 0 right, −1 where the node has
    fewer than `min_level_rows` rows of that level (and for code 0): such rows go the way of the
    missing ones and count as missing.
    """
    rule = subsets.rule(layout, hist.shape[2])
    if n_levels is None:
        n_levels = np.full(hist.shape[1], hist.shape[2] - 1)
    if rule is None:
        hist = without_rare_levels(hist, min_level_rows)
        return _all_subsets(hist, total, limits, gain, layout)
    return level_subsets(hist, total, rule, min_level_rows, n_levels, limits, gain, layout)


def _all_subsets(
    hist: Array, total: NDArray[np.int64], limits: Limits, gain: Gain, layout: Layout
) -> tuple[Best, NDArray[np.int8]]:
    """Try every subset of the node's levels that leaves the last of them right, counting in binary.

    Subset m sends level j left where bit j of m is set; the first best one is kept. The last one
    sends all levels left, against missing values alone.
    """
    n_levels = hist.shape[2] - 1
    numbers = np.append(np.arange(1, 1 << (n_levels - 1)), (1 << n_levels) - 1)
    masks = (numbers[:, None] >> np.arange(n_levels)) & 1  # (subsets, levels)
    per_node = max(1, masks.shape[0] * 4 * hist.shape[1] * hist.shape[3])
    step = max(1, _SLICE_CELLS // per_node)
    parts = []
    for first in range(0, hist.shape[0], step):
        last = min(first + step, hist.shape[0])  # the standard allows no slice beyond the end
        own = hist[first:last, ...], total[first:last]
        parts.append(_score_subsets(*own, masks, limits, gain, layout))
    chosen, best = zip(*parts, strict=True)
    joined = Best(*(np.concatenate(field) for field in zip(*best, strict=True)))
    subset = np.concatenate(chosen)
    codes = np.concatenate([np.zeros((masks.shape[0], 1), dtype=np.int64), masks], axis=1)
    present = arrays.to_numpy(hist[..., 0] > 0)
    return joined, with_absent(codes[subset], present)


def _score_subsets(
    hist: Array,
    total: NDArray[np.int64],
    masks: NDArray[np.int64],
    limits: Limits,
    gain: Gain,
    layout: Layout,
) -> tuple[NDArray[np.int64], Best]:
    """Return (number of the best subset (L, G), Best) for a slice of nodes."""
    xp = arrays.namespace(hist)
    counts = hist[..., 0]
    levels = xp.astype(hist[:, :, 1:, :], xp.float64)  # (L, G, levels, S)
    table = arrays.like(masks, hist, dtype=np.float64)
    # Whole numbers below 2^53: the product is exact in any order of summation.
    plain = xp.matmul(table, levels)  # (L, G, subsets, S)
    missing = xp.astype(hist[:, :, 0, :], xp.float64)[:, :, None, :]
    left = xp.stack([plain, plain + missing], axis=2)  # (L, G, 2, subsets, S)
    whole = arrays.like(total, hist, dtype=np.float64)[:, None, None, None, :]
    right = whole - left
    has_missing = (counts[:, :, 0] > 0)[:, :, None, None]
    second = arrays.like(np.array([False, True]), hist)[None, None, :, None]
    legal = (has_missing | ~second) & (plain[:, :, None, :, 0] > 0.0)
    # Of a subset and its complement only one counts: the one without the node's last level. This
    # goes by the levels with rows, for the table may be wider than the feature.
    number = xp.arange(levels.shape[2], dtype=xp.int64, device=arrays.device(hist))
    last = xp.max(xp.where(counts[:, :, 1:] > 0, number, 0), axis=2)
    keeps_last = xp.take(table, xp.reshape(last, (-1,)), axis=1) == 0.0  # (subsets, L * G)
    keeps_last = xp.reshape(xp.permute_dims(keeps_last, (1, 0)), (*last.shape, 1, masks.shape[0]))
    every_level = arrays.like(masks.all(axis=1), hist)
    legal = legal & (keeps_last | every_level)
    for side in (left, right):
        legal = legal & (side[..., 0] >= max(1, limits.min_rows))
        legal = legal & (side[..., layout.weight] >= limits.min_weight)
    planes = range(left.shape[-1])
    left_planes = [xp.where(legal, left[..., s], 1.0) for s in planes]
    right_planes = [xp.where(legal, right[..., s], 1.0) for s in planes]
    score = scores(left_planes, right_planes, legal, gain, layout)
    shape = (*score.shape[:2], 2 * masks.shape[0])
    filled = arrays.to_numpy(xp.sum(xp.astype(counts > 0, xp.int64), axis=2))
    top, place = first_maximum(xp.reshape(score, shape))
    flat_left = xp.reshape(left, (*shape, left.shape[-1]))
    own = xp.take_along_axis(flat_left, place[:, :, None, None], axis=2)[:, :, 0, :]
    number = arrays.to_numpy(place)
    return number % masks.shape[0], Best(
        gain=arrays.to_numpy(top),
        bin=np.zeros(number.shape, dtype=np.int32),
        next=np.zeros(number.shape, dtype=np.int32),
        missing_left=number >= masks.shape[0],
        missing=arrays.to_numpy(counts)[..., 0],
        varies=filled >= 2,
        left=arrays.to_numpy(own).astype(np.int64),
    )

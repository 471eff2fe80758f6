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
from vtree_kernels.scan import Best, Layout, Limits, scan
from vtree_kernels.scan.reference import first_maximum, scores

ALL_SUBSETS_UP_TO = 12  # levels
_SLICE_CELLS = 1 << 24  # float64 numbers of one product of subsets and statistics

Gain = Callable[[Any, Any, Any], Any]


class Subsets(Protocol):
    """How subsets of levels are looked for; see `vtree.subsets.subset_splits`."""

    def __call__(
        self,
        hist: Array,
        total: NDArray[np.int64],
        limits: Limits,
        gain: Gain,
        layout: Layout,
        min_level_rows: int,
        n_levels: NDArray[np.int64],
    ) -> tuple[Best, NDArray[np.int8]]:
        """Return the best subset of each node and feature."""


def subset_splits(
    hist: Array,
    total: NDArray[np.int64],
    limits: Limits,
    gain: Gain,
    layout: Layout,
    min_level_rows: int = 1,
    n_levels: NDArray[np.int64] | None = None,
) -> tuple[Best, NDArray[np.int8]]:
    """Return the best subset of each node and feature.

    hist (L, G, B, S), total (L, S); n_levels (G,) of the features is not asked here. Returns (Best
    on the host, goes_left (L, G, B) int8): for each code 1 left, 0 right, −1 where the node has
    fewer than `min_level_rows` rows of that level (and for code 0): such rows go the way of the
    missing ones and count as missing.
    """
    hist = without_rare_levels(hist, min_level_rows)
    scan_in_order = _scan_of(hist, total, limits, gain, layout)
    classes = layout.classes * layout.outputs
    if layout.classes > 2 or (layout.outputs > 1 and layout.classes > 1):
        if hist.shape[2] - 1 <= ALL_SUBSETS_UP_TO:
            return _all_subsets(hist, total, limits, gain, layout)
        planes = list(range(layout.first, layout.first + classes))
    else:
        planes = [layout.ordered + o for o in range(layout.outputs)]
    return best_prefixes(hist, layout, planes, scan_in_order)


class WeightyLevels(NamedTuple):
    """The best prefix of the levels sorted by their answer, as XGBoost looks for it.

    A level lighter than limits.min_weight could be no leaf and answers 0, as one without rows does:
    such levels stand between those that answer less and those that answer more, and go with either
    side. One side has fewer than `most` levels.
    """

    most: int = 64

    def __call__(
        self,
        hist: Array,
        total: NDArray[np.int64],
        limits: Limits,
        gain: Gain,
        layout: Layout,
        min_level_rows: int,
        n_levels: NDArray[np.int64],
    ) -> tuple[Best, NDArray[np.int8]]:
        """Return the best subset of each node and feature, of one target, as `subset_splits`."""
        counts = hist[..., 0]
        rare = arrays.to_numpy((counts > 0) & (counts < min_level_rows))
        hist = without_rare_levels(hist, min_level_rows)
        scan = _scan_of(hist, total, limits, gain, layout, _middle(hist, n_levels, self.most - 1))
        light = Light(limits.min_weight, n_levels)
        best, goes_left = _prefixes(hist, layout, layout.ordered, scan, light)
        goes_left[rare] = -1  # their rows count as missing
        return best, goes_left


class Light(NamedTuple):
    """Which levels answer 0, whatever their rows say."""

    least: float  # those of less weight, and those without rows
    n_levels: NDArray[np.int64]  # (G,) codes beyond are no levels


def _middle(hist: Array, n_levels: NDArray[np.int64], reach: int) -> NDArray[np.bool_] | None:
    """Return the places (G, B) that more than `reach` levels stand before and from, None for none.

    Place 0 is that of missing values.
    """
    place = np.arange(hist.shape[2])[None, :]
    middle = (place > reach) & (place <= n_levels[:, None] - reach)
    return middle if middle.any() else None


def _scan_of(
    hist: Array,
    total: NDArray[np.int64],
    limits: Limits,
    gain: Gain,
    layout: Layout,
    together: NDArray[np.bool_] | None = None,
) -> Callable[[Array], Best]:
    """Return what scans levels in an order (L, G, B).

    together: places (G, B), consecutive ones, whose levels are not parted.
    """

    def scan_in_order(order: Array) -> Best:
        free = np.full(hist.shape[0], np.inf)
        sorted_ = arrays.namespace(hist).take_along_axis(hist, order[..., None], axis=2)
        return scan(
            sorted_ if together is None else _merged(sorted_, together),
            arrays.like(total, hist),
            arrays.like(np.zeros(hist.shape[:2], dtype=np.int32), hist),
            None,
            arrays.like(-free, hist),
            arrays.like(free, hist),
            limits,
            gain,
            layout,
        )

    return scan_in_order


def _merged(hist: Array, together: NDArray[np.bool_]) -> Array:
    """Return hist (L, G, B, S) with what stands at the places (G, B) in the last of them."""
    xp = arrays.namespace(hist)
    inside = arrays.like(together, hist)[None, :, :, None]
    whole = xp.sum(xp.where(inside, hist, 0), axis=2, keepdims=True, dtype=hist.dtype)
    last = together & ~np.roll(together, -1, axis=1)
    rest = xp.where(inside, xp.zeros_like(hist), hist)
    return xp.where(arrays.like(last, hist)[None, :, :, None], whole, rest)


def best_prefixes(
    hist: Array, layout: Layout, planes: list[int], scan_in_order: Callable[[Array], Best]
) -> tuple[Best, NDArray[np.int8]]:
    """Return (Best, goes_left) like `subset_splits`, of the prefixes of the levels in some order.

    For each of `planes` the levels of hist (L, G, B, S) are sorted by its mean;
    scan_in_order(order) then says the best prefix of order (L, G, B), codes with code 0 in front.
    """
    best, goes_left = _prefixes(hist, layout, planes[0], scan_in_order)
    for plane in planes[1:]:
        other, other_left = _prefixes(hist, layout, plane, scan_in_order)
        better = other.gain > best.gain
        best = Best(
            *(
                np.where(better[..., None] if old.ndim == 3 else better, new, old)
                for old, new in zip(best, other, strict=True)
            )
        )
        goes_left = np.where(better[..., None], other_left, goes_left)
    return best, goes_left


def without_rare_levels(hist: Array, min_level_rows: int) -> Array:
    """Return hist (L, G, B, S) with the statistics of levels with too few rows in code 0."""
    if min_level_rows <= 1:
        return hist
    xp = arrays.namespace(hist)
    code = xp.arange(hist.shape[2], dtype=xp.int64, device=arrays.device(hist))
    rare = ((hist[..., 0] < min_level_rows) & (code > 0))[..., None]
    moved = xp.sum(xp.where(rare, hist, 0), axis=2, keepdims=True, dtype=xp.int64)
    first = (code == 0)[None, None, :, None]
    return xp.where(rare, 0, xp.where(first, hist + moved, hist))


def _prefixes(
    hist: Array,
    layout: Layout,
    plane: int,
    scan_in_order: Callable[[Array], Best],
    light: Light | None = None,
) -> tuple[Best, NDArray[np.int8]]:
    """Scan the levels in the order of what `plane` answers.

    Absent levels come last and go where missing ones go; or they are `light` and answer 0.
    """
    xp = arrays.namespace(hist)
    counts, weight = hist[..., 0], xp.astype(hist[..., layout.weight], xp.float64)
    present = counts > 0
    own, clip = xp.astype(hist[..., plane], xp.float64), layout.clip
    kept = xp.where(own > clip, own - clip, xp.where(own < -clip, own + clip, 0.0))
    heavy = present & (weight > 0.0)  # second derivatives of few digits may all be zero
    mean = kept / xp.where(heavy, weight + layout.shrink, 1.0)
    code = xp.arange(hist.shape[2], dtype=xp.int64, device=arrays.device(hist))
    if light is None:
        key = xp.where(present, mean, float("inf"))
    else:
        key = xp.where(present & (weight >= light.least), mean, 0.0)
        beyond = code > arrays.like(light.n_levels, hist)[None, :, None]
        key = xp.where(beyond, float("inf"), key)
    key = xp.where(code == 0, -float("inf"), key)  # code 0 stays in front
    order = xp.argsort(key, axis=2, stable=True)  # (L, G, B)
    best = Best(*(arrays.to_numpy(field) for field in scan_in_order(order)))
    rank = np.argsort(arrays.to_numpy(order), axis=2, kind="stable")  # place of each code
    goes_left = np.where(rank <= best.bin[..., None], 1, 0)
    known = arrays.to_numpy(present) if light is None else np.ones(goes_left.shape, dtype=np.bool_)
    return best, _with_absent(goes_left, known)


def _with_absent(goes_left: NDArray[np.int64], present: NDArray[np.bool_]) -> NDArray[np.int8]:
    marked = np.where(present, goes_left, -1)
    marked[..., 0] = -1
    return marked.astype(np.int8)


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
    return joined, _with_absent(codes[subset], present)


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

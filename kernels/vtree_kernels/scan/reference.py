"""The definition of `scan` over the array API: cumulate → score → mask → first maximum."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from array_api_compat import array_namespace, device

from vtree_kernels.derive.reference import Derived, derive


class Layout(NamedTuple):
    """Where the statistics of a row lie among the S planes of a histogram.

    Plane 0 counts rows; plane `weight` is their weight (0 itself where all weigh one); from plane
    `first` on stand outputs times classes, class weights, or sums of targets with classes = 1.
    """

    weight: int
    first: int
    outputs: int
    classes: int
    ordered: int  # the plane whose mean a monotone constraint orders
    center: float  # of that plane: its mean is center + scale * sum / weight
    scale: float
    unit: tuple[float, ...]  # per output, its scale over the largest one
    implied: int = 0  # 1: histograms leave plane 0 out, for it is the sum of the classes
    shrink: float = 0.0  # what a monotone constraint orders is center + scale * T(sum) / (weight
    clip: float = 0.0  # + shrink), T drawing sums towards zero by `clip`
    lower: Any = -math.inf  # the node's bounds, which a scan sets for the gain to see
    upper: Any = math.inf
    confined: int = 0  # 1: answers beyond the bounds are drawn back to them; 0: they are not legal

    @property
    def n_statistics(self) -> int:
        """S, the number of planes."""
        return self.first + self.outputs * self.classes

    @property
    def n_stored(self) -> int:
        """Planes of a histogram."""
        return self.n_statistics - self.implied

    @property
    def cell_bytes(self) -> int:
        """Bytes of one cell of a histogram: class counts are int32, everything else int64."""
        return self.n_stored * (4 if self.implied else 8)


class Limits(NamedTuple):
    """What both children of a split must have."""

    min_rows: int = 1
    min_weight: float = 0.0


class Best(NamedTuple):
    """The best split of each node and feature, (L, G)."""

    gain: Any
    bin: Any
    next: Any
    missing_left: Any
    missing: Any
    varies: Any
    left: Any  # (L, G, S)


def first_maximum(values: Any) -> tuple[Any, Any]:
    """Return (maximum, index of its first place) along the last axis; NaN is −inf.

    `argmax` may return any of several equal places in some libraries.
    """
    xp = array_namespace(values)
    values = xp.where(xp.isnan(values), -float("inf"), values)
    length = values.shape[-1]
    index = xp.arange(length, dtype=xp.int64, device=device(values))
    largest = xp.max(values, axis=-1, keepdims=True)
    first = xp.min(xp.where(values == largest, index, length - 1), axis=-1)
    return largest[..., 0], first


def scan(
    hist: Any,
    total: Any,
    allowed: Any,
    monotone: Any | None,
    lower: Any | None,
    upper: Any | None,
    limits: Limits,
    gain: Callable[[Any, Any, Any], Any],
    layout: Any,
    derived: Derived | None = None,
) -> Best:
    """Return the best split of each node and feature; see the package for the contract."""
    xp = array_namespace(hist)
    if derived is not None:
        derive(hist, derived)
    hist = with_counts(hist, total.shape[1], layout)
    if lower is None or upper is None:
        upper = xp.full(hist.shape[0], float("inf"), dtype=xp.float64, device=device(hist))
        lower = -upper
    low, high = lower[:, None, None, None], upper[:, None, None, None]
    layout = layout._replace(lower=low, upper=high)
    left, right, legal = candidates(hist, total, allowed, limits, layout)
    sides = (_planes(xp, left, legal), _planes(xp, right, legal))
    if monotone is not None:
        means = [_answer(xp, side, layout) for side in sides]
        legal = legal & in_order(means, monotone, lower, upper)
    return chosen(scores(*sides, legal, gain, layout), left, hist)


def scores(left: Any, right: Any, legal: Any, gain: Callable[..., Any], layout: Any) -> Any:
    """Return the gains of candidates, planes left and right of them, −inf of those not legal.

    What gains are worked out from may overflow to infinity, and to NaN; see `first_maximum`.
    """
    xp = array_namespace(legal)
    with np.errstate(over="ignore", invalid="ignore"):
        return xp.where(legal, gain(left, right, layout), -float("inf"))


def with_counts(hist: Any, n_statistics: int, layout: Any) -> Any:
    """Return hist (L, G, B, S) int64 with plane 0, also where it is only implied by the classes."""
    xp = array_namespace(hist)
    hist = xp.astype(hist, xp.int64, copy=False)
    if hist.shape[3] == n_statistics:
        return hist
    counts = xp.sum(hist[..., : layout.classes], axis=3, keepdims=True, dtype=xp.int64)
    return xp.concat([counts, hist], axis=3)


def candidates(
    hist: Any, total: Any, allowed: Any | None, limits: Limits, layout: Any
) -> tuple[Any, Any, Any]:
    """Return all candidates' (left, right, legal), (L, G, 2, B, S) twice and (L, G, 2, B).

    The third axis is missing right, missing left: in this order, so that ties go right. Monotone
    constraints are not looked at here.
    """
    xp = array_namespace(hist)
    place = device(hist)
    missing = hist[:, :, 0, :]  # (L, G, S)
    with_missing = xp.cumulative_sum(hist, axis=2, dtype=xp.int64)  # (L, G, B, S)
    without = with_missing - missing[:, :, None, :]
    left = xp.stack([without, with_missing], axis=2)
    right = total[:, None, None, None, :] - left

    bins = xp.arange(hist.shape[2], dtype=xp.int64, device=place)[None, None, None, :]
    legal = (bins >= 1) & (without[:, :, None, :, 0] > 0)
    if allowed is not None:
        only = xp.astype(allowed, xp.int64)[:, :, None, None]
        legal = legal & ((only == 0) | (only == bins))
    # Without missing values both ways are the same split: keep the first.
    has_missing = (missing[..., 0] > 0)[:, :, None, None]
    second = xp.asarray([False, True], device=place)[None, None, :, None]
    legal = legal & (has_missing | ~second)
    for side in (left, right):
        legal = legal & (side[..., 0] >= max(1, limits.min_rows))
        legal = legal & (xp.astype(side[..., layout.weight], xp.float64) >= limits.min_weight)
    return left, right, legal


def chosen(score: Any, left: Any, hist: Any) -> Best:
    """Return the first candidate with the largest score (L, G, 2, B), and what goes with it."""
    xp = array_namespace(hist)
    n_codes = hist.shape[2]
    flat = (*score.shape[:2], 2 * n_codes)
    best, place_of_best = first_maximum(xp.reshape(score, flat))
    bin = place_of_best % n_codes
    left_of_best = xp.take_along_axis(
        xp.reshape(left, (*flat, left.shape[-1])), place_of_best[:, :, None, None], axis=2
    )
    filled = xp.astype(hist[..., 0] > 0, xp.int64)
    return Best(
        gain=best,
        bin=xp.astype(bin, xp.int32),
        next=xp.astype(_next_code(xp, hist[..., 0], bin), xp.int32),
        missing_left=place_of_best >= n_codes,
        missing=hist[:, :, 0, 0],
        varies=xp.sum(filled, axis=2) >= 2,
        left=left_of_best[:, :, 0, :],
    )


def in_order(centers: list[Any], monotone: Any, lower: Any, upper: Any) -> Any:
    """Tell which candidates have centers (left, right) in bounds and in the feature's direction."""
    xp = array_namespace(lower)
    direction = xp.astype(monotone, xp.float64)[None, :, None, None]
    low, high = lower[:, None, None, None], upper[:, None, None, None]
    kept = (centers[1] - centers[0]) * direction >= 0.0
    for center in centers:
        kept = kept & (center >= low) & (center <= high)
    return kept | (direction == 0.0)


def _answer(xp: Any, side: list[Any], layout: Any) -> Any:
    """Return what a side answers by the plane that is ordered."""
    own, clip = side[layout.ordered], layout.clip
    kept = xp.where(own > clip, own - clip, xp.where(own < -clip, own + clip, 0.0))
    found = layout.center + kept / (side[layout.weight] + layout.shrink) * layout.scale
    if not layout.confined:
        return found
    found = xp.where(found > layout.upper, layout.upper, found)
    return xp.where(found < layout.lower, layout.lower, found)


def _planes(xp: Any, side: Any, legal: Any) -> list[Any]:
    """Return the S planes of a side as float64, ones where the candidate is not legal."""
    return [
        xp.where(legal, xp.astype(side[..., s], xp.float64), 1.0) for s in range(side.shape[-1])
    ]


def _next_code(xp: Any, counts: Any, bin: Any) -> Any:
    """Return the first code after `bin` (L, G) with rows in `counts` (L, G, B), or 0."""
    n_codes = counts.shape[2]
    codes = xp.arange(n_codes, dtype=xp.int64, device=device(counts))[None, None, :]
    later = (codes > bin[:, :, None]) & (counts > 0)
    following = xp.min(xp.where(later, codes, n_codes), axis=2)
    return xp.where(following == n_codes, 0, following)

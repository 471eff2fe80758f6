"""Category subsets with the regularisation of LightGBM (Ke et al. 2017, its manual's `cat_…`).

Few levels: one against the rest. More: levels with enough rows are sorted by sum / (weight + s),
and at most `most_levels` of them, from either end, go left; the children of such a split shrink
more. Prefixes are tried only where the levels added since the last one hold enough rows.

All levels that are not chosen go right, those without rows in the node, too.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from vtree import arrays
from vtree.arrays import Array
from vtree.criteria import newton
from vtree.subsets import without_rare_levels
from vtree_kernels.scan import Best, Layout, Limits
from vtree_kernels.scan.reference import first_maximum, scores

Gain = Callable[[Any, Any, Any], Any]


class SortedLevels(NamedTuple):
    """How careful subsets of sorted levels are, in the units of the planes."""

    smooth: float  # added to each level's weight before levels are sorted
    least_rows: float  # levels with fewer rows are not sorted
    shrink: float  # what the children shrink more by
    most_levels: int
    group_rows: int  # what must have been added since the last candidate, and must be left over
    one_against_rest: int  # up to so many levels

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
        """Return the best subset of each node and feature, as `vtree.subsets.subset_splits`."""
        xp = arrays.namespace(hist)
        hist = without_rare_levels(hist, min_level_rows)
        whole = arrays.like(total, hist)[:, None, None, :]  # (L, 1, 1, S)
        counts = hist[..., 0]
        alone = arrays.like(n_levels <= self.one_against_rest, hist)[None, :, None]
        code = xp.arange(hist.shape[2], dtype=xp.int64, device=arrays.device(hist))
        order, sizes = self._sorted(hist, layout, code)
        steps = max(1, min(self.most_levels, hist.shape[2] - 1))
        candidates, gains = [], []
        for place in self._places(sizes, steps):
            chosen = xp.take_along_axis(order, place, axis=2)  # (L, G, T) codes
            own = xp.take_along_axis(hist, chosen[..., None], axis=2)
            left = xp.cumulative_sum(own, axis=2, dtype=xp.int64)
            legal = self._tried(own[..., 0], left, whole, sizes, limits, layout) & ~alone
            candidates.append(left)
            gains.append(self._scores(left, whole, legal, gain, layout))
        left, legal = hist[:, :, 1:, :], alone & _large(hist[:, :, 1:, :], whole, limits, layout)
        candidates.append(left)
        gains.append(_scores(left, whole, legal, gain, layout) - _lost(whole, layout, layout))
        top, number = first_maximum(xp.concat(gains, axis=2))
        left = xp.take_along_axis(xp.concat(candidates, axis=2), number[:, :, None, None], axis=2)
        filled = xp.sum(xp.astype(counts > 0, xp.int64), axis=2)
        rank = xp.argsort(order, axis=2, stable=True)
        goes_left = _members(number, rank, sizes, steps, code)
        none = np.zeros(tuple(top.shape), dtype=np.int32)
        best = Best(
            gain=arrays.to_numpy(top),
            bin=none,
            next=none,
            missing_left=none > 0,
            missing=arrays.to_numpy(counts[:, :, 0]),
            varies=arrays.to_numpy(filled >= 2),
            left=arrays.to_numpy(left[:, :, 0, :]),
        )
        return best, goes_left

    def _sorted(self, hist: Array, layout: Layout, code: Array) -> tuple[Array, Array]:
        """Return (codes, those to sort first (L, G, B), how many these are (L, G, 1))."""
        xp = arrays.namespace(hist)
        used = (xp.astype(hist[..., 0], xp.float64) >= self.least_rows) & (hist[..., 0] > 0)
        used = used & (code > 0)
        weight = xp.astype(hist[..., layout.weight], xp.float64) + self.smooth
        heavy = used & (weight > 0.0)  # second derivatives of few digits may all be zero
        mean = xp.astype(hist[..., layout.first], xp.float64) / xp.where(heavy, weight, 1.0)
        order = xp.argsort(xp.where(used, -mean, float("inf")), axis=2, stable=True)
        return order, xp.sum(xp.astype(used, xp.int64), axis=2, keepdims=True)

    def _places(self, sizes: Array, steps: int) -> tuple[Array, Array]:
        """Return the places of the first, second … level from the front and from the back."""
        xp = arrays.namespace(sizes)
        number = xp.arange(steps, dtype=xp.int64, device=arrays.device(sizes))[None, None, :]
        front = number + 0 * sizes
        return front, xp.where(number < sizes, sizes - 1 - number, 0)

    def _tried(
        self, rows: Array, left: Array, whole: Array, sizes: Array, limits: Limits, layout: Layout
    ) -> Array:
        """Tell which prefixes are candidates, (L, G, T): they come one after another."""
        xp = arrays.namespace(rows)
        half = (sizes[..., 0] + 1) // 2
        most = xp.where(half < self.most_levels, half, self.most_levels)
        enough = _large_side(left, limits, layout)
        room = _large_side(whole - left, limits, layout)
        room = room & ((whole - left)[..., 0] >= self.group_rows)
        since = 0 * rows[:, :, 0]
        going = since == 0
        tried = []
        for step in range(rows.shape[2]):
            going = going & (step < most)
            since = since + rows[:, :, step]
            going = going & (room[:, :, step] | ~enough[:, :, step])
            taken = going & enough[:, :, step] & (since >= self.group_rows)
            since = xp.where(taken, 0, since)
            tried.append(taken)
        return xp.stack(tried, axis=2)

    def _scores(self, left: Array, whole: Array, legal: Array, gain: Gain, layout: Layout) -> Array:
        """Return what splits gain whose children shrink more than their parent did."""
        more = layout._replace(unit=(layout.unit[0] + self.shrink, *layout.unit[1:]))
        return _scores(left, whole, legal, gain, more) - _lost(whole, layout, more)


def _lost(whole: Array, layout: Layout, children: Layout) -> Array:
    """Return what a node is worth, less what gains by the layout of its children take it for.

    Where answers lean, it is worth what its answer says.
    """
    xp = arrays.namespace(whole)
    parent = [xp.astype(whole[..., s], xp.float64) for s in range(whole.shape[3])]  # (L, 1, 1)
    leans = len(layout.unit) > 3
    own = newton.worth_of_answer(parent, layout) if leans else newton.worth(parent, layout)
    return own - newton.worth(parent, children)


def _members(number: Array, rank: Array, sizes: Array, steps: int, code: Array) -> NDArray[np.int8]:
    """Return which codes the chosen candidate sends left, (L, G, B): 1 or 0; −1 for missing."""
    chosen = arrays.to_numpy(number)[..., None]
    place, count = arrays.to_numpy(rank), arrays.to_numpy(sizes)
    front = (chosen < steps) & (place <= chosen)
    back = (chosen >= steps) & (chosen < 2 * steps) & (place < count)
    back &= place >= count - 1 - (chosen - steps)
    alone = (chosen >= 2 * steps) & (arrays.to_numpy(code) == chosen - 2 * steps + 1)
    goes_left = np.where(front | back | alone, 1, 0).astype(np.int8)
    goes_left[..., 0] = -1
    return goes_left


def _large_side(side: Array, limits: Limits, layout: Layout) -> Array:
    xp = arrays.namespace(side)
    large = side[..., 0] >= max(1, limits.min_rows)
    return large & (xp.astype(side[..., layout.weight], xp.float64) >= limits.min_weight)


def _large(left: Array, whole: Array, limits: Limits, layout: Layout) -> Array:
    return _large_side(left, limits, layout) & _large_side(whole - left, limits, layout)


def _scores(left: Array, whole: Array, legal: Array, gain: Gain, layout: Layout) -> Array:
    """Return the gains of candidates left (L, G, T, S), −inf where not legal."""
    xp = arrays.namespace(left)
    one, other = (
        [xp.where(legal, xp.astype(side[..., s], xp.float64), 1.0) for s in range(side.shape[3])]
        for side in (left, whole - left)
    )
    return scores(one, other, legal, gain, layout)

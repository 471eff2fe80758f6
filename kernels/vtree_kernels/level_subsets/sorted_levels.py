"""The definition of `level_subsets` by `Sorted`, over the array API."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from array_api_compat import array_namespace, device
from numpy.typing import NDArray

from vtree_kernels._host import like, to_numpy
from vtree_kernels.scan.reference import Best, Limits, first_maximum, scores

Gain = Callable[[Any, Any, Any], Any]


class Sorted(NamedTuple):
    """Levels from either end of their order, carefully; in the units of the planes."""

    smooth: float  # added to each level's weight before levels are sorted
    least_rows: float  # levels with fewer rows are not sorted
    shrink: float  # what the children shrink more by
    most_levels: int
    group_rows: int  # what must have been added since the last candidate, and must be left over
    one_against_rest: int  # up to so many levels
    # lost(node, layout, children): what a node is worth less what gains by `children` take it for
    lost: Callable[[Any, Any, Any], Any]


def best_of_sorted(
    hist: Any,
    total: NDArray[np.int64],
    rule: Sorted,
    n_levels: NDArray[np.int64],
    limits: Limits,
    gain: Gain,
    layout: Any,
) -> tuple[Best, NDArray[np.int8]]:
    """Return the best subset of each node and feature; see the package for the contract."""
    xp = array_namespace(hist)
    whole = like(total, hist)[:, None, None, :]  # (L, 1, 1, S)
    counts = hist[..., 0]
    alone = like(n_levels <= rule.one_against_rest, hist)[None, :, None]
    code = xp.arange(hist.shape[2], dtype=xp.int64, device=device(hist))
    order, sizes = _sorted(hist, rule, layout, code)
    more = layout._replace(unit=(layout.unit[0] + rule.shrink, *layout.unit[1:]))
    steps = max(1, min(rule.most_levels, hist.shape[2] - 1))
    candidates, gains = [], []
    for place in _places(sizes, steps):
        chosen = xp.take_along_axis(order, place, axis=2)  # (L, G, T) codes
        own = xp.take_along_axis(hist, chosen[..., None], axis=2)
        left = xp.cumulative_sum(own, axis=2, dtype=xp.int64)
        legal = _tried(own[..., 0], left, whole, sizes, rule, limits, layout) & ~alone
        candidates.append(left)
        gains.append(_scores(left, whole, legal, gain, more) - _lost(whole, layout, more, rule))
    left, legal = hist[:, :, 1:, :], alone & _large(hist[:, :, 1:, :], whole, limits, layout)
    candidates.append(left)
    gains.append(_scores(left, whole, legal, gain, layout) - _lost(whole, layout, layout, rule))
    top, number = first_maximum(xp.concat(gains, axis=2))
    left = xp.take_along_axis(xp.concat(candidates, axis=2), number[:, :, None, None], axis=2)
    filled = xp.sum(xp.astype(counts > 0, xp.int64), axis=2)
    rank = xp.argsort(order, axis=2, stable=True)
    none = np.zeros(tuple(top.shape), dtype=np.int32)
    best = Best(
        gain=to_numpy(top),
        bin=none,
        next=none,
        missing_left=none > 0,
        missing=to_numpy(counts[:, :, 0]),
        varies=to_numpy(filled >= 2),
        left=to_numpy(left[:, :, 0, :]),
    )
    return best, _members(number, rank, sizes, steps, code)


def _sorted(hist: Any, rule: Sorted, layout: Any, code: Any) -> tuple[Any, Any]:
    """Return (codes, those to sort first (L, G, B), how many these are (L, G, 1))."""
    xp = array_namespace(hist)
    used = (xp.astype(hist[..., 0], xp.float64) >= rule.least_rows) & (hist[..., 0] > 0)
    used = used & (code > 0)
    weight = xp.astype(hist[..., layout.weight], xp.float64) + rule.smooth
    heavy = used & (weight > 0.0)  # second derivatives of few digits may all be zero
    mean = xp.astype(hist[..., layout.first], xp.float64) / xp.where(heavy, weight, 1.0)
    order = xp.argsort(xp.where(used, -mean, float("inf")), axis=2, stable=True)
    return order, xp.sum(xp.astype(used, xp.int64), axis=2, keepdims=True)


def _places(sizes: Any, steps: int) -> tuple[Any, Any]:
    """Return the places of the first, second … level from the front and from the back."""
    xp = array_namespace(sizes)
    number = xp.arange(steps, dtype=xp.int64, device=device(sizes))[None, None, :]
    front = number + 0 * sizes
    return front, xp.where(number < sizes, sizes - 1 - number, 0)


def _tried(
    rows: Any, left: Any, whole: Any, sizes: Any, rule: Sorted, limits: Limits, layout: Any
) -> Any:
    """Tell which prefixes are candidates, (L, G, T): they come one after another."""
    xp = array_namespace(rows)
    half = (sizes[..., 0] + 1) // 2
    most = xp.where(half < rule.most_levels, half, rule.most_levels)
    enough = _large_side(left, limits, layout)
    room = _large_side(whole - left, limits, layout)
    room = room & ((whole - left)[..., 0] >= rule.group_rows)
    since = 0 * rows[:, :, 0]
    going = since == 0
    tried = []
    for step in range(rows.shape[2]):
        going = going & (step < most)
        since = since + rows[:, :, step]
        going = going & (room[:, :, step] | ~enough[:, :, step])
        taken = going & enough[:, :, step] & (since >= rule.group_rows)
        since = xp.where(taken, 0, since)
        tried.append(taken)
    return xp.stack(tried, axis=2)


def _lost(whole: Any, layout: Any, children: Any, rule: Sorted) -> Any:
    xp = array_namespace(whole)
    parent = [xp.astype(whole[..., s], xp.float64) for s in range(whole.shape[3])]  # (L, 1, 1)
    return rule.lost(parent, layout, children)


def _members(number: Any, rank: Any, sizes: Any, steps: int, code: Any) -> NDArray[np.int8]:
    """Return which codes the chosen candidate sends left, (L, G, B): 1 or 0; −1 for missing."""
    chosen = to_numpy(number)[..., None]
    place, count = to_numpy(rank), to_numpy(sizes)
    front = (chosen < steps) & (place <= chosen)
    back = (chosen >= steps) & (chosen < 2 * steps) & (place < count)
    back &= place >= count - 1 - (chosen - steps)
    alone = (chosen >= 2 * steps) & (to_numpy(code) == chosen - 2 * steps + 1)
    goes_left = np.where(front | back | alone, 1, 0).astype(np.int8)
    goes_left[..., 0] = -1
    return goes_left


def _large_side(side: Any, limits: Limits, layout: Any) -> Any:
    xp = array_namespace(side)
    large = side[..., 0] >= max(1, limits.min_rows)
    return large & (xp.astype(side[..., layout.weight], xp.float64) >= limits.min_weight)


def _large(left: Any, whole: Any, limits: Limits, layout: Any) -> Any:
    return _large_side(left, limits, layout) & _large_side(whole - left, limits, layout)


def _scores(left: Any, whole: Any, legal: Any, gain: Gain, layout: Any) -> Any:
    """Return the gains of candidates left (L, G, T, S), −inf where not legal."""
    xp = array_namespace(left)
    one, other = (
        [xp.where(legal, xp.astype(side[..., s], xp.float64), 1.0) for s in range(side.shape[3])]
        for side in (left, whole - left)
    )
    return scores(one, other, legal, gain, layout)

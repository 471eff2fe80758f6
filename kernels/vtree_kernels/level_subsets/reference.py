"""The definition of `level_subsets` over the array API."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from array_api_compat import array_namespace, device
from numpy.typing import NDArray

from vtree_kernels._host import like, to_numpy
from vtree_kernels.level_subsets import sorted_levels
from vtree_kernels.level_subsets.sorted_levels import Sorted
from vtree_kernels.scan import Best, Limits, scan

Gain = Callable[[Any, Any, Any], Any]


class Prefixes(NamedTuple):
    """The best prefix of the levels in the order of their means."""

    planes: tuple[int, ...]  # whose means: one order each
    light: bool = False  # whether levels that could be no leaf have the mean 0
    reach: int = -1  # levels from either end that are parted, −1 for all


def level_subsets(
    hist: Any,
    total: NDArray[np.int64],
    rule: Prefixes | Sorted,
    least_rows: int,
    n_levels: NDArray[np.int64],
    limits: Limits,
    gain: Gain,
    layout: Any,
) -> tuple[Best, NDArray[np.int8]]:
    """Return the best subset of each node and feature; see the package for the contract."""
    counts = hist[..., 0]
    no_rule = to_numpy((counts > 0) & (counts < least_rows))  # their rows count as missing
    no_rule = no_rule | (np.arange(hist.shape[2]) > n_levels[:, None])
    hist = without_rare_levels(hist, least_rows)
    if isinstance(rule, Sorted):
        found = sorted_levels.best_of_sorted(hist, total, rule, n_levels, limits, gain, layout)
    else:
        together = _middle(hist, n_levels, rule.reach) if rule.reach >= 0 else None
        light = Light(limits.min_weight, n_levels) if rule.light else None
        scan_in_order = _scan_of(hist, total, limits, gain, layout, together)
        found = best_prefixes(hist, layout, rule.planes, scan_in_order, light)
    best, goes_left = found
    return best, np.where(no_rule, np.int8(-1), goes_left)


class Light(NamedTuple):
    """Which levels have the mean 0, whatever their rows say."""

    least: float  # those of less weight, and those without rows
    n_levels: NDArray[np.int64]  # (G,) codes beyond are no levels


def without_rare_levels(hist: Any, least_rows: int) -> Any:
    """Return hist (L, G, B, S) with the statistics of levels with too few rows in code 0."""
    if least_rows <= 1:
        return hist
    xp = array_namespace(hist)
    code = xp.arange(hist.shape[2], dtype=xp.int64, device=device(hist))
    rare = ((hist[..., 0] < least_rows) & (code > 0))[..., None]
    moved = xp.sum(xp.where(rare, hist, 0), axis=2, keepdims=True, dtype=xp.int64)
    first = (code == 0)[None, None, :, None]
    return xp.where(rare, 0, xp.where(first, hist + moved, hist))


def best_prefixes(
    hist: Any,
    layout: Any,
    planes: tuple[int, ...],
    scan_in_order: Callable[[Any], Best],
    light: Light | None = None,
) -> tuple[Best, NDArray[np.int8]]:
    """Return (Best, goes_left) of the prefixes of the levels in some order.

    For each of `planes` the levels of hist (L, G, B, S) are sorted by its mean;
    scan_in_order(order) then says the best prefix of order (L, G, B), codes with code 0 in front.
    """
    best, goes_left = _prefixes(hist, layout, planes[0], scan_in_order, light)
    for plane in planes[1:]:
        other, other_left = _prefixes(hist, layout, plane, scan_in_order, light)
        better = other.gain > best.gain
        best = Best(
            *(
                np.where(better[..., None] if old.ndim == 3 else better, new, old)
                for old, new in zip(best, other, strict=True)
            )
        )
        goes_left = np.where(better[..., None], other_left, goes_left)
    return best, goes_left


def _middle(hist: Any, n_levels: NDArray[np.int64], reach: int) -> NDArray[np.bool_] | None:
    """Return the places (G, B) that more than `reach` levels stand before and from, None for none.

    Place 0 is that of missing values.
    """
    place = np.arange(hist.shape[2])[None, :]
    middle = (place > reach) & (place <= n_levels[:, None] - reach)
    return middle if middle.any() else None


def _scan_of(
    hist: Any,
    total: NDArray[np.int64],
    limits: Limits,
    gain: Gain,
    layout: Any,
    together: NDArray[np.bool_] | None = None,
) -> Callable[[Any], Best]:
    """Return what scans levels in an order (L, G, B).

    together: places (G, B), consecutive ones, whose levels are not parted.
    """
    whole = like(total, hist)

    def scan_in_order(order: Any) -> Best:
        xp = array_namespace(hist)
        sorted_ = xp.take_along_axis(hist, order[..., None], axis=2)
        if together is not None:
            sorted_ = _merged(sorted_, together)
        return scan(sorted_, whole, None, None, None, None, limits, gain, layout)

    return scan_in_order


def _merged(hist: Any, together: NDArray[np.bool_]) -> Any:
    """Return hist (L, G, B, S) with what stands at the places (G, B) in the last of them."""
    xp = array_namespace(hist)
    inside = like(together, hist)[None, :, :, None]
    whole = xp.sum(xp.where(inside, hist, 0), axis=2, keepdims=True, dtype=hist.dtype)
    last = together & ~np.roll(together, -1, axis=1)
    rest = xp.where(inside, xp.zeros_like(hist), hist)
    return xp.where(like(last, hist)[None, :, :, None], whole, rest)


def _prefixes(
    hist: Any,
    layout: Any,
    plane: int,
    scan_in_order: Callable[[Any], Best],
    light: Light | None = None,
) -> tuple[Best, NDArray[np.int8]]:
    """Scan the levels in the order of what `plane` answers.

    Absent levels come last and go where missing ones go; or they are `light` and answer 0.
    """
    xp = array_namespace(hist)
    counts, weight = hist[..., 0], xp.astype(hist[..., layout.weight], xp.float64)
    present = counts > 0
    own, clip = xp.astype(hist[..., plane], xp.float64), layout.clip
    kept = xp.where(own > clip, own - clip, xp.where(own < -clip, own + clip, 0.0))
    heavy = present & (weight > 0.0)  # second derivatives of few digits may all be zero
    mean = kept / xp.where(heavy, weight + layout.shrink, 1.0)
    code = xp.arange(hist.shape[2], dtype=xp.int64, device=device(hist))
    if light is None:
        key = xp.where(present, mean, float("inf"))
    else:
        key = xp.where(present & (weight >= light.least), mean, 0.0)
        beyond = code > like(light.n_levels, hist)[None, :, None]
        key = xp.where(beyond, float("inf"), key)
    key = xp.where(code == 0, -float("inf"), key)  # code 0 stays in front
    order = xp.argsort(key, axis=2, stable=True)  # (L, G, B)
    best = Best(*(to_numpy(field) for field in scan_in_order(order)))
    rank = np.argsort(to_numpy(order), axis=2, kind="stable")  # place of each code
    goes_left = np.where(rank <= best.bin[..., None], 1, 0)
    known = to_numpy(present) if light is None else np.ones(goes_left.shape, dtype=np.bool_)
    return best, with_absent(goes_left, known)


def with_absent(goes_left: NDArray[np.int64], present: NDArray[np.bool_]) -> NDArray[np.int8]:
    """Return goes_left (L, G, B) with −1 for levels that are not present, and for code 0."""
    marked = np.where(present, goes_left, -1)
    marked[..., 0] = -1
    return marked.astype(np.int8)

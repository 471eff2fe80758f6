"""The definition of `joint` over the array API: one pair of nodes after another."""

from __future__ import annotations

from typing import Any

import numpy as np
from array_api_compat import array_namespace, device
from numpy.typing import NDArray


def joint(
    hist: Any,
    total: Any,
    learn: NDArray[np.int64],
    judge: NDArray[np.int64],
    shrink: float,
    one_hot: bool,
    layout: Any,
) -> tuple[Any, Any]:
    """Return (worth, size), each (G, 2, B); see the package for the contract."""
    xp, place = array_namespace(hist), device(hist)
    shape = (hist.shape[1], 2, hist.shape[2])
    worth = xp.zeros(shape, dtype=xp.float64, device=place)
    size = xp.zeros(shape, dtype=xp.float64, device=place)
    divided = xp.zeros(shape, dtype=xp.bool, device=place)
    for teacher, judged in zip(learn.tolist(), judge.tolist(), strict=True):
        sides = _sides(hist[teacher, ...], total[teacher, ...], one_hot)
        judges = _sides(hist[judged, ...], total[judged, ...], one_hot)
        worths, sizes = [], []
        for own, other in zip(sides, judges, strict=True):
            here = _worth(own, other, shrink, layout)
            worths.append(here[0])
            sizes.append(here[1])
        worth, size = worth + (worths[0] + worths[1]), size + (sizes[0] + sizes[1])
        divided = divided | ((judges[0][..., 0] > 0) & (judges[1][..., 0] > 0))
    codes = xp.arange(shape[2], dtype=xp.int64, device=place)[None, None, :]
    way = xp.asarray([0, 1], dtype=xp.int64, device=place)[None, :, None]
    absent = xp.any(hist[:, :, 0, 0] > 0, axis=0)[:, None, None]
    possible = (way == 0) if one_hot else (codes > 0) & ((way == 0) | absent)
    possible = divided & possible
    return xp.where(possible, worth, -float("inf")), xp.where(possible, size, 0.0)


def _worth(own: Any, other: Any, shrink: float, layout: Any) -> tuple[Any, Any]:
    """Return (worth, size) of one side of a pair of nodes, each (G, 2, B)."""
    xp = array_namespace(own)
    weight = xp.astype(own[..., layout.weight], xp.float64)
    judged_weight = xp.astype(other[..., layout.weight], xp.float64)
    worth, size = 0.0, 0.0
    for k in range(layout.first, layout.first + layout.outputs):
        sums = xp.astype(own[..., k], xp.float64)
        v = xp.where(weight > 0.0, sums / xp.where(weight > 0.0, weight + shrink, 1.0), 0.0)
        worth = worth + v * xp.astype(other[..., k], xp.float64)
        size = size + v * v * judged_weight
    return worth, size


def _sides(hist: Any, total: Any, one_hot: bool) -> tuple[Any, Any]:
    """Return what candidates send left and right, each (G, 2, B, S), in a node (G, B, S)."""
    xp = array_namespace(hist)
    if one_hot:
        left = xp.stack([hist, hist], axis=1)
    else:
        with_missing = xp.cumulative_sum(hist, axis=1, dtype=xp.int64)
        left = xp.stack([with_missing - hist[:, :1, :], with_missing], axis=1)
    return left, total - left

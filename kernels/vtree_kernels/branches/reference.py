"""The definition of `branches` over the array API."""

from __future__ import annotations

from typing import Any, NamedTuple

from array_api_compat import array_namespace, device

from vtree_kernels.entropy_cuts.reference import SLACK, information


class Branches(NamedTuple):
    """Gain, split information and filled levels of each node and feature."""

    gain: Any  # (L, G)
    info: Any
    filled: Any


def branches(hist: Any, whole: Any, layout: Any, unit: float, min_weight: float) -> Branches:
    """Return what `Branches` holds; see the package for the contract."""
    xp = array_namespace(hist)
    first = layout.first - layout.implied
    planes = [
        xp.astype(hist[:, :, 1:, first + k], xp.float64) * unit for k in range(layout.classes)
    ]
    known = [xp.sum(plane, axis=2) for plane in planes]  # exact: whole numbers of units
    each = information(planes)
    below = xp.zeros(hist.shape[:2], dtype=xp.float64, device=device(hist))
    for v in range(each.shape[2]):  # one after another, so that the order of sums is fixed
        below = below + each[:, :, v]
    known_weight, levels = known[0], planes[0]
    for k in range(1, layout.classes):
        known_weight, levels = known_weight + known[k], levels + planes[k]
    weight = xp.broadcast_to(whole[:, None], known_weight.shape)
    some = xp.where(known_weight > 0.0, known_weight, 1.0)
    gain = known_weight / weight * ((information(known) - below) / some)
    parts = [weight - known_weight, *(levels[:, :, v] for v in range(levels.shape[2]))]
    filled = xp.sum(xp.astype(levels >= min_weight * SLACK, xp.int64), axis=2)
    return Branches(gain, information(parts) / weight, filled)

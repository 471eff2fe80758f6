"""Moments of real targets: sums of squares within levels, without loss to cancellation.

A row's centred target is a whole number y = a · 2^k + b with |a|, |b| <= 2^k. Histograms add up y,
a², ab and b² exactly; Σ y² = 4^k Σ a² + 2 · 2^k Σ ab + Σ b².
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from vtree.targets import SUM_BITS, Targets
from vtree_kernels.scan import Layout

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

# Where a difference keeps fewer digits than these of float64's 53, integers of any length decide.
_SAFE = 2.0**-12


class Moments(NamedTuple):
    """Targets whose sums have three more planes, and what reads their tables."""

    targets: Targets
    levels: Callable[[Integers, Layout], Floats]  # (table, layout) → (..., 3) moments


def with_squares(targets: Targets) -> Moments:
    """Return `targets` of one output with the planes that a sum of squares is made of."""
    weight = targets.weight
    sums = targets.sums[:, 0]
    if weight is None:
        planes, shift = _split(sums, None)
    elif (sums % weight == 0).all():
        planes, shift = _split(sums // weight, weight)
    else:
        planes, shift = _rounded(sums, weight)
    layout = targets.layout._replace(outputs=4, unit=targets.layout.unit * 4)
    joined = np.stack([sums, *planes], axis=1)
    wide = targets._replace(
        sums=joined,
        layout=layout,
        center=np.append(targets.center, np.zeros(3)),
        scale=np.repeat(targets.scale, 4),
    )
    return Moments(wide, partial(moments, shift))


def _split(whole: Integers, weight: Integers | None) -> tuple[list[Integers], tuple[float, ...]]:
    """Return (weighted a², ab, b² of each row, what each counts)."""
    reach = int(np.abs(whole).max())
    half = (reach.bit_length() + 1) // 2
    # Low parts of either sign, at most half a step: all sums stay below 2^53 like those of y.
    high = (whole + (1 << half >> 1)) >> half
    low = whole - (high << half)
    each = np.ones_like(whole) if weight is None else weight
    planes = [high * high * each, high * low * each, low * low * each]
    return planes, (4.0**half, 2.0 * 2.0**half, 1.0)


def _rounded(sums: Integers, weight: Integers) -> tuple[list[Integers], tuple[float, ...]]:
    """Return the like for weights so uneven that weighted targets are rounded themselves."""
    value = sums.astype(np.float64) / weight.astype(np.float64)
    square = value * value * weight.astype(np.float64)
    top = int(np.frexp(square.max())[1])
    step = top - SUM_BITS + (sums.size - 1).bit_length()
    whole = np.rint(np.ldexp(square, -step)).astype(np.int64)
    nothing = np.zeros_like(whole)
    return [whole, nothing, nothing], (float(np.ldexp(1.0, step)), 0.0, 0.0)


def moments(counts: tuple[float, ...], table: Integers, layout: Layout) -> Floats:
    """Return (weight, sum, sum of squares within) of levels, (..., 3), in integer units."""
    weight = table[..., layout.weight]
    planes = table[..., layout.first : layout.first + 4]
    some = np.maximum(weight, 1).astype(np.float64)
    sums = planes[..., 0].astype(np.float64)
    squares = sum(planes[..., k + 1].astype(np.float64) * counts[k] for k in range(3))
    within = np.asarray(squares - sums * (sums / some))
    if counts[2]:
        unsure = np.nonzero(within <= _SAFE * squares)
        exact = [
            _within(int(n), row, counts)
            for n, row in zip(weight[unsure].tolist(), planes[unsure].tolist(), strict=True)
        ]
        within[unsure] = exact
    return np.stack([weight.astype(np.float64), sums, np.maximum(within, 0.0)], axis=-1)


def _within(weight: int, planes: list[int], counts: tuple[float, ...]) -> float:
    """Return Σ y² − (Σ y)² / n in whole numbers until the one division."""
    if weight == 0:
        return 0.0
    squares = sum(plane * int(count) for plane, count in zip(planes[1:], counts, strict=True))
    return (weight * squares - planes[0] ** 2) / weight

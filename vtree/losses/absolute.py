"""Losses whose best constants are quantiles: absolute error, quantiles, Huber's.

Huber, Robust estimation of a location parameter, 1964; Koenker & Bassett, Regression quantiles,
1978. Their second derivatives are zero or one; leaves are estimated anew from their residuals.
"""

from __future__ import annotations

from typing import Any

from vtree.elementary import choose
from vtree.losses.exact import quantile


def terms(raw: Any, y: Any, alpha: Any, below_at_zero: Any) -> Any:
    """Return the derivatives and the pinball loss of level alpha; of ½ half the absolute error.

    (y − raw) alpha above raw and (raw − y) (1 − alpha) below; the second derivative counts as 1.
    Where y is raw, the slope is any between −alpha and 1 − alpha: below_at_zero − alpha. Systems
    differ here, and it matters, for the start is a quantile, and so the target of a row.
    """
    above = choose(y > raw, y - raw, 0.0 * raw)
    below = choose(y < raw, raw - y, 0.0 * raw)
    share = choose(y > raw, 0.0 * raw, choose(y < raw, 1.0 + 0.0 * raw, below_at_zero + 0.0 * raw))
    slope = share - alpha
    return slope, 1.0, above * alpha + below * (1.0 - alpha)


def huber_terms(raw: Any, y: Any, delta: Any) -> Any:
    """Return the derivatives and Huber's loss: squared up to a residual of delta, straight beyond.

    The second derivative counts as 1, as for squares.
    """
    difference = raw - y
    size = choose(difference < 0.0, -difference, difference)
    clipped = choose(size > delta, delta + 0.0 * raw, size)
    slope = choose(difference < 0.0, -clipped, clipped)
    return slope, 1.0, clipped * (size - 0.5 * clipped)


def start(y: Any, weight: Any, numbers: tuple[float, ...]) -> float:
    """Return the quantile of level alpha."""
    return quantile(y, weight, level(numbers))


def median(y: Any, weight: Any, numbers: tuple[float, ...]) -> float:
    """Return the median, from which Huber's loss starts."""
    return quantile(y, weight, 0.5)


def level(numbers: tuple[float, ...]) -> float:
    """Return alpha."""
    return numbers[0]

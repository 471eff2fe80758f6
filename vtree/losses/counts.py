"""Losses of positive numbers with the link log: Poisson, gamma and Tweedie deviances, halved.

Jørgensen, Exponential dispersion models, 1987. Raw predictions are logarithms of means; terms of y
alone are left out of the losses.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from vtree.elementary import exp, log
from vtree.losses.exact import exact_mean


def poisson_terms(raw: Any, y: Any) -> Any:
    """Return the derivatives exp raw − y and exp raw of exp raw − y raw, and it."""
    mean = exp(raw)
    return mean - y, mean, mean - y * raw


def gamma_terms(raw: Any, y: Any) -> Any:
    """Return the derivatives of raw + y exp(−raw), and it."""
    ratio = y * exp(-raw)
    return 1.0 - ratio, ratio, raw + ratio


def tweedie_terms(raw: Any, y: Any, power: Any) -> Any:
    """Return the derivatives of exp((2−p) raw) / (2−p) − y exp((1−p) raw) / (1−p), and it.

    p is `power`, 1 < p < 2.
    """
    low, high = 1.0 - power, 2.0 - power
    falling, rising = y * exp(low * raw), exp(high * raw)
    loss = rising / high - falling / low
    return rising - falling, high * rising - low * falling, loss


def start(y: Any, weight: Any, numbers: tuple[float, ...]) -> float:
    """Return the logarithm of the mean, which is best for all three."""
    return unlink(exact_mean(y, weight))


def unlink(mean: float) -> float:
    """Return the raw prediction of a mean."""
    return float(log(np.asarray([mean]))[0])


def inverse(mean: Any) -> Any:
    """Return the raw predictions of means."""
    return log(mean)


def link(raw: Any) -> Any:
    """Return the means, exp raw."""
    return exp(raw)

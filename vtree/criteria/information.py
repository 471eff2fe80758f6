"""Information gain, gain ratio and their kin (Quinlan 1986, 1993), over nodes and features.

T(v) = S log2 S − Σ v_j log2 v_j, S = Σ v_j, is the information of class weights v times their sum.
A `Worth` turns the gain and the split information of every attribute of a node into what the
attribute is worth there; the attribute worth most is split, none where all are worth −∞.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vtree.elementary import choose, log2
from vtree_kernels.elementwise import elementwise

Floats = NDArray[np.float64]
Booleans = NDArray[np.bool_]

EPSILON = 1e-3  # C4.5's tolerance for gains and errors

# worth(gain (L, F), info (L, F), averaged (F,)) → (L, F), −∞ where an attribute may not split.
# Gains are −∞ where an attribute has no split; `averaged` marks those that the average counts.
Worth = Callable[[Floats, Floats, Booleans], Floats]


def x_log_x(x: Floats) -> Floats:
    """Return x log2 x element by element, 0 at 0."""
    return _each(_x_log_x, x)


def logarithms(x: Floats) -> Floats:
    """Return log2 of positive numbers element by element."""
    return _each(_log2, x)


def _each(function: Callable[[Any], tuple[Any]], x: Floats) -> Floats:
    found: Floats = elementwise(x.reshape(-1), (), (), function, 1)[0]
    return found.reshape(x.shape)


def _log2(x: Any) -> tuple[Any]:
    return (log2(x),)


def _x_log_x(x: Any) -> tuple[Any]:
    return (x * log2(choose(x > 0.0, x, 1.0)),)


def information(weights: Floats) -> Floats:
    """Return T of weights (..., J) along the last axis.

    >>> round(float(information(np.array([9.0, 5.0]))) / 14.0, 12)
    0.940285958671
    """
    total, parts = weights[..., 0], x_log_x(weights[..., 0])
    for j in range(1, weights.shape[-1]):
        total = total + weights[..., j]
        parts = parts + x_log_x(weights[..., j])
    found: Floats = x_log_x(total) - parts
    return found


def gain_ratio(gain: Floats, info: Floats, averaged: Booleans) -> Floats:
    """Return gain / info of attributes that gain at least the average (Quinlan 1993, §2.2)."""
    counts = (gain > -EPSILON) & averaged
    n_counted = counts.sum(axis=1)
    total = np.zeros(gain.shape[0])
    for feature in range(gain.shape[1]):  # one after another, so that the order of sums is fixed
        total = total + np.where(counts[:, feature], gain[:, feature], 0.0)
    average = np.where(n_counted > 0, total / np.maximum(n_counted, 1), 1e6)
    passes = (gain >= average[:, None] - EPSILON) & (info > EPSILON)
    return np.where(passes, gain / np.where(passes, info, 1.0), -np.inf)


def plain_gain(gain: Floats, info: Floats, averaged: Booleans) -> Floats:
    """Return the gain of attributes that divide the rows at all (C4.5's option -g)."""
    return np.where((gain > -EPSILON) & (info > 0.0), gain, -np.inf)


def positive_ratio(gain: Floats, info: Floats, averaged: Booleans) -> Floats:
    """Return `gain_ratio`, where it is more than nothing (Weka's J48)."""
    ratio = gain_ratio(gain, info, averaged)
    return np.where(ratio > 1e-6, ratio, -np.inf)


def gain_above(least: float) -> Worth:
    """Return a worth: the gain, where it exceeds `least` (ID3)."""

    def worth(gain: Floats, info: Floats, averaged: Booleans) -> Floats:
        return np.where(gain > least + 1e-12, gain, -np.inf)

    return worth


def eg2(costs: Floats, power: float = 1.0) -> Worth:
    """Return a worth: (2^G − 1) / (C + 1)^w of gain G and cost C (Núñez 1991)."""
    divisor = np.asarray([(cost + 1.0) ** power for cost in costs.tolist()])
    return _of_positive(lambda gain: (two_to(gain) - 1.0) / divisor)


def idx(costs: Floats) -> Worth:
    """Return a worth: G / C of gain G and cost C (Norton 1989)."""
    return _of_positive(lambda gain: gain / costs)


def cs_id3(costs: Floats) -> Worth:
    """Return a worth: G² / C of gain G and cost C (Tan & Schlimmer 1990)."""
    return _of_positive(lambda gain: gain * gain / costs)


def _of_positive(formula: Callable[[Floats], Floats]) -> Worth:
    def worth(gain: Floats, info: Floats, averaged: Booleans) -> Floats:
        positive = gain > 1e-12
        return np.where(positive, formula(np.where(positive, gain, 0.0)), -np.inf)

    return worth


def two_to(x: Floats) -> Floats:
    """Return 2^x for x from 0 to a few hundred, from + and × alone.

    x = n + r with n whole and |r| <= ½; e^(r ln 2) by its series, whose terms after the 18th are
    below the last bit.
    """
    whole = np.rint(x)
    r = (x - whole) * 0.6931471805599453
    series = np.ones_like(x)
    for k in range(18, 0, -1):
        series = series * (r / k) + 1.0
    power: Floats = np.ldexp(series, whole.astype(np.int64))
    return power

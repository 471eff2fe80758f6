"""C4.5's error-based pruning: leaf, subtree, or its largest branch (Quinlan 1993, chapter 4).

A leaf with weight N and errors e is taken to make U(e, N) · N errors on new rows, U the upper
limit of a binomial share at a given confidence. Bottom up, each node becomes a leaf, or is replaced
by its largest branch, where this promises no more errors than its subtree, give or take 0.1.
All training rows go down again, those without a value as fractions; where a branch is raised, all
rows of the node go into it and everything below is judged again.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from vtree.criteria.information import two_to
from vtree.elementary import log2
from vtree.errors import InputError

Floats = NDArray[np.float64]

# added(weights (M,), errors (M,)) → (M,) errors to add to those made in training
AddedErrors = Callable[[Floats, Floats], Floats]

_TABLE_CONFIDENCE = (0.0, 0.001, 0.005, 0.01, 0.05, 0.10, 0.20, 0.40, 1.0)
_TABLE_DEVIATION = (4.0, 3.09, 2.58, 2.33, 1.65, 1.28, 0.84, 0.25, 0.0)


class Bound(NamedTuple):
    """Where two programs draw the lines between the formulas of added errors."""

    deviation: float  # the normal deviate of the confidence
    none_below: float  # fewer errors than this count as none
    one_below: float  # fewer than this are interpolated between none and one
    most: float  # factor of the errors that are left to make, where nearly all rows are wrong


def check_confidence(confidence: float) -> None:
    """Raise InputError unless 0 < confidence <= 0.5."""
    if not 0.0 < confidence <= 0.5:
        raise InputError(
            f"confidence is {confidence!r} but must lie above 0 and be at most 0.5; "
            "0.25 is C4.5's own, smaller ones prune more"
        )


def r8_bound(confidence: float) -> Bound:
    """Return the bound of C4.5 release 8, whose deviate is read off a table.

    >>> round(r8_bound(0.25).deviation ** 2, 8)
    0.47955625
    """
    i = next(i for i, c in enumerate(_TABLE_CONFIDENCE) if confidence <= c)
    low, high = _TABLE_CONFIDENCE[i - 1], _TABLE_CONFIDENCE[i]
    above, below = _TABLE_DEVIATION[i - 1], _TABLE_DEVIATION[i]
    share = (confidence - low) / (high - low)
    return Bound(above + (below - above) * share, 1e-6, 0.9999, 0.67)


def j48_bound(confidence: float) -> Bound:
    """Return the bound of Weka's J48, with the exact deviate."""
    from scipy.special import ndtri  # a tenth of a second to import

    return Bound(float(-ndtri(confidence)), 1e-300, 1.0, 1.0)


BOUNDS: dict[str, Callable[[float], Bound]] = {"r8": r8_bound, "j48": j48_bound}


def added_errors(confidence: float, reference: str = "r8") -> AddedErrors:
    """Return the function that adds errors to those of leaves.

    Parameters
    ----------
    confidence : above 0, at most 0.5
    reference : "r8" or "j48", whose arithmetic to follow

    Examples
    --------
    >>> add = added_errors(0.25)
    >>> add(np.array([6.0, 16.0]), np.array([0.0, 1.0])).round(6).tolist()
    [1.237797, 1.506894]
    """
    check_confidence(confidence)
    bound = BOUNDS[reference](confidence)
    bits = float(log2(np.asarray([confidence]))[0])

    def add(weight: Floats, errors: Floats) -> Floats:
        with np.errstate(over="ignore"):  # of weights next to nothing
            return added(weight, errors)

    def added(weight: Floats, errors: Floats) -> Floats:
        n = np.where(weight > 0.0, weight, 1.0)
        none = n * (1.0 - two_to(np.maximum(bits / n, -1000.0)))
        one = _of_several(n, np.ones_like(n), bound)
        between = none + errors * (one - none)
        several = _of_several(n, errors, bound)
        some = np.where(errors < bound.one_below, between, several)
        found = np.where(errors < bound.none_below, none, some)
        return np.where(weight > 0.0, found, 0.0)

    return add


def _of_several(n: Floats, errors: Floats, bound: Bound) -> Floats:
    """Return the added errors of leaves with one error or more."""
    z2 = bound.deviation * bound.deviation
    half = errors + 0.5
    all_wrong = half >= n
    inside = np.where(all_wrong, 0.0, half * (1.0 - half / n) + z2 / 4.0)
    share = (half + z2 / 2.0 + np.sqrt(z2 * inside)) / (n + z2)
    left = n - errors
    left = np.where(left > 0.0, left, 0.0) if bound.most == 1.0 else left
    return np.where(all_wrong, bound.most * left, n * share - errors)

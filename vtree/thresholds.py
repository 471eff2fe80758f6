"""What a node stores of a split between two codes: bin, threshold, branch of missing values."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vtree.binning import Bins, midpoints

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]


def missing_branch(
    missing_left: NDArray[np.bool_], missing: Integers, n_left: Integers, n_rows: Integers
) -> NDArray[np.int32]:
    """Return the learnt branch of missing values, or the one with more rows (second on ties)."""
    learnt = np.where(missing_left, 0, 1)
    larger = np.where(2 * n_left > n_rows, 0, 1)
    return np.where(missing > 0, learnt, larger).astype(np.int32)


def thresholds(
    feature: Integers, bin: Integers, following: Integers, bins: Bins, drawn: Floats | None = None
) -> tuple[Integers, Floats]:
    """Return (bin, threshold) of Q splits, each halfway through the gap between a node's rows.

    feature, bin, following (Q,): as `scan` finds them; drawn (Q,): thresholds that are settled.

    The codes between `bin` and `following` have no rows in the node. Where bins hold single values
    the threshold is the midpoint of the two values around the gap and `bin` follows from it;
    otherwise it is the edge in the middle of the gap, for only edges divide codes and raw values
    alike. Without a following code, all values go left and only missing ones right.
    """
    bin = bin.copy()
    threshold = np.zeros(feature.size)
    for f, own in _by_feature(feature, bins.n_bins.size):
        own = own[bin[own] > 0]
        if bins.is_categorical[f] or own.size == 0:
            continue
        last = following[own] == 0
        values = bins.distinct[f]
        behind = np.where(last, bin[own], following[own])
        if drawn is not None:
            cut = drawn[own]
            ranged = values is None  # the code of the bin with the cut in it
            edges: Any = bins.edges[f] if ranged else values
            code = np.searchsorted(edges, cut, side="left" if ranged else "right") + ranged
        elif values is None:
            code = (bin[own] + behind - 1 + last) // 2
            cut = np.append(bins.edges[f], np.inf)[np.minimum(code, bins.n_bins[f]) - 1]
        else:
            cut = midpoints(values[bin[own] - 1], values[behind - 1])
            code = np.searchsorted(values, cut, side="right")
        threshold[own] = np.where(last, np.inf, cut)
        bin[own] = np.where(last, bins.n_bins[f], code)
    return bin, threshold


def _by_feature(feature: Integers, n_features: int) -> Iterator[tuple[int, Integers]]:
    """Yield each feature that occurs and where it does, ascending."""
    order = np.argsort(feature.astype(np.min_scalar_type(n_features)), kind="stable")
    ends = np.cumsum(np.bincount(feature, minlength=n_features))
    for f, own in enumerate(np.split(order, ends[:-1])):
        if own.size:
            yield f, own

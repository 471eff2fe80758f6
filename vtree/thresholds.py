"""What a node stores of a split between two codes: bin, threshold, branch of missing values."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from vtree.binning import Bins, midpoints

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]


def missing_branch(
    missing_left: NDArray[np.bool_], missing: Integers, left: Integers, both: Integers
) -> NDArray[np.int32]:
    """Return the learnt branch of missing values, or the larger one (second on ties).

    missing (Q,): rows of the node that tell; left, both (Q,): sizes of the first child and of the
    node, as `Search.size` has them.
    """
    learnt = np.where(missing_left, 0, 1)
    larger = np.where(left > both - left, 0, 1)
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
    bin, threshold = bin.copy(), np.zeros(feature.size)
    own = np.flatnonzero((bin > 0) & ~bins.is_categorical[feature])
    if not own.size:
        return bin, threshold
    lines = _Lines.of(feature[own], bins)
    low, following = bin[own], following[own]
    last = following == 0
    behind = np.where(last, low, following)
    n_bins = bins.n_bins[feature[own]]
    if drawn is not None:
        cut = drawn[own]
        code = lines.up_to(cut, np.zeros_like(low), lines.size) + lines.ranged
    else:
        edge = np.minimum((low + behind - 1 + last) // 2, n_bins - 1)
        at = np.where(lines.ranged, edge, low)
        cut = lines.value(at)
        code = edge
        if not lines.ranged.all():
            middle = midpoints(cut, lines.value(behind))
            cut = np.where(lines.ranged, cut, middle)
            code = np.where(lines.ranged, edge, lines.up_to(middle, low, behind - 1))
    threshold[own] = np.where(last, np.inf, cut)
    bin[own] = np.where(last, n_bins, code)
    return bin, threshold


class _Lines(NamedTuple):
    """The values of bins, or the edges between bins that hold ranges, of the feature of each split.

    Counted from 1, those of split q are values[begin[q]], …, size[q] of them.
    """

    values: Floats  # of the features that occur, back to back
    begin: Integers  # (Q,)
    size: Integers  # (Q,)
    ranged: NDArray[np.bool_]  # (Q,) whether they are edges

    @classmethod
    def of(cls, feature: Integers, bins: Bins) -> _Lines:
        occurs = np.zeros(bins.n_bins.size, dtype=np.bool_)
        occurs[feature] = True
        place = occurs.cumsum()[feature] - 1
        lines, ranged = [], []
        for f in occurs.nonzero()[0].tolist():
            own = bins.distinct[f]
            ranged.append(own is None)
            lines.append(bins.edges[f] if own is None else own)
        size = np.asarray([line.size for line in lines])
        begin = size.cumsum() - size
        lines.append(np.asarray([np.inf]))  # for what is looked up of an empty line
        return cls(
            np.concatenate(lines), begin[place], size[place], np.asarray(ranged, np.bool_)[place]
        )

    def value(self, number: Integers) -> Floats:
        """Return values number (Q,), of one a split."""
        found: Floats = self.values[self.begin + np.maximum(number, 1) - 1]
        return found

    def up_to(self, cut: Floats, least: Integers, most: Integers) -> Integers:
        """Return how many values lie up to `cut`, and how many edges below it, `least` … `most`."""
        low, before = least.copy(), self.begin - 1
        below = self._below()
        step = 1 << max(0, int((most - least).max(initial=0)).bit_length() - 1)
        while step:
            number = low + step
            value = self.values[before + np.maximum(np.minimum(number, most), 1)]
            np.add(low, step, out=low, where=(number <= most) & below(value, cut))
            step >>= 1
        return low

    def _below(self) -> Callable[[Floats, Floats], NDArray[np.bool_]]:
        """Return what tells of values whether they lie up to a cut, and of edges if below it."""
        if self.ranged.all():
            return np.less
        if not self.ranged.any():
            return np.less_equal
        return lambda value, cut: np.where(self.ranged, value < cut, value <= cut)

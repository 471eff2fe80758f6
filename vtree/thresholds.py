"""What a node stores of a split between two codes: bin and threshold."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from vtree.binning import Bins
from vtree_kernels.gaps import Lines, gaps

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

# Values and edges of all features that are laid side by side once for all levels of a tree, or of
# many trees; of more, only those of the features that splits of a level use.
_FEW = 1 << 16


def thresholds(
    feature: Integers,
    bin: NDArray[Any],
    following: NDArray[Any],
    bins: Bins,
    drawn: Floats | None = None,
) -> tuple[NDArray[np.int32], Floats]:
    """Return (bin, threshold) of Q splits, each halfway through the gap between a node's rows.

    feature, bin, following (Q,): as `scan` finds them; drawn (Q,): thresholds that are settled.
    See the kernel `gaps`.
    """
    own = np.asarray(feature, dtype=np.int32)
    gap = np.asarray(bin, dtype=np.int32), np.asarray(following, dtype=np.int32)
    return gaps(own, *gap, lines_of(own, bins), drawn)


def with_lines(bins: Bins) -> Bins:
    """Return the table with what its codes stand for, as `lines_of` says it, where it is little."""
    n_features = bins.n_bins.size
    if bins.lines is not None or bins.n_bins[~bins.is_categorical].sum() > _FEW:
        return bins
    return bins._replace(lines=lines_of(np.arange(n_features, dtype=np.int32), bins))


def lines_of(feature: NDArray[np.int32], bins: Bins) -> Lines:
    """Return what codes stand for, as `gaps` takes it; of features that do not occur maybe nothing.

    feature (Q,): of each split, −1 for none.
    """
    if bins.lines is not None:
        return bins.lines
    occurs = np.zeros(bins.n_bins.size + 1, dtype=np.bool_)  # one more for no split, −1
    occurs[feature] = True
    own = np.flatnonzero(occurs[:-1] & ~bins.is_categorical)
    begin, size = np.zeros((2, bins.n_bins.size), dtype=np.int64)
    ranged = np.zeros(bins.n_bins.size, dtype=np.bool_)
    lines = []
    for f in own.tolist():
        values = bins.distinct[f]
        ranged[f] = values is None
        lines.append(bins.edges[f] if values is None else values)
    size[own] = [line.size for line in lines]
    begin[own] = np.cumsum(size[own]) - size[own]
    end = np.full(1, np.inf)
    return Lines(
        np.concatenate([*lines, end]), begin, size, ranged, bins.n_bins, bins.is_categorical
    )

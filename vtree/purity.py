"""Purity: which nodes hold rows of different targets, decided exactly."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from vtree import arrays
from vtree.arrays import Array
from vtree.targets import Targets

Integers = NDArray[np.int64]


def impure(
    total: Integers, start: Integers, stop: Integers, order: Array, targets: Targets
) -> NDArray[np.bool_]:
    """Return which of L nodes have at least two different targets, in any output.

    total (L, S); the rows of node l are order[start[l] : stop[l]]. Class totals tell by themselves;
    real targets are compared row by row, for a sum of squares cannot tell zero from rounding.
    """
    layout = targets.layout
    if targets.sums.shape[1] == 0:
        classes = total[:, layout.first :].reshape(-1, layout.outputs, layout.classes)
        several: NDArray[np.bool_] = ((classes > 0).sum(axis=2) > 1).any(axis=1)
        return several
    if start.size == 0:
        return np.zeros(0, dtype=np.bool_)
    lengths = stop - start
    begin = np.cumsum(lengths) - lengths
    positions = np.arange(lengths.sum()) + np.repeat(start - begin, lengths)
    identity = targets.identity[arrays.to_numpy(order)[positions]]
    differs = (identity != np.repeat(identity[begin], lengths, axis=0)).any(axis=1)
    return np.logical_or.reduceat(differs, begin)

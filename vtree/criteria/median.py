"""Absolute errors and the weighted medians they are measured from (Breiman et al. 1984, §8.11).

The median is the least target up to which half the weight is reached; where it is reached exactly,
halfway to the next larger one. Repeating a row and weighing it are the same.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from vtree import arrays
from vtree.arrays import Array

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

_BATCH = 1 << 21  # rows sorted at a time: nodes overlap, so all together may be many times N


def no_gain(left: Any, right: Any, layout: Any) -> Any:
    """Refuse to judge a split by sums, which tell no median."""
    raise TypeError("absolute_error judges a split by its rows, not by sums over them")


def absolute_deviance(y: Floats, median: Floats) -> Floats:
    """Return |y − median|, element by element."""
    return np.abs(y - median)


def medians(total: Integers, start: Integers, stop: Integers, order: Array, targets: Any) -> Floats:
    """Return the weighted medians of M nodes, (M, O).

    total (M, S); the rows of node m, at least one, are order[start[m] : stop[m]].
    """
    rows = arrays.to_numpy(order)
    result = np.empty((start.size, targets.layout.outputs))
    before = np.cumsum(stop - start) // _BATCH
    for batch in np.unique(before).tolist():
        own = slice(*np.searchsorted(before, [batch, batch + 1]))
        lengths = (stop - start)[own]
        begin = np.cumsum(lengths) - lengths
        own_rows = rows[np.arange(lengths.sum()) + np.repeat(start[own] - begin, lengths)]
        weight = total[own, targets.layout.weight]
        for output in range(result.shape[1]):
            result[own, output] = _of_segments(own_rows, begin, weight, targets, output)
    return result


def _of_segments(
    rows: Integers, begin: Integers, weight: Integers, targets: Any, output: int
) -> Floats:
    """Return the medians of consecutive segments of `rows`, which weigh `weight` each."""
    ranks = targets.ranks
    rank = ranks.rank[rows, output].astype(np.int64)
    segment = np.repeat(np.arange(begin.size), np.diff(begin, append=rows.size))
    sorting = np.argsort(segment * ranks.value.size + rank, kind="stable")
    rank = rank[sorting]
    each = np.ones(rows.size, dtype=np.int64)
    if targets.weight is not None:
        each = targets.weight[rows[sorting]]
    # Int64 may wrap around over many segments; differences within one are right all the same.
    running = np.cumsum(each)
    reached = 2 * (running - (running - each)[begin][segment])
    short = np.add.reduceat((reached < weight[segment]).astype(np.int64), begin)
    short_or_half = np.add.reduceat((reached <= weight[segment]).astype(np.int64), begin)
    low, high = ranks.value[rank[begin + short]], ranks.value[rank[begin + short_or_half]]
    middle: Floats = np.where(low == high, low, low / 2.0 + high / 2.0)
    return middle

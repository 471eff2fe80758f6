"""`segment_quantiles` in NumPy."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]


def segment_quantiles(
    values: Floats, begin: Integers, weight: Integers | None, level: float | Floats
) -> Floats:
    """Return quantiles (L,); see the package for the contract."""
    segment = np.repeat(np.arange(begin.size), np.diff(begin, append=values.size))
    sorting = np.lexsort((values, segment))
    ordered = values[sorting]
    each = np.ones(values.size, dtype=np.int64) if weight is None else weight[sorting]
    running = np.cumsum(each)
    reached = running - (running - each)[begin][segment]
    wanted = (level * np.add.reduceat(each, begin).astype(np.float64))[segment]
    last = np.append(begin[1:], values.size) - 1
    low = np.minimum(begin + np.add.reduceat((reached < wanted).astype(np.int64), begin), last)
    high = np.minimum(begin + np.add.reduceat((reached <= wanted).astype(np.int64), begin), last)
    a, b = ordered[low], ordered[high]
    middle: Floats = np.where(a == b, a, a / 2.0 + b / 2.0)
    return middle

"""The definition of `segment_quantiles` over the array API."""

from __future__ import annotations

from typing import Any

import numpy as np
from array_api_compat import array_namespace, device


def segment_quantiles(values: Any, begin: Any, weight: Any | None, level: Any) -> Any:
    """Return quantiles (L,); see the package for the contract."""
    xp, place, n_values = array_namespace(values), device(values), values.shape[0]
    start = xp.asarray(begin, device=place)
    stop = xp.asarray(np.append(begin[1:], n_values), device=place)
    own = xp.asarray(np.zeros(begin.shape) + level, device=place)
    position = xp.arange(n_values, dtype=start.dtype, device=place)
    segment = xp.searchsorted(start, position, side="right") - 1
    sorting = xp.argsort(values, stable=True)
    sorting = xp.take(sorting, xp.argsort(xp.take(segment, sorting), stable=True))
    ordered = xp.take(values, sorting)
    each = xp.ones_like(position) if weight is None else xp.take(weight, sorting)
    running = _running(each)
    before = xp.take(running, start)
    wanted = xp.take(own * xp.astype(xp.take(running, stop) - before, xp.float64), segment)
    reached = xp.astype(running[1:] - xp.take(before, segment), xp.float64)
    ends = []
    for below in (reached < wanted, reached <= wanted):
        count = _running(xp.astype(below, xp.int64))
        at = start + xp.take(count, stop) - xp.take(count, start)
        ends.append(xp.take(ordered, xp.where(at < stop, at, stop - 1)))
    low, high = ends
    return xp.where(low == high, low, low / 2.0 + high / 2.0)


def _running(numbers: Any) -> Any:
    """Return the sums (N + 1,) of the first 0, 1 … N numbers."""
    xp = array_namespace(numbers)
    none = xp.zeros((1,), dtype=xp.int64, device=device(numbers))
    return xp.concat([none, xp.cumulative_sum(numbers, dtype=xp.int64)])

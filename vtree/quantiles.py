"""Quantiles: sorted values → edges of as many bins as are asked for."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vtree import arrays
from vtree.arrays import Array
from vtree_kernels.gaps import midpoints

# Up to so many bins of a feature hold equal shares of its rows. Of more, those near both ends hold
# less: no more than _STEPS / max_bins of the rows beyond them.
_EVEN_BINS = 255
_STEPS = 40
# Bins are as fine as if there were up to so many rows.
_MOST_ROWS = 200_000


def quantile_edges(
    x: Array, weight: NDArray[np.int64] | None, max_bins: int
) -> NDArray[np.float64]:
    """Return edges between distinct values, as near to shares of the weight as they allow.

    Edge i stands behind the first value of sorted `x` at which the i-th of `_shares` of the weight
    is reached, halfway to the next greater one.
    """
    xp = arrays.namespace(x)
    reached = None if weight is None else np.cumsum(weight)
    total = int(x.shape[0] if reached is None else reached[-1])
    own, whole = _shares(min(total, _MOST_ROWS), max_bins)
    targets = np.asarray([-(-part * total // whole) for part in own])
    place = targets - 1 if reached is None else np.searchsorted(reached, targets)
    low = np.unique(at(x, place))
    behind = xp.searchsorted(x, arrays.like(low, x, dtype=_numpy_dtype(x)), side="right")
    following = arrays.to_numpy(behind).astype(np.int64)
    low, following = low[following < x.shape[0]], following[following < x.shape[0]]
    return midpoints(low, at(x, following))


@functools.lru_cache(maxsize=64)
def _shares(n_rows: int, max_bins: int) -> tuple[list[int], int]:
    """Return (max_bins − 1 parts of a whole, ascending, the whole): where `n_rows` are cut.

    More than `_EVEN_BINS` bins are no larger than a fraction of the rows beyond them, from one row
    at either end, until what is left between can be cut evenly by bins no larger than that. The
    best split of a feature that tells nothing lies anywhere on the scale of log(p / (1 − p)), p
    being the share of the rows on its left, so most of them cut off few rows and leave the others
    to features that tell something (Ishwaran, The effect of splitting on random forests, Machine
    Learning 99, 2015). Even bins have no cuts there.
    """
    if max_bins <= _EVEN_BINS:
        return list(range(1, max_bins)), max_bins
    end: list[int] = []
    place, step, between = 0, 1, max_bins - 1
    while step * (between + 1) < n_rows - 2 * place:
        place += step
        end.append(place)
        between -= 2
        step = max(1, place * _STEPS // max_bins)
    # In units of 1 / (between + 1) rows.
    unit, room = between + 1, n_rows - 2 * place
    low = [unit * each for each in end]
    middle = [unit * place + room * i for i in range(1, unit)]
    high = [unit * (n_rows - each) for each in reversed(end)]
    return [*low, *middle, *high], unit * n_rows


def at(x: Array, places: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return x[places] on the host, −0.0 as 0.0."""
    taken = arrays.namespace(x).take(x, arrays.like(places, x))
    return arrays.to_numpy(taken).astype(np.float64) + 0.0


def _numpy_dtype(x: Array) -> Any:
    """Return NumPy's name for the float type of `x`."""
    return np.float32 if x.dtype == arrays.namespace(x).float32 else np.float64

"""`softmax` in Numba: a few rows at a time, whose exponentials are kept until they are summed."""

from __future__ import annotations

import numba
import numpy as np
from numpy.typing import NDArray

import vtree_kernels.elementary.cpu  # noqa: F401  (teaches Numba `exp`)
from vtree_kernels import _threads
from vtree_kernels._bits import reach_of
from vtree_kernels.elementary import exp
from vtree_kernels.softmax.reference import Softmax

Floats = NDArray[np.float64]

_NEAR = 1 << 12  # exponentials at hand


@numba.njit(cache=True, nogil=True, error_model="numpy")
def _fill(lines, start, y, largest, total, reach, begin, end):  # type: ignore[no-untyped-def]
    """Fill what rows begin … end − 1 have, and the bits of their largest derivatives."""
    n_classes = start.size
    step = max(_NEAR // n_classes, 16)
    above, steep, curved = np.empty((n_classes, step)), np.empty(step), np.empty(step)
    most_steep, most_curved = np.int64(0), np.int64(0)
    for first in range(begin, end, step):
        last = min(first + step, end)
        top, whole, label = largest[first:last], total[first:last], y[first:last]
        top[:] = -np.inf
        for k in range(n_classes):
            own, before = lines[k, first:last], start[k]
            for i in range(own.size):
                raw = before + own[i]
                top[i] = raw if raw > top[i] or raw != raw else top[i]  # NaN stays, as in NumPy
        whole[:] = 0.0
        for k in range(n_classes):
            own, before, line = lines[k, first:last], start[k], above[k]
            for i in range(own.size):
                line[i] = exp((before + own[i]) - top[i])
                whole[i] += line[i]
        for k in range(n_classes):
            line = above[k]
            for i in range(label.size):
                share = line[i] / whole[i]
                steep[i] = share - (1.0 if label[i] == k else 0.0)
                curved[i] = share * (1.0 - share)
            most_steep = reach_of(steep[: label.size], most_steep)
            most_curved = reach_of(curved[: label.size], most_curved)
    reach[0], reach[1] = most_steep, most_curved


def softmax(sums: Floats, start: Floats, y: Floats) -> Softmax:
    """Return `Softmax`; see the package for the contract."""
    n_rows, n_classes = sums.shape
    lines = np.ascontiguousarray(sums.T)
    largest, total = np.empty(n_rows), np.empty(n_rows)
    reaches = [np.zeros(2, dtype=np.int64)]

    def block(rows: slice) -> None:
        reach = np.empty(2, dtype=np.int64)
        _fill(lines, start, y, largest, total, reach, rows.start, rows.stop)
        reaches.append(reach)

    _threads.run_blocks(block, n_rows, each=20 * n_classes)
    steep, curved = np.max(reaches, axis=0).view(np.float64).tolist()
    return Softmax(largest, total, steep, curved)

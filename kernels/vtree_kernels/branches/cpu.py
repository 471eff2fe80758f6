"""`branches` in Numba: one pass over the levels of a node; empty ones add nothing to any sum."""

from __future__ import annotations

from typing import Any

import numba
import numpy as np
from numpy.typing import NDArray

from vtree_kernels import _threads
from vtree_kernels.branches.reference import Branches
from vtree_kernels.entropy_cuts.cpu import information
from vtree_kernels.entropy_cuts.reference import SLACK
from vtree_kernels.scan import Layout

_CELLS = 1 << 15  # of a task


@numba.njit(cache=True, nogil=True)
def _judge(  # type: ignore[no-untyped-def]
    hist, whole, first, unit, least, begin, end, known, levels, gain, info, filled
):
    """Judge nodes begin … end − 1; known (K,) and levels (B,) are scratch."""
    own = np.empty_like(known)
    for node in range(begin, end):
        for g in range(hist.shape[1]):
            known[:] = 0.0
            below, known_weight, large, n = 0.0, 0.0, 0, 1
            for code in range(1, hist.shape[2]):
                for k in range(own.size):
                    own[k] = hist[node, g, code, first + k] * unit
                level = own.sum()
                if level > 0.0:
                    below += information(own)
                    known += own
                    known_weight += level
                    large += level >= least
                    levels[n] = level
                    n += 1
            weight = whole[node]
            levels[0] = weight - known_weight
            some = known_weight if known_weight > 0.0 else 1.0
            gain[node, g] = known_weight / weight * ((information(known) - below) / some)
            info[node, g] = information(levels[:n]) / weight
            filled[node, g] = large


def branches(
    hist: NDArray[Any], whole: NDArray[np.float64], layout: Layout, unit: float, min_weight: float
) -> Branches:
    """Return what `Branches` holds; see the package for the contract."""
    shape = hist.shape[:2]
    found = Branches(np.empty(shape), np.empty(shape), np.empty(shape, dtype=np.int64))
    first = layout.first - layout.implied
    step = max(1, _CELLS // max(1, hist[:1].size))

    def task(index: int) -> None:
        begin, end = index * step, min((index + 1) * step, shape[0])
        known, levels = np.empty(layout.classes), np.empty(hist.shape[2])
        least = min_weight * SLACK
        _judge(hist, whole, first, unit, least, begin, end, known, levels, *found)

    _threads.run(task, -(-shape[0] // step), work=hist.size)
    return found

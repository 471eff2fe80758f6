"""`differ` in Numba: a loop a node, left at the first difference."""

from __future__ import annotations

from typing import Any

import numba
import numpy as np
from numpy.typing import NDArray

from vtree_kernels import _threads
from vtree_kernels._prefetch import AHEAD, prefetch

BATCH = 1024  # nodes of one task


@numba.njit(cache=True, nogil=True)
def _compare(rows, start, stop, identity, first, last, several):  # type: ignore[no-untyped-def]
    flat, outputs = identity.reshape(-1), identity.shape[1]
    for node in range(first, last):
        begin, end = start[node], stop[node]
        found = False
        while begin < end and not found:
            prefetch(flat, np.intp(rows[min(begin + AHEAD, end - 1)]) * outputs)
            for output in range(outputs):
                if identity[rows[begin], output] != identity[rows[start[node]], output]:
                    found = True
            begin += 1
        several[node] = found


def differ(
    rows: NDArray[np.int32],
    start: NDArray[np.int64],
    stop: NDArray[np.int64],
    identity: NDArray[Any],
) -> NDArray[np.bool_]:
    """Return (L,) bool; see the package for the contract."""
    several = np.empty(start.size, dtype=np.bool_)
    identity = np.ascontiguousarray(identity)

    def compare(index: int) -> None:
        last = min((index + 1) * BATCH, start.size)
        _compare(rows, start, stop, identity, index * BATCH, last, several)

    _threads.run(compare, -(-start.size // BATCH), work=start.size * 8)
    return several

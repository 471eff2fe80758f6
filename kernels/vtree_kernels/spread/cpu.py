"""`spread` in Numba: leaves cut into chunks of rows, a task each."""

from __future__ import annotations

import numba
import numpy as np
from numpy.typing import NDArray

from vtree_kernels import _threads
from vtree_kernels.histogram.cpu import batches, chunks

CHUNK = 32_768  # rows of a task


@numba.njit(cache=True, nogil=True)
def _add(sums, rows, tasks, first, last, value):  # type: ignore[no-untyped-def]
    for t in range(first, last):
        own = value[tasks[t, 0]]
        for position in range(np.uint64(tasks[t, 1]), np.uint64(tasks[t, 2])):
            sums[np.uint64(rows[position])] += own


def spread(
    sums: NDArray[np.float64],
    rows: NDArray[np.int32],
    start: NDArray[np.int64],
    stop: NDArray[np.int64],
    value: NDArray[np.float64],
) -> None:
    """Change sums (N,); see the package for the contract."""
    tasks = chunks(start, stop, CHUNK)
    borders = batches(tasks, CHUNK // 4)

    def add(index: int) -> None:
        _add(sums, rows, tasks, borders[index], borders[index + 1], value)

    _threads.run(add, len(borders) - 1, work=8 * int((stop - start).sum()))

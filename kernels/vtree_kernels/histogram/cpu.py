"""`histogram` in Numba: one task per chunk of a node's rows, private sums, integer reduction."""

from __future__ import annotations

from typing import Any

import numba
import numpy as np
from numpy.typing import NDArray

from vtree_kernels import _threads

CHUNK = 65_536  # rows of one node per task: long enough to hide the reduction of a private copy


@numba.njit(cache=True, nogil=True)
def _count_classes(hist, codes, rows, begin, end, label):  # type: ignore[no-untyped-def]
    for position in range(begin, end):
        row = rows[position]
        plane = label[row, 0]
        for g in range(codes.shape[1]):
            cell = hist[g, codes[row, g]]
            cell[0] += 1
            cell[plane] += 1


@numba.njit(cache=True, nogil=True)
def _add_sums(hist, codes, rows, begin, end, sums):  # type: ignore[no-untyped-def]
    for position in range(begin, end):
        row = rows[position]
        value = sums[row, 0]
        for g in range(codes.shape[1]):
            cell = hist[g, codes[row, g]]
            cell[0] += 1
            cell[1] += value


@numba.njit(cache=True, nogil=True)
def _add_any(hist, codes, rows, begin, end, label, weight, sums):  # type: ignore[no-untyped-def]
    first = hist.shape[2] - sums.shape[1]
    for position in range(begin, end):
        row = rows[position]
        w = weight[row] if weight.size else 1
        for g in range(codes.shape[1]):
            cell = hist[g, codes[row, g]]
            cell[0] += 1
            if weight.size:
                cell[1] += w
            for o in range(label.shape[1]):
                cell[label[row, o]] += w
            for j in range(sums.shape[1]):
                cell[first + j] += sums[row, j]


@numba.njit(cache=True, nogil=True)
def _add_tasks(  # type: ignore[no-untyped-def]
    hist, extra, codes, rows, tasks, first_task, last_task, label, weight, sums
):
    """Work through tasks (node, begin, end, private copy or −1)."""
    for t in range(first_task, last_task):
        node, begin, end, copy = tasks[t, 0], tasks[t, 1], tasks[t, 2], tasks[t, 3]
        target = hist[node] if copy < 0 else extra[copy]
        if weight.size == 0 and label.shape[1] == 1 and sums.shape[1] == 0:
            _count_classes(target, codes, rows, begin, end, label)
        elif weight.size == 0 and label.shape[1] == 0 and sums.shape[1] == 1:
            _add_sums(target, codes, rows, begin, end, sums)
        else:
            _add_any(target, codes, rows, begin, end, label, weight, sums)


def chunks(start: NDArray[np.int64], stop: NDArray[np.int64], size: int) -> NDArray[np.int64]:
    """Cut nodes into tasks (n, 4): node, begin, end and the private copy to fill (−1: none)."""
    pieces = np.maximum(1, -(-(stop - start) // size))
    node = np.repeat(np.arange(start.size), pieces)
    piece = np.arange(node.size) - np.repeat(np.cumsum(pieces) - pieces, pieces)
    begin = start[node] + piece * size
    end = np.minimum(begin + size, stop[node])
    copy = np.where(piece > 0, np.cumsum(piece > 0) - 1, -1)
    return np.stack([node, begin, end, copy], axis=1)


def batches(tasks: NDArray[np.int64], size: int) -> NDArray[np.int64]:
    """Group consecutive tasks to about `size` rows a batch; returns the borders (n + 1,)."""
    rows_before = np.concatenate([[0], np.cumsum(tasks[:, 2] - tasks[:, 1])])
    wanted = np.arange(0, rows_before[-1], size)
    return np.unique(np.append(np.searchsorted(rows_before, wanted), [0, len(tasks)]))


def histogram(
    codes: NDArray[Any],
    rows: NDArray[np.int32],
    start: NDArray[np.int64],
    stop: NDArray[np.int64],
    label: NDArray[np.int32],
    weight: NDArray[np.int64] | None,
    sums: NDArray[np.int64],
    n_codes: int,
    n_statistics: int,
) -> NDArray[np.int64]:
    """Return hist (L, G, B, S) int64; see the package for the contract."""
    shape = (codes.shape[1], n_codes, n_statistics)
    hist = np.zeros((start.size, *shape), dtype=np.int64)
    tasks = chunks(start, stop, CHUNK)
    extra = np.zeros((int(tasks[:, 3].max(initial=-1)) + 1, *shape), dtype=np.int64)
    borders = batches(tasks, CHUNK // 8)
    weights = np.empty(0, dtype=np.int64) if weight is None else weight

    def batch(index: int) -> None:
        first, last = borders[index], borders[index + 1]
        _add_tasks(hist, extra, codes, rows, tasks, first, last, label, weights, sums)

    n_rows = int((stop - start).sum())
    _threads.run(batch, len(borders) - 1, work=n_rows * codes.shape[1] * n_statistics)
    for node, _, _, copy in tasks[tasks[:, 3] >= 0]:
        hist[node] += extra[copy]
    return hist

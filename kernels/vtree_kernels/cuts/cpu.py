"""`extremes`, `cut_sums` and `sides` in Numba: a row is read once for all features wanted of it.

Tables may lie in memory row by row or column by column.
"""

from __future__ import annotations

from typing import Any

import numba
import numpy as np
from numpy.typing import NDArray

from vtree_kernels import _threads
from vtree_kernels._prefetch import AHEAD, prefetch
from vtree_kernels._tasks import batches, chunks

CHUNK = 32_768  # rows of one node per task of `sides`
_PIECE = 65_536  # row–feature pairs above which a node's features go to several tasks


@numba.njit(cache=True, nogil=True)
def _extremes(  # type: ignore[no-untyped-def]
    least, greatest, table, rows, start, stop, tasks, first, last, pair_feature
):
    flat, row_step, column_step = table
    for t in range(first, last):
        node = tasks[t, 0]
        features = pair_feature[tasks[t, 1] : tasks[t, 2]]
        low = np.full(features.size, np.inf)
        high = np.full(features.size, -np.inf)
        for position in range(start[node], stop[node]):
            ahead = np.intp(rows[min(position + AHEAD, stop[node] - 1)])
            prefetch(flat, ahead * row_step)
            base = np.intp(rows[position]) * row_step
            for i in range(features.size):
                x = np.float64(flat[base + features[i] * column_step])
                if x < low[i]:
                    low[i] = x
                if x > high[i]:
                    high[i] = x
        for i in range(features.size):
            least[node, features[i]] = low[i] + 0.0
            greatest[node, features[i]] = high[i] + 0.0


@numba.njit(cache=True, nogil=True)
def _cut_sums(  # type: ignore[no-untyped-def]  # noqa: C901  (one compiled loop)
    hist, table, rows, start, stop, tasks, first, last, pair_feature, threshold, statistics
):
    label, weight, sums, counted = statistics
    flat, row_step, column_step = table
    n_statistics = hist.shape[3]
    first_sum = n_statistics - sums.shape[1]
    plain = label.shape[1] == 1 and weight.size == 0 and not counted
    for t in range(first, last):
        node = tasks[t, 0]
        features = pair_feature[tasks[t, 1] : tasks[t, 2]]
        cut = np.empty(features.size)
        for i in range(features.size):
            cut[i] = threshold[node, features[i]]
        own = np.zeros((features.size, 3, n_statistics), np.int64)
        for position in range(start[node], stop[node]):
            ahead = np.intp(rows[min(position + AHEAD, stop[node] - 1)])
            prefetch(flat, ahead * row_step)
            row = np.intp(rows[position])
            base = row * row_step
            w = weight[row] if weight.size else 1
            for i in range(features.size):
                x = np.float64(flat[base + features[i] * column_step])
                side = 1 if x <= cut[i] else (2 if x > cut[i] else 0)
                if plain:
                    own[i, side, label[row, 0]] += 1
                    continue
                if counted:
                    own[i, side, 0] += 1
                if weight.size:
                    own[i, side, 1] += w
                for o in range(label.shape[1]):
                    own[i, side, label[row, o]] += w
                for j in range(sums.shape[1]):
                    own[i, side, first_sum + j] += sums[row, j]
        for i in range(features.size):
            for side in range(3):
                for s in range(n_statistics):
                    hist[node, features[i], side, s] = own[i, side, s]


@numba.njit(cache=True, nogil=True)
def _sides(  # type: ignore[no-untyped-def]
    child, table, rows, tasks, first, last, feature, threshold, missing_child
):
    flat, row_step, column_step = table
    for t in range(first, last):
        node = tasks[t, 0]
        column, cut, absent = feature[node], threshold[node], missing_child[node]
        for position in range(tasks[t, 1], tasks[t, 2]):
            x = np.float64(flat[np.intp(rows[position]) * row_step + column * column_step])
            child[position] = absent if x != x else (x > cut)


def as_it_lies(values: NDArray[Any]) -> tuple[NDArray[Any], int, int]:
    """Return (a table's values in the order of memory, steps to the next row and next column)."""
    if values.flags.f_contiguous:
        return values.T.reshape(-1), 1, values.shape[0]
    return np.ascontiguousarray(values).reshape(-1), values.shape[1], 1


def _tasks(
    start: NDArray[np.int64], stop: NDArray[np.int64], wanted: NDArray[np.bool_]
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Return (tasks (n, 3): node and its pairs, from and to; the pairs' features; borders)."""
    pair_node, pair_feature = np.nonzero(wanted)
    counts = wanted.sum(axis=1)
    ends = np.cumsum(counts)
    lengths = stop - start
    pieces = np.clip(-(-lengths * counts // _PIECE), np.minimum(counts, 1), np.maximum(counts, 1))
    node = np.repeat(np.arange(counts.size), pieces)
    piece = np.arange(node.size) - np.repeat(np.cumsum(pieces) - pieces, pieces)
    begin = (ends - counts)[node] + counts[node] * piece // np.maximum(pieces[node], 1)
    end = (ends - counts)[node] + counts[node] * (piece + 1) // np.maximum(pieces[node], 1)
    work = np.concatenate([[0], np.cumsum((end - begin) * lengths[node] + 16)])
    borders = np.unique(np.append(np.searchsorted(work, np.arange(0, work[-1], _PIECE)), node.size))
    return np.stack([node, begin, end], axis=1), pair_feature, borders


def extremes(
    values: NDArray[Any],
    rows: NDArray[np.int32],
    start: NDArray[np.int64],
    stop: NDArray[np.int64],
    wanted: NDArray[np.bool_],
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return (least, greatest); see the package for the contract."""
    least, greatest = np.full(wanted.shape, np.inf), np.full(wanted.shape, -np.inf)
    tasks, features, borders = _tasks(start, stop, wanted)
    table = as_it_lies(values)

    def run(index: int) -> None:
        own = (tasks, borders[index], borders[index + 1], features)
        _extremes(least, greatest, table, rows, start, stop, *own)

    work = int(((stop - start) * wanted.sum(axis=1)).sum())
    _threads.run(run, len(borders) - 1, work=work)
    return least, greatest


def cut_sums(
    values: NDArray[Any],
    rows: NDArray[np.int32],
    start: NDArray[np.int64],
    stop: NDArray[np.int64],
    wanted: NDArray[np.bool_],
    threshold: NDArray[np.float64],
    label: NDArray[np.int32],
    weight: NDArray[np.int64] | None,
    sums: NDArray[np.int64],
    n_statistics: int,
    counted: bool = True,
) -> NDArray[Any]:
    """Return hist (L, F, 3, S); see the package for the contract."""
    dtype = np.int64 if counted else np.int32
    hist = np.zeros((*wanted.shape, 3, n_statistics), dtype=dtype)
    tasks, features, borders = _tasks(start, stop, wanted)
    table = as_it_lies(values)
    own_weight = np.empty(0, dtype=np.int64) if weight is None else weight
    statistics = (label, own_weight, sums, counted)

    def run(index: int) -> None:
        own = (tasks, borders[index], borders[index + 1], features, threshold, statistics)
        _cut_sums(hist, table, rows, start, stop, *own)

    work = int(((stop - start) * wanted.sum(axis=1)).sum())
    _threads.run(run, len(borders) - 1, work=2 * work)
    return hist


def sides(
    values: NDArray[Any],
    rows: NDArray[np.int32],
    start: NDArray[np.int64],
    stop: NDArray[np.int64],
    feature: NDArray[np.int64],
    threshold: NDArray[np.float64],
    missing_child: NDArray[np.int32],
) -> NDArray[np.uint8]:
    """Return the child of each position (R,); see the package for the contract."""
    child = np.zeros(rows.size, dtype=np.uint8)
    table = as_it_lies(values)
    tasks = chunks(start, stop, CHUNK)
    borders = batches(tasks, CHUNK // 8, 0)

    def run(index: int) -> None:
        own = (tasks, borders[index], borders[index + 1], feature, threshold, missing_child)
        _sides(child, table, rows, *own)

    _threads.run(run, len(borders) - 1, work=2 * int((stop - start).sum()))
    return child

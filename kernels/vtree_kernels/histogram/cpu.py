"""`histogram` in Numba: one task per chunk of a node's rows, private sums, integer reduction."""

from __future__ import annotations

from typing import Any

import numba
import numpy as np
from numpy.typing import NDArray

from vtree_kernels import _threads
from vtree_kernels._prefetch import AHEAD, prefetch
from vtree_kernels.histogram.reference import Derived

CHUNK = 65_536  # rows of one node per task: long enough to hide the reduction of a private copy


@numba.njit(cache=True, nogil=True)
def _count_classes(flat, shape, codes, rows, begin, end, label):  # type: ignore[no-untyped-def]
    # `flat` is hist[node] as one line of cells; one add a row and feature is the whole work.
    n_features, n_codes, n_statistics = shape
    step, planes = np.uint64(n_codes * n_statistics), np.uint64(n_statistics)
    all_codes = codes.reshape(-1)
    # Of rows far apart, ask for the codes some rows ahead; those of dense rows come by themselves.
    scattered = rows[end - 1] - rows[begin] > 2 * (end - begin)
    for position in range(begin, end):
        if scattered:
            prefetch(all_codes, np.intp(rows[min(position + AHEAD, end - 1)]) * n_features)
        row = np.intp(rows[position])
        cell = np.uint64(label[row, 0])
        first = row * n_features
        for g in range(n_features):
            flat[cell + np.uint64(all_codes[first + g]) * planes] += 1
            cell += step


@numba.njit(cache=True, nogil=True)
def _add_sums(flat, shape, codes, rows, begin, end, sums):  # type: ignore[no-untyped-def]
    n_features, n_codes, n_statistics = shape
    step, planes = np.uint64(n_codes * n_statistics), np.uint64(n_statistics)
    all_codes = codes.reshape(-1)
    for position in range(begin, end):
        prefetch(all_codes, np.intp(rows[min(position + AHEAD, end - 1)]) * n_features)
        row = np.intp(rows[position])
        value = sums[row, 0]
        cell = np.uint64(0)
        first = row * n_features
        for g in range(n_features):
            place = cell + np.uint64(all_codes[first + g]) * planes
            flat[place] += 1
            flat[place + np.uint64(1)] += value
            cell += step


@numba.njit(cache=True, nogil=True)
def _add_any(  # type: ignore[no-untyped-def]
    flat, shape, codes, rows, begin, end, label, weight, sums, counted
):
    n_features, n_codes, n_statistics = shape
    first_sum = n_statistics - sums.shape[1]
    for position in range(begin, end):
        row = rows[position]
        w = weight[row] if weight.size else 1
        for g in range(n_features):
            cell = (g * n_codes + np.intp(codes[row, g])) * n_statistics
            if counted:
                flat[cell] += 1
            if weight.size:
                flat[cell + 1] += w
            for o in range(label.shape[1]):
                flat[cell + label[row, o]] += w
            for j in range(sums.shape[1]):
                flat[cell + first_sum + j] += sums[row, j]


@numba.njit(cache=True, nogil=True)
def _add_tasks(  # type: ignore[no-untyped-def]
    hist, extra, codes, rows, tasks, first_task, last_task, label, weight, sums, counted
):
    """Work through tasks (node, begin, end, private copy or −1)."""
    shape = hist.shape[1:]
    plain = weight.size == 0 and label.shape[1] + sums.shape[1] == 1
    for t in range(first_task, last_task):
        node, begin, end, copy = tasks[t, 0], tasks[t, 1], tasks[t, 2], tasks[t, 3]
        flat = (hist[node] if copy < 0 else extra[copy]).reshape(-1)
        flat[:] = 0
        if begin == end:
            continue
        if plain and label.shape[1] == 1 and not counted:
            _count_classes(flat, shape, codes, rows, begin, end, label)
        elif plain and sums.shape[1] == 1 and counted:
            _add_sums(flat, shape, codes, rows, begin, end, sums)
        else:
            _add_any(flat, shape, codes, rows, begin, end, label, weight, sums, counted)


@numba.njit(cache=True, nogil=True)
def _reduce(hist, extra, tasks, first_task, last_task):  # type: ignore[no-untyped-def]
    """Add the private copies of nodes to their histograms."""
    for t in range(first_task, last_task):
        if tasks[t, 3] >= 0:
            target, own = hist[tasks[t, 0]].reshape(-1), extra[tasks[t, 3]].reshape(-1)
            for i in range(target.size):
                target[i] += own[i]


@numba.njit(cache=True, nogil=True)
def _derive(hist, n_built, parent, slot, sibling, first, last):  # type: ignore[no-untyped-def]
    for d in range(first, last):
        target = hist[n_built + d].reshape(-1)
        whole, other = parent[slot[d]].reshape(-1), hist[sibling[d]].reshape(-1)
        for i in range(target.size):
            target[i] = whole[i] - other[i]


def chunks(start: NDArray[np.int64], stop: NDArray[np.int64], size: int) -> NDArray[np.int64]:
    """Cut nodes into tasks (n, 4): node, begin, end and the private copy to fill (−1: none)."""
    pieces = np.maximum(1, -(-(stop - start) // size))
    node = np.repeat(np.arange(start.size), pieces)
    piece = np.arange(node.size) - np.repeat(np.cumsum(pieces) - pieces, pieces)
    begin = start[node] + piece * size
    end = np.minimum(begin + size, stop[node])
    copy = np.where(piece > 0, np.cumsum(piece > 0) - 1, -1)
    return np.stack([node, begin, end, copy], axis=1)


def batches(tasks: NDArray[np.int64], size: int, each: int = 0) -> NDArray[np.int64]:
    """Group consecutive tasks to about `size` rows a batch; returns the borders (n + 1,).

    each: what a task costs besides its rows, in rows.
    """
    rows_before = np.concatenate([[0], np.cumsum(tasks[:, 2] - tasks[:, 1] + each)])
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
    counted: bool = True,
    derived: Derived | None = None,
) -> NDArray[Any]:
    """Return hist (L + D, G, B, S); see the package for the contract."""
    shape = (codes.shape[1], n_codes, n_statistics)
    dtype = np.int64 if counted else np.int32
    n_derived = 0 if derived is None else derived.slot.size
    hist = np.empty((start.size + n_derived, *shape), dtype=dtype)
    tasks = chunks(start, stop, CHUNK)
    extra = np.empty((int(tasks[:, 3].max(initial=-1)) + 1, *shape), dtype=dtype)
    borders = batches(tasks, CHUNK // 8, each=n_codes * n_statistics // 8)
    weights = np.empty(0, dtype=np.int64) if weight is None else weight

    def batch(index: int) -> None:
        first, last = borders[index], borders[index + 1]
        _add_tasks(hist, extra, codes, rows, tasks, first, last, label, weights, sums, counted)

    cells = int(np.prod(shape))
    work = int((stop - start).sum()) * codes.shape[1] + start.size * cells // 8
    _threads.run(batch, len(borders) - 1, work=work)
    if extra.shape[0]:
        _reduce(hist, extra, tasks, 0, len(tasks))
    if derived is not None and n_derived:
        some = max(1, 1_000_000 // max(1, cells))  # nodes a task

        def derive(index: int) -> None:
            last = min((index + 1) * some, n_derived)
            _derive(hist, start.size, *derived, index * some, last)

        _threads.run(derive, -(-n_derived // some), work=n_derived * cells // 4)
    return hist

"""`histogram` in Numba: one task per chunk of a node's rows, private sums, integer reduction."""

from __future__ import annotations

from typing import Any

import numba
import numpy as np
from numpy.typing import NDArray

from vtree_kernels import _threads
from vtree_kernels.histogram.reference import Derived
from vtree_kernels.histogram.words import (
    BLOCK,
    TILE,
    add_block,
    cell_count,
    move_counts,
    move_field,
    needed_bits,
    packing,
)

CHUNK = 65_536  # rows of one node per task: long enough to hide the reduction of a private copy
LINE = 64  # bytes of a cache line
UINT16 = 65_535  # what a count of rows can reach before it moves to the histogram

# Rows per cell of one feature from which it pays to count by class and move the counts after.
_MOVE = 8


@numba.njit(cache=True, nogil=True)
def _find_codes(first, all_codes, rows, begin, n_rows, n_features):  # type: ignore[no-untyped-def]
    """Write where the codes of a block of rows begin, and fetch them; the returned sum is for that.

    So many loads that wait for nothing are under way together as the processor can hold: rows far
    apart take half the time that they take with prefetches, which it may and does drop.
    """
    fetched = np.int64(0)
    for i in range(n_rows):
        at = np.intp(rows[begin + i]) * n_features
        first[i] = np.uint64(at)
        for byte in range(0, n_features - 1, LINE):
            fetched += np.int64(all_codes[at + byte])
        fetched += np.int64(all_codes[at + n_features - 1])
    return fetched


@numba.njit(cache=True, nogil=True)
def _count_classes(hist, counts, codes, rows, begin, end, label):  # type: ignore[no-untyped-def]
    """Count classes in uint16, class by class, and move them to hist before they overflow."""
    n_features, n_codes, n_classes = hist.shape
    stride = np.uint64(n_codes | 1)
    all_codes = codes.reshape(-1)
    first, place = np.empty(BLOCK, np.uint64), np.empty(BLOCK, np.uint64)
    one = np.ones(BLOCK, np.uint16)
    since, fetched = 0, np.int64(0)
    for block in range(begin, end, BLOCK):
        n_rows = min(BLOCK, end - block)
        fetched += _find_codes(first, all_codes, rows, block, n_rows, n_features)
        for i in range(n_rows):
            place[i] = np.uint64(label[rows[block + i], 0] * TILE) * stride
        if since + n_rows > UINT16:
            move_counts(hist, counts, n_classes, np.intp(stride))
            since = 0
        add_block(counts, all_codes, first, place, one, n_rows, n_features, n_classes, stride)
        since += n_rows
    move_counts(hist, counts, n_classes, np.intp(stride))
    return fetched


@numba.njit(cache=True, nogil=True)
def _count_few(flat, shape, codes, rows, begin, end, label):  # type: ignore[no-untyped-def]
    """Count classes of few rows in place: moving counts would take longer than counting."""
    n_features, n_codes, n_classes = shape
    planes, step = np.uint64(n_classes), np.uint64(n_codes * n_classes)
    all_codes = codes.reshape(-1)
    first, place = np.empty(BLOCK, np.uint64), np.empty(BLOCK, np.uint64)
    whole, fetched = n_features // TILE, np.int64(0)
    for block in range(begin, end, BLOCK):
        n_rows = min(BLOCK, end - block)
        fetched += _find_codes(first, all_codes, rows, block, n_rows, n_features)
        for i in range(n_rows):
            place[i] = np.uint64(label[rows[block + i], 0])
        for t in range(whole):
            tile, left = np.uint64(t * TILE) * step, np.uint64(t * TILE)
            for i in range(n_rows):
                cell, code = tile + place[i], first[i] + left
                for g in range(TILE):
                    own = cell + np.uint64(g) * step
                    flat[own + np.uint64(all_codes[code + np.uint64(g)]) * planes] += 1
        for g in range(whole * TILE, n_features):
            own = np.uint64(g) * step
            for i in range(n_rows):
                code = np.uint64(all_codes[first[i] + np.uint64(g)])
                flat[own + place[i] + code * planes] += 1
    return fetched


@numba.njit(cache=True, nogil=True)
def _add_words(  # type: ignore[no-untyped-def]
    hist, codes, rows, begin, end, label, weight, sums, counted
):
    """Add what a row has for a cell as packed words, and move their fields in time."""
    n_features, n_codes, n_statistics = hist.shape
    stride = np.uint64(n_codes | 1)
    first_class = np.intp(counted) + np.intp(weight.size > 0)
    n_classes = n_statistics - first_class if label.shape[1] else 1
    with_count = np.intp(counted or weight.size == 0)
    bits = needed_bits(rows, begin, end, with_count, weight, sums)
    fields, n_words, most = packing(bits)
    cells = np.zeros((n_words, cell_count(n_features, n_classes, np.intp(stride))), np.int64)
    all_codes, fetched = codes.reshape(-1), np.int64(0)
    first, place = np.empty(BLOCK, np.uint64), np.zeros(BLOCK, np.uint64)
    words = np.empty((n_words, BLOCK), np.int64)
    size, since = min(BLOCK, most), 0
    for block in range(begin, end, size):
        n_rows = min(size, end - block)
        fetched += _find_codes(first, all_codes, rows, block, n_rows, n_features)
        if label.shape[1]:
            for i in range(n_rows):
                own = label[rows[block + i], 0] - first_class
                place[i] = np.uint64(own * TILE) * stride
        _pack(words, fields, rows, block, n_rows, with_count, weight, sums)
        if since + n_rows > most:
            _unpack(hist, cells, fields, label, weight, sums, counted, n_classes)
            since = 0
        for word in range(n_words):
            own_cells, own = cells[word], words[word]
            add_block(
                own_cells, all_codes, first, place, own, n_rows, n_features, n_classes, stride
            )
        since += n_rows
    _unpack(hist, cells, fields, label, weight, sums, counted, n_classes)
    return fetched


@numba.njit(cache=True, nogil=True)
def _pack(words, fields, rows, begin, n_rows, with_count, weight, sums):  # type: ignore[no-untyped-def]
    words[:, :n_rows] = 0
    shift, word = np.int64(0), np.int64(-1)
    weighted = np.intp(weight.size > 0)
    for f in range(fields.shape[0]):
        shift = shift + fields[f - 1, 1] if word == fields[f, 0] else np.int64(0)
        word = fields[f, 0]
        line = words[word]
        j = f - with_count - weighted
        for i in range(n_rows):
            row = rows[begin + i]
            value = sums[row, j] if j >= 0 else np.int64(1)
            if f == with_count and weighted:
                value = weight[row]
            line[i] += value << shift


@numba.njit(cache=True, nogil=True)
def _unpack(hist, cells, fields, label, weight, sums, counted, n_classes):  # type: ignore[no-untyped-def]
    weighted = np.intp(weight.size > 0)
    with_count = np.intp(counted or not weighted)
    first_class = np.intp(counted) + weighted
    first_sum = hist.shape[2] - sums.shape[1]
    for f in range(fields.shape[0]):
        planes = np.empty((2, 2), np.int64)
        n_planes = 0
        j = f - with_count - weighted
        if j >= 0:
            planes[0] = first_sum + j, 0
            n_planes = 1
        else:
            is_weight = f == with_count
            if is_weight or counted:
                planes[0] = np.intp(is_weight and counted), 0
                n_planes = 1
            if label.shape[1] and is_weight == (weighted > 0):
                planes[n_planes] = first_class, 1
                n_planes += 1
        own, width = cells[fields[f, 0]], fields[f, 1]
        move_field(hist, own, width, j >= 0, planes[:n_planes], n_classes, hist.shape[1] | 1)
    cells[:] = 0


@numba.njit(cache=True, nogil=True)
def _add_any(  # type: ignore[no-untyped-def]
    flat, shape, codes, rows, begin, end, label, weight, sums, counted
):
    n_features, n_codes, n_statistics = shape
    first_sum = n_statistics - sums.shape[1]
    weight_plane = np.intp(counted)
    for position in range(begin, end):
        row = rows[position]
        w = weight[row] if weight.size else 1
        for g in range(n_features):
            cell = (g * n_codes + np.intp(codes[row, g])) * n_statistics
            if counted:
                flat[cell] += 1
            if weight.size:
                flat[cell + weight_plane] += w
            for o in range(label.shape[1]):
                flat[cell + label[row, o]] += w
            for j in range(sums.shape[1]):
                flat[cell + first_sum + j] += sums[row, j]


@numba.njit(cache=True, nogil=True)
def _count_tasks(  # type: ignore[no-untyped-def]
    hist, extra, codes, rows, tasks, first_task, last_task, label
):
    """Work through tasks (node, begin, end, private copy or −1) of classes without weights."""
    shape = hist.shape[1:]
    cells = cell_count(shape[0], shape[2], shape[1] | 1)
    many = _MOVE * shape[1] * shape[2]
    longest = np.max(tasks[first_task:last_task, 2] - tasks[first_task:last_task, 1])
    counts = np.zeros(cells if longest >= many else 0, np.uint16)
    fetched = np.int64(0)
    for t in range(first_task, last_task):
        node, begin, end, copy = tasks[t, 0], tasks[t, 1], tasks[t, 2], tasks[t, 3]
        own = hist[node] if copy < 0 else extra[copy]
        own.reshape(-1)[:] = 0
        if end - begin >= many:
            fetched += _count_classes(own, counts, codes, rows, begin, end, label)
        elif begin < end:
            fetched += _count_few(own.reshape(-1), shape, codes, rows, begin, end, label)
    return fetched


@numba.njit(cache=True, nogil=True)
def _add_tasks(  # type: ignore[no-untyped-def]
    hist, extra, codes, rows, tasks, first_task, last_task, label, weight, sums, counted
):
    """Work through tasks (node, begin, end, private copy or −1) of any statistics."""
    shape = hist.shape[1:]
    many = _MOVE * shape[1] * shape[2] if label.shape[1] else 1
    fetched = np.int64(0)
    for t in range(first_task, last_task):
        node, begin, end, copy = tasks[t, 0], tasks[t, 1], tasks[t, 2], tasks[t, 3]
        own = hist[node] if copy < 0 else extra[copy]
        own.reshape(-1)[:] = 0
        if end - begin >= many and label.shape[1] <= 1:
            fetched += _add_words(own, codes, rows, begin, end, label, weight, sums, counted)
        elif begin < end:
            flat = own.reshape(-1)
            _add_any(flat, shape, codes, rows, begin, end, label, weight, sums, counted)
    return fetched


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
    # A private copy is cleared and added up: so many rows that this does not show.
    tasks = chunks(start, stop, max(CHUNK, 12 * n_codes * n_statistics))
    extra = np.empty((int(tasks[:, 3].max(initial=-1)) + 1, *shape), dtype=dtype)
    borders = batches(tasks, CHUNK // 8, each=n_codes * n_statistics // 8)
    weights = np.empty(0, dtype=np.int64) if weight is None else weight
    codes = np.ascontiguousarray(codes)
    counts_alone = not counted and weight is None and label.shape[1] == 1 and sums.shape[1] == 0

    def batch(index: int) -> None:
        first, last = borders[index], borders[index + 1]
        if counts_alone:
            _count_tasks(hist, extra, codes, rows, tasks, first, last, label)
        else:
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

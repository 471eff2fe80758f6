"""`histogram` in Numba: one task per chunk of a node's rows, private sums, integer reduction."""

from __future__ import annotations

from typing import Any

import numba
import numpy as np
from numpy.typing import NDArray

from vtree_kernels import _threads
from vtree_kernels.histogram.reference import Compact, Derived
from vtree_kernels.histogram.words import (
    BLOCK,
    TILE,
    add_block,
    add_block_of_pairs,
    cell_count,
    field_bits,
    fill_fields,
    move_counts,
    move_field,
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
    width, last = np.uint64(n_features), np.uint64(n_features - 1)
    for i in range(n_rows):
        first[i] = np.uint64(rows[begin + i]) * width
    fetched = np.int64(0)
    if n_features <= LINE + 1:  # a loop of few instructions keeps more loads under way
        for i in range(n_rows):
            fetched += np.int64(all_codes[first[i]]) + np.int64(all_codes[first[i] + last])
        return fetched
    for i in range(n_rows):
        for byte in range(0, n_features, LINE):
            fetched += np.int64(all_codes[first[i] + np.uint64(byte)])
        fetched += np.int64(all_codes[first[i] + last])
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
    hist, codes, rows, begin, end, label, weighted, compact, counted
):
    """Add what a row has for a cell as packed words, and move their fields in time."""
    n_features, n_codes, n_statistics = hist.shape
    stride = np.uint64(n_codes | 1)
    first_class = np.intp(counted) + weighted
    n_classes = n_statistics - first_class if label.shape[1] else 1
    with_count = np.intp(counted or weighted == 0)
    bits = np.ones(with_count + compact.bits.size, np.int64)
    bits[with_count:] = compact.bits
    fields, n_words, most = packing(bits)
    layout = (weighted, label.shape[1] > 0, counted, n_classes)
    wide = np.intp(min(n_words, 2))
    bundles = (n_words + 1) // 2
    size_of_bundle = wide * cell_count(n_features, n_classes, np.intp(stride))
    cells = np.zeros((bundles, size_of_bundle), np.int64)
    all_codes, fetched = codes.reshape(-1), np.int64(0)
    first, place = np.empty(BLOCK, np.uint64), np.zeros(BLOCK, np.uint64)
    words = np.empty((bundles, wide * BLOCK), np.int64)
    size, since = min(BLOCK, most), 0
    for block in range(begin, end, size):
        n_rows = min(size, end - block)
        fetched += _find_codes(first, all_codes, rows, block, n_rows, n_features)
        if label.shape[1]:
            for i in range(n_rows):
                own = label[rows[block + i], 0] - first_class
                place[i] = np.uint64(own * TILE) * stride
        _pack(words, fields, rows, block, n_rows, with_count, compact.fields, wide)
        if since + n_rows > most:
            _unpack(hist, cells, fields, layout, wide)
            since = 0
        for bundle in range(bundles):
            shape = (n_rows, n_features, n_classes, stride)
            if wide == 2:
                add_block_of_pairs(cells[bundle], all_codes, first, place, words[bundle], *shape)
            else:
                add_block(cells[bundle], all_codes, first, place, words[bundle], *shape)
        since += n_rows
    _unpack(hist, cells, fields, layout, wide)
    return fetched


@numba.njit(cache=True, nogil=True)
def _pack(words, fields, rows, begin, n_rows, with_count, values, wide):  # type: ignore[no-untyped-def]
    """Write the words of a block of rows, word by word and field by field."""
    shift, word = np.int64(0), np.int64(-1)
    for f in range(fields.shape[0]):
        begins = word != fields[f, 0]
        shift = np.int64(0) if begins else shift + fields[f - 1, 1]
        word = fields[f, 0]
        line, beside, column = words[word // wide], word % wide, f - with_count
        if column < 0:
            for i in range(n_rows):
                line[wide * i + beside] = 1
        elif begins:
            for i in range(n_rows):
                line[wide * i + beside] = np.int64(values[rows[begin + i], column])
        else:
            for i in range(n_rows):
                value = np.int64(values[rows[begin + i], column])
                line[wide * i + beside] += value << shift


@numba.njit(cache=True, nogil=True)
def _unpack(hist, cells, fields, layout, wide):  # type: ignore[no-untyped-def]
    weighted, labelled, counted, n_classes = layout
    with_count = np.intp(counted or weighted == 0)
    first_class = np.intp(counted) + weighted
    first_sum = hist.shape[2] - (fields.shape[0] - with_count - weighted)
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
            if labelled and is_weight == (weighted > 0):
                planes[n_planes] = first_class, 1
                n_planes += 1
        own, word = cells[fields[f, 0] // wide], fields[f, 0] % wide
        signed, moved = j >= 0, planes[:n_planes]
        move_field(
            hist, own, word, wide, fields[f, 1], signed, moved, n_classes, hist.shape[1] | 1
        )
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
    hist, extra, codes, rows, tasks, first_task, last_task, label, weight, sums, compact, counted
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
            weighted = np.intp(weight.size > 0)
            fetched += _add_words(own, codes, rows, begin, end, label, weighted, compact, counted)
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


def compacted(sums: NDArray[np.int64], weight: NDArray[np.int64] | None) -> Compact | None:
    """Return what `histogram` reads row by row, None where rows have labels alone."""
    if weight is None and sums.shape[1] == 0:
        return None
    return _compacted(sums, weight)


def _compacted(sums: NDArray[np.int64], weight: NDArray[np.int64] | None) -> Compact:
    weights = np.empty(0, dtype=np.int64) if weight is None else weight
    bits = field_bits(weights, sums)
    short = bits.max(initial=0) <= 31
    fields = np.empty((sums.shape[0], bits.size), dtype=np.int32 if short else np.int64)
    fill_fields(fields, weights, sums)
    return Compact(fields, bits)


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
    compact: Compact | None = None,
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
    if compact is None and not counts_alone:
        compact = _compacted(sums, weight)

    def batch(index: int) -> None:
        first, last = borders[index], borders[index + 1]
        if counts_alone:
            _count_tasks(hist, extra, codes, rows, tasks, first, last, label)
        else:
            statistics = (label, weights, sums, compact, counted)
            _add_tasks(hist, extra, codes, rows, tasks, first, last, *statistics)

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

"""`histogram` in Numba: one task per chunk of a node's rows, private sums, integer reduction.

A row's codes lie together and its cells do not, but all cells of some features stay in the L2
cache. So rows pass one after another, each adding to all features, and what a row a little later
needs is fetched meanwhile. Fetching a block of rows first, to pass it feature by feature through
the L1 cache, takes twice the time in nodes whose rows lie far apart.
"""

from __future__ import annotations

from typing import Any

import numba
import numpy as np
from numpy.typing import NDArray

from vtree_kernels import _threads
from vtree_kernels._prefetch import prefetch
from vtree_kernels.histogram.reference import Compact, Derived
from vtree_kernels.histogram.words import (
    add_pair,
    field_bits,
    field_reach,
    fill_fields,
    move_field,
    packing,
)

# Rows of one node per task: long enough to hide the reduction of a private copy, but where there
# are not so many in all, as few as leave all threads their share.
CHUNK, LEAST_CHUNK, SHARES = 65_536, 16_384, 8
LINE = 64  # bytes of a cache line
AHEAD = 12  # rows; measured: 8 to 16 alike, 32 is worse
NEAR = 1 << 18  # bytes of cells that stay in the L2 cache
LEAST = 32  # features that pass at once: fewer do not pay for reading a row again

# Rows per code from which it pays to add packed words and move their fields after.
_MOVE = 32


@numba.njit(cache=True, nogil=True)
def _count_classes(flat, shape, codes, rows, begin, end, label, first, last):  # type: ignore[no-untyped-def]
    """Count the classes of rows by the codes of features first to last."""
    width, n_codes, n_classes = shape
    classes, step = np.uint64(n_classes), np.uint64(n_codes * n_classes)
    for position in range(begin, end):
        ahead = np.intp(rows[min(position + AHEAD, end - 1)])
        prefetch(label, ahead)
        for column in range(first, last - 1, LINE):
            prefetch(codes, ahead * width + column)
        prefetch(codes, ahead * width + last - 1)
        row = np.intp(rows[position])
        cell, code = np.uint64(label[row]), np.uint64(row * width)
        for g in range(np.uint64(first), np.uint64(last)):
            flat[cell + g * step + np.uint64(codes[code + g]) * classes] += 1


@numba.njit(cache=True, nogil=True)
def _add_three(flat, shape, codes, rows, begin, end, values, first, last):  # type: ignore[no-untyped-def]
    """Count rows and add their weight and sum, values (N, 2): what most regressions have."""
    width, n_codes = shape
    step, all_values = np.uint64(3 * n_codes), values.reshape(-1)
    for position in range(begin, end):
        ahead = np.intp(rows[min(position + AHEAD, end - 1)])
        prefetch(all_values, ahead * 2)
        for column in range(first, last - 1, LINE):
            prefetch(codes, ahead * width + column)
        prefetch(codes, ahead * width + last - 1)
        row = np.intp(rows[position])
        weight, own_sum = np.int64(all_values[row * 2]), np.int64(all_values[row * 2 + 1])
        code = np.uint64(row * width)
        for g in range(np.uint64(first), np.uint64(last)):
            cell = g * step + np.uint64(codes[code + g]) * np.uint64(3)
            add_pair(flat, cell, np.int64(1), weight)
            flat[cell + np.uint64(2)] += own_sum


@numba.njit(cache=True, nogil=True)
def _add_rows(  # type: ignore[no-untyped-def]
    flat, shape, codes, rows, begin, end, label, weighted, values, counted, first, last
):
    """Add any statistics, plane by plane: pairs of planes that lie side by side, then the others.

    Side by side are the count, the weight and, where no classes come between, the sums.
    """
    width, n_codes, n_statistics = shape
    statistics, step = np.uint64(n_statistics), np.uint64(n_codes * n_statistics)
    outputs, own_label = label.shape[1], label.reshape(-1)
    all_values, n_values = values.reshape(-1), values.shape[1]
    n_sums = n_values - weighted
    paired = (counted + (weighted if outputs else n_values)) // 2 * 2
    known = counted + n_values
    value, plane = np.ones(known + outputs + 1, np.int64), np.arange(known + outputs)
    weight = weighted * counted + (1 - weighted) * (known + outputs)  # its place, or that of a one
    plane[known - n_sums : known] = np.arange(n_statistics - n_sums, n_statistics)
    for position in range(begin, end):
        ahead = np.intp(rows[min(position + AHEAD, end - 1)])
        prefetch(all_values, ahead * n_values)
        prefetch(own_label, ahead * outputs)
        for column in range(first, last - 1, LINE):
            prefetch(codes, ahead * width + column)
        prefetch(codes, ahead * width + last - 1)
        row = np.intp(rows[position])
        code = np.uint64(row * width)
        for f in range(n_values):
            value[counted + f] = all_values[row * n_values + f]
        plane[known:] = own_label[row * outputs : (row + 1) * outputs]
        value[known : known + outputs] = value[weight]
        for entry in range(0, paired, 2):
            left, right = value[entry], value[entry + 1]
            for g in range(np.uint64(first), np.uint64(last)):
                cell = np.uint64(entry) + g * step + np.uint64(codes[code + g]) * statistics
                add_pair(flat, cell, left, right)
        for entry in range(paired, known + outputs):
            own, more = np.uint64(plane[entry]), value[entry]
            for g in range(np.uint64(first), np.uint64(last)):
                flat[own + g * step + np.uint64(codes[code + g]) * statistics] += more


@numba.njit(cache=True, nogil=True)
def _add_words(  # type: ignore[no-untyped-def]
    hist, codes, rows, begin, end, label, weighted, compact, counted
):
    """Add what a row has for a cell as packed words, and move their fields in time."""
    n_features, n_codes, n_statistics = hist.shape
    n_classes = n_statistics - counted - weighted if label.shape[1] else 1
    with_count = np.intp(counted > 0 or weighted == 0)
    bits = np.ones(with_count + compact.bits.size, np.int64)
    bits[with_count:] = compact.bits
    fields, n_words, most = packing(bits)
    layout = (weighted, label.shape[1] > 0, counted, n_classes)
    wide, bundles = np.intp(min(n_words, 2)), (n_words + 1) // 2
    columns = max(LEAST, NEAR // (8 * wide * n_codes * n_classes))
    cells = np.zeros((bundles, wide * n_classes * n_features * n_codes), np.int64)
    shape = (n_features, n_codes, np.intp(counted) + weighted)
    for block in range(begin, end, most):
        stop = min(block + most, end)
        for bundle in range(bundles):
            given = (codes, rows, block, stop, label, compact.fields)
            factors = _factors(fields, with_count, wide * bundle)
            for first in range(0, n_features, columns):
                last = min(first + columns, n_features)
                if wide == 2:
                    _add_two(cells[bundle], shape, *given, factors, first, last)
                else:
                    _add_one(cells[bundle], shape, *given, factors, first, last)
        _unpack(hist, cells, fields, layout, wide)


@numba.njit(cache=True, nogil=True)
def _factors(fields, with_count, word):  # type: ignore[no-untyped-def]
    """Return what each value is multiplied by in `word` and the next one, and the constants."""
    factors = np.zeros((fields.shape[0] - with_count + 1, 2), np.int64)
    shift, previous = np.int64(0), np.int64(-1)
    for f in range(fields.shape[0]):
        shift = shift + fields[f - 1, 1] if fields[f, 0] == previous else np.int64(0)
        previous = fields[f, 0]
        if 0 <= previous - word < 2:
            factors[f - with_count, previous - word] = np.int64(1) << shift  # the count's is last
    return factors


@numba.njit(cache=True, nogil=True)
def _add_two(  # type: ignore[no-untyped-def]
    cells, shape, codes, rows, begin, end, label, values, factors, first, last
):
    """Add two words of each row to the cells of features first to last."""
    width, n_codes, first_class = shape
    step, codes_of_class = np.uint64(n_codes), width * n_codes
    all_values, n_values = values.reshape(-1), values.shape[1]
    own_label, outputs = label.reshape(-1), label.shape[1]
    constant = factors[n_values]
    for position in range(begin, end):
        ahead = np.intp(rows[min(position + AHEAD, end - 1)])
        prefetch(all_values, ahead * n_values)
        for column in range(first, last - 1, LINE):
            prefetch(codes, ahead * width + column)
        prefetch(codes, ahead * width + last - 1)
        row = np.intp(rows[position])
        left, right = constant[0], constant[1]
        for f in range(n_values):
            value = np.int64(all_values[row * n_values + f])
            left, right = left + value * factors[f, 0], right + value * factors[f, 1]
        cell, code = np.uint64(0), np.uint64(row * width)
        if outputs:
            prefetch(own_label, ahead)
            cell = np.uint64((own_label[row] - first_class) * codes_of_class)
        for g in range(np.uint64(first), np.uint64(last)):
            own = cell + g * step + np.uint64(codes[code + g])
            add_pair(cells, own + own, left, right)


@numba.njit(cache=True, nogil=True)
def _add_one(  # type: ignore[no-untyped-def]
    cells, shape, codes, rows, begin, end, label, values, factors, first, last
):
    """Do it where one word holds all fields."""
    width, n_codes, first_class = shape
    step, codes_of_class = np.uint64(n_codes), width * n_codes
    all_values, n_values = values.reshape(-1), values.shape[1]
    own_label, outputs = label.reshape(-1), label.shape[1]
    for position in range(begin, end):
        ahead = np.intp(rows[min(position + AHEAD, end - 1)])
        prefetch(all_values, ahead * n_values)
        for column in range(first, last - 1, LINE):
            prefetch(codes, ahead * width + column)
        prefetch(codes, ahead * width + last - 1)
        row = np.intp(rows[position])
        word = factors[n_values, 0]
        for f in range(n_values):
            word += np.int64(all_values[row * n_values + f]) * factors[f, 0]
        cell, code = np.uint64(0), np.uint64(row * width)
        if outputs:
            prefetch(own_label, ahead)
            cell = np.uint64((own_label[row] - first_class) * codes_of_class)
        for g in range(np.uint64(first), np.uint64(last)):
            cells[cell + g * step + np.uint64(codes[code + g])] += word


@numba.njit(cache=True, nogil=True)
def _unpack(hist, cells, fields, layout, wide):  # type: ignore[no-untyped-def]
    weighted, labelled, counted, n_classes = layout
    with_count = np.intp(counted > 0 or weighted == 0)
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
            if is_weight or counted > 0:
                planes[0] = np.intp(is_weight and counted > 0), 0
                n_planes = 1
            if labelled and is_weight == (weighted > 0):
                planes[n_planes] = first_class, 1
                n_planes += 1
        own, word = cells[fields[f, 0] // wide], fields[f, 0] % wide
        signed, moved = j >= 0, planes[:n_planes]
        move_field(hist, own, word, wide, fields[f, 1], signed, moved, n_classes)
    cells[:] = 0


@numba.njit(cache=True, nogil=True)
def _count_tasks(  # type: ignore[no-untyped-def]
    hist, extra, codes, rows, tasks, first_task, last_task, label
):
    """Work through tasks (node, begin, end, private copy or −1) of classes without weights."""
    shape = hist.shape[1:]
    columns = max(LEAST, NEAR // (4 * shape[1] * shape[2]))
    all_codes, labels = codes.reshape(-1), label.reshape(-1)
    for t in range(first_task, last_task):
        node, begin, end, copy = tasks[t, 0], tasks[t, 1], tasks[t, 2], tasks[t, 3]
        own = hist[node] if copy < 0 else extra[copy]
        flat = own.reshape(-1)
        flat[:] = 0
        for first in range(0, shape[0], columns):
            last = min(first + columns, shape[0])
            _count_classes(flat, shape, all_codes, rows, begin, end, labels, first, last)


@numba.njit(cache=True, nogil=True)
def _add_tasks(  # type: ignore[no-untyped-def]
    hist, extra, codes, rows, tasks, first_task, last_task, label, weighted, compact, counted
):
    """Work through tasks (node, begin, end, private copy or −1) of any statistics."""
    shape, outputs = hist.shape[1:], label.shape[1]
    n_features, n_codes, n_statistics = shape
    columns = max(LEAST, NEAR // (8 * n_codes * n_statistics))
    three = weighted and counted and n_statistics == 3 and outputs == 0
    many = _MOVE * n_codes * (n_statistics - counted - weighted if outputs else 1)
    values, all_codes = compact.fields, codes.reshape(-1)
    for t in range(first_task, last_task):
        node, begin, end, copy = tasks[t, 0], tasks[t, 1], tasks[t, 2], tasks[t, 3]
        own = hist[node] if copy < 0 else extra[copy]
        flat = own.reshape(-1)
        flat[:] = 0
        if end - begin >= many and outputs <= 1:
            _add_words(own, all_codes, rows, begin, end, label, weighted, compact, counted)
            continue
        for first in range(0, n_features, columns):
            last = min(first + columns, n_features)
            given = (all_codes, rows, begin, end)
            if three:
                _add_three(flat, (n_features, n_codes), *given, values, first, last)
            else:
                kinds = (label, weighted, values, counted)
                _add_rows(flat, shape, *given, *kinds, first, last)


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
    """Cut nodes into tasks (n, 4): node, begin, end and the private copy to fill (−1: none).

    A node's tasks are of about equal size, `size` rows at most.
    """
    if (stop - start).max(initial=0) <= size:  # as of all small tables
        whole = np.arange(start.size)
        return np.stack([whole, start, stop, np.full(start.size, -1)], axis=1)
    pieces = np.maximum(1, -(-(stop - start) // size))
    node = np.repeat(np.arange(start.size), pieces)
    piece = np.arange(node.size) - np.repeat(np.cumsum(pieces) - pieces, pieces)
    even = -(-(stop - start) // pieces)[node]
    begin = start[node] + piece * even
    end = np.minimum(begin + even, stop[node])
    copy = np.where(piece > 0, np.cumsum(piece > 0) - 1, -1)
    return np.stack([node, begin, end, copy], axis=1)


def batches(tasks: NDArray[np.int64], size: int, each: int = 0) -> NDArray[np.int64]:
    """Group consecutive tasks to about `size` rows a batch; returns the borders (n + 1,).

    each: what a task costs besides its rows, in rows.
    """
    rows_before = np.concatenate([[0], np.cumsum(tasks[:, 2] - tasks[:, 1] + each)])
    if 0 < rows_before[-1] <= size:
        return np.asarray([0, len(tasks)])
    wanted = np.arange(0, rows_before[-1], size)
    return np.unique(np.append(np.searchsorted(rows_before, wanted), [0, len(tasks)]))


def compacted(sums: NDArray[np.int64], weight: NDArray[np.int64] | None) -> Compact | None:
    """Return what `histogram` reads row by row, None where rows have labels alone."""
    if weight is None and sums.shape[1] == 0:
        return None
    return _compacted(sums, weight)


def _compacted(sums: NDArray[np.int64], weight: NDArray[np.int64] | None) -> Compact:
    weights = np.empty(0, dtype=np.int64) if weight is None else weight
    weighted, n_rows = int(weight is not None), sums.shape[0]
    n_tasks = -(-n_rows // LEAST_CHUNK)
    reach = np.zeros((n_tasks, weighted + sums.shape[1]), dtype=np.int64)

    def look(index: int) -> None:
        first = index * LEAST_CHUNK
        field_reach(reach[index], weights, sums, first, min(first + LEAST_CHUNK, n_rows))

    def fill(index: int) -> None:
        first = index * LEAST_CHUNK
        fill_fields(fields, weights, sums, first, min(first + LEAST_CHUNK, n_rows))

    _threads.run(look, n_tasks, work=2 * n_rows)
    bits = field_bits(np.bitwise_or.reduce(reach, axis=0), weighted)
    short = bits.max(initial=0) <= 31
    fields = np.empty((n_rows, bits.size), dtype=np.int32 if short else np.int64)
    _threads.run(fill, n_tasks, work=2 * n_rows)
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
    counts_alone = not counted and weight is None and label.shape[1] == 1 and sums.shape[1] == 0
    dtype = np.int32 if counts_alone else np.int64  # pairs are added as 64 bits each
    n_derived = 0 if derived is None else derived.slot.size
    hist = np.empty((start.size + n_derived, *shape), dtype=dtype)
    # A private copy is cleared and added up: so many rows that this does not show.
    n_rows = int((stop - start).sum())
    size = max(min(CHUNK, n_rows // SHARES), LEAST_CHUNK, 12 * n_codes * n_statistics)
    tasks = chunks(start, stop, size)
    extra = np.empty((int(tasks[:, 3].max(initial=-1)) + 1, *shape), dtype=dtype)
    borders = batches(tasks, CHUNK // 8, each=n_codes * n_statistics // 8)
    codes, label = np.ascontiguousarray(codes), np.ascontiguousarray(label)
    if compact is None and not counts_alone:
        compact = _compacted(sums, weight)

    def batch(index: int) -> None:
        first, last = borders[index], borders[index + 1]
        if counts_alone:
            _count_tasks(hist, extra, codes, rows, tasks, first, last, label)
        else:
            statistics = (label, int(weight is not None), compact, int(counted))
            _add_tasks(hist, extra, codes, rows, tasks, first, last, *statistics)

    cells = int(np.prod(shape))
    work = n_rows * codes.shape[1] + start.size * cells // 8
    _threads.run(batch, len(borders) - 1, work=work)
    if extra.shape[0]:
        _reduce(hist, extra, tasks, 0, len(tasks))
    if derived is not None and n_derived:
        some = max(1, 1_000_000 // max(1, cells))  # nodes a task

        def derive(index: int) -> None:
            last = min((index + 1) * some, n_derived)
            _derive(hist, start.size, *derived, index * some, last)

        _threads.run(derive, -(-n_derived // some), work=n_derived * cells // 4)
    return hist if counted else hist.astype(np.int32, copy=False)

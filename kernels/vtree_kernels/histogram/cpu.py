"""`histogram` in Numba: one task per chunk of a node's rows, private sums, integer reduction."""

from __future__ import annotations

from typing import Any

import numba
import numpy as np
from numpy.typing import NDArray

from vtree_kernels import _threads
from vtree_kernels._tasks import batches, chunks
from vtree_kernels.histogram.adding import (
    add_planes,
    add_sum,
    add_whole,
    add_word,
    add_words,
    count,
    count_apart,
    count_two,
)
from vtree_kernels.histogram.reference import Compact
from vtree_kernels.histogram.words import (
    add_counts,
    all_bits,
    field_bits,
    field_reach,
    fill_fields,
    move_fields,
    move_words,
    pack,
    pack_whole,
    packing,
    put,
    rows_that_fit,
)

# Rows of one node per task: long enough to hide the reduction of a private copy, but where there
# are not so many in all, as few as leave all threads their share.
CHUNK, LEAST_CHUNK, SHARES = 65_536, 16_384, 16
BLOCK = 512  # rows whose words are packed before they are added
NEAR = 1 << 18  # bytes of cells that stay in the L2 cache
LEAST = 32  # features that pass at once: fewer do not pay for reading a row again

# Rows per code from which it pays to add packed words and move their fields after: of whole rows
# with two fields or more, and of what is packed on the way; and rows per code and class from which
# counts that lie apart do.
_WHOLE, _MOVE, _APART = (16, 4), 32, 8


@numba.njit(cache=True, nogil=True)
def _count_apart(hist, codes, rows, begin, end, label):  # type: ignore[no-untyped-def]
    """Count in 16 bits, class by class, and move the counts into place in time."""
    n_features, n_codes, n_classes = hist.shape
    columns = max(LEAST, NEAR // (2 * n_codes * n_classes))
    cells = np.zeros(n_classes * n_features * n_codes, np.uint16)
    while begin < end:
        stop = rows_that_fit(rows, begin, end, label, n_classes)
        for first in range(0, n_features, columns):
            last = min(first + columns, n_features)
            own = (codes, n_features, rows, begin, stop, first, last)
            count_apart(n_codes, cells, *own, label)
        add_counts(hist, cells)
        begin = stop


@numba.njit(cache=True, nogil=True)
def _add_words(  # type: ignore[no-untyped-def]
    hist, codes, rows, begin, end, label, weighted, compact, counted
):
    """Add what a row has for a cell as packed words, and move their fields in time."""
    n_features, n_codes, n_statistics = hist.shape
    n_classes = n_statistics - counted - weighted if label.shape[1] else 1
    with_count = np.intp(counted > 0 or weighted == 0)
    fields, n_words, most = packing(all_bits(compact.bits, with_count))
    places = _places(fields, n_statistics, (weighted, label.shape[1] > 0, counted))
    wide, bundles = np.intp(min(n_words, 2)), (n_words + 1) // 2
    columns = max(LEAST, NEAR // (8 * wide * n_codes * n_classes))
    cells = np.zeros((bundles, wide * n_classes * n_features * n_codes), np.int64)
    place, words = np.zeros(BLOCK, np.uint64), np.empty((2, BLOCK), np.int64)
    after = begin + most  # the first row that may not pass before fields are moved
    for block in range(begin, end, BLOCK):
        stop = min(block + BLOCK, end)
        if stop > after:
            move_fields(hist, cells, wide, fields, places, with_count + weighted, n_classes)
            after = block + most
        for bundle in range(bundles):
            for word in range(wide):
                factors = _factors(fields, with_count, wide * bundle + word)
                pack(words[word], rows, block, stop, compact.fields, factors)
            if label.shape[1]:
                first_class = np.intp(counted) + weighted
                put(place, rows, block, stop, label, first_class, n_features * n_codes)
            for first in range(0, n_features, columns):
                last = min(first + columns, n_features)
                own = (codes, n_features, rows, block, stop, first, last, place, words)
                if wide == 2:
                    add_words(n_codes, cells[bundle], *own)
                else:
                    add_word(n_codes, cells[bundle], *own)
    move_fields(hist, cells, wide, fields, places, with_count + weighted, n_classes)


@numba.njit(cache=True, nogil=True)
def _add_whole(  # type: ignore[no-untyped-def]
    hist, codes, rows, begin, end, words, fields, most, lowest, first_sum
):
    """Add what a row has for a cell as one word, and move its fields every `most` rows."""
    n_features, n_codes, _ = hist.shape
    columns = max(LEAST, NEAR // (8 * n_codes))
    cells = np.zeros(min(columns, n_features) * n_codes, np.int64)
    for first in range(0, n_features, columns):
        last = min(first + columns, n_features)
        own, size = hist[first:last].reshape(-1), (last - first) * n_codes
        for block in range(begin, max(end, begin + 1), most):
            given = codes, n_features, rows, block, min(block + most, end), first, last
            add_whole(n_codes, cells, *given, words)
            move_words(own, cells[:size], fields, lowest, first_sum, block == begin)


@numba.njit(cache=True, nogil=True)
def _factors(fields, with_count, word):  # type: ignore[no-untyped-def]
    """Return what each value is multiplied by in `word`, and the constant, that of the count."""
    factors = np.zeros(fields.shape[0] - with_count + 1, np.int64)
    shift, previous = np.int64(0), np.int64(-1)
    for f in range(fields.shape[0]):
        shift = shift + fields[f - 1, 1] if fields[f, 0] == previous else np.int64(0)
        previous = fields[f, 0]
        if previous == word:
            factors[f - with_count] = np.int64(1) << shift
    return factors


@numba.njit(cache=True, nogil=True)
def _places(fields, n_statistics, layout):  # type: ignore[no-untyped-def]
    """Return the planes that fields add to (fields, 2, 2): of class 0, and steps between classes.

    A plane of −1 is none. Of two, the second one is the own of each class.
    """
    weighted, labelled, counted = layout
    with_count = np.intp(counted > 0 or weighted == 0)
    first_class = np.intp(counted) + weighted
    first_sum = n_statistics - (fields.shape[0] - with_count - weighted)
    places = np.full((fields.shape[0], 2, 2), -1)
    for f in range(fields.shape[0]):
        j = f - with_count - weighted
        is_weight = j < 0 and f == with_count
        if j >= 0:
            places[f, 0, 0], places[f, 0, 1] = first_sum + j, 0
        elif is_weight or counted > 0:
            places[f, 0, 0], places[f, 0, 1] = np.intp(is_weight and counted > 0), 0
        if j < 0 and labelled and is_weight == (weighted > 0):
            places[f, 1, 0], places[f, 1, 1] = first_class, 1
    return places


@numba.njit(cache=True, nogil=True)
def _two_tasks(  # type: ignore[no-untyped-def]
    hist, extra, codes, rows, tasks, first_task, last_task, label
):
    """Work through tasks (node, begin, end, private copy or −1) of two classes without weights."""
    n_features, n_codes = hist.shape[1:3]
    columns = max(LEAST, NEAR // (8 * n_codes))
    all_codes, labels = codes.reshape(-1), label.reshape(-1)
    for t in range(first_task, last_task):
        node, begin, end, copy = tasks[t, 0], tasks[t, 1], tasks[t, 2], tasks[t, 3]
        own = hist[node] if copy < 0 else extra[copy]
        words = own.reshape(-1).view(np.int64)
        words[:] = 0
        for first in range(0, n_features, columns):
            last = min(first + columns, n_features)
            given = (all_codes, n_features, rows, begin, end, first, last)
            count_two(n_codes, words, *given, labels)


@numba.njit(cache=True, nogil=True)
def _count_tasks(  # type: ignore[no-untyped-def]
    hist, extra, codes, rows, tasks, first_task, last_task, label
):
    """Do it for any number of classes."""
    n_features, n_codes, n_classes = hist.shape[1:]
    columns = max(LEAST, NEAR // (4 * n_codes * n_classes))
    all_codes, labels = codes.reshape(-1), label.reshape(-1)
    for t in range(first_task, last_task):
        node, begin, end, copy = tasks[t, 0], tasks[t, 1], tasks[t, 2], tasks[t, 3]
        own = hist[node] if copy < 0 else extra[copy]
        own[:] = 0
        if end - begin >= _APART * n_codes * n_classes:
            _count_apart(own, all_codes, rows, begin, end, labels)
            continue
        for first in range(0, n_features, columns):
            last = min(first + columns, n_features)
            given = (all_codes, n_features, rows, begin, end, first, last)
            count(n_codes, own.reshape(-1), *given, labels, n_classes)


@numba.njit(cache=True, nogil=True)
def _add_tasks(  # type: ignore[no-untyped-def]
    hist, extra, codes, rows, tasks, first_task, last_task, label, weighted, compact, counted
):
    """Do it for any statistics."""
    n_features, n_codes, n_statistics = hist.shape[1:]
    outputs, values = label.shape[1], compact.fields
    columns = max(LEAST, NEAR // (8 * n_codes * n_statistics))
    one_sum = counted and outputs == 0 and n_statistics == 2 + weighted
    many = _MOVE * n_codes * (n_statistics - counted - weighted if outputs else 1)
    all_codes, planes = codes.reshape(-1), (n_statistics, counted, weighted)
    whole = n_codes * _WHOLE[min(values.shape[1] - 1, 1)]
    fields, _, most = packing(all_bits(compact.bits, counted))
    packed = compact.words, fields, most, all_bits(compact.lowest, counted), counted + weighted
    for t in range(first_task, last_task):
        node, begin, end, copy = tasks[t, 0], tasks[t, 1], tasks[t, 2], tasks[t, 3]
        own = hist[node] if copy < 0 else extra[copy]
        if compact.words.size and (not one_sum or end - begin >= whole):
            _add_whole(own, all_codes, rows, begin, end, *packed)
            continue
        flat = own.reshape(-1)
        flat[:] = 0
        if end - begin >= many and outputs <= 1:
            _add_words(own, all_codes, rows, begin, end, label, weighted, compact, counted)
            continue
        for first in range(0, n_features, columns):
            last = min(first + columns, n_features)
            given = (all_codes, n_features, rows, begin, end, first, last)
            if one_sum:
                add_sum(n_codes, flat, *given, values, compact.words, fields[:, 1], compact.lowest)
            else:
                add_planes(n_codes, flat, *given, label, values, planes)


@numba.njit(cache=True, nogil=True)
def _reduce(hist, extra, tasks, first_task, last_task):  # type: ignore[no-untyped-def]
    """Add the private copies of nodes to their histograms."""
    for t in range(first_task, last_task):
        if tasks[t, 3] >= 0:
            target, own = hist[tasks[t, 0]].reshape(-1), extra[tasks[t, 3]].reshape(-1)
            for i in range(target.size):
                target[i] += own[i]


def compacted(
    sums: NDArray[np.int64], weight: NDArray[np.int64] | None, counted: bool = True
) -> Compact | None:
    """Return what `histogram` reads row by row, None where rows have labels alone."""
    if weight is None and sums.shape[1] == 0:
        return None
    return _compacted(sums, weight, counted)


def _compacted(sums: NDArray[np.int64], weight: NDArray[np.int64] | None, counted: bool) -> Compact:
    weights = np.empty(0, dtype=np.int64) if weight is None else weight
    if sums.shape[1]:  # of other kinds loops would be compiled anew
        weights = weights.astype(np.int64, copy=False)
    weighted, n_rows = int(weight is not None), sums.shape[0]
    sums = np.ascontiguousarray(sums)
    reaches = [np.zeros(weighted + sums.shape[1], dtype=np.int64)]

    def look(rows: slice) -> None:
        reach = np.zeros_like(reaches[0])
        field_reach(reach, weights, sums, rows.start, rows.stop)
        reaches.append(reach)

    def fill(rows: slice) -> None:
        fill_fields(fields, weights, sums, rows.start, rows.stop)

    def fill_words(rows: slice) -> None:
        pack_whole(words, weights, sums, rows.start, rows.stop, places, lowest, int(counted))

    _threads.run_blocks(look, n_rows, each=2)
    bits, lowest = field_bits(np.bitwise_or.reduce(reaches, axis=0), weighted)
    if sums.shape[1]:  # and no classes, each of which would have cells of its own
        places, n_words, _ = packing(all_bits(bits, int(counted)))
        if n_words == 1:
            words = np.empty(n_rows, dtype=np.int64)
            _threads.run_blocks(fill_words, n_rows, each=4)
            none = np.empty((0, bits.size), dtype=np.int32)
            return Compact(none, bits, words, lowest, weighted)
    bits += lowest
    if weight is not None and weight.dtype == np.int32 and not sums.shape[1]:
        return Compact(weight[:, None], bits, np.empty(0, dtype=np.int64), lowest, weighted)
    short = bits.max(initial=0) <= 31
    fields = np.empty((n_rows, bits.size), dtype=np.int32 if short else np.int64)
    _threads.run_blocks(fill, n_rows, each=2)
    return Compact(fields, bits, np.empty(0, dtype=np.int64), lowest, weighted)


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
    compact: Compact | None = None,
    room: int = 0,
) -> NDArray[Any]:
    """Return hist (L + room, G, B, S); see the package for the contract."""
    shape = (codes.shape[1], n_codes, n_statistics)
    counts_alone = not counted and weight is None and label.shape[1] == 1 and sums.shape[1] == 0
    dtype = np.int32 if counts_alone else np.int64  # pairs are added as 64 bits each
    hist = np.empty((start.size + room, *shape), dtype=dtype)
    # A private copy is cleared and added up: so many rows that this does not show.
    n_rows = int((stop - start).sum())
    size = max(min(CHUNK, -(-n_rows // SHARES)), LEAST_CHUNK, 12 * n_codes * n_statistics)
    tasks = chunks(start, stop, size)
    extra = np.empty((int(tasks[:, 3].max(initial=-1)) + 1, *shape), dtype=dtype)
    borders = batches(tasks, CHUNK // 8, n_codes * n_statistics // 8)
    codes, label = np.ascontiguousarray(codes), np.ascontiguousarray(label)
    if counts_alone:
        compact = None
    elif compact is None:
        compact = _compacted(sums, weight, counted)

    count_all = _two_tasks if n_statistics == 2 else _count_tasks

    def batch(index: int) -> None:
        first, last = borders[index], borders[index + 1]
        if compact is None:
            count_all(hist, extra, codes, rows, tasks, first, last, label)
        else:
            statistics = (label, compact.weighted, compact, int(counted))
            _add_tasks(hist, extra, codes, rows, tasks, first, last, *statistics)

    cells = int(np.prod(shape))
    work = n_rows * codes.shape[1] + start.size * cells // 8
    _threads.run(batch, len(borders) - 1, work=work)
    if extra.shape[0]:
        _reduce(hist, extra, tasks, 0, len(tasks))
    return hist if counted else hist.astype(np.int32, copy=False)

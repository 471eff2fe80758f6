"""`route` in Numba: decide and count each chunk, then write as `partition` does."""

from __future__ import annotations

from typing import Any

import numba
import numpy as np
from numpy.typing import NDArray

from vtree_kernels import _threads
from vtree_kernels.histogram.cpu import batches, chunks
from vtree_kernels.partition.cpu import CHUNK, written


@numba.njit(cache=True, nogil=True)
def _by_threshold(child, counts, rows, begin, end, codes, step, at, cut, missing):  # type: ignore[no-untyped-def]
    """Write the child of each row of a node that a threshold splits."""
    # One less, a missing value's code is the largest number there is without a sign.
    less = np.uint64(missing)
    least, ends, second = np.uint64(cut + 1) - less, np.uint64(end), np.uint64(0)
    step, at = np.uint64(step), np.uint64(at)
    for position in range(np.uint64(begin), ends):
        code = np.uint64(codes[np.uint64(rows[position]) * step + at])
        to = np.uint64(code - less >= least)
        child[position] = to
        second += to
    counts[:] = 0
    counts[0], counts[1] = end - begin - np.int64(second), second


@numba.njit(cache=True, nogil=True)
def _by_threshold_apart(child, counts, rows, begin, end, codes, step, at, cut, missing):  # type: ignore[no-untyped-def]
    """Do it where rows without a value go to neither side."""
    counts[:] = 0
    for position in range(begin, end):
        code = np.int64(codes[np.intp(rows[position]) * step + at])
        to = missing if code == 0 else np.int64(code > cut)
        child[position] = to
        counts[to] += 1


@numba.njit(cache=True, nogil=True)
def _by_table(child, counts, rows, begin, end, codes, step, at, table, missing):  # type: ignore[no-untyped-def]
    """Write the child of each row of a node whose codes have one each."""
    counts[:] = 0
    step, at, absent = np.uint64(step), np.uint64(at), np.uint64(missing)
    for position in range(np.uint64(begin), np.uint64(end)):
        code = np.uint64(codes[np.uint64(rows[position]) * step + at])
        to = absent if code == np.uint64(0) else np.uint64(table[code])
        child[position] = to
        counts[to] += 1


@numba.njit(cache=True, nogil=True)
def _decide(  # type: ignore[no-untyped-def]
    child,
    counts,
    rows,
    tasks,
    first,
    last,
    codes,
    step,
    at,
    kind,
    bin,
    absent,
    offset,
    table,
):
    """Write each row's child and count each task's; `child` spares the second pass the codes.

    codes: flat, those of node l's feature from at[l] on, `step` from row to row: where rows lie
    side by side, they share lines of the cache. A task counts by itself: threads that count side
    by side in one cache line take three times as long. Counts are copied number by number: an
    assignment of a whole line, which may fail, takes 1.5 s to compile.
    """
    own = np.zeros(counts.shape[1], np.int64)
    for t in range(first, last):
        node, begin, end = tasks[t, 0], tasks[t, 1], tasks[t, 2]
        given = (child, own, rows, begin, end, codes, step, at[node])
        missing = np.int64(absent[node])
        if kind[node] == 0 and missing > 1:
            _by_threshold_apart(*given, np.int64(bin[node]), missing)
        elif kind[node] == 0:
            _by_threshold(*given, np.int64(bin[node]), missing)
        else:
            _by_table(*given, table[offset[node] :], missing)
        for each in range(own.size):
            counts[t, each] = own[each]


def route(
    rows: NDArray[np.int32],
    start: NDArray[np.int64],
    stop: NDArray[np.int64],
    codes: NDArray[Any],
    column: NDArray[np.int64],
    kind: NDArray[np.int8],
    bin: NDArray[np.int32],
    missing_child: NDArray[np.int32],
    map_offset: NDArray[np.int64],
    branch_map: NDArray[Any],
    n_children: int,
) -> NDArray[np.int32]:
    """Return the rows; see the package for the contract."""
    tasks = chunks(start, stop, CHUNK)
    borders = batches(tasks, CHUNK // 8)
    counts = np.zeros((len(tasks), n_children), dtype=np.int64)
    child = np.empty(rows.size, dtype=np.uint8 if n_children <= 256 else np.uint16)
    n_rows, n_columns = codes.shape
    if codes.flags.f_contiguous:
        flat, step, at = codes.T.reshape(-1), 1, column * n_rows
    else:
        flat, step, at = np.ascontiguousarray(codes).reshape(-1), n_columns, column
    rule = (flat, step, at, kind, bin, missing_child, map_offset, branch_map)
    work = int((stop - start).sum()) * 4

    def decide(index: int) -> None:
        _decide(child, counts, rows, tasks, borders[index], borders[index + 1], *rule)

    _threads.run(decide, len(borders) - 1, work=work)
    return written(rows, start, stop, child, tasks, borders, counts)

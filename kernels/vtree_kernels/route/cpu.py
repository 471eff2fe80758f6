"""`route` in Numba: decide and count each chunk, then write as `partition` does.

Rows of two children are parted in place of being told which child they go to:

    rows of a chunk      7 2 9 4 0       children  0 1 1 0 1
    parted               7 4 | 0 9 2     the second one's from behind

Those of a node with one chunk are written at once.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numba
import numpy as np
from numpy.typing import NDArray

from vtree_kernels import _threads
from vtree_kernels._naming import named_after
from vtree_kernels._prefetch import prefetch
from vtree_kernels._registered import register_jitable
from vtree_kernels._tasks import chunks
from vtree_kernels.partition.cpu import CHUNK, together, write_by_child, written

AHEAD = 128  # rows; measured
FAR = 32  # bytes from one code to the next, from which fetching them before pays


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


@register_jitable(forceinline=True)
def _code(codes: Any, rows: Any, position: Any, last: Any, step: Any, at: Any, far: Any) -> Any:
    """Return the code of a row; where rows lie far apart, fetch one that is needed later."""
    if far:
        later = np.uint64(rows[min(position + np.uint64(AHEAD), last)])
        prefetch(codes, np.intp(later * step + at))
    return np.uint64(codes[np.uint64(rows[position]) * step + at])


@register_jitable(forceinline=True)
def _part_by_threshold(
    parted: Any,
    rows: Any,
    begin: Any,
    last: Any,
    codes: Any,
    step: Any,
    at: Any,
    rule: Any,
    far: Any,
) -> Any:
    """Write the rows of two children, the second one's from the end; return the first one's number.

    A row is written to both places, the wrong one of which the next row takes.
    """
    cut, less, _ = rule
    least = np.uint64(cut + 1) - less
    left, right = begin, last
    for position in range(begin, last + np.uint64(1)):
        to = np.uint64(_code(codes, rows, position, last, step, at, far) - less >= least)
        parted[left] = parted[right] = rows[position]
        right -= to
        left += np.uint64(1) - to
    return left - begin


@register_jitable(forceinline=True)
def _part_by_table(
    parted: Any,
    rows: Any,
    begin: Any,
    last: Any,
    codes: Any,
    step: Any,
    at: Any,
    rule: Any,
    far: Any,
) -> Any:
    """Do it where each code has its child."""
    _, absent, table = rule
    left, right = begin, last
    for position in range(begin, last + np.uint64(1)):
        code = _code(codes, rows, position, last, step, at, far)
        to = absent if code == np.uint64(0) else np.uint64(table[code])
        parted[left] = parted[right] = rows[position]
        right -= to
        left += np.uint64(1) - to
    return left - begin


def _near_and_far(loop: Callable[..., Any]) -> Any:
    """Compile loop(…, far) for rows whose codes share lines of the cache, and for others."""

    @numba.njit(cache=True, nogil=True)
    @named_after(loop)
    def parted_by(parted, rows, begin, end, codes, step, at, rule):  # type: ignore[no-untyped-def]
        given = np.uint64(begin), np.uint64(end - 1), codes, np.uint64(step), np.uint64(at), rule
        span = (np.int64(rows[end - 1]) - np.int64(rows[begin])) * step
        if span > FAR * (end - begin):
            return np.int64(loop(parted, rows, *given, True))
        return np.int64(loop(parted, rows, *given, False))

    return parted_by


_by_threshold_in_two = _near_and_far(_part_by_threshold)
_by_table_in_two = _near_and_far(_part_by_table)


@numba.njit(cache=True, nogil=True)
def _part(  # type: ignore[no-untyped-def]
    parted,
    counts,
    out,
    start,
    stop,
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
    """Do it task by task, and count; as `_decide`, of nodes with two children."""
    for t in range(first, last):
        node, begin, end = tasks[t, 0], tasks[t, 1], tasks[t, 2]
        counts[t, 0], counts[t, 1] = 0, 0
        if begin == end:
            continue
        given = (parted, rows, begin, end, codes, step, at[node])
        rule = np.int64(bin[node]), np.uint64(absent[node]), table[max(offset[node], 0) :]
        if kind[node] == 0:
            n_first = _by_threshold_in_two(*given, rule)
        else:
            n_first = _by_table_in_two(*given, rule)
        counts[t, 0], counts[t, 1] = n_first, end - begin - n_first
        if begin == start[node] and end == stop[node]:
            _copy_part(out, parted, begin, end, n_first, begin, begin + n_first)


@register_jitable(forceinline=True)
def _copy_part(
    out: Any, parted: Any, begin: Any, end: Any, n_first: Any, left: Any, right: Any
) -> None:
    """Copy the rows of both children of a task to where they belong."""
    begin, last = np.uint64(begin), np.uint64(end - 1)
    left, right = np.uint64(left), np.uint64(right)
    for i in range(np.uint64(n_first)):
        out[left + i] = parted[begin + i]
    for i in range(np.uint64(end) - begin - np.uint64(n_first)):
        out[right + i] = parted[last - i]


@numba.njit(cache=True, nogil=True)
def _copy_parts(parted, counts, tasks, out, cursor, first, last):  # type: ignore[no-untyped-def]
    """Do it for tasks first … last − 1, whose rows begin where `cursor` says."""
    for t in range(first, last):
        given = out, parted, tasks[t, 1], tasks[t, 2], counts[t, 0]
        _copy_part(*given, cursor[t, 0], cursor[t, 1])


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
    overwrite: bool = False,
) -> NDArray[np.int32]:
    """Return the rows; see the package for the contract."""
    tasks = chunks(start, stop, CHUNK)
    borders = together(tasks)
    counts = np.empty((len(tasks), n_children), dtype=np.int64)
    n_rows, n_columns = codes.shape
    if codes.flags.f_contiguous:
        flat, step, at = codes.T.reshape(-1), 1, column * n_rows
    else:
        flat, step, at = np.ascontiguousarray(codes).reshape(-1), n_columns, column
    rule = (flat, step, at, kind, bin, missing_child, map_offset, branch_map)
    cut = rows, start, stop, tasks, borders, counts
    return _in_two(*cut, rule, overwrite) if n_children == 2 else _in_many(*cut, rule)


def _in_many(
    rows: NDArray[np.int32],
    start: NDArray[np.int64],
    stop: NDArray[np.int64],
    tasks: NDArray[np.int64],
    borders: NDArray[np.int64],
    counts: NDArray[np.int64],
    rule: tuple[Any, ...],
) -> NDArray[np.int32]:
    """Write each row's child, then all rows by child."""
    child = np.empty(rows.size, dtype=np.uint8 if counts.shape[1] <= 256 else np.uint16)

    def decide(index: int) -> None:
        _decide(child, counts, rows, tasks, borders[index], borders[index + 1], *rule)

    _threads.run(decide, len(borders) - 1, work=int((stop - start).sum()) * 4)
    write = functools.partial(write_by_child, rows, child, tasks)
    return written(rows, start, stop, tasks, borders, counts, write)


def _in_two(
    rows: NDArray[np.int32],
    start: NDArray[np.int64],
    stop: NDArray[np.int64],
    tasks: NDArray[np.int64],
    borders: NDArray[np.int64],
    counts: NDArray[np.int64],
    rule: tuple[Any, ...],
    overwrite: bool,
) -> NDArray[np.int32]:
    """Part the rows of tasks; those of nodes with several tasks are written when all are parted."""
    parted, out = np.empty_like(rows), rows if overwrite else np.empty_like(rows)

    def part(index: int) -> None:
        some = tasks, borders[index], borders[index + 1]
        _part(parted, counts, out, start, stop, rows, *some, *rule)

    _threads.run(part, len(borders) - 1, work=int((stop - start).sum()) * 4)
    several = tasks[:, 2] - tasks[:, 1] < (stop - start)[tasks[:, 0]]
    if overwrite and not several.any():
        return out
    tasks, counts = tasks[several], counts[several]
    copy = functools.partial(_copy_parts, parted, counts, tasks)
    given = rows, start, stop, tasks, together(tasks), counts
    return written(*given, copy, out, keep=not overwrite, each=1)

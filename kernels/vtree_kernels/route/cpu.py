"""`route` in Numba: count each chunk's children, cumulate, then write; two passes, any threads."""

from __future__ import annotations

from typing import Any

import numba
import numpy as np
from numpy.typing import NDArray

from vtree_kernels import _threads
from vtree_kernels.histogram.cpu import batches, chunks

CHUNK = 32_768  # rows of one node per task


@numba.njit(cache=True, nogil=True, inline="always")
def _child(code, kind, bin, missing_child, offset, branch_map):  # type: ignore[no-untyped-def]
    if code == 0:
        return missing_child
    if kind == 0:
        return 1 if code > bin else 0
    return np.int64(branch_map[offset + code])


@numba.njit(cache=True, nogil=True)
def _count(  # type: ignore[no-untyped-def]
    counts, rows, tasks, first, last, codes, column, kind, bin, missing_child, offset, branch_map
):
    for t in range(first, last):
        l = tasks[t, 0]
        for position in range(tasks[t, 1], tasks[t, 2]):
            code = np.int64(codes[rows[position], column[l]])
            counts[t, _child(code, kind[l], bin[l], missing_child[l], offset[l], branch_map)] += 1


@numba.njit(cache=True, nogil=True)
def _write(  # type: ignore[no-untyped-def]
    out,
    cursor,
    rows,
    tasks,
    first,
    last,
    codes,
    column,
    kind,
    bin,
    missing_child,
    offset,
    branch_map,
):
    for t in range(first, last):
        l = tasks[t, 0]
        for position in range(tasks[t, 1], tasks[t, 2]):
            row = rows[position]
            code = np.int64(codes[row, column[l]])
            child = _child(code, kind[l], bin[l], missing_child[l], offset[l], branch_map)
            out[cursor[t, child]] = row
            cursor[t, child] += 1


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
    branch_map: NDArray[np.uint8],
    n_children: int,
) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
    """Return (rows, counts); see the package for the contract."""
    tasks = chunks(start, stop, CHUNK)
    borders = batches(tasks, CHUNK // 8)
    counts = np.zeros((len(tasks), n_children), dtype=np.int64)
    rule = (codes, column, kind, bin, missing_child, map_offset, branch_map)
    work = int((stop - start).sum()) * 4

    def count(index: int) -> None:
        _count(counts, rows, tasks, borders[index], borders[index + 1], *rule)

    _threads.run(count, len(borders) - 1, work=work)
    cursor = _cursors(tasks, counts, start)
    out = rows.copy()

    def write(index: int) -> None:
        _write(out, cursor, rows, tasks, borders[index], borders[index + 1], *rule)

    _threads.run(write, len(borders) - 1, work=work)
    node_counts = np.zeros((start.size, n_children), dtype=np.int64)
    np.add.at(node_counts, tasks[:, 0], counts)
    return out, node_counts


def _cursors(
    tasks: NDArray[np.int64], counts: NDArray[np.int64], start: NDArray[np.int64]
) -> NDArray[np.int64]:
    """Return where each task writes its first row of each child (n, C).

    Within a node: child by child, and within a child task by task.
    """
    node = tasks[:, 0]
    order = np.lexsort((np.repeat(np.arange(len(tasks)), counts.shape[1]),
                        np.tile(np.arange(counts.shape[1]), len(tasks)),
                        np.repeat(node, counts.shape[1])))
    flat = counts.reshape(-1)[order]
    before = np.cumsum(flat) - flat
    owner = np.repeat(node, counts.shape[1])[order]
    first_of_node = np.searchsorted(owner, np.arange(start.size))
    cursor = np.empty(counts.size, dtype=np.int64)
    cursor[order] = before - before[first_of_node][owner] + start[owner]
    return cursor.reshape(counts.shape)

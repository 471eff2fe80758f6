"""`sift` in Numba: each row's child is noted once, then the features are tasks of their own."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numba
import numpy as np
from numpy.typing import NDArray

from vtree_kernels import _threads
from vtree_kernels.sift.reference import ROW

_TASK_ROWS = 1 << 16


@numba.njit(cache=True, nogil=True)
def _line_up(codes, feature, label, bits, code, line):  # type: ignore[no-untyped-def]
    """Write the elements of one feature, by counting; `code` (N,) is to work in."""
    most = 0
    for row in range(codes.shape[0]):
        code[row] = codes[row, feature]
        most = max(most, code[row])
    place = np.zeros(np.intp(most) + 1, np.uint32)
    for row in range(code.size):
        place[np.uint32(code[row])] += np.uint32(1)
    before = np.uint32(0)
    for each in range(place.size):
        before, place[each] = before + place[each], before
    for row in range(code.size):
        own = np.uint32(code[row])
        key = (np.int64(own) << bits) | np.int64(label[row])
        line[place[own]] = (key << 32) | row
        place[own] += np.uint32(1)


def line_up(codes: NDArray[Any], label: NDArray[np.int32], bits: int) -> NDArray[np.int64]:
    """Return the lines (G, N); see the package for the contract."""
    lines = np.empty((codes.shape[1], codes.shape[0]), dtype=np.int64)

    def feature(g: int) -> None:
        _line_up(codes, g, label, bits, np.empty(codes.shape[0], dtype=np.int32), lines[g])

    _threads.run(feature, codes.shape[1], work=lines.size * 8)
    return lines


@numba.njit(cache=True, nogil=True)
def _note(child, rows, start, n_children, lengths, first, last, first_length):  # type: ignore[no-untyped-def]
    """Write the number of each row's child."""
    c = first_length
    for node in range(first, last):
        at = start[node]
        for number in range(n_children[node]):
            for position in range(at, at + lengths[c]):
                child[np.uint32(rows[position])] = number
            at += lengths[c]
            c += 1


@numba.njit(cache=True, nogil=True)
def _in_two(line, begin, end, child, spare):  # type: ignore[no-untyped-def]
    """Sort elements by two children; those of the second wait in `spare`."""
    at, kept = np.uint64(begin), np.uint64(0)
    for i in range(np.uint64(begin), np.uint64(end)):
        element = line[i]
        second = np.uint64(child[np.uint32(element & ROW)])
        line[at] = element
        spare[kept] = element
        kept += second
        at += np.uint64(1) - second
    for k in range(kept):
        line[at + k] = spare[k]


@numba.njit(cache=True, nogil=True)
def _in_several(line, begin, end, child, lengths, place, spare):  # type: ignore[no-untyped-def]
    """Sort elements by child, of which there are `lengths`."""
    before = 0
    for number in range(lengths.size):
        place[number] = before
        before += lengths[number]
    for i in range(begin, end):
        own = child[np.uint32(line[i] & ROW)]
        spare[place[own]] = line[i]
        place[own] += 1
    for k in range(end - begin):
        line[begin + k] = spare[k]


@numba.njit(cache=True, nogil=True)
def _sift_nodes(line, start, stop, n_children, lengths, child, first, last, first_length, work):  # type: ignore[no-untyped-def]
    place, spare = work
    c = first_length
    for node in range(first, last):
        begin, end, count = start[node], stop[node], n_children[node]
        if count == 2:
            _in_two(line, begin, end, child, spare)
        else:
            _in_several(line, begin, end, child, lengths[c : c + count], place, spare)
        c += count


def sift(
    lines: NDArray[np.int64],
    rows: NDArray[np.int32],
    start: NDArray[np.int64],
    stop: NDArray[np.int64],
    n_children: NDArray[np.int32],
    lengths: NDArray[np.int64],
) -> NDArray[np.int64]:
    """Return the lines (G, R); see the package for the contract."""
    lines = np.require(lines, requirements="W")
    if start.size == 0:
        return lines
    most_children = int(n_children.max())
    child = np.empty(int(rows.max()) + 1, dtype=np.uint8 if most_children <= 256 else np.uint16)
    before = np.cumsum(n_children) - n_children
    n_rows = stop - start
    borders = list(pairwise(_borders(n_rows)))
    nodes = start, stop, n_children, lengths, child

    def note(index: int) -> None:
        first, last = borders[index]
        _note(child, rows, start, n_children, lengths, first, last, before[first])

    def sort(index: int) -> None:
        (first, last), line = borders[index // lines.shape[0]], lines[index % lines.shape[0]]
        work = np.empty(most_children, np.int64), np.empty(int(n_rows[first:last].max()), np.int64)
        _sift_nodes(line, *nodes, first, last, before[first], work)

    total = int(n_rows.sum())
    _threads.run(note, len(borders), work=total)
    _threads.run(sort, len(borders) * lines.shape[0], work=total * lines.shape[0] * 2)
    return lines


def _borders(n_rows: NDArray[Any]) -> list[int]:
    """Return borders of tasks, each of some `_TASK_ROWS` rows or one node."""
    task = np.cumsum(n_rows + 1) // _TASK_ROWS
    return [*np.flatnonzero(np.diff(task, prepend=-1)).tolist(), n_rows.size]

"""`search` in Numba: rows are added by code, then the codes that have rows are scanned alone."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numba
import numpy as np
from numpy.typing import NDArray

from vtree_kernels import _threads
from vtree_kernels._counting import UNCOUNTED
from vtree_kernels._naming import named_after
from vtree_kernels._registered import register_jitable, register_once
from vtree_kernels._tasks import batches
from vtree_kernels.histogram.packed import field_of, packed_of
from vtree_kernels.histogram.reference import Compact
from vtree_kernels.scan.cpu import (
    Shape,
    empty_best,
    feature_search,
    free_bounds,
    next_filled,
    scratch_for,
    shape_of,
    write_left,
)
from vtree_kernels.scan.reference import Best

ROWS = 8_192  # of a task
_EACH = 16  # rows that a node costs besides its own

# The place of the only bit of a word: the top six bits of its product with a de Bruijn sequence
# are different for each place (Leiserson, Prokop & Randall 1998).
_DE_BRUIJN = np.uint64(0x03F79D71B4CB0A89)
_PLACE = np.zeros(64, dtype=np.int64)
for _bit in range(64):
    _PLACE[(int(_DE_BRUIJN) << _bit & 0xFFFFFFFFFFFFFFFF) >> 58] = _bit


@numba.njit(cache=True, nogil=True)
def _gather(own, rows, begin, end, label, weight, sums, packed):  # type: ignore[no-untyped-def]
    """Copy what a node's rows add to a cell, for all features to come."""
    own_label, own_weight, own_sums = own
    words, halves, fields = packed
    weighted = np.intp(own_weight.size > 0)
    for i in range(end - begin):
        row = rows[begin + i]
        for o in range(label.shape[1]):
            own_label[i, o] = label[row, o]
        for f in range(fields.shape[0]):
            at, half, lowest = fields[f, 0], fields[f, 1], fields[f, 2]
            value = (field_of(words[row], halves[0], at, half) - half) << lowest
            if f < weighted:
                own_weight[i] = value
            else:
                own_sums[i, f - weighted] = value
        if fields.shape[0]:
            continue
        if weight.size:
            own_weight[i] = weight[row]
        for j in range(sums.shape[1]):
            own_sums[i, j] = sums[row, j]


@register_jitable
def add_rows(  # noqa: C901, PLR0912  (one compiled loop)
    flat: Any,
    n_stored: Any,
    line: Any,
    local: Any,
    begin: Any,
    end: Any,
    statistics: Any,
) -> Any:
    """Add rows local[begin : end] to lines of planes; row i of them to line[i - begin].

    Nothing is called inside the loops: an array that goes through a call costs more than a row.
    """
    label, weight, sums, counted = statistics
    outputs, n_sums, stored = label.shape[1], sums.shape[1], np.uint64(n_stored)
    first_sum = np.uint64(n_stored - n_sums)
    labels, values = label.reshape(-1), sums.reshape(-1)
    weighted, weight_plane = weight.size > 0, np.uint64(counted)
    if outputs == 1 and n_sums == 0 and not weighted and not counted:
        for i in range(end - begin):
            row = np.uint64(local[begin + i])
            flat[np.uint64(line[i]) * stored + np.uint64(labels[row])] += 1
    elif outputs == 1 and n_sums == 0 and weighted and counted:
        for i in range(end - begin):
            row = np.uint64(local[begin + i])
            at, w = np.uint64(line[i]) * stored, weight[row]
            flat[at] += 1
            flat[at + np.uint64(1)] += w
            flat[at + np.uint64(labels[row])] += w
    elif outputs == 0 and n_sums == 1:
        for i in range(end - begin):
            row = np.uint64(local[begin + i])
            at = np.uint64(line[i]) * stored
            flat[at] += 1
            if weighted:
                flat[at + weight_plane] += weight[row]
            flat[at + first_sum] += values[row]
    else:
        for i in range(end - begin):
            row = np.uint64(local[begin + i])
            at, w = np.uint64(line[i]) * stored, np.int64(1)
            if counted:
                flat[at] += 1
            if weighted:
                w = weight[row]
                flat[at + weight_plane] += w
            for o in range(outputs):
                flat[at + np.uint64(labels[row * np.uint64(outputs) + np.uint64(o)])] += w
            for j in range(n_sums):
                value = values[row * np.uint64(n_sums) + np.uint64(j)]
                flat[at + first_sum + np.uint64(j)] += value


@register_jitable(forceinline=True)
def _move(cells: Any, dense: Any, filled: Any, size: Any, stored: Any) -> None:
    """Move the cells of some codes side by side; with the number of planes known, without loops."""
    for i in range(np.uint64(size)):
        at, to = np.uint64(filled[i]) * np.uint64(stored), i * np.uint64(stored)
        for s in range(stored):
            cells[to + np.uint64(s)] = dense[at + np.uint64(s)]
            dense[at + np.uint64(s)] = 0


@register_jitable
def cells_by_code(
    line: Any,
    local: Any,
    begin: Any,
    end: Any,
    statistics: Any,
    n_codes: Any,
    work: Any,
) -> Any:
    """Sum a node's rows by their codes, `line`; return the cells (n, S) and the code of each.

    Few rows have few codes: theirs alone are gathered then, ascending after code 0. Many rows have
    most codes: then the place of a cell is its code, no codes are returned, and the caller clears
    the cells after use. work: see `work_for`; dense (B, S) and marks, a bit a code, are all zeros
    before and after.
    """
    dense, marks, cells, filled = work
    few = 2 * (end - begin) < n_codes
    add_rows(dense.reshape(-1), dense.shape[1], line, local, begin, end, statistics)
    if not few:
        return dense[:n_codes], filled[:0]
    for i in range(end - begin):
        code = np.uint64(line[i])
        marks[code >> np.uint64(6)] |= np.uint64(1) << (code & np.uint64(63))
    marks[0] |= np.uint64(1)
    size = 0
    for m in range(np.uint64(n_codes // 64 + 1)):
        word = marks[m]
        marks[m] = 0
        while word != 0:
            lowest = word & (~word + np.uint64(1))
            filled[size] = (
                np.int64(m * np.uint64(64)) + _PLACE[(lowest * _DE_BRUIJN) >> np.uint64(58)]
            )
            size += 1
            word ^= lowest
    flat, other, stored = cells.reshape(-1), dense.reshape(-1), dense.shape[1]
    if stored == 3:
        _move(flat, other, filled, size, 3)
    elif stored == 2:
        _move(flat, other, filled, size, 2)
    else:
        _move(flat, other, filled, size, stored)
    return cells[:size], filled[:size]


def work_for(n_codes: int, stored: int) -> tuple[NDArray[Any], ...]:
    """Return the arrays that `cells_by_code` works with.

    They are made here, for to compile what makes them would take a second.
    """
    few = max(3, n_codes // 2 + 2)  # three are what a cut needs
    return (
        np.zeros((n_codes, stored), np.int64),
        np.zeros(n_codes // 64 + 1, np.uint64),
        np.empty((few, stored), np.int64),
        np.empty(few, np.int64),
    )


@register_jitable
def following(cells: Any, codes: Any, bin: Any, implied: Any, classes: Any) -> Any:
    """Return the next code after place `bin` that has rows, 0 if there is none."""
    if codes.size:
        return codes[bin + 1] if bin + 1 < codes.size else 0
    return next_filled(cells, bin, implied, classes)


@functools.cache
def _kernel(gain: Callable[[Any, Any, Any], Any], shape: Shape) -> Any:
    """Compile the search around one criterion and one shape of layout, as `scan` is."""
    register_once(gain)
    best_of = feature_search(shape)

    @numba.njit(cache=True, nogil=True, error_model="numpy", **UNCOUNTED)
    @named_after(gain, shape)
    def search_nodes(  # type: ignore[no-untyped-def]
        codes, rows, start, stop, label, weight, sums, n_codes, packed, total, monotone, lower,
        upper, minima, layout, first, last, own, work, scratch, out,
    ):  # fmt: skip
        out_gain, out_bin, out_next, out_missing_left, out_missing, out_varies, out_left = out
        implied = layout.implied
        line, place, kept = own
        statistics = (*kept, implied == 0)
        for node in range(first, last):
            begin, end = start[node], stop[node]
            _gather(kept, rows, begin, end, label, weight, sums, packed)
            for g in range(codes.shape[1]):
                for i in range(end - begin):
                    line[i] = codes[rows[begin + i], g]
                sides, own_codes = cells_by_code(
                    line, place, 0, end - begin, statistics, n_codes, work
                )
                direction = np.int64(monotone[g]) if monotone.size else np.int64(0)
                bounds = (direction, lower[node], upper[node])
                best, bin, way, n_missing, varies = best_of(
                    gain, sides, total[node], 0, bounds, minima, layout, scratch
                )
                out_gain[node, g] = best
                out_bin[node, g] = own_codes[bin] if own_codes.size else bin
                out_missing[node, g], out_missing_left[node, g] = n_missing, way == 1
                out_varies[node, g] = varies
                out_next[node, g] = following(sides, own_codes, bin, implied, layout.classes)
                write_left(out_left[node, g], sides, bin, way, implied, layout.classes)
                if own_codes.size == 0:
                    work[0][:] = 0

    return search_nodes


def search(
    codes: NDArray[Any],
    rows: NDArray[np.int32],
    start: NDArray[np.int64],
    stop: NDArray[np.int64],
    label: NDArray[np.int32],
    weight: NDArray[np.int64] | None,
    sums: NDArray[np.int64],
    n_codes: int,
    total: NDArray[np.int64],
    monotone: NDArray[np.int8] | None,
    lower: NDArray[np.float64] | None,
    upper: NDArray[np.float64] | None,
    limits: Any,
    gain: Callable[[Any, Any, Any], Any],
    layout: Any,
    compact: Compact | None = None,
) -> Best:
    """Return the best split of each node and feature; see the package for the contract."""
    best = empty_best(start.size, codes.shape[1], total.shape[1])
    kernel = _kernel(gain, shape_of(layout, layout.implied))
    directions = np.empty(0, dtype=np.int8) if monotone is None else monotone
    weights = np.empty(0, dtype=np.int64) if weight is None else weight
    minima = (max(1, limits.min_rows), float(limits.min_weight))
    compiled = layout._replace(unit=np.asarray(layout.unit, dtype=np.float64))
    packed = packed_of(compact, layout.implied == 0)
    n_sums, weighted = sums.shape[1], weight is not None
    if compact is not None and compact.packed:
        n_sums, weighted = compact.bits.size - compact.weighted, compact.weighted > 0
    data = (codes, rows, start, stop, label, weights, sums, n_codes, packed, total, directions)
    bounds = free_bounds(lower, upper, start.size)
    lengths = stop - start
    tasks = np.stack([lengths, start, stop], axis=1)
    borders = batches(tasks, ROWS, _EACH)

    def nodes(index: int) -> None:
        first, last = int(borders[index]), int(borders[index + 1])
        most = int(lengths[first:last].max(initial=0))
        own = (
            np.empty((most, label.shape[1]), np.int64),
            np.empty(most if weighted else 0, np.int64),
            np.empty((most, n_sums), np.int64),
        )
        lines = np.empty(most, np.uint32), np.arange(most, dtype=np.uint32), own
        arrays = lines, work_for(n_codes, layout.n_stored), scratch_for(layout)
        kernel(*data, *bounds, minima, compiled, first, last, *arrays, tuple(best))

    work = int(lengths.sum() + _EACH * start.size) * codes.shape[1] * 4
    _threads.run(nodes, len(borders) - 1, work=work)
    return best

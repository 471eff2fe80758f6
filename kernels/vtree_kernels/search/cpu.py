"""`search` in Numba: rows are added by code, then the codes that have rows are scanned alone."""

from __future__ import annotations

import functools
import hashlib
from collections.abc import Callable
from typing import Any

import numba
import numpy as np
from numba.extending import register_jitable
from numpy.typing import NDArray

from vtree_kernels import _threads
from vtree_kernels.histogram.cpu import batches
from vtree_kernels.scan.cpu import Shape, empty_best, feature_search, shape_of
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
def _gather(own, rows, begin, end, label, weight, sums):  # type: ignore[no-untyped-def]
    """Copy what a node's rows add to a cell, for all features to come."""
    own_label, own_weight, own_sums = own
    for i in range(end - begin):
        row = rows[begin + i]
        own_weight[i] = weight[row] if weight.size else 1
        for o in range(label.shape[1]):
            own_label[i, o] = label[row, o]
        for j in range(sums.shape[1]):
            own_sums[i, j] = sums[row, j]


@numba.njit(cache=True, nogil=True)
def _fill(  # type: ignore[no-untyped-def]  # noqa: C901  (one compiled loop)
    cells, filled, dense, marks, codes, rows, begin, end, g, own, counted, weighted
):
    """Add a node's rows by code; return how many codes they have. Code 0 comes first, always.

    cells (n + 1, S): statistics of the filled codes, ascending; filled (n + 1,): which they are;
    dense (B, S) and marks (⌈B / 64⌉,), a bit a code, are all zeros before and after.
    """
    label, weight, sums = own
    n_statistics = cells.shape[1]
    first_sum = n_statistics - sums.shape[1]
    for i in range(end - begin):
        code = np.uint64(codes[rows[begin + i], g])
        marks[code >> np.uint64(6)] |= np.uint64(1) << (code & np.uint64(63))
        line = dense[code]
        if counted:
            line[0] += 1
        if weighted:
            line[np.intp(counted)] += weight[i]
        for o in range(label.shape[1]):
            line[label[i, o]] += weight[i]
        for j in range(sums.shape[1]):
            line[first_sum + j] += sums[i, j]
    marks[0] |= np.uint64(1)
    size = 0
    for m in range(marks.size):
        word = marks[m]
        marks[m] = 0
        while word != 0:
            lowest = word & (~word + np.uint64(1))
            code = m * 64 + _PLACE[(lowest * _DE_BRUIJN) >> np.uint64(58)]
            filled[size] = code
            for s in range(n_statistics):
                cells[size, s] = dense[code, s]
                dense[code, s] = 0
            size += 1
            word ^= lowest
    return size


@functools.cache
def _kernel(gain: Callable[[Any, Any, Any], Any], shape: Shape) -> Any:
    """Compile the search around one criterion and one shape of layout, as `scan` is."""
    stamp = int(hashlib.sha256(gain.__code__.co_code).hexdigest()[:8], 16)
    register_jitable(gain)
    best_of = feature_search(shape)

    @numba.njit(cache=True, nogil=True)
    def search_nodes(  # type: ignore[no-untyped-def]
        codes, rows, start, stop, label, weight, sums, n_codes, total, monotone, lower, upper,
        minima, layout, first, last, most, out,
    ):  # fmt: skip
        out_gain, out_bin, out_next, out_missing_left, out_missing, out_varies, out_left = out
        implied, n_statistics = layout.implied, total.shape[1]
        stored = n_statistics - implied
        own = (
            np.empty((most, label.shape[1]), np.int64),
            np.empty(most, np.int64),
            np.empty((most, sums.shape[1]), np.int64),
        )
        counted, weighted = implied == 0, weight.size > 0
        cells = np.empty((most + 1, stored), np.int64)
        filled = np.empty(most + 1, np.int64)
        dense = np.zeros((n_codes, stored), np.int64)
        marks = np.zeros(n_codes // 64 + 1, np.uint64)
        running = np.empty(stored, np.int64)
        left = np.empty(n_statistics, np.float64)
        right = np.empty(n_statistics + 0 * stamp, np.float64)  # keeps `stamp` captured
        scratch = (running, left, right)
        for node in range(first, last):
            begin, end = start[node], stop[node]
            _gather(own, rows, begin, end, label, weight, sums)
            for g in range(codes.shape[1]):
                size = _fill(
                    cells, filled, dense, marks, codes, rows, begin, end, g, own, counted, weighted
                )
                direction = np.int64(monotone[g]) if monotone.size else np.int64(0)
                bounds = (direction, lower[node], upper[node])
                best, bin, way, n_missing, n_filled = best_of(
                    gain, cells[:size], total[node], 0, bounds, minima, layout, scratch
                )
                out_gain[node, g], out_bin[node, g] = best, filled[bin]
                out_missing[node, g], out_missing_left[node, g] = n_missing, way == 1
                out_varies[node, g] = n_filled >= 2
                out_next[node, g] = filled[bin + 1] if bin + 1 < size else 0
                line = out_left[node, g]
                line[:] = 0
                for k in range(1 - way, bin + 1):
                    for s in range(stored):
                        line[implied + s] += cells[k, s]
                if implied:
                    for s in range(layout.classes):
                        line[0] += line[1 + s]

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
    lower: NDArray[np.float64],
    upper: NDArray[np.float64],
    limits: Any,
    gain: Callable[[Any, Any, Any], Any],
    layout: Any,
) -> Best:
    """Return the best split of each node and feature; see the package for the contract."""
    best = empty_best(start.size, codes.shape[1], total.shape[1])
    kernel = _kernel(gain, shape_of(layout, layout.implied))
    directions = np.empty(0, dtype=np.int8) if monotone is None else monotone
    weights = np.empty(0, dtype=np.int64) if weight is None else weight
    minima = (max(1, limits.min_rows), float(limits.min_weight))
    compiled = layout._replace(unit=np.asarray(layout.unit, dtype=np.float64))
    data = (codes, rows, start, stop, label, weights, sums, n_codes, total, directions)
    lengths = stop - start
    tasks = np.stack([lengths, start, stop], axis=1)
    borders = batches(tasks, ROWS, each=_EACH)

    def nodes(index: int) -> None:
        first, last = int(borders[index]), int(borders[index + 1])
        most = int(lengths[first:last].max(initial=0))
        kernel(*data, lower, upper, minima, compiled, first, last, most, tuple(best))

    work = int(lengths.sum() + _EACH * start.size) * codes.shape[1] * 4
    _threads.run(nodes, len(borders) - 1, work=work)
    return best

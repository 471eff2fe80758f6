"""`scan` in Numba: one pass over each (node, feature), compiled once per criterion."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numba
import numpy as np
from numba.cpython.unsafe.tuple import tuple_setitem
from numba.extending import register_jitable
from numpy.typing import NDArray

import vtree_kernels.elementary.cpu  # noqa: F401  (teaches Numba `log` and `choose`)
from vtree_kernels import _threads
from vtree_kernels._naming import named_after
from vtree_kernels.scan.reference import Best, Layout, Limits

set_item: Any = tuple_setitem  # typed as the intrinsic that it is inside compiled code

# The integers of a layout: weight, first, outputs, classes, ordered, implied.
Shape = tuple[int, int, int, int, int, int]
_ANY_SHAPE: Shape = (-1, -1, -1, -1, -1, -1)
_SMALL = 4  # statistics: two classes or one target, weighted or not


@register_jitable
def _rows_of(cell: Any, implied: Any, classes: Any) -> Any:
    if implied == 0:
        return np.int64(cell[0])
    rows = np.int64(0)
    for c in range(classes):
        rows += cell[c]
    return rows


@register_jitable
def _answer(side: Any, layout: Any) -> Any:
    own, kept = side[layout.ordered], 0.0
    if own > layout.clip:
        kept = own - layout.clip
    elif own < -layout.clip:
        kept = own + layout.clip
    found = layout.center + kept / (side[layout.weight] + layout.shrink) * layout.scale
    if layout.confined == 0:
        return found
    found = layout.upper if found > layout.upper else found
    return layout.lower if found < layout.lower else found


@register_jitable
def _in_order(left: Any, right: Any, layout: Any, bounds: Any) -> Any:
    direction, lower, upper = bounds
    mean_left, mean_right = _answer(left, layout), _answer(right, layout)
    if (mean_right - mean_left) * direction < 0.0:
        return False
    return min(mean_left, mean_right) >= lower and max(mean_left, mean_right) <= upper


@register_jitable
def next_filled(cells: Any, bin: Any, implied: Any, classes: Any) -> Any:
    """Return the next code after `bin` that has rows, 0 if there is none."""
    for b in range(bin + 1, cells.shape[0]):
        if _rows_of(cells[b], implied, classes) > 0:
            return b
    return 0


@register_jitable
def write_left(out: Any, cells: Any, bin: Any, way: Any, implied: Any, classes: Any) -> None:
    """Write the statistics of codes 1 … bin, and of code 0 if `way` is 1."""
    for s in range(out.size):
        out[s] = 0
    for b in range(1 - way, bin + 1):
        if implied:
            out[0] += _rows_of(cells[b], implied, classes)
        for s in range(cells.shape[1]):
            out[implied + s] += cells[b, s]


@register_jitable
def _begin_arrays(scratch: Any, zeros: Any) -> Any:
    scratch[0][:] = 0
    return scratch


@register_jitable
def _put_array(sums: Any, place: Any, number: Any) -> Any:
    sums[place] = number
    return sums


@register_jitable
def _begin_tuples(scratch: Any, zeros: Any) -> Any:
    return zeros


@register_jitable
def _put_tuple(sums: Any, place: Any, number: Any) -> Any:
    return set_item(sums, place, number)


def _sums_of(shape: Shape) -> tuple[Any, Any, Any]:
    """Return (begin, put, zeros): where a candidate's sums are while it is judged.

    begin(scratch, zeros) → (running sums of integers, left, right), zeros; put(sums, place, number)
    → the sums with one changed. Those of a known shape are tuples, which registers hold: 8 ns a
    candidate instead of 11. Others are the arrays of `scratch`. All are functions of the module:
    the disk cache knows closures around an intrinsic by no name that another process finds.
    """
    weight, first, outputs, classes, _, implied = shape
    if weight < 0:
        return _begin_arrays, _put_array, ()
    n_statistics = first + outputs * classes
    integers, numbers = (np.int64(0),) * (n_statistics - implied), (0.0,) * n_statistics
    return _begin_tuples, _put_tuple, (integers, numbers, numbers)


def feature_search(shape: Shape) -> Any:  # noqa: C901, PLR0915  (one compiled loop)
    """Return the search in one (node, feature) for one shape of layout.

    With the shape a constant, loops over statistics unroll into registers: 6 ns a candidate
    instead of 60.
    """
    begin, put, zeros = _sums_of(shape)

    @register_jitable
    @named_after(shape)
    def best_of(  # type: ignore[no-untyped-def]  # noqa: C901, PLR0915
        gain, cells, total, only, bounds, minima, given, scratch
    ):
        """Return (gain, bin, way, missing rows, codes with rows) of one feature."""
        weight = shape[0] if shape[0] >= 0 else given.weight
        first = shape[1] if shape[1] >= 0 else given.first
        outputs = shape[2] if shape[2] >= 0 else given.outputs
        classes = shape[3] if shape[3] >= 0 else given.classes
        ordered = shape[4] if shape[4] >= 0 else given.ordered
        implied = shape[5] if shape[5] >= 0 else total.size - cells.shape[1]
        numbers = (given.center, given.scale, given.unit)
        drawn = (given.shrink, given.clip, bounds[1], bounds[2], given.confined)
        layout = Layout(weight, first, outputs, classes, ordered, *numbers, implied, *drawn)
        stored = first + outputs * classes - implied
        running, left, right = begin(scratch, zeros)
        n_known = np.int64(0)
        n_missing = _rows_of(cells[0], implied, classes)
        filled = np.int64(n_missing > 0)
        gains, bins = (-np.inf, -np.inf), (0, 0)  # missing right, missing left
        for b in range(1, cells.shape[0]):
            here = _rows_of(cells[b], implied, classes)
            if here == 0 and only != b:
                continue  # the same split as the bin before
            filled += here > 0
            n_known += here
            for s in range(stored):
                running = put(running, s, running[s] + np.int64(cells[b, s]))
            if n_known == 0 or (only != 0 and only != b):
                continue
            for way in range(2 if n_missing > 0 else 1):
                n_left = n_known + way * n_missing
                if n_left < minima[0] or total[0] - n_left < minima[0]:
                    continue
                left = put(left, 0, np.float64(n_left))
                right = put(right, 0, np.float64(total[0] - n_left))
                for s in range(stored):
                    value = running[s] + way * cells[0, s]
                    left = put(left, implied + s, np.float64(value))
                    right = put(right, implied + s, np.float64(total[implied + s] - value))
                if min(left[weight], right[weight]) < minima[1]:
                    continue
                if bounds[0] != 0 and not _in_order(left, right, layout, bounds):
                    continue
                score = gain(left, right, layout)
                if score > gains[way]:
                    gains = (score, gains[1]) if way == 0 else (gains[0], score)
                    bins = (b, bins[1]) if way == 0 else (bins[0], b)
        way = 1 if gains[1] > gains[0] else 0
        return gains[way], bins[way], way, n_missing, filled

    return best_of


@functools.cache
def _kernel(gain: Callable[[Any, Any, Any], Any], shape: Shape) -> Any:
    """Compile the scan around one criterion and, for few statistics, one shape of layout.

    The criterion is captured as a plain function, so that Numba's disk cache finds the result
    again in another process; its code is part of the name, for the cache only watches this file.
    """
    register_jitable(gain)
    best_of = feature_search(shape)

    @numba.njit(cache=True, nogil=True)
    @named_after(gain, shape)
    def scan_nodes(  # type: ignore[no-untyped-def]
        hist, total, allowed, monotone, lower, upper, minima, layout, first, last, out
    ):
        out_gain, out_bin, out_next, out_missing_left, out_missing, out_varies, out_left = out
        implied = total.shape[1] - hist.shape[3]
        running = np.empty(hist.shape[3], np.int64)
        left = np.empty(total.shape[1], np.float64)
        right = np.empty(total.shape[1], np.float64)
        scratch = (running, left, right)
        for node in range(first, last):
            for g in range(hist.shape[1]):
                cells = hist[node, g]
                direction = np.int64(monotone[g]) if monotone.size else np.int64(0)
                bounds = (direction, lower[node], upper[node])
                best, bin, way, n_missing, filled = best_of(
                    gain, cells, total[node], allowed[node, g], bounds, minima, layout, scratch
                )
                out_gain[node, g], out_bin[node, g] = best, bin
                out_missing[node, g], out_missing_left[node, g] = n_missing, way == 1
                out_varies[node, g] = filled >= 2
                out_next[node, g] = next_filled(cells, bin, implied, layout.classes)
                write_left(out_left[node, g], cells, bin, way, implied, layout.classes)

    return scan_nodes


def shape_of(layout: Layout, implied: int) -> Shape:
    """Return what a kernel is compiled for: the layout where its loops are short, or any."""
    if layout.n_statistics > _SMALL:
        return _ANY_SHAPE
    return (*layout[:5], implied)


def free_bounds(
    lower: NDArray[np.float64] | None, upper: NDArray[np.float64] | None, n_nodes: int
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the bounds of nodes, infinite ones for those without."""
    if lower is None or upper is None:
        upper = np.full(n_nodes, np.inf)
        return -upper, upper
    return lower, upper


def empty_best(n_nodes: int, n_features: int, n_statistics: int) -> Best:
    """Return results to be filled."""
    shape = (n_nodes, n_features)
    return Best(
        np.empty(shape),
        np.empty(shape, dtype=np.int32),
        np.empty(shape, dtype=np.int32),
        np.empty(shape, dtype=np.bool_),
        np.empty(shape, dtype=np.int64),
        np.empty(shape, dtype=np.bool_),
        np.empty((*shape, n_statistics), dtype=np.int64),
    )


def scan(
    hist: NDArray[np.int64],
    total: NDArray[np.int64],
    allowed: NDArray[np.int32] | None,
    monotone: NDArray[np.int8] | None,
    lower: NDArray[np.float64] | None,
    upper: NDArray[np.float64] | None,
    limits: Limits,
    gain: Callable[[Any, Any, Any], Any],
    layout: Any,
) -> Best:
    """Return the best split of each node and feature; see the package for the contract."""
    shape = hist.shape[:2]
    best = empty_best(hist.shape[0], hist.shape[1], total.shape[1])
    kernel = _kernel(gain, shape_of(layout, total.shape[1] - hist.shape[3]))
    directions = np.empty(0, dtype=np.int8) if monotone is None else monotone
    minima = (max(1, limits.min_rows), float(limits.min_weight))
    if allowed is None:
        allowed = np.zeros(shape, dtype=np.int32)
    fixed = (allowed, directions, *free_bounds(lower, upper, shape[0]), minima)
    compiled_layout = layout._replace(unit=np.asarray(layout.unit, dtype=np.float64))
    per_task = max(1, 16_384 // (shape[1] * hist.shape[2]))

    def nodes(index: int) -> None:
        first = index * per_task
        last = min(first + per_task, shape[0])
        kernel(hist, total, *fixed, compiled_layout, first, last, tuple(best))

    _threads.run(nodes, -(-shape[0] // per_task), work=hist.size * 4)
    return best

"""`scan` in Numba: one pass over each (node, feature), compiled once per criterion."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, NamedTuple

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

# The integers of a layout: weight, first, outputs, classes, ordered, implied, length of the unit.
Shape = tuple[int, int, int, int, int, int, int]
_ANY_SHAPE: Shape = (-1, -1, -1, -1, -1, -1, -1)
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
def _array_of(array: Any, zeros: Any) -> Any:
    array[:] = 0
    return array


@register_jitable
def _put_array(numbers: Any, place: Any, number: Any) -> Any:
    numbers[place] = number
    return numbers


@register_jitable
def _tuple_of(array: Any, zeros: Any) -> Any:
    return zeros


@register_jitable
def _put_tuple(numbers: Any, place: Any, number: Any) -> Any:
    return set_item(numbers, place, number)


def _numbers_of(shape: Shape) -> tuple[Any, ...]:
    """Return (begin, put, integers, numbers, unit, S): where numbers are while others change.

    begin(array, zeros) → zeros; put(numbers, place, number) → the numbers with one changed. Those
    of a known shape are tuples, which registers hold, and for which several candidates are worked
    out at a time; others are arrays. All are functions of the module: the disk cache knows
    closures around an intrinsic by no name that another process finds.
    """
    weight, first, outputs, classes, _, implied, n_unit = shape
    if weight < 0:
        return _array_of, _put_array, (), (), (), -1
    n_statistics = first + outputs * classes
    integers, numbers = (np.int64(0),) * n_statistics, (0.0,) * n_statistics
    return _tuple_of, _put_tuple, integers, numbers, (0.0,) * n_unit, n_statistics


class Scratch(NamedTuple):
    """What a search in one (node, feature) works with."""

    integers: tuple[NDArray[np.int64], ...]  # (S,) thrice
    numbers: tuple[NDArray[np.float64], ...]  # (S,) twice
    unit: NDArray[np.float64]
    lines: NDArray[np.int64]  # (S, B) the statistics left of each candidate
    places: NDArray[np.int64]  # (B,) which codes these are
    scores: NDArray[np.float64]  # (B,)


def scratch_for(n_codes: int, layout: Layout) -> Scratch:
    """Return what searches among up to `n_codes` codes work with.

    It is made here, for to compile what makes it would take a second.
    """
    size, n_codes = layout.n_statistics, max(3, n_codes)
    return Scratch(
        tuple(np.zeros(size, np.int64) for _ in range(3)),
        tuple(np.zeros(size) for _ in range(2)),
        np.zeros(len(layout.unit)),
        # Side by side what is worked out together: candidates, or many statistics of one.
        np.empty((size, n_codes), np.int64, order="C" if size <= _SMALL else "F"),
        np.empty(n_codes, np.int64),
        np.empty(n_codes),
    )


def _judge_of(shape: Shape) -> Any:  # noqa: C901  (one compiled loop)
    """Return what scores all candidates of a feature, several of them at a time."""
    begin, put, integers, numbers, _, known = _numbers_of(shape)

    @register_jitable
    @named_after(shape)
    def judge(  # type: ignore[no-untyped-def]  # noqa: C901
        gain, cells, total, way, bounds, minima, layout, size, scratch
    ):
        """Write the score of each candidate, −inf where it is not legal; way: of missing values."""
        lines, scores, implied = scratch.lines, scratch.scores, layout.implied
        n_statistics = known if known >= 0 else lines.shape[0]
        # Numbers that no store into an array can change.
        whole, missing = begin(scratch.integers[1], integers), begin(scratch.integers[2], integers)
        for s in range(n_statistics):
            whole = put(whole, s, np.int64(total[s]))
        if way:
            if implied:
                missing = put(missing, 0, _rows_of(cells[0], implied, layout.classes))
            for s in range(implied, n_statistics):
                missing = put(missing, s, np.int64(cells[0, s - implied]))
        left, right = begin(scratch.numbers[0], numbers), begin(scratch.numbers[1], numbers)
        for i in range(size):
            for s in range(n_statistics):
                value = lines[s, i] + missing[s]
                left = put(left, s, np.float64(value))
                right = put(right, s, np.float64(whole[s] - value))
            n_left = lines[0, i] + missing[0]
            legal = (n_left >= minima[0]) & (whole[0] - n_left >= minima[0])
            legal &= min(left[layout.weight], right[layout.weight]) >= minima[1]
            score = gain(left, right, layout)
            scores[i] = score if legal else -np.inf
        if bounds[0] == 0:
            return
        for i in range(size):
            for s in range(n_statistics):
                value = lines[s, i] + missing[s]
                left = put(left, s, np.float64(value))
                right = put(right, s, np.float64(whole[s] - value))
            if not _in_order(left, right, layout, bounds):
                scores[i] = -np.inf

    return judge


def _writer_of(shape: Shape) -> Any:
    """Return what writes the statistics left of all candidates of a feature."""
    begin, put, integers, _, _, known = _numbers_of(shape)

    @register_jitable
    @named_after(shape)
    def write_lines(cells, only, layout, scratch):  # type: ignore[no-untyped-def]
        """Return (candidates, codes with rows but that of missing values)."""
        lines, places, implied = scratch.lines, scratch.places, layout.implied
        n_statistics = known if known >= 0 else lines.shape[0]
        running, size, filled = begin(scratch.integers[0], integers), 0, 0
        for b in range(1, cells.shape[0]):
            here = _rows_of(cells[b], implied, layout.classes)
            filled += here > 0
            running = put(running, 0, running[0] + here)
            for s in range(1, n_statistics):
                running = put(running, s, running[s] + np.int64(cells[b, s - implied]))
            for s in range(n_statistics):
                lines[s, size] = running[s]
            places[size] = b
            # Without a row it is the same split as the bin before, and written over.
            wanted = (here > 0) & (only == 0) | (only == b)
            size += wanted & (running[0] > 0)
        return size, filled

    return write_lines


def feature_search(shape: Shape) -> Any:
    """Return the search in one (node, feature) for one shape of layout.

    With the shape a constant, loops over statistics unroll into registers, and several candidates
    are judged at a time: 2 ns a candidate instead of 60.
    """
    begin, put, _, _, no_unit, _ = _numbers_of(shape)
    write_lines, judge = _writer_of(shape), _judge_of(shape)

    @register_jitable
    @named_after(shape)
    def best_of(  # type: ignore[no-untyped-def]
        gain, cells, total, only, bounds, minima, given, scratch
    ):
        """Return (gain, bin, way, missing rows, codes with rows) of one feature."""
        weight = shape[0] if shape[0] >= 0 else given.weight
        first = shape[1] if shape[1] >= 0 else given.first
        outputs = shape[2] if shape[2] >= 0 else given.outputs
        classes = shape[3] if shape[3] >= 0 else given.classes
        ordered = shape[4] if shape[4] >= 0 else given.ordered
        implied = shape[5] if shape[5] >= 0 else total.size - cells.shape[1]
        unit = begin(scratch.unit, no_unit)
        for o in range(given.unit.size if shape[6] < 0 else shape[6]):
            unit = put(unit, o, given.unit[o])
        drawn = (given.shrink, given.clip, bounds[1], bounds[2], given.confined)
        layout = Layout(
            weight, first, outputs, classes, ordered, given.center, given.scale, unit, implied,
            *drawn,
        )  # fmt: skip
        n_missing = _rows_of(cells[0], implied, classes)
        size, filled = write_lines(cells, only, layout, scratch)
        best, place, its_way = -np.inf, 0, 0  # of equal ones, missing values go right
        for way in range(2 if n_missing > 0 else 1):
            judge(gain, cells, total, way, bounds, minima, layout, size, scratch)
            for i in range(size):
                if scratch.scores[i] > best:
                    best, place, its_way = scratch.scores[i], i, way
        bin = scratch.places[place] if best > -np.inf else 0
        return best, bin, its_way, n_missing, filled + (n_missing > 0)

    return best_of


@functools.cache
def _kernel(gain: Callable[[Any, Any, Any], Any], shape: Shape) -> Any:
    """Compile the scan around one criterion and, for few statistics, one shape of layout.

    The criterion is captured as a plain function, so that Numba's disk cache finds the result
    again in another process; its code is part of the name, for the cache only watches this file.
    """
    register_jitable(gain)
    best_of = feature_search(shape)

    @numba.njit(cache=True, nogil=True, error_model="numpy")
    @named_after(gain, shape)
    def scan_nodes(  # type: ignore[no-untyped-def]
        hist, total, allowed, monotone, lower, upper, minima, layout, first, last, scratch, out
    ):
        out_gain, out_bin, out_next, out_missing_left, out_missing, out_varies, out_left = out
        implied = total.shape[1] - hist.shape[3]
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
    return (*layout[:5], implied, len(layout.unit))


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
        scratch = scratch_for(hist.shape[2], layout)
        kernel(hist, total, *fixed, compiled_layout, first, last, scratch, tuple(best))

    _threads.run(nodes, -(-shape[0] // per_task), work=hist.size * 4)
    return best

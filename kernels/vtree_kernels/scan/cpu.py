"""`scan` in Numba: one pass over each (node, feature), compiled once per criterion."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numba
import numpy as np
from numpy.typing import NDArray

import vtree_kernels.elementary.cpu  # noqa: F401  (teaches Numba `log` and `choose`)
from vtree_kernels import _threads
from vtree_kernels._counting import UNCOUNTED
from vtree_kernels._lanes import (
    LANES,
    counting,
    first_largest,
    lanes_at,
    minus_sums,
    plus_sums,
    put_lanes,
)
from vtree_kernels._naming import named_after
from vtree_kernels._registered import register_jitable, register_once
from vtree_kernels.derive.cpu import flat, less
from vtree_kernels.derive.reference import Derived
from vtree_kernels.elementary import choose
from vtree_kernels.scan.reference import Best, Layout, Limits

# The integers of a layout: weight, first, outputs, classes, ordered, implied.
Shape = tuple[int, int, int, int, int, int]
Scratch = tuple[NDArray[Any], ...]
_ANY_SHAPE: Shape = (-1, -1, -1, -1, -1, -1)
_SMALL = 4  # statistics: two classes or one target, weighted or not
# Codes whose sums are worked out before the first of them is judged: a load that spans several
# stores waits for them. Of many statistics fewer have room in the cache.
_ROOM, _LITTLE = 64, 32


@register_jitable
def _rows_of(cell: Any, implied: Any, classes: Any) -> Any:
    if implied == 0:
        return np.int64(cell[0])
    rows = np.int64(0)
    for c in range(classes):
        rows += cell[c]
    return rows


@register_jitable(forceinline=True)
def _answer(side: Any, layout: Any) -> Any:
    own, clip = side[layout.ordered], layout.clip
    kept = choose(own > clip, own - clip, choose(own < -clip, own + clip, 0.0))
    found = layout.center + kept / (side[layout.weight] + layout.shrink) * layout.scale
    if layout.confined == 0:
        return found
    found = choose(found > layout.upper, layout.upper, found)
    return choose(found < layout.lower, layout.lower, found)


@register_jitable(forceinline=True)
def _in_order(score: Any, left: Any, right: Any, layout: Any, bounds: Any) -> Any:
    """Return the score of candidates that a monotone constraint allows, −∞ of others."""
    direction, lower, upper = bounds
    mean_left, mean_right = _answer(left, layout), _answer(right, layout)
    score = choose((mean_right - mean_left) * direction >= 0.0, score, -np.inf)
    for mean in (mean_left, mean_right):
        score = choose(mean >= lower, score, -np.inf)
        score = choose(mean <= upper, score, -np.inf)
    return score


@register_jitable(forceinline=True)
def _with_enough(score: Any, side: Any, layout: Any, minima: Any) -> Any:
    score = choose(side[0] >= minima[0], score, -np.inf)
    return choose(side[layout.weight] >= minima[1], score, -np.inf)


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


def scratch_for(layout: Layout) -> Scratch:
    """Return what a search works with: running sums, sums of candidates, offsets of both sides.

    It is made here, for to compile what makes it would take a second.
    """
    size = layout.n_statistics
    return (
        np.empty(layout.n_stored, np.int64),
        np.empty(size * (_ROOM if size <= _SMALL else _LITTLE), np.int64),
        np.empty(size, np.int64),
        np.empty(size, np.int64),
    )


@register_jitable
def _add_codes(
    cells: Any, first: Any, last: Any, implied: Any, classes: Any, room: Any, scratch: Any
) -> Any:
    """Write the sums of codes 1 … first, 1 … first + 1 and so on, planes `room` apart.

    They end with those of code last − 1, which fill up the last eight. Returns their number.
    """
    running, sums = scratch[:2]
    n = np.uint64(last - first)
    full = (n + np.uint64(LANES - 1)) // np.uint64(LANES) * np.uint64(LANES)
    for s in range(np.uint64(running.size)):
        own, at = running[s], (np.uint64(implied) + s) * np.uint64(room)
        for i in range(n):
            own += np.int64(cells[np.uint64(first) + i, s])
            sums[at + i] = own
        for i in range(n, full):
            sums[at + i] = own
        running[s] = own
    if implied:
        for i in range(0, full, LANES):
            rows = lanes_at(sums, room + i)
            for c in range(2, classes + 1):
                rows = rows + lanes_at(sums, c * room + i)
            put_lanes(sums, i, rows)
    return full


@register_jitable
def _offsets(cells: Any, way: Any, total: Any, implied: Any, classes: Any, scratch: Any) -> None:
    """Write what is added to the sums on the left, and what they are taken from on the right."""
    _, _, left, right = scratch
    if implied:
        left[0] = way * _rows_of(cells[0], implied, classes)
    for s in range(cells.shape[1]):
        left[implied + s] = way * cells[0, s]
    for s in range(total.size):
        right[s] = total[s] - left[s]


@register_jitable(forceinline=True)
def judge(
    gain: Any, at: Any, room: Any, layout: Any, bounds: Any, minima: Any, scratch: Any
) -> Any:
    """Return the scores of eight candidates, −∞ of those that are not legal."""
    _, sums, added, whole = scratch
    left, right = plus_sums(added, sums, at, room), minus_sums(whole, sums, at, room)
    score = gain(left, right, layout)
    if bounds[0] != 0:
        score = _in_order(score, left, right, layout, bounds)
    return _with_enough(_with_enough(score, left, layout, minima), right, layout, minima)


@register_jitable(forceinline=True)
def _best_one_way(
    gain: Any,
    cells: Any,
    known: Any,
    only: Any,
    room: Any,
    layout: Any,
    bounds: Any,
    minima: Any,
    scratch: Any,
) -> Any:
    """Return (gain, code, whether two codes have rows) where missing values go one way.

    A function of the module, as all that work with lanes: the disk cache knows closures around an
    intrinsic by no name that another process finds.
    """
    running, sums = scratch[:2]
    running[:] = 0
    before = np.int64(0)  # rows
    gains, bins, between = -np.inf, np.int64(0), 0.0
    for b in range(1, cells.shape[0], room):
        last = min(b + room, cells.shape[0])
        n = _add_codes(cells, b, last, layout.implied, layout.classes, room, scratch)
        for i in range(0, n, LANES):
            none, before = sums[i + LANES - 1] == before, sums[i + LANES - 1]
            if none and only == 0:
                continue  # the same splits as those before
            rows, here = 1.0 * lanes_at(sums, i), b + i + counting()
            between = choose(rows < known, choose(rows > 0.0, 1.0, between), between)
            if only != 0 and not b + i <= only < b + i + LANES:
                continue
            score = judge(gain, i, room, layout, bounds, minima, scratch)
            score = choose(rows > 0.0, score, -np.inf)
            if only != 0:
                score = choose(here == only, score, -np.inf)
            better = score > gains
            gains, bins = choose(better, score, gains), choose(better, here, bins)
    top, bin = first_largest(gains, bins)
    return top, bin, first_largest(between, bins)[0] > 0.0


@functools.cache
def layout_for(shape: Shape) -> Any:
    """Return what makes the layout of one node, with what is known of its shape as constants."""

    @register_jitable(forceinline=True)
    @named_after(shape)
    def settled(given, implied, bounds):  # type: ignore[no-untyped-def]
        weight = shape[0] if shape[0] >= 0 else given.weight
        first = shape[1] if shape[1] >= 0 else given.first
        outputs = shape[2] if shape[2] >= 0 else given.outputs
        classes = shape[3] if shape[3] >= 0 else given.classes
        ordered = shape[4] if shape[4] >= 0 else given.ordered
        implied = shape[5] if shape[5] >= 0 else implied
        numbers = (given.center, given.scale, given.unit)
        drawn = (given.shrink, given.clip, bounds[1], bounds[2], given.confined)
        return Layout(weight, first, outputs, classes, ordered, *numbers, implied, *drawn)

    return settled


@functools.cache
def feature_search(shape: Shape) -> Any:
    """Return the search in one (node, feature) for one shape of layout.

    With the shape a constant, loops over statistics unroll. Eight candidates are judged at a time;
    each lane keeps the first of its best.
    """
    room = _ROOM if shape[0] >= 0 else _LITTLE
    settled = layout_for(shape)

    @register_jitable
    @named_after(shape)
    def best_of(  # type: ignore[no-untyped-def]  # noqa: C901
        gain, cells, total, only, bounds, minima, given, scratch
    ):
        """Return (gain, bin, way, missing rows, whether two codes have rows) of one feature."""
        layout = settled(given, total.size - cells.shape[1], bounds)
        implied, classes = layout.implied, layout.classes
        n_missing = _rows_of(cells[0], implied, classes)
        known = total[0] - n_missing
        varies = n_missing > 0 and known > 0
        best, its_bin, its_way = -np.inf, np.int64(0), 0
        for way in range(2 if varies else 1):
            _offsets(cells, way, total, implied, classes, scratch)
            top, bin, some = _best_one_way(
                gain, cells, known, only, room, layout, bounds, minima, scratch
            )
            varies = varies or some
            if top > best:
                best, its_bin, its_way = top, bin, way
        return best, its_bin, its_way, n_missing, varies

    return best_of


@functools.cache
def _kernel(gain: Callable[[Any, Any, Any], Any], shape: Shape) -> Any:
    """Compile the scan around one criterion and, for few statistics, one shape of layout.

    The criterion is captured as a plain function, so that Numba's disk cache finds the result
    again in another process; its code is part of the name, for the cache only watches this file.
    """
    register_once(gain)
    best_of = feature_search(shape)

    @numba.njit(cache=True, nogil=True, error_model="numpy", **UNCOUNTED)
    @named_after(gain, shape)
    def scan_nodes(  # type: ignore[no-untyped-def]
        hist, siblings, total, allowed, monotone, lower, upper, minima, layout, part, scratch, out
    ):
        cells_of, parent, slot, built, sibling = siblings
        first_derived = hist.shape[0] - slot.size
        out_gain, out_bin, out_next, out_missing_left, out_missing, out_varies, out_left = out
        implied = total.shape[1] - hist.shape[3]
        for node in range(part[0], part[1]):
            d = node - first_derived
            for g in range(hist.shape[1]):
                if d >= 0:
                    less(cells_of[node, g], parent[slot[d], g], built[sibling[d], g])
                cells = hist[node, g]
                direction = np.int64(monotone[g]) if monotone.size else np.int64(0)
                bounds = (direction, lower[node], upper[node])
                only = np.int64(allowed[node, g])  # as elsewhere, so that it is compiled once
                best, bin, way, n_missing, varies = best_of(
                    gain, cells, total[node], only, bounds, minima, layout, scratch
                )
                out_gain[node, g], out_bin[node, g] = best, bin
                out_missing[node, g], out_missing_left[node, g] = n_missing, way == 1
                out_varies[node, g] = varies
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


def _siblings(hist: NDArray[Any], derived: Derived | None) -> tuple[NDArray[Any], ...]:
    """Return what the kernel derives nodes from: none of them where nothing is derived."""
    if derived is None:
        cells, nodes = np.empty((0, 0, 0), dtype=hist.dtype), np.empty(0, dtype=np.int64)
        return cells, cells, nodes, cells, nodes
    return (
        flat(hist),
        flat(derived.parent),
        derived.slot,
        flat(derived.built),
        derived.sibling,
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
    derived: Derived | None = None,
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
    siblings = _siblings(hist, derived)
    per_task = max(1, 16_384 // (shape[1] * hist.shape[2]))

    def nodes(index: int) -> None:
        first = index * per_task
        last = min(first + per_task, shape[0])
        scratch = scratch_for(layout._replace(implied=total.shape[1] - hist.shape[3]))
        part = (first, last)
        kernel(hist, siblings, total, *fixed, compiled_layout, part, scratch, tuple(best))

    _threads.run(nodes, -(-shape[0] // per_task), work=hist.size * 4)
    return best

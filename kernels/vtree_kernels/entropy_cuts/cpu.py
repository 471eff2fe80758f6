"""`cuts` in Numba: rows of a node are sorted by code or counted, joined between cuts, then judged.

A task has some nodes and a tile of features. A row becomes a key: its code, and below it, in the
last bits, where a short table has its class and its weight. The loops behind read no row again.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from itertools import pairwise
from typing import Any

import numba
import numpy as np
from numpy.typing import NDArray

import vtree_kernels.elementary.cpu  # noqa: F401  (teaches Numba `log2`)
from vtree_kernels import _threads
from vtree_kernels._registered import register_jitable
from vtree_kernels.elementary import log2
from vtree_kernels.entropy_cuts import reference
from vtree_kernels.entropy_cuts.keys import fill, sorted_by_code, take
from vtree_kernels.entropy_cuts.reference import Cuts, Reach, Rule
from vtree_kernels.entropy_cuts.two_classes import BLOCK, SURELY, cut_of_two, least_weight
from vtree_kernels.scan import Layout

_DENSE = 4  # codes a row up to which counting beats sorting …
_CELLS = 1 << 14  # … as long as the counts stay in the cache
_TILE = 8  # features whose codes are read together
_TASK_ROWS = 1 << 14  # of several nodes in a task
_SEVERAL = -1  # instead of a class


@register_jitable
def x_log_x(x: Any) -> Any:
    """Return x log2 x of a number, 0 at 0."""
    return x * log2(x) if x > 0.0 else 0.0


@register_jitable
def information(weights: Any) -> Any:
    """Return T = S log2 S − Σ v log2 v of weights (V,)."""
    total, parts = weights[0], x_log_x(weights[0])
    for k in range(1, weights.size):
        total += weights[k]
        parts += x_log_x(weights[k])
    return x_log_x(total) - parts


@register_jitable
def _information(sums: Any, at: int, classes: int, unit: float, table: Any) -> Any:
    """Return T of the class weights sums[at]; x log2 x of whole numbers is looked up."""
    if table.size > 0:
        whole = sums[at, 0]
        parts = table[whole]
        for k in range(1, classes):
            whole += sums[at, k]
            parts += table[sums[at, k]]
        return table[whole] - parts
    total = sums[at, 0] * unit
    logs = x_log_x(total)
    for k in range(1, classes):
        total += sums[at, k] * unit
        logs += x_log_x(sums[at, k] * unit)
    return x_log_x(total) - logs


@register_jitable
def _weight(sums: Any, at: int, classes: int) -> Any:
    total = sums[at, 0]
    for k in range(1, classes):
        total += sums[at, k]
    return total


@register_jitable
def _parts(left: Any, last: int, code: int, step: Any, bounds: Any, unit: float) -> int:
    """Tell whether a cut behind code `last` is a candidate, 1, may yet come, 0, or never, −1."""
    known_weight, least = bounds
    own = left * unit
    if last == 0 or own < least:
        return 0
    if known_weight - own < least:
        return -1
    return int(code - last >= step[last - 1])


@register_jitable
def _note(found: int, last: int, code: int, classes: Any, left: Any, candidates: Any) -> None:
    code_of, following, pure, sums = candidates
    least, most = classes
    code_of[found], following[found] = last, code
    pure[found] = least if least == most else _SEVERAL
    for p in range(left.size):
        sums[found, p] = left[p]


@numba.njit(cache=True, nogil=True)
def _from_keys(keys, bits, tables, left, step, bounds, unit, candidates):  # type: ignore[no-untyped-def]
    """Fill in the candidates between rows sorted by code; return how many.

    candidates = (codes, following codes, class of the rows behind the candidate before, −1 for
    several, sums of all rows up to the code).
    """
    plane, amount = tables
    mask, counted = (1 << bits) - 1, left.size - 1
    found, last, weight, least, most = 0, 0, 0, counted, -1  # of the classes behind the last cut
    for i in range(keys.size):
        code, own = keys[i] >> bits, keys[i] & mask
        if code == 0:
            continue
        if code != last:
            parts = _parts(weight, last, code, step, bounds, unit)
            if parts < 0:
                break
            if parts > 0:
                _note(found, last, code, (least, most), left, candidates)
                found, least, most = found + 1, counted, -1
            last = code
        k = plane[own]
        left[counted] += 1
        left[k] += amount[own]
        weight += amount[own]
        least, most = min(least, k), max(most, k)
    return found


@numba.njit(cache=True, nogil=True)
def _from_cells(cells, width, left, step, bounds, unit, candidates):  # type: ignore[no-untyped-def]
    """Do it where rows are counted by code, cells (width, K + 1)."""
    counted = left.size - 1
    found, last, weight, least, most = 0, 0, 0, counted, -1
    for code in range(1, width):
        if cells[code, counted] == 0:
            continue
        parts = _parts(weight, last, code, step, bounds, unit)
        if parts < 0:
            break
        if parts > 0:
            _note(found, last, code, (least, most), left, candidates)
            found, least, most = found + 1, counted, -1
        last = code
        left[counted] += cells[code, counted]
        for k in range(counted):
            own = cells[code, k]
            if own > 0:
                left[k] += own
                weight += own
                least, most = min(least, k), max(most, k)
    return found


@register_jitable
def _below(sums: Any, at: int, known: Any, unit: float, table: Any) -> Any:
    """Return T(left) + T(known − left), left being sums[at]."""
    classes = known.shape[1] - 1
    if table.size > 0:
        left = sums[at, 0]
        right = known[0, 0] - left
        left_parts, right_parts = table[left], table[right]
        for k in range(1, classes):
            own = sums[at, k]
            rest = known[0, k] - own
            left, right = left + own, right + rest
            left_parts, right_parts = left_parts + table[own], right_parts + table[rest]
        return (table[left] - left_parts) + (table[right] - right_parts)
    for k in range(classes):
        known[1, k] = known[0, k] - sums[at, k]
    below = _information(sums, at, classes, unit, table)
    return below + _information(known, 1, classes, unit, table)


@register_jitable
def _gain(below: float, weights: Any) -> float:
    whole_weight, known_weight, base = weights
    gain: float = known_weight / whole_weight * ((base - below) / known_weight)
    return gain


@numba.njit(cache=True, nogil=True)
def _judged(n, sums, pure, known, weights, unit, table, margin, look):  # type: ignore[no-untyped-def]  # noqa: C901
    """Return (gain, place) of the cut that the contract asks for among n candidates, −1: none."""
    n_looks = 0
    for c in range(n):  # a loop of its own, for which ones to look at is hard to predict
        look[n_looks] = c
        amid_one_class = 0 < c < n - 1 and pure[c] >= 0 and pure[c] == pure[c + 1]
        n_looks += not amid_one_class
    best, place, judged = 0.0, -1, -1
    enough = weights[0] * margin * SURELY
    for i in range(n_looks):
        c = look[i]
        below = _below(sums, c, known, unit, table)
        if weights[2] - below < enough:  # without a division
            judged = c
            continue
        gain = _gain(below, weights)
        if gain > best + margin:
            # Gains amid one class rise to their end. Only where the last step is within the
            # margin may one of them come first.
            amid = c
            if c - 1 > judged:
                before = _gain(_below(sums, c - 1, known, unit, table), weights)
                amid = c if gain > before + margin else judged + 1
            while amid < c:
                inside = _gain(_below(sums, amid, known, unit, table), weights)
                if inside > best + margin:
                    best, place = inside, amid
                amid += 1
            if gain > best + margin:
                best, place = gain, c
            enough = weights[0] * (best + margin) * SURELY
        judged = c
    return best, place


@numba.njit(cache=True, nogil=True)
def _of_several(keys, dense, bits, width, tables, whole, step, unit, rule, table, work):  # type: ignore[no-untyped-def]
    """Return (gain, tries, place of the cut among the candidates or −1), all of them in `work`.

    keys: those of a node, sorted unless codes are so few, `dense`, that rows are counted by code.
    """
    sums, left, cells, known, look, candidates = work
    classes = left.size - 1
    _sum_known(keys, bits, tables, known)
    known_weight = _weight(known, 0, classes) * unit
    bounds = (known_weight, least_weight(known_weight, classes, rule[0]))
    left[:] = 0
    if dense:
        _count(keys, bits, width, tables, cells)
        tries = _from_cells(cells, width, left, step, bounds, unit, candidates)
    else:
        tries = _from_keys(keys, bits, tables, left, step, bounds, unit, candidates)
    base = _information(known, 0, classes, unit, table)
    weights = (whole * unit, known_weight, base)
    best, place = _judged(tries, sums, candidates[2], known, weights, unit, table, rule[1], look)
    return best if place >= 0 else -np.inf, tries, place


@numba.njit(cache=True, nogil=True)
def _cut(  # type: ignore[no-untyped-def]
    keys, ordered, bits, width, lengths, whole, tables, reach, shape, unit, rule, table, first_node,
    g, out,
):  # fmt: skip
    """Find the cuts of some nodes in one feature, whose keys stand node after node."""
    classes, first = shape
    longest, small = lengths.max(), keys.dtype  # which holds weights as well
    sums, left = np.empty((longest, classes + 1), small), np.empty(classes + 1, small)
    candidates = (
        np.empty(longest, np.int32), np.empty(longest, np.int32), np.empty(longest + 1, np.int32),
        sums,
    )  # fmt: skip
    scratch = np.empty(longest, small), np.empty(1 << 11, np.int64)
    cells = np.empty((min(width, _CELLS, _DENSE * longest), classes + 1), np.int64)
    known = np.empty((2, classes + 1), np.int64)
    work = sums, left, cells, known, np.empty(longest, np.int32), candidates
    two, near = classes == 2 and table.size > 0, np.empty(BLOCK, np.uint64)
    end = 0
    for i in range(lengths.size):
        node, begin, end = first_node + i, end, end + lengths[i]
        own = keys[begin:end]
        dense = width <= _DENSE * own.size and width <= cells.shape[0]
        if not dense and not ordered:
            own = sorted_by_code(own, scratch[0][: own.size], bits, width, scratch[1])
        if two and not dense:
            found = cut_of_two(own, reach, whole[i], rule, table, known, sums, near)
            gain, tries, place = found[0], found[1], 0
            candidates[0][0], candidates[1][0] = found[2], found[3]
        else:
            gain, tries, place = _of_several(
                own, dense, bits, width, tables, whole[i], reach[0], unit, rule, table, work
            )
        out[0][node, g], out[1][node, g] = gain, tries
        out[2][node, g], out[3][node, g], out[4][node, g] = 0, 0, 0
        if gain > -np.inf:
            out[2][node, g], out[3][node, g] = candidates[0][place], candidates[1][place]
            _write_sums(out[4], node, g, sums, place, first)
        _write_sums(out[5], node, g, known, 0, first)


@register_jitable
def _write_sums(out: Any, node: int, g: int, sums: Any, at: int, first: int) -> None:
    classes = sums.shape[1] - 1
    out[node, g, first - 1] = _weight(sums, at, classes)
    out[node, g, 0] = sums[at, classes]
    for k in range(classes):
        out[node, g, first + k] = sums[at, k]


@numba.njit(cache=True, nogil=True)
def _count(keys, bits, width, tables, cells):  # type: ignore[no-untyped-def]
    plane, amount = tables
    mask, counted = (1 << bits) - 1, cells.shape[1] - 1
    cells[:width] = 0
    for i in range(keys.size):
        code, own = keys[i] >> bits, keys[i] & mask
        cells[code, plane[own]] += amount[own]
        cells[code, counted] += 1


@numba.njit(cache=True, nogil=True)
def _sum_known(keys, bits, tables, known):  # type: ignore[no-untyped-def]
    plane, amount = tables
    mask, counted = (1 << bits) - 1, known.shape[1] - 1
    known[0] = 0
    for i in range(keys.size):
        if keys[i] >> bits > 0:
            own = keys[i] & mask
            known[0, plane[own]] += amount[own]
            known[0, counted] += 1


def cuts(
    codes: NDArray[Any],
    rows: NDArray[np.int32],
    start: NDArray[np.int64],
    stop: NDArray[np.int64],
    label: NDArray[np.int32],
    weight: NDArray[np.int64] | None,
    reach: Sequence[Reach],
    layout: Layout,
    unit: float,
    rule: Rule,
    lines: NDArray[np.int64] | None = None,
) -> Cuts:
    """Return the best cut of each node and feature; see the package for the contract."""
    codes = np.ascontiguousarray(codes)
    n_nodes, n_features = start.size, codes.shape[1]
    found = _blank(n_nodes, n_features, layout.n_statistics)
    weights = np.empty(0, dtype=np.int64) if weight is None else weight
    whole = stop - start if weight is None else _node_weights(rows, start, stop, weights)
    lengths = stop - start
    plain = weight is None and unit == 1.0
    table = _table(int(lengths.max(initial=0)).bit_length()) if plain else np.empty(0)
    borders = list(pairwise(_borders(lengths)))
    tiles = -(-n_features // _TILE)
    shape = layout.classes, layout.first
    numbers = float(rule.min_weight), float(rule.margin)

    def task(index: int) -> None:
        (a, b), first = borders[index // tiles], index % tiles * _TILE
        n_rows = int(lengths[a:b].sum())
        tables = np.arange(layout.classes), np.ones(layout.classes, dtype=np.int64)
        if weight is not None:
            tables = np.empty(n_rows, dtype=np.int64), np.empty(n_rows, dtype=np.int64)
        bits = max(1, int(tables[0].size - 1).bit_length())
        own = reach[first : first + _TILE]
        narrow = weight is None and max(each.step.size for each in own) < 1 << (31 - bits)
        keys = np.empty((len(own), n_rows), dtype=np.int32 if narrow else np.int64)
        if lines is not None:
            take(lines, start[a:b], stop[a:b], first, keys)
        else:
            own_rows = (rows, start[a:b], stop[a:b], label, weights, layout.implied - layout.first)
            fill(codes, *own_rows, first, keys, bits, tables)
        for g in range(first, first + keys.shape[0]):
            _cut(
                keys[g - first], lines is not None, bits, reach[g].step.size + 1, lengths[a:b],
                whole[a:b], tables, tuple(reach[g]), shape, unit, numbers, table, a, g,
                tuple(found),
            )  # fmt: skip

    work = int(lengths.sum()) * n_features * 10
    _threads.run(task, len(borders) * tiles, work=work)
    return found


def _blank(n_nodes: int, n_features: int, n_statistics: int) -> Cuts:
    shape = (n_nodes, n_features)
    return Cuts(
        np.empty(shape),
        np.empty(shape, dtype=np.int64),
        np.empty(shape, dtype=np.int32),
        np.empty(shape, dtype=np.int32),
        np.empty((*shape, n_statistics), dtype=np.int64),
        np.empty((*shape, n_statistics), dtype=np.int64),
    )


@numba.njit(cache=True, nogil=True)
def _node_weights(rows, start, stop, weight):  # type: ignore[no-untyped-def]
    total = np.zeros(start.size, np.int64)
    for node in range(start.size):
        for position in range(start[node], stop[node]):
            total[node] += weight[rows[position]]
    return total


@cache
def _table(bits: int) -> NDArray[np.float64]:
    """Return x log2 x of 0 … 2^bits − 1."""
    found: NDArray[np.float64] = reference.x_log_x(np.arange(float(1 << bits)))
    return found


def _borders(lengths: NDArray[np.int64]) -> list[int]:
    """Return borders of tasks, each of some `_TASK_ROWS` rows or one node."""
    before = np.cumsum(lengths + 1) // _TASK_ROWS
    return [*np.flatnonzero(np.diff(before, prepend=-1)).tolist(), lengths.size]


@numba.njit(cache=True, nogil=True)
def _write_steps(values, gap, step):  # type: ignore[no-untyped-def]
    code = 0
    for place in range(values.size):
        while code < values.size and not values[place] < values[code] - gap:
            code += 1
        step[place] = code - place


def reach_of(values: NDArray[np.float64], gap: float) -> Reach:
    """Return from which code on a cut may come behind each code; see the package."""
    step = np.empty(values.size, dtype=np.int32)
    _write_steps(values, gap, step)
    span = int(step.max(initial=1))
    return Reach(step.astype(np.uint8) if span < 256 else step, span)

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
from numba.extending import register_jitable
from numpy.typing import NDArray

import vtree_kernels.elementary.cpu  # noqa: F401  (teaches Numba `log2`)
from vtree_kernels import _threads
from vtree_kernels.elementary import log2
from vtree_kernels.entropy_cuts.reference import SLACK, Cuts, Rule, x_log_x
from vtree_kernels.scan import Layout

_DENSE = 4  # codes a row up to which counting beats sorting …
_CELLS = 1 << 14  # … as long as the counts stay in the cache
_TILE = 8  # features whose codes are read together
_TASK_ROWS = 1 << 14  # of several nodes in a task


@register_jitable
def _x_log_x(x: Any) -> Any:
    return x * log2(x if x > 0.0 else 1.0)


@register_jitable
def _information(sums: Any, classes: int, unit: float, table: Any) -> Any:
    """Return T of class weights; x log2 x of whole numbers is looked up."""
    if table.size > 0:
        whole, parts = sums[0], table[sums[0]]
        for k in range(1, classes):
            whole += sums[k]
            parts += table[sums[k]]
        return table[whole] - parts
    total, logs = sums[0] * unit, _x_log_x(sums[0] * unit)
    for k in range(1, classes):
        total += sums[k] * unit
        logs += _x_log_x(sums[k] * unit)
    return _x_log_x(total) - logs


@register_jitable
def _weight(sums: Any, classes: int) -> Any:
    total = sums[0]
    for k in range(1, classes):
        total += sums[k]
    return total


@numba.njit(cache=True, nogil=True)
def _fill(codes, rows, start, stop, label, weight, shift, feature, keys, bits, tables):  # type: ignore[no-untyped-def]
    """Write the keys (tile, R) of the nodes' rows, of features from `feature` on, node by node."""
    plane, amount = tables
    at = 0
    for node in range(start.size):
        for position in range(start[node], stop[node]):
            row = rows[position]
            own = np.int64(label[row, 0] + shift)
            if weight.size > 0:
                plane[at], amount[at] = own, weight[row]
                own = at
            for j in range(keys.shape[0]):
                keys[j, at] = (np.int64(codes[row, feature + j]) << bits) | own
            at += 1


@numba.njit(cache=True, nogil=True)
def _sorted(keys, spare, low, high, counts):  # type: ignore[no-untyped-def]  # noqa: C901
    """Return the keys sorted by their bits low … high − 1, in `keys` or in `spare`."""
    if keys.size <= 24:
        for i in range(1, keys.size):
            key = keys[i]
            j = i
            while j > 0 and keys[j - 1] > key:
                keys[j] = keys[j - 1]
                j -= 1
            keys[j] = key
        return keys
    digit = 11 if keys.size > 3000 else 8
    size = 1 << digit
    while low < high:
        counts[:size] = 0
        for i in range(keys.size):
            counts[(keys[i] >> low) & (size - 1)] += 1
        before = 0
        for d in range(size):
            before, counts[d] = before + counts[d], before
        for i in range(keys.size):
            d = (keys[i] >> low) & (size - 1)
            spare[counts[d]] = keys[i]
            counts[d] += 1
        keys, spare = spare, keys
        low += digit
    return keys


@numba.njit(cache=True, nogil=True)
def _grouped(keys, spare, bits, width, tables, code_of, sums, cells, counts):  # type: ignore[no-untyped-def]  # noqa: C901
    """Fill code_of and sums with the groups of rows of equal codes; return how many."""
    plane, amount = tables
    mask = (1 << bits) - 1
    n, rows_plane = 0, cells.shape[1] - 1
    counted = sums.shape[1] > rows_plane
    if width <= _DENSE * keys.size and width <= cells.shape[0]:
        cells[:width] = 0
        for i in range(keys.size):
            code, own = keys[i] >> bits, keys[i] & mask
            cells[code, plane[own]] += amount[own]
            cells[code, rows_plane] += 1
        for code in range(1, width):
            if cells[code, rows_plane] > 0:
                code_of[n] = code
                for p in range(sums.shape[1]):
                    sums[n, p] = cells[code, p]
                n += 1
        return n
    high = bits
    while (width - 1) >> (high - bits) > 0:
        high += 1
    ordered = _sorted(keys, spare[: keys.size], bits, high, counts)
    last = 0
    for i in range(ordered.size):
        code, own = ordered[i] >> bits, ordered[i] & mask
        if code == 0:
            continue
        if code != last:
            last, code_of[n] = code, code
            for p in range(sums.shape[1]):
                sums[n, p] = 0
            n += 1
        sums[n - 1, plane[own]] += amount[own]
        if counted:
            sums[n - 1, rows_plane] += 1
    return n


@register_jitable
def _joined(groups: Any, classes: int, values: Any, bounds: Any, unit: float, blocks: Any) -> int:
    """Turn groups, in place, into candidates with all sums to their left; return how many.

    blocks = (following, pure): the code behind each candidate, and the class of the rows between
    it and the candidate before, −1 for several.
    """
    n, code_of, sums = groups
    following, pure = blocks
    known_weight, least, gap = bounds
    left = sums[n]
    left[:] = 0
    found, own_class = 0, -2  # none yet
    for i in range(n - 1):
        for p in range(left.size):
            left[p] += sums[i, p]
        for k in range(classes):
            if sums[i, k] > 0 and own_class != k:
                own_class = k if own_class == -2 else -1
        own = _weight(left, classes) * unit
        if own < least or not values[code_of[i] - 1] < values[code_of[i + 1] - 1] - gap:
            continue
        if known_weight - own < least:
            break
        code_of[found], following[found], pure[found] = code_of[i], code_of[i + 1], own_class
        for p in range(left.size):
            sums[found, p] = left[p]
        found, own_class = found + 1, -2
    return found


@register_jitable
def _gain(left: Any, sides: Any, classes: int, weights: Any, unit: float, table: Any) -> float:
    """Return the gain of the cut between left and known − left."""
    right, known = sides
    whole_weight, known_weight, base = weights
    for k in range(classes):
        right[k] = known[k] - left[k]
    below = _information(left, classes, unit, table) + _information(right, classes, unit, table)
    gain: float = known_weight / whole_weight * ((base - below) / known_weight)
    return gain


@register_jitable
def _judged(  # noqa: C901
    n: int, sums: Any, pure: Any, sides: Any, classes: int, weights: Any, unit: float, table: Any,
    margin: float,
) -> tuple[float, int]:  # fmt: skip
    """Return (gain, place) of the cut that the contract asks for among n candidates, −1: none."""
    best, place, judged = 0.0, -1, -1
    for c in range(n):
        if 0 < c < n - 1 and pure[c] >= 0 and pure[c] == pure[c + 1]:
            continue
        gain = _gain(sums[c], sides, classes, weights, unit, table)
        if gain > best + margin:
            # Gains amid one class rise to their end. Only where the last step is within the
            # margin may one of them come first.
            amid = c
            if c - 1 > judged:
                before = _gain(sums[c - 1], sides, classes, weights, unit, table)
                amid = c if gain > before + margin else judged + 1
            while amid < c:
                inside = _gain(sums[amid], sides, classes, weights, unit, table)
                if inside > best + margin:
                    best, place = inside, amid
                amid += 1
            if gain > best + margin:
                best, place = gain, c
        judged = c
    return best, place


@register_jitable
def _write_sums(out: Any, sums: Any, classes: int, first: int) -> None:
    weight = _weight(sums, classes)
    out[0] = sums[classes] if first == 2 else weight
    out[first - 1] = weight
    for k in range(classes):
        out[first + k] = sums[k]


@numba.njit(cache=True, nogil=True)
def _cut(  # type: ignore[no-untyped-def]
    keys, bits, width, lengths, whole, tables, values, shape, unit, rule, table, first_node, g, out
):
    """Find the cuts of some nodes in one feature, whose keys stand node after node."""
    classes, first = shape
    min_weight, gap, margin = rule
    longest = lengths.max()
    planes = classes + (first == 2)
    code_of, sums = np.empty(longest, np.int64), np.empty((longest + 1, planes), np.int64)
    blocks = np.empty(longest, np.int64), np.empty(longest, np.int32)
    spare, counts = np.empty(longest, np.int64), np.empty(1 << 11, np.int64)
    cells = np.empty((min(width, _CELLS, _DENSE * longest), classes + 1), np.int64)
    sides = np.empty(classes, np.int64), np.empty(planes, np.int64)
    known = sides[1]
    end = 0
    for i in range(lengths.size):
        begin, end = end, end + lengths[i]
        n = _grouped(keys[begin:end], spare, bits, width, tables, code_of, sums, cells, counts)
        known[:] = 0
        for j in range(n):
            for p in range(planes):
                known[p] += sums[j, p]
        known_weight = _weight(known, classes) * unit
        least = min(0.1 * known_weight / classes, 25.0)
        least = (min_weight if least <= min_weight else least) * SLACK
        bounds = (known_weight, least, gap)
        tries = _joined((n, code_of, sums), classes, values, bounds, unit, blocks)
        weights = (whole[i] * unit, known_weight, _information(known, classes, unit, table))
        best, place = _judged(
            tries, sums, blocks[1], sides, classes, weights, unit, table, margin
        )  # fmt: skip
        node = first_node + i
        out[1][node, g] = tries
        _write_sums(out[5][node, g], known, classes, first)
        if place < 0:
            out[0][node, g], out[2][node, g], out[3][node, g] = -np.inf, 0, 0
            out[4][node, g] = 0
        else:
            out[0][node, g], out[2][node, g] = best, code_of[place]
            out[3][node, g] = blocks[0][place]
            _write_sums(out[4][node, g], sums[place], classes, first)


def cuts(
    codes: NDArray[Any],
    rows: NDArray[np.int32],
    start: NDArray[np.int64],
    stop: NDArray[np.int64],
    label: NDArray[np.int32],
    weight: NDArray[np.int64] | None,
    values: Sequence[NDArray[np.float64]],
    layout: Layout,
    unit: float,
    rule: Rule,
) -> Cuts:
    """Return the best cut of each node and feature; see the package for the contract."""
    n_nodes, n_features = start.size, codes.shape[1]
    found = _blank(n_nodes, n_features, layout.n_statistics)
    weights = np.empty(0, dtype=np.int64) if weight is None else weight
    whole = stop - start if weight is None else _node_weights(rows, start, stop, weights)
    lengths = stop - start
    plain = weight is None and unit == 1.0
    table = _table(int(lengths.max(initial=0)).bit_length()) if plain else np.empty(0)
    borders = list(pairwise(_borders(lengths)))
    tile = _TILE if lengths.max(initial=0) <= _TASK_ROWS else _TILE // 2
    tiles = -(-n_features // tile)
    shape = layout.classes, layout.first
    numbers = float(rule.min_weight), float(rule.gap), float(rule.margin)

    def task(index: int) -> None:
        (a, b), first = borders[index // tiles], index % tiles * tile
        n_rows = int(lengths[a:b].sum())
        tables = np.arange(layout.classes), np.ones(layout.classes, dtype=np.int64)
        if weight is not None:
            tables = np.empty(n_rows, dtype=np.int64), np.empty(n_rows, dtype=np.int64)
        bits = max(1, int(tables[0].size - 1).bit_length())
        keys = np.empty((min(tile, n_features - first), n_rows), dtype=np.int64)
        shift = layout.implied - layout.first
        _fill(
            codes, rows, start[a:b], stop[a:b], label, weights, shift, first, keys, bits, tables
        )  # fmt: skip
        for g in range(first, first + keys.shape[0]):
            _cut(
                keys[g - first], bits, values[g].size + 1, lengths[a:b], whole[a:b], tables,
                values[g], shape, unit, numbers, table, a, g, tuple(found),
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
    found: NDArray[np.float64] = x_log_x(np.arange(float(1 << bits)))
    return found


def _borders(lengths: NDArray[np.int64]) -> list[int]:
    """Return borders of tasks, each of some `_TASK_ROWS` rows or one node."""
    before = np.cumsum(lengths + 1) // _TASK_ROWS
    return [*np.flatnonzero(np.diff(before, prepend=-1)).tolist(), lengths.size]

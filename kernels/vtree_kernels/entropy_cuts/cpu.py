"""`cuts` in Numba: rows of one (node, feature) are counted by code or sorted, then scanned once."""

from __future__ import annotations

from typing import Any

import numba
import numpy as np
from numba.extending import register_jitable
from numpy.typing import NDArray

import vtree_kernels.elementary.cpu  # noqa: F401  (teaches Numba `log2`)
from vtree_kernels import _threads
from vtree_kernels.elementary import log2
from vtree_kernels.entropy_cuts.reference import SLACK, TOLERANCE, Cuts, Rule, x_log_x
from vtree_kernels.scan import Layout

_DENSE = 4  # codes a row up to which counting beats sorting


@register_jitable
def _x_log_x(x: Any) -> Any:
    return x * log2(x if x > 0.0 else 1.0)


@register_jitable
def _information(stats: Any, first: int, unit: float) -> Any:
    total, parts = stats[first] * unit, _x_log_x(stats[first] * unit)
    for k in range(first + 1, stats.size):
        value = stats[k] * unit
        total += value
        parts += _x_log_x(value)
    return _x_log_x(total) - parts


@register_jitable
def _table_information(stats: Any, first: int, table: Any) -> Any:
    """Return `_information` of whole numbers, x log2 x being looked up."""
    total, parts = stats[first], table[stats[first]]
    for k in range(first + 1, stats.size):
        total += stats[k]
        parts += table[stats[k]]
    return table[total] - parts


@register_jitable
def _add(cell: Any, plane: int, weight: int, first: int) -> None:
    cell[0] += 1
    if first == 2:
        cell[1] += weight
    cell[plane] += weight


@numba.njit(cache=True, nogil=True)
def _group_rows(  # type: ignore[no-untyped-def]  # noqa: C901
    column, rows, begin, end, label, weight, shift, first, n_codes, scratch
):
    """Fill scratch = (code, stats, keys) with the groups of equal codes; return how many."""
    group_code, group_stats, keys, counts = scratch
    if n_codes <= _DENSE * (end - begin):
        counts[:n_codes] = 0
        for position in range(begin, end):
            row = rows[position]
            w = weight[row] if weight.size else 1
            _add(counts[column[row]], label[row, 0] + shift, w, first)
        n = 0
        for code in range(1, n_codes):
            if counts[code, 0] > 0:
                group_code[n] = code
                group_stats[n] = counts[code]
                n += 1
        return n
    size = 0
    for position in range(begin, end):
        code = int(column[rows[position]])
        if code > 0:
            keys[size] = (code << 32) | position
            size += 1
    ordered = np.sort(keys[:size])
    n = 0
    for i in range(size):
        code = ordered[i] >> 32
        if n == 0 or group_code[n - 1] != code:
            group_code[n] = code
            group_stats[n] = 0
            n += 1
        row = rows[ordered[i] & 0xFFFFFFFF]
        w = weight[row] if weight.size else 1
        _add(group_stats[n - 1], label[row, 0] + shift, w, first)
    return n


@register_jitable
def _class_of(stats: Any, first: int) -> int:
    found = -1
    for k in range(first, stats.size):
        if stats[k] > 0:
            if found >= 0:
                return -1
            found = k
    return found


@register_jitable
def _gain(sides: Any, shape: Any, unit: float, weights: Any, base: float, table: Any) -> Any:
    """Return the gain of the cut between left and known − left."""
    left, right, known = sides
    for s in range(left.size):
        right[s] = known[s] - left[s]
    first = shape[1]
    if table.size > 0:
        below = _table_information(left, first, table) + _table_information(right, first, table)
    else:
        below = _information(left, first, unit) + _information(right, first, unit)
    return weights[1] / weights[0] * ((base - below) / weights[1])


@numba.njit(cache=True, nogil=True)
def _scan_groups(  # type: ignore[no-untyped-def]  # noqa: C901, PLR0915
    n, groups, judged, sides, values, offset, shape, unit, numbers, table
):
    """Return (gain, tries, group before the cut) of n groups; fill known of `sides`."""
    group_code, group_stats = groups
    places, gains = judged
    left, _, known = sides
    weight_plane, first, classes = shape
    whole_weight, min_weight, gap = numbers
    for s in range(known.size):
        left[s], known[s] = 0, 0
        for i in range(n):
            known[s] += group_stats[i, s]
    known_weight = known[weight_plane] * unit
    least = min(0.1 * known_weight / classes, 25.0)
    least = (min_weight if least <= min_weight else least) * SLACK
    weights = (whole_weight, known_weight)
    if table.size > 0:
        base = _table_information(known, first, table)
    else:
        base = _information(known, first, unit)
    tries, kept, passed = 0, 0, -1  # passed: the last candidate, if nothing called for a look
    for i in range(n - 1):
        for s in range(left.size):
            left[s] += group_stats[i, s]
        own = left[weight_plane] * unit
        here = offset + group_code[i] - 1
        following = offset + group_code[i + 1] - 1
        if own < least or not values[here] < values[following] - gap:
            continue
        if known_weight - own < least:
            break
        tries += 1
        own_class = _class_of(group_stats[i], first)
        if tries > 1 and own_class >= 0 and own_class == _class_of(group_stats[i + 1], first):
            passed = i
            continue
        passed = -1
        places[kept] = i
        gains[kept] = _gain(sides, shape, unit, weights, base, table)
        kept += 1
    if passed >= 0:
        for s in range(left.size):
            left[s] = 0
            for i in range(passed + 1):
                left[s] += group_stats[i, s]
        places[kept] = passed
        gains[kept] = _gain(sides, shape, unit, weights, base, table)
        kept += 1
    if tries == 0:
        return -np.inf, 0, 0
    largest = np.max(gains[:kept])
    best = 0
    while gains[best] < largest - TOLERANCE:
        best += 1
    return gains[best], tries, places[best]


@register_jitable
def _write(out: Any, node: int, g: int, found: Any, groups: Any, known: Any) -> None:
    out_gain, out_tries, out_bin, out_following, out_left, out_known = out
    gain, tries, place = found
    out_gain[node, g], out_tries[node, g] = gain, tries
    out_bin[node, g], out_following[node, g] = 0, 0
    out_left[node, g] = 0
    out_known[node, g] = known
    if tries > 0:
        out_bin[node, g] = groups[0][place]
        out_following[node, g] = groups[0][place + 1]
        for i in range(place + 1):
            out_left[node, g] += groups[1][i]


@numba.njit(cache=True, nogil=True)
def _search_nodes(  # type: ignore[no-untyped-def]
    codes, rows, start, stop, label, weight, values, offsets, shape, implied, unit, numbers, table,
    widths, first_node, last_node, out
):  # fmt: skip
    first = shape[1]
    n_statistics = out[4].shape[2]
    longest = np.int64(1)
    for node in range(first_node, last_node):
        longest = max(longest, stop[node] - start[node])
    groups = (np.empty(longest, np.int64), np.empty((longest, n_statistics), np.int64))
    judged = (np.empty(longest, np.int64), np.empty(longest, np.float64))
    keys = np.empty(longest, np.int64)
    counts = np.empty((max(1, min(widths.max(), _DENSE * longest)), n_statistics), np.int64)
    sides = np.empty((3, n_statistics), np.int64)
    for node in range(first_node, last_node):
        whole = np.int64(0)
        for position in range(start[node], stop[node]):
            whole += weight[rows[position]] if weight.size else 1
        weights = (whole * unit, numbers[0], numbers[1])
        for g in range(codes.shape[1]):
            scratch = (groups[0], groups[1], keys, counts)
            n = _group_rows(
                codes[:, g], rows, start[node], stop[node], label, weight, implied, first,
                widths[g], scratch,
            )  # fmt: skip
            own = (sides[0], sides[1], sides[2])
            found = _scan_groups(
                n, groups, judged, own, values, offsets[g], shape, unit, weights, table
            )
            _write(out, node, g, found, groups, sides[2])


def cuts(
    codes: NDArray[Any],
    rows: NDArray[np.int32],
    start: NDArray[np.int64],
    stop: NDArray[np.int64],
    label: NDArray[np.int32],
    weight: NDArray[np.int64] | None,
    values: NDArray[np.float64],
    offsets: NDArray[np.int64],
    layout: Layout,
    unit: float,
    rule: Rule,
) -> Cuts:
    """Return the best cut of each node and feature; see the package for the contract."""
    n_nodes, n_features = start.size, codes.shape[1]
    shape = (n_nodes, n_features)
    found = Cuts(
        np.empty(shape),
        np.empty(shape, dtype=np.int64),
        np.empty(shape, dtype=np.int32),
        np.empty(shape, dtype=np.int32),
        np.empty((*shape, layout.n_statistics), dtype=np.int64),
        np.empty((*shape, layout.n_statistics), dtype=np.int64),
    )
    weights = np.empty(0, dtype=np.int64) if weight is None else weight
    widths = np.diff(offsets, append=values.size) + 1
    longest = int((stop - start).max(initial=0))
    table = np.empty(0)
    if weight is None and unit == 1.0:
        table = x_log_x(np.arange(longest + 1.0))
    planes = (layout.weight, layout.first, layout.classes)
    numbers = (float(rule.min_weight), float(rule.gap))
    borders = _borders(stop - start)

    def nodes(index: int) -> None:
        task, g = divmod(index, n_features)
        own = Cuts(*(field[:, g : g + 1] for field in found))
        _search_nodes(
            codes[:, g : g + 1],
            rows,
            start,
            stop,
            label,
            weights,
            values[offsets[g] :][: widths[g] - 1],
            np.zeros(1, dtype=np.int64),
            planes,
            layout.implied,
            unit,
            numbers,
            table,
            widths[g : g + 1],
            borders[task],
            borders[task + 1],
            tuple(own),
        )

    work = int((stop - start).sum()) * n_features * 10
    _threads.run(nodes, (len(borders) - 1) * n_features, work=work)
    return found


def _borders(lengths: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return borders of tasks, each of some 65,536 rows or one node."""
    before = np.cumsum(lengths + 1) // 65_536
    return np.append(np.flatnonzero(np.diff(before, prepend=-1)), lengths.size)

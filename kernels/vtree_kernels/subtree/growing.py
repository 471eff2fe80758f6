"""The compiled loop of `subtree`: a stack of nodes over columns that were copied side by side."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numba
import numpy as np
from numba.extending import register_jitable

from vtree_kernels import mixing
from vtree_kernels._naming import named_after
from vtree_kernels.scan.cpu import Shape, feature_search
from vtree_kernels.search.cpu import add_rows, cells_by_code, following, work_for

LATER = -2  # first child of nodes that are left for later

_next_state: Any = register_jitable(mixing.next_state)
_share: Any = register_jitable(mixing.share)
_between: Any = register_jitable(mixing.between)


@register_jitable
def _differ(
    local: Any,
    begin: Any,
    end: Any,
    total: Any,
    identity: Any,
    reals: Any,
    layout: Any,
) -> Any:
    """Tell whether a node's rows have different targets."""
    if reals:
        outputs = identity.shape[1]
        first = np.uint64(local[begin])
        for i in range(begin + 1, end):
            for o in range(outputs):
                if identity[np.uint64(local[i]), o] != identity[first, o]:
                    return True
        return outputs == 0
    for o in range(layout.outputs):
        some = 0
        for c in range(layout.classes):
            some += total[layout.first + o * layout.classes + c] > 0
        if some > 1:
            return True
    return False


@register_jitable
def _drawn_cut(
    column: Any,
    local: Any,
    begin: Any,
    end: Any,
    state: Any,
    feature: Any,
    values: Any,
) -> Any:
    """Return a threshold between a node's extremes in one feature, ∞ where it is constant.

    The node's values are copied to `values` on the way.
    """
    n_rows = end - begin
    for i in range(n_rows):
        values[i] = column[np.uint64(local[begin + i])]
    # Four at a time, since each comparison waits for the one before.
    nothing = values.dtype.type(np.inf)
    low0, low1, low2, low3 = nothing, nothing, nothing, nothing
    high0, high1, high2, high3 = -nothing, -nothing, -nothing, -nothing
    for i in range(0, n_rows - 3, 4):
        x0, x1, x2, x3 = values[i], values[i + 1], values[i + 2], values[i + 3]
        low0, high0 = x0 if x0 < low0 else low0, x0 if x0 > high0 else high0
        low1, high1 = x1 if x1 < low1 else low1, x1 if x1 > high1 else high1
        low2, high2 = x2 if x2 < low2 else low2, x2 if x2 > high2 else high2
        low3, high3 = x3 if x3 < low3 else low3, x3 if x3 > high3 else high3
    for i in range(n_rows - n_rows % 4, n_rows):
        x = values[i]
        low0, high0 = x if x < low0 else low0, x if x > high0 else high0
    low = np.float64(min(min(low0, low1), min(low2, low3)))
    high = np.float64(max(max(high0, high1), max(high2, high3)))
    low, high = low + 0.0, high + 0.0
    if not low < high:
        return np.inf
    return _between(low, high, _share(_next_state(state, np.uint64(feature))))


@register_jitable
def _by_cut(values: Any, n_rows: Any, cut: Any, planes: Any, total: Any, cells: Any) -> Any:
    """Sum a node's rows without a value, up to the cut and above it, (3, S).

    planes (S, n): what each row adds; total (S,): their sums.
    """
    n_left, n_right = 0, 0
    for i in range(n_rows):
        n_left += values[i] <= cut
        n_right += values[i] > cut
    for s in range(planes.shape[0]):
        own, left, right = planes[s], np.int64(0), np.int64(0)
        for i in range(n_rows):
            left += own[i] if values[i] <= cut else 0
        right = total[s] - left
        if n_left + n_right < n_rows:
            right = np.int64(0)
            for i in range(n_rows):
                right += own[i] if values[i] > cut else 0
        cells[0, s], cells[1, s], cells[2, s] = total[s] - left - right, left, right
    return cells


@register_jitable
def _planes_of(planes: Any, local: Any, begin: Any, end: Any, statistics: Any) -> Any:
    """Write what each of a node's rows adds to each plane, (S, n)."""
    label, weight, sums, counted = statistics
    stored, n_sums = planes.shape[0], sums.shape[1]
    n_rows = end - begin
    planes[: stored - n_sums, :n_rows] = 0
    if counted:
        planes[0, :n_rows] = 1
    for i in range(n_rows):
        row = np.uint64(local[begin + i])
        w = np.int64(1)
        if weight.size:
            w = weight[row]
            planes[np.intp(counted), i] = w
        for o in range(label.shape[1]):
            planes[np.uint64(label[row, o]), i] = w
        for j in range(n_sums):
            planes[stored - n_sums + j, i] = sums[row, j]


@register_jitable
def _next_feature(drawn: Any, words: Any, state: Any) -> Any:
    """Return the feature with the least word that was not drawn yet; words are made at first."""
    n_features = words.size
    if not drawn[n_features]:
        drawn[n_features] = True
        for f in range(n_features):
            words[f] = _next_state(state, np.uint64(f))
    least = -1
    for f in range(n_features):
        if not drawn[f] and (least < 0 or words[f] < words[least]):
            least = f
    drawn[least] = True
    return least


@register_jitable
def _parted(
    column: Any,
    local: Any,
    begin: Any,
    end: Any,
    bin: Any,
    cut: Any,
    missing_left: Any,
    raw: Any,
    spare: Any,
) -> Any:
    """Sort a node's rows by side, stably; return where the right ones begin."""
    at, kept = np.uint64(begin), np.uint64(0)
    for i in range(begin, end):
        row = local[i]
        value = column[np.uint64(row)]
        if raw:
            goes_left = missing_left if value != value else value <= cut
        else:
            goes_left = missing_left if value == 0 else value <= bin
        local[at] = row
        spare[kept] = row
        at += np.uint64(goes_left)
        kept += np.uint64(not goes_left)
    for k in range(kept):
        local[at + np.uint64(k)] = spare[k]
    return np.int64(at)


@register_jitable
def _worth_a_search(own: Any, n_rows: Any, depth: Any, numbers: Any, layout: Any) -> Any:
    max_depth, min_split, _, min_weight, _, _ = numbers
    if depth == max_depth or n_rows < min_split:
        return False
    return np.float64(own[layout.weight]) >= 2.0 * min_weight


@register_jitable
def _make_children(
    out: Any, node: Any, first: Any, middle: Any, sums_left: Any, implied: Any, least: Any
) -> Any:
    """Write a node's two children; those of at most `least` rows are left for later."""
    parent, start, stop, depth, key, total, first_child, feature, gain = out
    path = _next_state(np.uint64(0), key[node])
    for side in range(2):
        child = first + side
        parent[child], depth[child] = node, depth[node] + 1
        start[child] = middle if side else start[node]
        stop[child] = stop[node] if side else middle
        key[child] = _next_state(path, np.uint64(side))
        feature[child], gain[child] = -1, -np.inf
        n_rows = stop[child] - start[child]
        first_child[child] = LATER if n_rows <= least else -1
        for s in range(sums_left.size):
            value = sums_left[s]
            total[child, implied + s] = total[node, implied + s] - value if side else value
        if implied:
            total[child, 0] = n_rows


@register_jitable
def _put(pending: Any, n_pending: Any, first_child: Any, first: Any) -> Any:
    """Put two children onto the pile, so that the first is next; return how many are there then."""
    for child in range(first + 1, first - 1, -1):
        if first_child[child] != LATER:
            pending[n_pending] = child
            n_pending += 1
    return n_pending


def scratch(n_codes: int, most: int, n_given: int, layout: Any, columns: Any, raw: bool) -> Any:
    """Return arrays that the nodes of a task share, for up to `most` rows of a node.

    They are made here, for to compile what makes them would take a second.
    """
    stored, statistics, n_features = layout.n_stored, layout.n_statistics, columns.shape[0]
    by_code, n_cut = work_for(n_codes, stored), most if raw else 0
    by_cut = np.empty(n_cut, columns.dtype), np.empty((stored, n_cut), np.int64)
    draws = np.zeros(n_features + 1, np.bool_), np.zeros(n_features, np.uint64)
    sums = np.empty(stored, np.int64), np.empty(statistics), np.empty(statistics)
    rows = np.empty(most, np.uint32), np.zeros(most, np.uint32), np.empty(stored, np.int64)
    pending = np.empty(2 * most + n_given, np.int64)
    pending[:n_given] = np.arange(n_given)[::-1]
    return ((by_code, np.empty(most, np.uint32), by_cut, draws), sums), rows, pending


def _node_search(  # noqa: C901  (one compiled loop)
    gain: Callable[[Any, Any, Any], Any], shape: Shape, raw: bool
) -> Any:
    """Return the search for one node's split, for one criterion and one shape of layout."""
    best_of = feature_search(shape)

    @register_jitable
    @named_after(gain, shape, raw)
    def search_node(
        columns: Any, local: Any, node: Any, statistics: Any, n_codes: Any, rules: Any, work: Any
    ) -> Any:
        """Return (feature or −1, gain, bin, next, missing left, missing, threshold)."""
        begin, end, key, own = node
        (_, _, min_rows, min_weight, _, costs), draw, layout = rules
        max_features, order_state, cut_state = draw
        (by_code, line, by_cut, (drawn, words)), sums = work
        values, planes = by_cut
        n_features, n_rows = columns.shape[0], end - begin
        bounds, minima = (np.int64(0), -np.inf, np.inf), (min_rows, min_weight)
        order, cuts = _next_state(order_state, key), _next_state(cut_state, key)
        drawn[:] = False
        if raw:
            _planes_of(planes, local, begin, end, statistics)
        best, worth, found, varied = -np.inf, -np.inf, -1, False
        its_bin, its_next, its_way, its_missing, its_cut = 0, 0, False, np.int64(0), 0.0
        for looked in range(n_features):
            if looked >= max_features and varied:
                break
            f = looked if max_features >= n_features else _next_feature(drawn, words, order)
            column, cut = columns[f], 0.0
            if raw:
                cut = _drawn_cut(column, local, begin, end, cuts, f, values)
                cells = _by_cut(values, n_rows, cut, planes, own[layout.implied :], by_code[2][:3])
                codes = by_code[3][:0]
            else:
                for i in range(n_rows):
                    line[i] = column[np.uint64(local[begin + i])]
                cells, codes = cells_by_code(
                    line, local, begin, end, statistics, n_codes[f], by_code
                )
            score, bin, way, n_missing, n_filled = best_of(
                gain, cells, own, 1 if raw else 0, bounds, minima, layout, sums
            )
            varied, per_cost = varied or n_filled >= 2, score / costs[f] if costs.size else score
            if score > -np.inf and (
                found < 0 or per_cost > worth or (per_cost == worth and f < found)
            ):
                best, worth, found = score, per_cost, f
                its_next = following(cells, codes, bin, layout.implied, layout.classes)
                its_bin = codes[bin] if codes.size else bin
                its_way, its_missing, its_cut = way == 1, n_missing, cut
            if not raw and codes.size == 0:
                by_code[0][: n_codes[f]] = 0
        return found, best, its_bin, its_next, its_way, its_missing, its_cut

    return search_node


@functools.cache
def grower(  # noqa: C901  (one compiled loop)
    gain: Callable[[Any, Any, Any], Any], shape: Shape, raw: bool
) -> Any:
    """Compile the loop around one criterion and one shape of layout, as `scan` is."""
    register_jitable(gain)
    search_node = _node_search(gain, shape, raw)

    @numba.njit(cache=True, nogil=True)
    @named_after(gain, shape, raw)
    def grow(  # type: ignore[no-untyped-def]
        columns, local, n_given, statistics, identity, reals, n_codes, numbers, draw, layout,
        least, arrays, out,
    ):  # fmt: skip
        """Grow the first `n_given` nodes of `out`; return how many nodes there are then.

        Made nodes of at most `least` rows are left for later, marked by their first child.
        """
        start, stop, depth, key, total, first_child = out[1:7]
        feature, out_gain, out_bin, out_next, out_way, out_missing, threshold = out[7:]
        stored = total.shape[1] - layout.implied
        rules = (numbers, draw, layout)
        work, (spare, zeros, sums_left), pending = arrays
        n_pending, n_made = n_given, n_given
        while n_pending:
            n_pending -= 1
            node = pending[n_pending]
            begin, end = start[node], stop[node]
            own = total[node]
            if not _worth_a_search(own, end - begin, depth[node], numbers, layout):
                continue
            if not _differ(local, begin, end, own, identity, reals, layout):
                continue
            its = (begin, end, key[node], own)
            f, gained, bin, next_bin, way, n_missing, cut = search_node(
                columns, local, its, statistics, n_codes, rules, work
            )
            if f < 0 or gained < numbers[4]:
                continue
            feature[node], out_gain[node], first_child[node] = f, gained, n_made
            out_bin[node], out_next[node], threshold[node] = bin, next_bin, cut
            out_way[node], out_missing[node] = way, n_missing
            middle = _parted(columns[f], local, begin, end, bin, cut, way, raw, spare)
            sums_left[:] = 0
            add_rows(sums_left, stored, zeros, local, begin, middle, statistics)
            _make_children(out[:9], node, n_made, middle, sums_left, layout.implied, least)
            n_pending = _put(pending, n_pending, first_child, n_made)
            n_made += 2
        return n_made

    return grow

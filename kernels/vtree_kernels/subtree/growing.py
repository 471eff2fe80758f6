"""The compiled loop of `subtree`: a stack of nodes over columns that were copied side by side."""

from __future__ import annotations

import functools
import hashlib
import math
from collections.abc import Callable
from typing import Any

import numba
import numpy as np
from numba.extending import register_jitable

from vtree_kernels.scan.cpu import Shape, feature_search
from vtree_kernels.search.cpu import add_rows, cells_by_code, following
from vtree_kernels.subtree import words

_next_state = register_jitable(words.next_state)


@register_jitable
def _differ(local, begin, end, total, identity, reals, layout):  # type: ignore[no-untyped-def]
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
def _drawn_cut(column, local, begin, end, state, feature, values):  # type: ignore[no-untyped-def]
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
    u = np.float64(_next_state(state, np.uint64(feature)) >> np.uint64(11)) * 2.0**-53
    point = low * (1.0 - u) + high * u
    return low if math.isnan(point) or point < low or point >= high else point


@register_jitable
def _by_cut(values, n_rows, cut, planes, total, cells):  # type: ignore[no-untyped-def]
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
def _planes_of(planes, local, begin, end, statistics):  # type: ignore[no-untyped-def]
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
def _next_feature(drawn, words, state):  # type: ignore[no-untyped-def]
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
def _parted(  # type: ignore[no-untyped-def]
    column, local, begin, end, bin, cut, missing_left, raw, spare
):
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


@functools.cache
def grower(  # noqa: C901, PLR0915  (one compiled loop)
    gain: Callable[[Any, Any, Any], Any], shape: Shape, raw: bool
) -> Any:
    """Compile the loop around one criterion and one shape of layout, as `scan` is."""
    stamp = int(hashlib.sha256(gain.__code__.co_code).hexdigest()[:8], 16)
    register_jitable(gain)
    best_of = feature_search(shape)

    @numba.njit(cache=True, nogil=True)
    def grow(  # type: ignore[no-untyped-def]  # noqa: C901, PLR0912, PLR0915
        columns, local, n_given, statistics, identity, reals, n_codes, numbers, draw, layout,
        least, most, out,
    ):  # fmt: skip
        """Grow the first `n_given` nodes of `out`; return how many nodes there are then.

        Made nodes of at most `least` rows are left for later, marked by a first child of −2.
        """
        (
            parent, start, stop, depth, key, total, first_child,
            feature, out_gain, out_bin, out_next, out_missing_left, out_missing, threshold,
        ) = out  # fmt: skip
        max_depth, min_split, min_rows, min_weight, min_gain, costs = numbers
        max_features, order_state, cut_state = draw
        n_features = columns.shape[0]
        n_statistics = total.shape[1]
        implied = layout.implied
        stored = n_statistics - implied
        widest = np.max(n_codes)
        dense = np.zeros((widest, stored), np.int64)
        marks = np.zeros(widest // 64 + 1, np.uint64)
        cells = np.empty((max(3, widest // 2 + 2), stored), np.int64)
        filled = np.empty(widest // 2 + 2, np.int64)
        work = (dense, marks, cells, filled)
        spare, line = np.empty(most, np.uint32), np.empty(most, np.uint32)
        zeros = np.zeros(most, np.uint32)
        values = np.empty(most if raw else 0, columns.dtype)
        planes = np.empty((stored, most if raw else 0), np.int64)
        running, sums_left = np.empty(stored, np.int64), np.empty(stored, np.int64)
        left = np.empty(n_statistics, np.float64)
        right = np.empty(n_statistics + 0 * stamp, np.float64)  # keeps `stamp` captured
        scratch = (running, left, right)
        bounds = (np.int64(0), -np.inf, np.inf)
        drawn = np.zeros(n_features + 1, np.bool_)
        own_words = np.zeros(n_features, np.uint64)
        pending = np.empty(2 * most + n_given, np.int64)
        for given in range(n_given):
            pending[n_given - 1 - given] = given
        n_pending, n_made = n_given, n_given
        while n_pending:
            n_pending -= 1
            node = pending[n_pending]
            begin, end = start[node], stop[node]
            own = total[node]
            if depth[node] == max_depth or end - begin < min_split:
                continue
            if np.float64(own[layout.weight]) < min_weight[0]:
                continue
            if not _differ(local, begin, end, own, identity, reals, layout):
                continue
            drawn[:] = False
            order, cuts = _next_state(order_state, key[node]), _next_state(cut_state, key[node])
            if raw:
                _planes_of(planes, local, begin, end, statistics)
            best, worth, found, varied = -np.inf, -np.inf, -1, False
            for looked in range(n_features):
                if looked >= max_features and varied:
                    break
                f = looked if max_features >= n_features else _next_feature(drawn, own_words, order)
                cut = 0.0
                if raw:
                    cut = _drawn_cut(columns[f], local, begin, end, cuts, f, values)
                    sides = _by_cut(values, end - begin, cut, planes, own[implied:], cells[:3])
                    codes = filled[:0]
                else:
                    column = columns[f]
                    for i in range(end - begin):
                        line[i] = column[np.uint64(local[begin + i])]
                    sides, codes = cells_by_code(
                        line, local, begin, end, statistics, n_codes[f], work
                    )
                score, bin, way, n_missing, n_filled = best_of(
                    gain, sides, own, 1 if raw else 0, bounds, (min_rows, min_weight[1]), layout,
                    scratch,
                )  # fmt: skip
                varied = varied or n_filled >= 2
                per_cost = score / costs[f] if costs.size else score
                better = found < 0 or per_cost > worth or (per_cost == worth and f < found)
                if score > -np.inf and better:
                    best, worth, found = score, per_cost, f
                    out_next[node] = following(sides, codes, bin, implied, layout.classes)
                    out_bin[node] = codes[bin] if codes.size else bin
                    out_missing_left[node], out_missing[node] = way == 1, n_missing
                    threshold[node] = cut
                if not raw and codes.size == 0:
                    dense[: n_codes[f]] = 0
            if found < 0 or best < min_gain:
                continue
            feature[node], out_gain[node], first_child[node] = found, best, n_made
            middle = _parted(
                columns[found], local, begin, end, out_bin[node], threshold[node],
                out_missing_left[node], raw, spare,
            )  # fmt: skip
            sums_left[:] = 0
            add_rows(sums_left, stored, zeros, local, begin, middle, statistics)
            for side in range(2):
                child = n_made + side
                parent[child], depth[child] = node, depth[node] + 1
                start[child] = begin if side == 0 else middle
                stop[child] = middle if side == 0 else end
                path = _next_state(np.uint64(0), key[node])
                key[child] = _next_state(path, np.uint64(side))
                first_child[child], feature[child], out_gain[child] = -1, -1, -np.inf
                for s in range(stored):
                    value = sums_left[s]
                    total[child, implied + s] = own[implied + s] - value if side else value
                if implied:
                    total[child, 0] = stop[child] - start[child]
                if stop[child] - start[child] <= least:
                    first_child[child] = -2
                else:
                    pending[n_pending] = child
                    n_pending += 1
            n_made += 2
        return n_made

    return grow

"""The search for a node's split among drawn cuts, compiled: one cut a feature, judged by one pass.

Columns hold the bits of the values, which are compared by their keys, see `vtree_kernels._keys`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vtree_kernels import mixing
from vtree_kernels._keys import key_of, last_key, number_of_key
from vtree_kernels._lanes import LANES
from vtree_kernels._naming import named_after
from vtree_kernels._registered import register_jitable
from vtree_kernels.scan.cpu import Shape, feature_search, shape_of
from vtree_kernels.search.cpu import add_rows
from vtree_kernels.subtree.drawing import next_feature, put_back
from vtree_kernels.subtree.lane_cuts import lane_search, lane_work

FEW = 128  # rows of nodes whose features are looked at side by side

_next_state: Any = register_jitable(mixing.next_state)
_share: Any = register_jitable(mixing.share)
_between: Any = register_jitable(mixing.between)


# Functions of the module, for Numba's cache knows no intrinsic of a closure again.
@register_jitable(forceinline=True)
def _cut_between(least: Any, greatest: Any, word: Any) -> Any:
    return _between(number_of_key(least), number_of_key(greatest), _share(word))


@register_jitable(forceinline=True)
def _key_from(bits: Any) -> Any:
    return key_of(bits)


@register_jitable(forceinline=True)
def _number_of(key: Any) -> Any:
    return number_of_key(key)


@register_jitable(forceinline=True)
def _last_of(cut: Any, example: Any) -> Any:
    return last_key(cut, example)


@register_jitable(forceinline=True)
def _extremes(bits: Any, local: Any, begin: Any, n_rows: Any, keys: Any, nothing: Any) -> Any:
    """Return a node's least and greatest key in one feature, and whether some rows have no value.

    All rows' keys are written to `keys` on the way.
    """
    first = np.uint64(begin)
    for i in range(n_rows):
        keys[i] = bits[np.uint64(local[first + np.uint64(i)])]
    least, greatest = nothing, keys.dtype.type(-nothing)
    for i in range(n_rows):
        key = _key_from(keys[i])
        keys[i] = key
        least, greatest = min(least, key), max(greatest, key)
    if greatest < nothing:
        return least, greatest, False
    greatest = keys.dtype.type(-nothing)
    for i in range(n_rows):
        greatest = max(greatest, keys[i] if keys[i] != nothing else greatest)
    return least, greatest, True


def _sums_of_sides(shape: Shape) -> Any:  # noqa: C901  (one compiled loop)
    """Return what sums a node's rows by side, from planes of what each of them adds."""
    weight, first, outputs, classes, _, implied = shape
    counted, stored = int(implied == 0), first + outputs * classes - implied
    # One class is what the others leave of the weight.
    rest = first - implied if outputs == 1 and classes > 1 else -1
    whole = weight - implied

    @register_jitable(forceinline=True)
    @named_after(shape)
    def add_side(  # type: ignore[no-untyped-def]
        keys: Any, n_rows, above, upto, planes, cell
    ) -> None:
        number = planes.dtype.type
        n_here, left = np.int32(0), np.int64(0)
        for s in range(counted, stored):
            if s == rest:
                continue
            n_here, total = np.int32(0), number(0)
            for i in range(n_rows):
                here = (keys[i] > above) & (keys[i] <= upto)
                n_here = np.int32(n_here + here)
                total = number(total + (planes[s, i] if here else number(0)))
            cell[s] = total
            left += total if s > rest else 0
        if counted:
            cell[0] = n_here
        if rest >= 0:
            cell[rest] = (np.int64(n_here) if whole < 0 else cell[whole]) - left

    @register_jitable(forceinline=True)
    @named_after(shape)
    def add_sides(keys, n_rows, last, nothing, gaps, planes, own, cells):  # type: ignore[no-untyped-def]
        """Write the sums of rows without a value, up to the last key, and above it, (3, S)."""
        key = keys.dtype.type
        add_side(keys, n_rows, key(-nothing), last, planes, cells[1])
        if gaps:
            add_side(keys, n_rows, last, key(nothing - 1), planes, cells[2])
        for s in range(stored):
            if not gaps:
                cells[2, s] = own[implied + s] - cells[1, s]
            cells[0, s] = own[implied + s] - cells[1, s] - cells[2, s]

    return add_sides


@register_jitable(forceinline=True)
def _planes_of(  # noqa: C901  (one compiled loop)
    planes: Any, line: Any, local: Any, begin: Any, n_rows: Any, statistics: Any
) -> Any:
    """Write what each of a node's rows adds to each plane, (S, n)."""
    label, weight, sums, counted = statistics
    stored, outputs, n_sums = planes.shape[0], label.shape[1], sums.shape[1]
    number, first, flat = planes.dtype.type, np.uint64(begin), label.reshape(-1)
    weighted, heavy = weight.size > 0, np.intp(counted)
    if weighted:
        for i in range(n_rows):
            planes[heavy, i] = number(weight[np.uint64(local[first + np.uint64(i)])])
    if outputs == 1:
        for i in range(n_rows):
            line[i] = flat[np.uint64(local[first + np.uint64(i)])]
        for s in range(heavy + weighted, stored):
            for i in range(n_rows):
                own = planes[heavy, i] if weighted else number(1)
                planes[s, i] = own if line[i] == s else number(0)
    elif outputs:
        planes[heavy + weighted :, :n_rows] = 0
        for i in range(n_rows):
            row = np.uint64(local[first + np.uint64(i)])
            for o in range(outputs):
                planes[np.uint64(label[row, o]), i] = planes[heavy, i] if weighted else number(1)
    for i in range(n_rows):
        for j in range(n_sums):
            planes[stored - n_sums + j, i] = sums[np.uint64(local[first + np.uint64(i)]), j]


@register_jitable(forceinline=True)
def _add_by_row(
    keys: Any, n_rows: Any, last: Any, nothing: Any, line: Any, node: Any, statistics: Any, out: Any
) -> None:
    """Write the same sums row by row, for statistics of which there are many."""
    local, begin = node
    for i in range(n_rows):
        line[i] = 0 if keys[i] == nothing else 1 + (keys[i] > last)
    out[:] = 0
    add_rows(out.reshape(-1), out.shape[1], line, local, begin, begin + n_rows, statistics)


def cut_work(most: int, layout: Any, bits: NDArray[Any]) -> tuple[Any, ...]:
    """Return the arrays that the search among cuts works with, for up to `most` rows of a node."""
    stored, counts = layout.n_stored, layout.implied and layout.classes > 1
    planar = shape_of(layout, layout.implied)[0] >= 0
    planes = np.empty((stored if planar else 0, most), np.int32 if counts else np.int64)
    few = lane_work(min(most, FEW), layout)
    return np.empty(most, bits.dtype), planes, np.zeros((3, stored), np.int64), few


def cut_search(  # noqa: C901, PLR0915  (one compiled loop)
    gain: Callable[[Any, Any, Any], Any], shape: Shape
) -> Any:
    """Return the search for one node's split, for one criterion and one shape of layout."""
    best_of = feature_search(shape)
    planar = shape[0] >= 0
    add_sides: Any = _sums_of_sides(shape) if planar else None
    search_few = lane_search(gain, shape)

    @register_jitable(forceinline=True)
    @named_after(gain, shape)
    def search_node(  # type: ignore[no-untyped-def]  # noqa: C901
        values, bits, local, node, statistics, n_codes, rules, work
    ):
        """Return (feature or −1, gain, bin, next, missing left, missing, threshold, last value)."""
        begin, end, state, own, _, _, _ = node
        (_, _, min_rows, min_weight, _, costs), draw, layout, nothing = rules
        max_features, order_state, cut_state = draw
        (keys, planes, cells, few), line, order, sums, sums_left = work
        n_features, n_rows = bits.shape[0], end - begin
        bounds, minima = (np.int64(0), -np.inf, np.inf), (min_rows, min_weight)
        draws, cuts = _next_state(order_state, state), _next_state(cut_state, state)
        if planar:
            _planes_of(planes, line, local, begin, n_rows, statistics)
        if n_rows * LANES <= few[0].size:
            added = (statistics, planes)
            return search_few(values, nothing, local, node, added, rules, order, few, sums_left)
        best, worth, found, varied, turns = -np.inf, -np.inf, -1, False, 0
        its_next, its_way, its_missing, its_cut, its_last = 0, False, np.int64(0), 0.0, nothing
        for looked in range(n_features):
            if varied and looked >= max_features:
                break
            f = looked
            if max_features < n_features:
                f, turns = next_feature(order, looked, draws), looked + 1
            least, greatest, gaps = _extremes(bits[f], local, begin, n_rows, keys, nothing)
            cut = np.inf
            if least < greatest:
                cut = _cut_between(least, greatest, _next_state(cuts, np.uint64(f)))
            elif not gaps:
                continue  # constant
            last = _last_of(cut, nothing)
            if planar:
                add_sides(keys, n_rows, last, nothing, gaps, planes, own, cells)
            else:
                _add_by_row(keys, n_rows, last, nothing, line, (local, begin), statistics, cells)
            score, _, way, n_missing, varies = best_of(
                gain, cells, own, 1, bounds, minima, layout, sums
            )
            varied, per_cost = varied or varies, score / costs[f] if costs.size else score
            if score > -np.inf and (found < 0 or per_cost > worth):
                best, worth, found = score, per_cost, f
                its_next = 2 if least < greatest else 0
                its_way, its_missing, its_cut, its_last = way == 1, n_missing, cut, last
                for s in range(cells.shape[1]):
                    sums_left[s] = cells[1, s] + way * cells[0, s]
        put_back(order, turns)
        return found, best, 1, its_next, its_way, its_missing, its_cut, _number_of(its_last)

    return search_node

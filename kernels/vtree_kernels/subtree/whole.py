"""The compiled loop of `subtree` for nodes of many rows: the sums of rows by code are kept.

    a node with cells ── split ──┬── smaller child: its rows are added up in cells of their own
                                 └── larger child: what these leave of the node's

Where leaves are limited, the open one of largest gain is next, so that nothing is grown in vain;
otherwise the one that was made last, so that few have cells at once.
Nodes of few rows have no cells: they are searched as in the loop of small nodes.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numba
import numpy as np

from vtree_kernels._counting import UNCOUNTED
from vtree_kernels._naming import named_after
from vtree_kernels._registered import register_jitable, register_once
from vtree_kernels.best_first.cpu import pop, push
from vtree_kernels.histogram.words import add_pair
from vtree_kernels.scan.cpu import Shape, feature_search, next_filled, write_left
from vtree_kernels.search.cpu import add_rows
from vtree_kernels.subtree.growing import (
    differ,
    make_children,
    node_search,
    parting,
    worth_a_search,
)
from vtree_kernels.subtree.holding import Kind, holding
from vtree_kernels.subtree.leveling import leveling


@register_jitable
def _gather(local: Any, begin: Any, n_rows: Any, statistics: Any, near: Any) -> Any:
    """Copy what a node's rows add to cells, for all features to come; return it."""
    label, weight, sums, counted = statistics
    own_label, own_weight, own_sums, _, _ = near
    for i in range(n_rows):
        row = np.uint64(local[begin + i])
        for o in range(label.shape[1]):
            own_label[i, o] = label[row, o]
        if weight.size:
            own_weight[i] = weight[row]
        for j in range(sums.shape[1]):
            own_sums[i, j] = sums[row, j]
    return own_label, own_weight, own_sums, counted


@register_jitable
def _add_sums(
    flat: Any, column: Any, local: Any, begin: Any, n_rows: Any, weight: Any, sums: Any
) -> None:
    """Add a count, the weight if any, and one sum: two planes at once."""
    first, one = np.uint64(begin), np.int64(1)
    if weight.size:
        for i in range(np.uint64(n_rows)):
            at = np.uint64(3) * np.uint64(column[np.uint64(local[first + i])])
            add_pair(flat, at, one, weight[i])
            flat[at + np.uint64(2)] += sums[i]
    else:
        for i in range(np.uint64(n_rows)):
            at = np.uint64(2) * np.uint64(column[np.uint64(local[first + i])])
            add_pair(flat, at, one, sums[i])


@functools.cache
def _filling(kind: Kind) -> tuple[Any, Any]:  # noqa: C901  (two compiled loops)
    """Return what fills a node's cells, and what leaves those of its sibling in their parent's.

    Features that split neither a node nor one below it have none.
    """
    is_of_use = holding(kind).is_of_use

    @register_jitable
    @named_after(*kind)
    def fill(  # type: ignore[no-untyped-def]
        cells, columns, local, begin, end, statistics, near, held, node
    ):
        """Write the sums of a node's rows by code, feature by feature, to cells (F, B, S)."""
        n_rows, (place, line) = end - begin, near[3:]
        own = _gather(local, begin, n_rows, statistics, near)
        label, weight, sums, counted = own
        one_sum = counted and label.shape[1] == 0 and sums.shape[1] == 1
        for f in range(columns.shape[0]):
            if not is_of_use(held, node, f):
                continue
            column, flat = columns[f], cells[f].reshape(-1)
            flat[:] = 0
            if one_sum:
                _add_sums(flat, column, local, begin, n_rows, weight, sums.reshape(-1))
                continue
            for i in range(n_rows):
                line[i] = column[np.uint64(local[begin + i])]
            add_rows(flat, cells.shape[2], line, place, 0, n_rows, own)

    @register_jitable
    @named_after(*kind)
    def take_away(cells: Any, others: Any, held: Any, node: Any) -> None:
        """Subtract others from the cells that will be a node's."""
        for f in range(cells.shape[0]):
            if is_of_use(held, node, f):
                left, right = cells[f].reshape(-1), others[f].reshape(-1)
                for i in range(np.uint64(left.size)):
                    left[i] -= right[i]

    return fill, take_away


@functools.cache
def _look(gain: Callable[[Any, Any, Any], Any], shape: Shape, kind: Kind) -> Any:
    """Return the search for a node's split by one feature, from its cells."""
    best_of, of_feature = feature_search(shape), holding(kind).of_feature
    is_level, search_levels, _, _, _ = leveling(gain, shape, kind.levels)

    @register_jitable
    @named_after(gain, shape, *kind)
    def look(
        f: Any, cells: Any, own: Any, minima: Any, layout: Any, sums: Any, held: Any, levels: Any
    ) -> Any:
        """Return (gain, bin, next, missing left, missing)."""
        if is_level(levels, f):
            return search_levels(levels, cells, own, minima, layout, sums)[:5]
        score, bin, way, n_missing, _ = best_of(
            gain, cells, own, 0, of_feature(held, f), minima, layout, sums
        )
        following = np.int64(next_filled(cells, bin, layout.implied, layout.classes))
        return score, bin, following, way == 1, n_missing

    return look


@functools.cache
def cell_search(gain: Callable[[Any, Any, Any], Any], shape: Shape, kind: Kind) -> Any:
    """Return the search among a node's cells, as `code_search` is among its rows."""
    look, may_split = _look(gain, shape, kind), holding(kind).may_split
    is_level, _, keep, _, _ = leveling(gain, shape, kind.levels)

    @register_jitable
    @named_after(gain, shape, *kind)
    def search_node(
        cells: Any, own: Any, n_codes: Any, rules: Any, sums: Any, held: Any, levels: Any
    ) -> Any:
        """Return (feature or −1, gain, bin, next, missing left, missing) of all features."""
        (_, _, min_rows, min_weight, _, costs), _, layout, _ = rules
        minima, best, worth, found = (min_rows, min_weight), -np.inf, -np.inf, -1
        its_bin, its_next, its_way, its_missing = np.int64(0), np.int64(0), False, np.int64(0)
        for f in range(n_codes.size):
            if not may_split(held, f):
                continue
            score, bin, following, way, n_missing = look(
                f, cells[f, : n_codes[f]], own, minima, layout, sums, held, levels
            )
            per_cost = score / costs[f] if costs.size else score
            if score > -np.inf and (found < 0 or per_cost > worth):
                best, worth, found, its_bin, its_next = score, per_cost, f, bin, following
                its_way, its_missing = way, n_missing
                if is_level(levels, f):
                    keep(levels)
        return found, best, its_bin, its_next, its_way, its_missing

    return search_node


def room_for(
    n_rows: int,
    n_nodes: int,
    n_cells: int,
    shape: tuple[int, int, int],
    statistics: Any,
    n_statistics: int,
) -> tuple[Any, ...]:
    """Return cells, and the arrays that go with them, for a node of `n_rows` and all below it.

    n_nodes: how many there can be; n_cells, shape: how many of them have cells at once, of that
    shape.
    """
    label, weight, sums, _ = statistics
    near = (
        np.empty((n_rows, label.shape[1]), label.dtype),
        np.empty(n_rows if weight.size else 0, np.int64),
        np.empty((n_rows, sums.shape[1]), np.int64),
        np.arange(n_rows, dtype=np.uint32),
        np.empty(n_rows, np.uint32),
    )
    slots = np.arange(n_cells)[::-1].copy(), np.full(n_nodes, -1)
    waiting = np.empty(n_nodes, np.int64), np.arange(n_nodes)
    left = np.empty(n_statistics, np.int64)
    return np.empty((n_cells, *shape), np.int64), near, slots, waiting, left


@register_jitable(forceinline=True)
def _is_open(
    out: Any, node: Any, local: Any, numbers: Any, identity: Any, reals: Any, layout: Any
) -> Any:
    """Tell whether a node's rows are enough, and different, so that it is worth a search."""
    start, stop, depth, _, total = out[:5]
    begin, end, own = start[node], stop[node], total[node]
    if not worth_a_search(own, end - begin, depth[node], numbers, layout):
        return False
    return differ(local, begin, end, own, identity, reals, layout)


@register_jitable(forceinline=True)
def _write(out: Any, node: Any, found: Any) -> None:
    """Write what was found for a node."""
    feature, gain, bin, following, way, missing, threshold = out[6:]
    feature[node], gain[node], bin[node], following[node] = found[:4]
    way[node], missing[node], threshold[node] = found[4], found[5], 0.0


@functools.cache
def _handing(kind: Kind) -> tuple[Any, Any]:
    """Return what fills a node's cells, and what hands them on to its children."""
    fill, take_away = _filling(kind)

    @register_jitable(forceinline=True)
    @named_after(*kind)
    def hand_cells_on(  # type: ignore[no-untyped-def]
        cells, free, n_free, slot, out, node, few, deepest, columns, local, statistics, near, held
    ):
        """Fill the cells of a node's children from its own, if any; return how many are free."""
        start, stop, depth, first = out[0], out[1], out[2], out[5][node]
        own = slot[node]
        if own < 0:
            return n_free
        second_is_less = stop[first] - start[first] > stop[first + 1] - start[first + 1]
        small = first + np.int64(second_is_less)
        large = 2 * first + 1 - small
        if stop[large] - start[large] <= few or depth[large] == deepest:
            free[n_free] = own
            return n_free + 1
        other = free[n_free - 1]
        its = start[small], stop[small]
        fill(cells[other], columns, local, *its, statistics, near, held, small)
        take_away(cells[own], cells[other], held, large)
        slot[large] = own
        if stop[small] - start[small] <= few:
            return n_free
        slot[small] = other
        return n_free - 1

    return fill, hand_cells_on


@functools.cache
def node_look(gain: Callable[[Any, Any, Any], Any], shape: Shape, kind: Kind) -> Any:
    """Return what searches a node, among its cells if it has some, and writes what it finds."""
    search_few = node_search(gain, shape, False, kind)
    search_cells = cell_search(gain, shape, kind)
    of_node = holding(kind).of_node
    is_level, _, _, store, _ = leveling(gain, shape, kind.levels)

    @register_jitable
    @named_after(gain, shape, *kind)
    def look(  # type: ignore[no-untyped-def]
        columns,
        local,
        statistics,
        targets,
        n_codes,
        rules,
        cells,
        held,
        levels,
        slot,
        arrays,
        out,
        node,
    ):
        """Tell whether there is a split that gains enough."""
        start, stop, _, key, total = out[:5]
        numbers, _, layout, _ = rules
        work, _, _, present = arrays
        if not _is_open(out, node, local, numbers, targets[0], targets[1], layout):
            return False
        own = of_node(held, node)
        if slot >= 0:
            found = search_cells(cells[slot], total[node], n_codes, rules, work[3], own, levels)
        else:
            its = (start[node], stop[node], key[node], total[node], own, levels)
            found = search_few(
                columns, columns, local, its, statistics, n_codes, rules, work, present
            )[:6]
        if found[0] < 0 or found[1] < numbers[4]:
            return False
        _write(out, node, found)
        if is_level(levels, found[0]):
            store(levels, node)
        return True

    return look


@register_jitable(forceinline=True)
def _sums_left(
    sums_left: Any, left: Any, cells: Any, local: Any, begin: Any, middle: Any, zeros: Any,
    statistics: Any, split: Any, layout: Any,
) -> None:  # fmt: skip
    """Write the sums of a node's first child, from the cells (B, S) of its feature if it has some.

    split: its bin and where missing values go.
    """
    sums_left[:] = 0
    if cells.shape[0] == 0:
        add_rows(sums_left, sums_left.size, zeros, local, begin, middle, statistics)
        return
    write_left(left, cells, split[0], split[1], layout.implied, layout.classes)
    for s in range(sums_left.size):
        sums_left[s] = left[layout.implied + s]


@register_jitable
def _closed(nodes: Any, feature: Any, gain: Any, n_made: Any) -> Any:
    """Leave nodes as they are, whatever was found for them; return n_made."""
    for i in range(nodes.size):
        feature[nodes[i]], gain[nodes[i]] = -1, -np.inf
    return n_made


@functools.cache
def whole_grower(  # noqa: C901, PLR0915  (one compiled loop)
    gain: Callable[[Any, Any, Any], Any], shape: Shape, kind: Kind
) -> Any:
    """Compile the loop around one criterion and one shape of layout, as `scan` is."""
    register_once(gain)
    look, own_leveling = node_look(gain, shape, kind), leveling(gain, shape, kind.levels)
    parted, is_level = parting(False, own_leveling), own_leveling.is_level
    (fill, hand_cells_on), hand_on = _handing(kind), holding(kind).hand_on

    @numba.njit(cache=True, nogil=True, error_model="numpy", **UNCOUNTED)
    @named_after(gain, shape, *kind)
    def grow(  # type: ignore[no-untyped-def]  # noqa: C901
        columns, local, statistics, identity, reals, n_codes, numbers, draw, layout, most, few,
        nothing, held, levels, room, arrays, out,
    ):  # fmt: skip
        """Grow node 0 of `out`; return how many nodes there are then.

        most: splits, best first, −1 for all there are; few: rows up to which a node has no cells.
        """
        start, stop, _, _, _, first_child, feature, out_gain, out_bin, _, way = out[:11]
        rules, limited = (numbers, draw, layout, nothing), most >= 0
        cells, near, (free, slot), (waiting, arrival), left = room
        work, (spare, zeros) = arrays[:2]
        n_free, n_waiting, n_splits, n_made, first = free.size, 0, 0, 1, 0
        given = columns, local, statistics, (identity, reals), n_codes, rules, cells, held, levels
        if stop[0] - start[0] > few:
            n_free, slot[0] = n_free - 1, free[n_free - 1]
            fill(cells[slot[0]], columns, local, start[0], stop[0], statistics, near, held, 0)
        while True:
            for node in range(first, n_made):
                if look(*given, slot[node], arrays, out, node):
                    waiting[n_waiting] = node
                    if limited:
                        push(waiting, n_waiting, out_gain, arrival, node)
                    n_waiting += 1
                elif slot[node] >= 0:
                    free[n_free], n_free = slot[node], n_free + 1
            if n_waiting == 0 or n_splits == most:
                break
            node = waiting[n_waiting - 1]
            if limited:
                node = pop(waiting, n_waiting, out_gain, arrival)
            n_waiting, n_splits, first, f = n_waiting - 1, n_splits + 1, n_made, feature[node]
            begin, split = start[node], (out_bin[node], way[node])
            middle = parted(levels, node, f, columns[f], local, begin, stop[node], *split, spare)
            has_cells = slot[node] >= 0 and not is_level(levels, f)
            own = cells[max(slot[node], 0), f, : n_codes[f] if has_cells else 0]
            _sums_left(work[4], left, own, local, begin, middle, zeros, statistics, split, layout)
            first_child[node], n_made = first, n_made + 2
            make_children(out[:8], node, first, middle, work[4], layout.implied, -1)
            hand_on(held, out[4], node, f, first, layout)
            if n_splits == most:
                break
            n_free = hand_cells_on(
                cells, free, n_free, slot, out, node, few, numbers[0], columns, local,
                statistics, near, held,
            )  # fmt: skip
        return _closed(waiting[:n_waiting], feature, out_gain, n_made)

    return grow

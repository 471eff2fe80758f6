"""The compiled loop of `subtree`: a stack of nodes over columns that were copied side by side."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numba
import numpy as np

from vtree_kernels import mixing
from vtree_kernels._counting import UNCOUNTED
from vtree_kernels._naming import named_after
from vtree_kernels._registered import register_jitable, register_once
from vtree_kernels.scan.cpu import Shape, scratch_for, shape_of
from vtree_kernels.search.cpu import add_rows, work_for
from vtree_kernels.subtree.codes import code_search
from vtree_kernels.subtree.cuts import cut_search, cut_work
from vtree_kernels.subtree.holding import Kind, holding
from vtree_kernels.subtree.leveling import Leveling, leveling
from vtree_kernels.subtree.present import among_present, present_work

LATER = -2  # first child of nodes that are left for later

_next_state: Any = register_jitable(mixing.next_state)


@register_jitable(forceinline=True)
def differ(
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


@functools.cache
def parting(raw: bool, leveling: Leveling) -> Any:
    """Return what sorts a node's rows by side, among values or among codes."""
    is_level, part_by_level = leveling.is_level, leveling.part

    @register_jitable(forceinline=True)
    @named_after(raw, is_level.__name__)
    def parted(  # type: ignore[no-untyped-def]
        levels, node, f, column, local, begin, end, last, missing_left, spare
    ):
        """Sort stably; return where the right ones begin. last: of what goes left in the column."""
        if is_level(levels, f):
            return part_by_level(levels, node, column, local, begin, end, missing_left, spare)
        at, kept, last = np.uint64(begin), np.uint64(0), column.dtype.type(last)
        for i in range(np.uint64(begin), np.uint64(end)):
            row = local[i]
            value = column[np.uint64(row)]
            missing = value != value if raw else value == 0
            goes_left = missing_left if missing else value <= last
            local[at] = row
            spare[kept] = row
            at += np.uint64(goes_left)
            kept += np.uint64(not goes_left)
        for k in range(kept):
            local[at + np.uint64(k)] = spare[k]
        return np.int64(at)

    return parted


@register_jitable(forceinline=True)
def worth_a_search(own: Any, n_rows: Any, depth: Any, numbers: Any, layout: Any) -> Any:
    """Tell whether a node is neither too deep nor too small for a split."""
    max_depth, min_split, _, min_weight, _, _ = numbers
    if depth == max_depth or n_rows < min_split:
        return False
    return np.float64(own[layout.weight]) >= 2.0 * min_weight


@register_jitable(forceinline=True)
def make_children(
    out: Any, node: Any, first: Any, middle: Any, sums_left: Any, implied: Any, least: Any
) -> Any:
    """Write a node's two children; those of at most `least` rows are left for later."""
    start, stop, depth, key, total, first_child, feature, gain = out
    path = _next_state(np.uint64(0), key[node])
    for side in range(2):
        child = first + side
        depth[child] = depth[node] + 1
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


@register_jitable(forceinline=True)
def _put(pending: Any, n_pending: Any, first_child: Any, first: Any) -> Any:
    """Put two children onto the pile, so that the first is next; return how many are there then."""
    for child in range(first + 1, first - 1, -1):
        if first_child[child] != LATER:
            pending[n_pending] = child
            n_pending += 1
    return n_pending


def _among_all(search_node: Any, shape: Shape) -> Any:
    """Return the same search, where classes are few."""

    @register_jitable(forceinline=True)
    @named_after(shape)
    def search_all(columns, bits, local, node, statistics, n_codes, rules, work, _):  # type: ignore[no-untyped-def]
        return search_node(columns, bits, local, node, statistics, n_codes, rules, work)

    return search_all


@functools.cache
def node_search(gain: Callable[[Any, Any, Any], Any], shape: Shape, raw: bool, kind: Kind) -> Any:
    """Return the search for a node's split, among the classes that it has where these are many."""
    search = cut_search(gain, shape) if raw else code_search(gain, shape, kind)
    return among_present(search, shape, raw) if shape[0] < 0 else _among_all(search, shape)


def scratch(
    n_codes: int, most: int, n_given: int, label: Any, layout: Any, bits: Any, raw: bool, kind: Kind
) -> Any:
    """Return arrays that the nodes of a task share, for up to `most` rows of a node.

    They are made here, for to compile what makes them would take a second.
    """
    stored = layout.n_stored
    line, order = np.empty(most, np.uint32), np.arange(bits.shape[0])
    sums = scratch_for(layout)
    own = cut_work(most, layout, bits) if raw else work_for(n_codes, stored)
    rows = np.empty(most, np.uint32), np.zeros(most, np.uint32)
    pending = np.empty(2 * most + n_given, np.int64)
    pending[:n_given] = np.arange(n_given)[::-1]
    # Bounds, and the orders of levels, are of planes that are where they were.
    few = shape_of(layout, layout.implied)[0] >= 0
    present = present_work(label[:0] if few else label, layout, some=kind.free)
    return (own, line, order, sums, np.zeros(stored, np.int64)), rows, pending, present


@functools.cache
def grower(  # noqa: C901  (one compiled loop)
    gain: Callable[[Any, Any, Any], Any], shape: Shape, raw: bool, kind: Kind
) -> Any:
    """Compile the loop around one criterion and one shape of layout, as `scan` is."""
    register_once(gain)
    own_leveling = leveling(gain, shape, kind.levels)
    search_node, parted = node_search(gain, shape, raw, kind), parting(raw, own_leveling)
    of_node, hand_on = holding(kind).of_node, holding(kind).hand_on
    is_level, store = own_leveling.is_level, own_leveling.store

    @numba.njit(cache=True, nogil=True, error_model="numpy", **UNCOUNTED)
    @named_after(gain, shape, raw, *kind)
    def grow(  # type: ignore[no-untyped-def]
        columns, bits, local, n_given, statistics, identity, reals, n_codes, numbers, draw, layout,
        least, in_turn, nothing, held, levels, arrays, out,
    ):  # fmt: skip
        """Grow the first `n_given` nodes of `out`; return how many nodes there are then.

        Made nodes of at most `least` rows are left for later, marked by their first child. Nodes
        are looked at as they were made, or (not `in_turn`) all below one before the next.
        """
        start, stop, depth, key, total, first_child = out[:6]
        feature, out_gain, out_bin, out_next, out_way, out_missing, threshold = out[6:]
        rules = (numbers, draw, layout, nothing)
        work, (spare, zeros), pending, present = arrays
        sums_left, n_pending, n_made, turn = work[4], n_given, n_given, 0
        while turn < n_made if in_turn else n_pending > 0:
            n_pending -= 1
            node = turn if in_turn else pending[n_pending]
            turn += 1
            begin, end, own = start[node], stop[node], total[node]
            if not worth_a_search(own, end - begin, depth[node], numbers, layout):
                continue
            if not differ(local, begin, end, own, identity, reals, layout):
                continue
            its = (begin, end, key[node], own, of_node(held, node), levels, (0, columns.shape[0]))
            f, gained, bin, next_bin, way, n_missing, cut, last = search_node(
                columns, bits, local, its, statistics, n_codes, rules, work, present
            )
            if f < 0 or gained < numbers[4]:
                continue
            feature[node], out_gain[node], first_child[node] = f, gained, n_made
            out_bin[node], out_next[node], threshold[node] = bin, next_bin, cut
            out_way[node], out_missing[node] = way, n_missing
            if is_level(levels, f):
                store(levels, node)
            middle = parted(levels, node, f, columns[f], local, begin, end, last, way, spare)
            if not raw:
                sums_left[:] = 0
                add_rows(sums_left, sums_left.size, zeros, local, begin, middle, statistics)
            make_children(out[:8], node, n_made, middle, sums_left, layout.implied, least)
            hand_on(held, total, node, f, n_made, layout)
            if not in_turn:
                n_pending = _put(pending, n_pending, first_child, n_made)
            n_made += 2
        return n_made

    return grow

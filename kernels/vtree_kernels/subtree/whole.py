"""The compiled loop of `subtree` for nodes of many rows: the sums of rows by code are kept.

    a node with cells ── split ──┬── smaller child: its rows are added up in cells of their own
                                 └── larger child: what these leave of the node's

Where leaves are limited, the open one of largest gain is next, so that nothing is grown in vain;
otherwise the one that was made last, so that few have cells at once.
Nodes of few rows have no cells: they are searched as in the loop of small nodes.

What is done feature by feature, cells of both children and the search for their splits, is a job
whose chunks of features several threads may share, see `sharing`.
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
from vtree_kernels.scan.cpu import Shape, write_left
from vtree_kernels.search.cpu import add_rows
from vtree_kernels.subtree.growing import (
    differ,
    make_children,
    parting,
    worth_a_search,
)
from vtree_kernels.subtree.holding import Kind, holding
from vtree_kernels.subtree.jobs import CELLS, FILLED, FIRST, LESS, OPEN, gather, taking, working
from vtree_kernels.subtree.leveling import leveling
from vtree_kernels.subtree.sharing import claim, close, finish, is_closed


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
def _hand_cells_on(room: Any, n_free: Any, out: Any, node: Any, few: Any, job: Any) -> Any:
    """Say in the job which cells of a node's children are filled; return how many are free then.

    The smaller child's are filled, and what these leave of the node's are the larger one's.
    """
    (_, _, slot), free = room
    start, stop, first = out[0], out[1], out[5][node]
    own = slot[node]
    job[CELLS] = job[LESS] = -1
    if own < 0:
        return n_free
    second_is_less = stop[first] - start[first] > stop[first + 1] - start[first + 1]
    small = first + np.int64(second_is_less)
    large = 2 * first + 1 - small
    if stop[large] - start[large] <= few or not (job[OPEN] or job[OPEN + 1]):
        free[n_free] = own
        return n_free + 1
    other = free[n_free - 1]
    job[FILLED], job[CELLS], job[LESS] = small, other, own
    slot[large] = own
    if stop[small] - start[small] <= few:
        return n_free
    slot[small] = other
    return n_free - 1


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
def _splitting(kind: Kind, own_leveling: Any) -> Any:
    """Return what parts a node's rows and writes its children, and the job that they are."""
    parted, is_level = parting(False, own_leveling), own_leveling.is_level
    hand_on = holding(kind).hand_on

    @register_jitable
    @named_after(own_leveling.is_level.__name__, *kind)
    def split(  # type: ignore[no-untyped-def]
        given, targets, job, node, first, arrays, left
    ):
        columns, local, statistics, n_codes, rules, held, levels, (cells, _, slot), out = given
        start, stop, _, _, _, first_child, feature, _, out_bin, _, way = out[:11]
        layout, (work, (spare, zeros)) = rules[2], arrays[:2]
        f, begin, cut = feature[node], start[node], (out_bin[node], way[node])
        middle = parted(levels, node, f, columns[f], local, begin, stop[node], *cut, spare)
        has_cells = slot[node] >= 0 and not is_level(levels, f)
        own = cells[max(slot[node], 0), f, : n_codes[f] if has_cells else 0]
        _sums_left(work[4], left, own, local, begin, middle, zeros, statistics, cut, layout)
        first_child[node], job[FIRST] = first, first
        make_children(out[:8], node, first, middle, work[4], layout.implied, -1)
        hand_on(held, out[4], node, f, first, layout)
        for side in range(2):
            its = out, first + side, local, rules[0], targets[0], targets[1], layout
            job[OPEN + side] = _is_open(*its)

    return split


@functools.cache
def whole_grower(  # noqa: C901  (one compiled loop)
    gain: Callable[[Any, Any, Any], Any], shape: Shape, kind: Kind
) -> Any:
    """Compile the loop around one criterion and one shape of layout, as `scan` is."""
    register_once(gain)
    have_done, take = taking(gain, shape, kind)
    split = _splitting(kind, leveling(gain, shape, kind.levels))

    @numba.njit(cache=True, nogil=True, error_model="numpy", **UNCOUNTED)
    @named_after(gain, shape, *kind)
    def grow(  # type: ignore[no-untyped-def]  # noqa: C901
        columns, local, statistics, identity, reals, n_codes, numbers, draw, layout, most, few,
        nothing, held, levels, room, arrays, line, desk, out,
    ):  # fmt: skip
        """Grow node 0 of `out`; return how many nodes there are then.

        most: splits, best first, −1 for all there are; few: rows up to which a node has no cells.
        """
        start, stop, feature, out_gain = out[0], out[1], out[6], out[7]
        rules, limited, job = (numbers, draw, layout, nothing), most >= 0, desk[1]
        cells, near, (free, slot), (waiting, arrival), left = room
        n_free, n_waiting, n_splits, n_made, first = free.size, 0, 0, 1, 0
        given = columns, local, statistics, n_codes, rules, held, levels, (cells, near, slot), out
        job[FIRST], job[FILLED], job[CELLS], job[LESS], job[OPEN + 1] = 0, 0, -1, -1, 0
        job[OPEN] = _is_open(out, 0, local, numbers, identity, reals, layout)
        if stop[0] - start[0] > few:
            n_free, slot[0] = n_free - 1, free[n_free - 1]
            job[CELLS] = slot[0]
        while True:
            if job[CELLS] >= 0:
                node = job[FILLED]
                gather(local, start[node], stop[node], statistics, near)
            if job[OPEN] or job[OPEN + 1]:
                have_done(given, desk, arrays, line)
            for node in range(first, n_made):
                if take(given, desk, node - first):
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
            n_waiting, n_splits, first, n_made = n_waiting - 1, n_splits + 1, n_made, n_made + 2
            split(given, (identity, reals), job, node, first, arrays, left)
            if n_splits == most:
                break
            n_free = _hand_cells_on((given[7], free), n_free, out, node, few, job)
        close(desk[0])
        return _closed(waiting[:n_waiting], feature, out_gain, n_made)

    return grow


@functools.cache
def whole_helper(gain: Callable[[Any, Any, Any], Any], shape: Shape, kind: Kind) -> Any:
    """Compile what another thread does meanwhile: a chunk after another, until no job comes."""
    register_once(gain)
    work_on = working(gain, shape, kind)

    @numba.njit(cache=True, nogil=True, error_model="numpy", **UNCOUNTED)
    @named_after(gain, shape, *kind)
    def help_to_grow(  # type: ignore[no-untyped-def]
        columns, local, statistics, n_codes, numbers, draw, layout, nothing, held, levels, room,
        arrays, line, desk, out,
    ):  # fmt: skip
        """Do chunks of the jobs of `grow`, whose arrays these are but for what it works with."""
        cells, near, (_, slot), _, _ = room
        rules, place, n_chunks = (numbers, draw, layout, nothing), desk[0], desk[2][0].shape[0]
        given = columns, local, statistics, n_codes, rules, held, levels, (cells, near, slot), out
        while not is_closed(place):
            chunk = claim(place, n_chunks)
            if chunk >= 0:
                work_on(given, desk, chunk, arrays, line)
                finish(place)

    return help_to_grow

"""What is done feature by feature where a node grows with cells: its children's, and their splits.

a job   the smaller child's rows are added up in cells, which are subtracted from the node's,
and both children are searched
a chunk does all of that in some features, whoever claims it, see `sharing`
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from vtree_kernels._naming import named_after
from vtree_kernels._registered import register_jitable
from vtree_kernels.histogram.words import add_pair
from vtree_kernels.scan.cpu import Shape, feature_search, next_filled
from vtree_kernels.search.cpu import add_rows
from vtree_kernels.subtree.growing import node_search
from vtree_kernels.subtree.holding import Kind, holding
from vtree_kernels.subtree.leveling import leveling
from vtree_kernels.subtree.sharing import await_all, board, claim, finish, post

# What a job says: the first of its nodes, whether the first and the second one are searched, whose
# rows fill cells, which ones (−1: none), and from which ones these are subtracted then (−1: none).
FIRST, OPEN, FILLED, CELLS, LESS = 0, 1, 3, 4, 5
_JOB = 8


def desk_for(n_chunks: int) -> tuple[Any, ...]:
    """Return where jobs of so many chunks are posted, what they are, and what is found."""
    numbers = np.empty((n_chunks, 2, 5), np.int64), np.empty((n_chunks, 2, 2))
    return board(), np.zeros(_JOB, np.int64), numbers


@register_jitable
def gather(local: Any, begin: Any, end: Any, statistics: Any, near: Any) -> None:
    """Copy what a node's rows add to cells, for all features to come."""
    label, weight, sums, _ = statistics
    own_label, own_weight, own_sums, _ = near
    for i in range(end - begin):
        row = np.uint64(local[begin + i])
        for o in range(label.shape[1]):
            own_label[i, o] = label[row, o]
        if weight.size:
            own_weight[i] = weight[row]
        for j in range(sums.shape[1]):
            own_sums[i, j] = sums[row, j]


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
        cells, columns, local, begin, end, statistics, near, line, held, node, among
    ):
        """Write the sums of a node's rows by code, feature by feature, to cells (F, B, S).

        near: what `gather` copied of these rows; among: the first feature, and the one after the
        last.
        """
        n_rows, (label, weight, sums, place) = end - begin, near
        counted = statistics[3]
        one_sum = counted and label.shape[1] == 0 and sums.shape[1] == 1
        for f in range(among[0], among[1]):
            if not is_of_use(held, node, f):
                continue
            column, flat = columns[f], cells[f].reshape(-1)
            flat[:] = 0
            if one_sum:
                _add_sums(flat, column, local, begin, n_rows, weight, sums.reshape(-1))
                continue
            for i in range(n_rows):
                line[i] = column[np.uint64(local[begin + i])]
            own = label, weight, sums, counted
            add_rows(flat, cells.shape[2], line, place, 0, n_rows, own)

    @register_jitable
    @named_after(*kind)
    def take_away(cells: Any, others: Any, held: Any, node: Any, among: Any) -> None:
        """Subtract others from the cells that will be a node's."""
        for f in range(among[0], among[1]):
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
        cells: Any,
        own: Any,
        n_codes: Any,
        rules: Any,
        sums: Any,
        held: Any,
        levels: Any,
        among: Any,
    ) -> Any:
        """Return (feature or −1, gain, bin, next, missing left, missing) of some features."""
        (_, _, min_rows, min_weight, _, costs), _, layout, _ = rules
        minima, best, worth, found = (min_rows, min_weight), -np.inf, -np.inf, -1
        its_bin, its_next, its_way, its_missing = np.int64(0), np.int64(0), False, np.int64(0)
        for f in range(among[0], among[1]):
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


@functools.cache
def working(gain: Callable[[Any, Any, Any], Any], shape: Shape, kind: Kind) -> Any:
    """Return what works a chunk of a job through: cells first, then the search of each node."""
    fill, take_away = _filling(kind)
    search_few = node_search(gain, shape, False, kind)
    search_cells = cell_search(gain, shape, kind)
    of_node = holding(kind).of_node
    is_level, _, _, store, _ = leveling(gain, shape, kind.levels)

    @register_jitable
    @named_after(gain, shape, *kind)
    def work_on(given: Any, desk: Any, chunk: Any, arrays: Any, line: Any) -> None:
        """Write what is found in the chunk's features, the best of them, to the desk."""
        columns, local, statistics, n_codes, rules, held, levels, (cells, near, slot), out = given
        _, job, (numbers, gains) = desk
        work, _, _, present = arrays
        start, stop, _, key, total = out[:5]
        n_features, n_chunks = columns.shape[0], numbers.shape[0]
        among = chunk * n_features // n_chunks, (chunk + 1) * n_features // n_chunks
        if job[CELLS] >= 0:
            node, own = job[FILLED], cells[job[CELLS]]
            its = start[node], stop[node], statistics, near, line, held, node, among
            fill(own, columns, local, *its)
            if job[LESS] >= 0:
                large = 2 * job[FIRST] + 1 - node
                take_away(cells[job[LESS]], own, held, large, among)
        for side in range(2):
            if job[OPEN + side] == 0:
                continue
            node = job[FIRST] + side
            holds = of_node(held, node)
            if slot[node] >= 0:
                found = search_cells(
                    cells[slot[node]], total[node], n_codes, rules, work[3], holds, levels, among
                )
            else:
                rows = (start[node], stop[node], key[node], total[node], holds, levels, among)
                found = search_few(
                    columns, columns, local, rows, statistics, n_codes, rules, work, present
                )[:6]
            costs, f = rules[0][5], found[0]
            # What is kept of levels is the last search's; one thread does all of it where some are.
            if f >= 0 and found[1] >= rules[0][4] and is_level(levels, f):
                store(levels, node)
            gains[chunk, side, 0] = found[1]
            gains[chunk, side, 1] = found[1] / costs[f] if costs.size and f >= 0 else found[1]
            numbers[chunk, side, 0], numbers[chunk, side, 1] = f, found[2]
            numbers[chunk, side, 2], numbers[chunk, side, 3] = found[3], np.int64(found[4])
            numbers[chunk, side, 4] = found[5]

    return work_on


@register_jitable
def _best_of_chunks(desk: Any, side: Any) -> Any:
    """Return the chunk whose feature is worth most, the first of equal ones, −1 without any."""
    _, _, (numbers, gains) = desk
    best: Any = np.int64(-1)
    for chunk in range(numbers.shape[0]):
        if numbers[chunk, side, 0] < 0:
            continue
        if best < 0 or gains[chunk, side, 1] > gains[best, side, 1]:
            best = chunk
    return best


@functools.cache
def taking(gain: Callable[[Any, Any, Any], Any], shape: Shape, kind: Kind) -> Any:
    """Return what has a job done and writes what was found for its nodes."""
    work_on = working(gain, shape, kind)

    @register_jitable
    @named_after(gain, shape, *kind)
    def have_done(given: Any, desk: Any, arrays: Any, line: Any) -> None:
        """Offer the job, do what nobody else does, and wait for the others."""
        place, n_chunks = desk[0], desk[2][0].shape[0]
        post(place)
        chunk = claim(place, n_chunks)
        while chunk >= 0:
            work_on(given, desk, chunk, arrays, line)
            finish(place)
            chunk = claim(place, n_chunks)
        await_all(place, n_chunks)

    @register_jitable
    @named_after(gain, shape, *kind)
    def take(given: Any, desk: Any, side: Any) -> Any:
        """Write the split of one of the job's nodes; tell whether one gains enough."""
        rules, out = given[4], given[8]
        feature, gain, bin, following, way, missing, threshold = out[6:]
        _, job, (numbers, gains) = desk
        chunk = _best_of_chunks(desk, side) if job[OPEN + side] else np.int64(-1)
        if chunk < 0 or gains[chunk, side, 0] < rules[0][4]:
            return False
        node, own = job[FIRST] + side, numbers[chunk, side]
        feature[node], gain[node] = own[0], gains[chunk, side, 0]
        bin[node], following[node] = own[1], own[2]
        way[node], missing[node], threshold[node] = own[3], own[4], 0.0
        return True

    return have_done, take

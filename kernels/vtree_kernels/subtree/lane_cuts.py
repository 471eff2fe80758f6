"""The same search among drawn cuts for nodes with few rows: eight features at a time, one a lane.

    features      f₀  f₁  f₂  f₃  f₄  ·  ·  ·      those that a node looks at next
    row 7         ▪   ▪   ▪   ▪   ▪                row by row: least and greatest of each lane,
    row 31        ▪   ▪   ▪   ▪   ▪                then, of what lies up to the cuts, the sums
    gains         g₀  g₁  g₂  g₃  g₄  −∞ −∞ −∞     all at once

Most nodes of a tree have few rows. There, what a feature costs besides them would be most of the
time.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from vtree_kernels import mixing
from vtree_kernels._keys import last_key, number_of_key
from vtree_kernels._lanes import LANES, counting, first_largest, lanes_at, put_lanes
from vtree_kernels._naming import named_after
from vtree_kernels._registered import register_jitable
from vtree_kernels.elementary import choose
from vtree_kernels.scan.cpu import Shape, judge, layout_for
from vtree_kernels.subtree.drawing import next_feature, put_back

_next_state: Any = register_jitable(mixing.next_state)
_share: Any = register_jitable(mixing.share)


# Functions of the module, for Numba's cache knows no intrinsic of a closure again.
@register_jitable(forceinline=True)
def _last_number(cut: Any, nothing: Any) -> Any:
    """Return the greatest number of a column's type up to a cut, as float64."""
    return number_of_key(last_key(cut, nothing))


ROOM = 2 * LANES  # of a plane of sums: rows without a value go right, or left


@register_jitable(forceinline=True)
def _take(lanes: Any, first: Any, n: Any, turn: Any, chance: Any) -> None:
    """Put the next `n` features into lanes, those from place `first` of a node's order."""
    features, shares, own_costs, _, _, _, _, _ = lanes
    drawn, order, draws = turn
    cuts, costs = chance
    for lane in range(n):
        f = next_feature(order, first + lane, draws) if drawn else first + lane
        features[lane] = f
        shares[lane] = _share(_next_state(cuts, np.uint64(f)))
        if costs.size:
            own_costs[lane] = costs[f]


@register_jitable(forceinline=True)
def _gather(
    numbers: Any, flat: Any, features: Any, width: Any, n: Any, local: Any, begin: Any, n_rows: Any
) -> None:
    """Write each row's values in `n` features to lanes, with one zero alone."""
    n, first = np.uint64(n), np.uint64(begin)
    for i in range(np.uint64(n_rows)):
        row, at = np.uint64(local[first + i]), i * np.uint64(LANES)
        for lane in range(n):
            place = np.uint64(features[lane]) * width + row
            numbers[at + lane] = np.float64(flat[place]) + 0.0


@register_jitable(forceinline=True)
def _draw_cuts(numbers: Any, n_rows: Any, n: Any, shares: Any, cuts: Any, missing: Any) -> Any:
    """Write each lane's cut, and its number of rows without a value.

    Returns whether one of the first `n` lanes varies, and whether one lacks values.
    """
    absent = counting() - counting()
    least = choose(absent == 0, np.inf, 0.0)
    greatest = -least
    for i in range(n_rows):
        own = lanes_at(numbers, i * LANES)
        least = choose(own < least, own, least)
        greatest = choose(own > greatest, own, greatest)
        absent = absent + choose(own != own, 1, 0)
    u = lanes_at(shares, 0)
    point = least * (1.0 - u) + greatest * u  # as `mixing.between`
    point = choose(point >= least, point, least)
    point = choose(point < greatest, point, least)
    put_lanes(cuts, 0, choose(least < greatest, point, np.inf))
    put_lanes(missing, 0, absent)
    lacks, partly = choose(absent > 0, 1.0, 0.0), choose(absent < n_rows, 1.0, 0.0)
    varies = choose(least < greatest, 1.0, lacks * partly)
    its = choose(counting() < n, 1.0, 0.0)
    varied, _ = first_largest(its * varies, counting())
    gaps, _ = first_largest(its * lacks, counting())
    return varied > 0.0, gaps > 0.0


@register_jitable(forceinline=True)
def _add_plane(
    numbers: Any, n_rows: Any, cuts: Any, gaps: Any, planes: Any, s: Any, sums: Any, at: Any
) -> None:
    """Write what rows up to the cuts add to plane s, and behind, with those without a value.

    Plane −1 has one a row.
    """
    cut, left = lanes_at(cuts, 0), counting() - counting()
    for i in range(n_rows):
        adds = np.int64(1) if s < 0 else np.int64(planes[s, i])
        left = left + choose(lanes_at(numbers, i * LANES) <= cut, adds, 0)
    put_lanes(sums, at, left)
    if gaps:
        for i in range(n_rows):
            own, adds = (
                lanes_at(numbers, i * LANES),
                np.int64(1) if s < 0 else np.int64(planes[s, i]),
            )
            left = left + choose(own != own, adds, 0)
        put_lanes(sums, at + LANES, left)


@register_jitable(forceinline=True)
def _add_planes(
    numbers: Any, n_rows: Any, cuts: Any, gaps: Any, planes: Any, sums: Any, layout: Any
) -> None:
    """Write all statistics of both, plane by plane."""
    first, last = layout.first, layout.first + layout.outputs * layout.classes
    # One class is what the others leave of the weight.
    rest = first if layout.outputs == 1 and layout.classes > 1 else -1
    _add_plane(numbers, n_rows, cuts, gaps, planes, -1, sums, 0)
    for k in range(1, last):
        if k != rest:
            _add_plane(numbers, n_rows, cuts, gaps, planes, k - layout.implied, sums, k * ROOM)
    if rest > 0:
        for at in range(0, ROOM, LANES):
            own = lanes_at(sums, layout.weight * ROOM + at)
            for k in range(rest + 1, last):
                own = own - lanes_at(sums, k * ROOM + at)
            put_lanes(sums, rest * ROOM + at, own)


@register_jitable(forceinline=True)
def _add_to(sums: Any, plane: Any, here: Any, also: Any, gaps: Any, adds: Any) -> None:
    at = np.int64(plane) * ROOM
    put_lanes(sums, at, lanes_at(sums, at) + (here & adds))
    if gaps:
        put_lanes(sums, at + LANES, lanes_at(sums, at + LANES) + (also & adds))


@register_jitable(forceinline=True)
def _add_by_row(
    numbers: Any,
    n_rows: Any,
    cuts: Any,
    gaps: Any,
    node: Any,
    statistics: Any,
    sums: Any,
    layout: Any,
) -> None:
    """Write the same row by row, for statistics of which there are many."""
    local, begin = node
    label, weight, sum_of, _ = statistics
    outputs, n_sums, weighted, implied = (
        label.shape[1],
        sum_of.shape[1],
        weight.size > 0,
        layout.implied,
    )
    last = layout.first + layout.outputs * layout.classes
    cut = lanes_at(cuts, 0)
    sums[: last * ROOM] = 0
    for i in range(n_rows):
        row, own = np.uint64(local[np.uint64(begin + i)]), lanes_at(numbers, i * LANES)
        here = choose(own <= cut, -1, 0)
        also, adds = here | choose(own != own, -1, 0), np.int64(1)
        _add_to(sums, 0, here, also, gaps, adds)
        if weighted:
            adds = np.int64(weight[row])
            _add_to(sums, layout.weight, here, also, gaps, adds)
        for o in range(outputs):
            _add_to(sums, implied + np.int64(label[row, o]), here, also, gaps, adds)
        for j in range(n_sums):
            _add_to(sums, last - n_sums + j, here, also, gaps, np.int64(sum_of[row, j]))


@register_jitable(forceinline=True)
def _best_lane(
    gain: Any, n: Any, gaps: Any, own: Any, layout: Any, limits: Any, lanes: Any, sums: Any
) -> Any:
    """Return (gain per cost, lane) of the first best, and write all gains and ways."""
    bounds, minima = limits
    _, _, costs, _, _, gains, ways, zeros = lanes
    scratch = (zeros, sums, zeros, own)
    score, way = judge(gain, 0, ROOM, layout, bounds, minima, scratch), counting() - counting()
    if gaps:
        other = judge(gain, LANES, ROOM, layout, bounds, minima, scratch)
        way = choose(other > score, 1, way)
        score = choose(other > score, other, score)
    score = choose(counting() < n, score, -np.inf)
    put_lanes(gains, 0, score)
    put_lanes(ways, 0, way)
    return first_largest(score / lanes_at(costs, 0), counting())


def lane_work(most: int, layout: Any) -> tuple[Any, ...]:
    """Return the arrays that the search works with, for up to `most` rows of a node.

    Values row by row, sums, and what lanes have: features, shares, costs, cuts, rows without a
    value, gains and ways; behind them zeros.
    """
    shares, costs, cuts, gains = np.ones((4, LANES))
    features, missing, ways = np.zeros((3, LANES), np.int64)
    zeros, sums = (
        np.zeros(layout.n_statistics, np.int64),
        np.zeros(layout.n_statistics * ROOM, np.int64),
    )
    lanes = (features, shares, costs, cuts, missing, gains, ways, zeros)
    return np.zeros(most * LANES), sums, lanes


def lane_search(  # noqa: PLR0915  (one compiled loop)
    gain: Callable[[Any, Any, Any], Any], shape: Shape
) -> Any:
    """Return the search for one node's split, for one criterion and one shape of layout."""
    settled = layout_for(shape)
    planar = shape[0] >= 0

    @register_jitable(forceinline=True)
    @named_after(gain, shape)
    def search_few(  # type: ignore[no-untyped-def]  # noqa: C901
        values, nothing, local, node, added, rules, order, work, sums_left
    ):
        """Return what `cut_search` does; values (F, n)."""
        begin, end, state, own, _, _, _ = node
        (_, _, min_rows, min_weight, _, costs), draw, given, _ = rules
        max_features, order_state, cut_state = draw
        (numbers, sums, lanes), (statistics, planes) = work, added
        features, shares, _, cuts, missing, gains, ways, _ = lanes
        n_features, width, n_rows = values.shape[0], np.uint64(values.shape[1]), end - begin
        flat = values.reshape(-1)
        bounds, minima = (np.int64(0), -np.inf, np.inf), (min_rows, min_weight)
        layout = settled(given, own.size - sums_left.size, bounds)
        draws, chance = _next_state(order_state, state), _next_state(cut_state, state)
        best, worth, found, varied = -np.inf, -np.inf, np.int64(-1), False
        its_way, its_missing, its_cut = False, np.int64(0), 0.0
        looked, drawn = 0, max_features < n_features
        alone = n_rows == 2 and not costs.size  # one split, whichever feature makes it
        while looked < n_features:
            if varied and (looked >= max_features or alone):
                break
            n = min(max_features - looked, n_features - looked, LANES)
            n = 1 if n < 1 or alone else n
            _take(lanes, looked, n, (drawn, order, draws), (chance, costs))
            looked += n
            _gather(numbers, flat, features, width, n, local, begin, n_rows)
            varies, gaps = _draw_cuts(numbers, n_rows, n, shares, cuts, missing)
            if not varies:
                continue
            varied = True
            if planar:
                _add_planes(numbers, n_rows, cuts, gaps, planes, sums, layout)
            else:
                _add_by_row(numbers, n_rows, cuts, gaps, (local, begin), statistics, sums, layout)
            per_cost, lane = _best_lane(gain, n, gaps, own, layout, (bounds, minima), lanes, sums)
            if gains[lane] > -np.inf and (found < 0 or per_cost > worth):
                best, worth, found = gains[lane], per_cost, features[lane]
                its_way, its_missing, its_cut = ways[lane] == 1, missing[lane], cuts[lane]
                for s in range(sums_left.size):
                    at = (layout.implied + s) * ROOM + ways[lane] * LANES + lane
                    sums_left[s] = sums[at]
        put_back(order, looked if drawn else 0)
        its_next, last = 0 if its_cut == np.inf else 2, _last_number(its_cut, nothing)
        return found, best, 1, its_next, its_way, its_missing, its_cut, last

    return search_few

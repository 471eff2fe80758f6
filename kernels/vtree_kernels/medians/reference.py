"""The definition of `medians` over the array API: every candidate's sides, row by row."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from array_api_compat import array_namespace, device

from vtree_kernels.histogram.reference import histogram, node_of_position
from vtree_kernels.scan.reference import Best, Limits, candidates, chosen, in_order


class Ranks(NamedTuple):
    """N rows' targets in order, O outputs; the V distinct targets stand output after output."""

    rank: Any  # (N, O)
    position: Any  # (V,)
    value: Any  # (V,)


def medians(
    codes: Any,
    rows: Any,
    start: Any,
    stop: Any,
    weight: Any | None,
    sums: Any,
    ranks: Ranks,
    places: Any | None,
    total: Any,
    allowed: Any,
    monotone: Any | None,
    lower: Any,
    upper: Any,
    limits: Limits,
    layout: Any,
    n_codes: int,
) -> Best:
    """Return the best split of each node and feature; see the package for the contract."""
    xp = array_namespace(codes)
    table = rows_in_play(codes, rows, start, stop, weight, sums, ranks, places)
    ends = np.cumsum(stop - start)
    segments = (ends - (stop - start), ends)
    hist = by_place(histogram, table, segments, weight is not None, n_codes)

    def around(output: int) -> tuple[Any, Any]:
        return _around_medians(xp, table, segments, ranks, output, n_codes)

    return best_of(hist, around, total, allowed, monotone, lower, upper, limits, layout)


def best_of(
    hist: Any,
    around: Callable[[int], tuple[Any, Any]],
    total: Any,
    allowed: Any,
    monotone: Any | None,
    lower: Any,
    upper: Any,
    limits: Limits,
    layout: Any,
) -> Best:
    """Return the best candidates by around(output) → (error, median), see `_around_medians`."""
    xp = array_namespace(hist)
    left, _, legal = candidates(hist, total, allowed, limits, layout)
    decrease = xp.zeros(legal.shape, dtype=xp.float64, device=device(hist))
    for output in range(layout.outputs):
        error, median = around(output)
        whole = error[:, :, 1, 0, -1]  # missing values and all others: the node itself
        saved = whole[:, :, None, None] - error[:, :, :, 0, :] - error[:, :, :, 1, :]
        decrease = decrease + saved * layout.unit[output]
        if monotone is not None and output == layout.ordered - layout.first:
            centers = [median[:, :, :, side, :] for side in (0, 1)]
            legal = legal & in_order(centers, monotone, lower, upper)
    gain = xp.where(decrease > 0.0, decrease, 0.0) / layout.outputs
    return chosen(xp.where(legal, gain, -float("inf")), left, hist)


class Table(NamedTuple):
    """Rows, node after node."""

    place: Any  # (R, G) int64 their codes' places among the candidates
    weight: Any  # (R,) int64
    sums: Any  # (R, O) int64
    rank: Any  # (R, O)


def rows_in_play(
    codes: Any,
    rows: Any,
    start: Any,
    stop: Any,
    weight: Any | None,
    sums: Any,
    ranks: Ranks,
    places: Any | None,
) -> Table:
    """Return what the nodes' rows are to a search, node after node."""
    xp = array_namespace(codes)
    positions, node = node_of_position(rows, start, stop)
    own = xp.take(rows, positions)
    place = xp.astype(xp.take(codes, own, axis=0), xp.int64)
    if places is not None:
        _, n_features, n_codes = places.shape
        feature = xp.arange(n_features, dtype=xp.int64, device=device(codes))
        cell = (node[:, None] * n_features + feature) * n_codes + place
        flat = xp.take(xp.reshape(places, (-1,)), xp.reshape(cell, (-1,)))
        place = xp.astype(xp.reshape(flat, place.shape), xp.int64)
    one = xp.ones(own.shape, dtype=xp.int64, device=device(codes))
    own_weight = one if weight is None else xp.take(weight, own)
    return Table(place, own_weight, xp.take(sums, own, axis=0), xp.take(ranks.rank, own, axis=0))


def by_place(
    histogram: Callable[..., Any], table: Table, segments: Any, weighted: bool, n_codes: int
) -> Any:
    """Return hist (L, G, B, S) over places, by any form of `histogram`."""
    xp = array_namespace(table.place)
    n_rows, n_outputs = table.sums.shape
    rows = xp.arange(n_rows, dtype=xp.int32, device=device(table.place))
    label = xp.zeros((n_rows, 0), dtype=xp.int32, device=device(table.place))
    own_weight = table.weight if weighted else None
    n_statistics = 1 + int(weighted) + n_outputs
    start, stop = segments
    own = (label, own_weight, table.sums, n_codes, n_statistics)
    return histogram(table.place, rows, start, stop, *own)


class _Node(NamedTuple):
    """The n rows of a node in the order of one output's target."""

    place: Any  # (n, G)
    weight: Any  # (n,) int64
    sums: Any  # (n,) int64
    rank: Any  # (n,)
    position: Any  # (n,)
    value: Any  # (n,)


def _by_target(xp: Any, table: Table, ranks: Ranks, first: int, last: int, output: int) -> _Node:
    order = xp.argsort(table.rank[first:last, output], stable=True)
    rank = xp.take(table.rank[first:last, output], order)
    return _Node(
        place=xp.take(table.place[first:last, :], order, axis=0),
        weight=xp.take(table.weight[first:last], order),
        sums=xp.take(table.sums[first:last, output], order),
        rank=rank,
        position=xp.take(ranks.position, rank),
        value=xp.take(ranks.value, rank),
    )


def _around_medians(
    xp: Any, table: Table, segments: Any, ranks: Ranks, output: int, n_codes: int
) -> tuple[Any, Any]:
    """Return (error, median) of all sides, (L, G, 2, 2, B): missing right or left; side; candidate.

    Sides without rows have no median; they get zeros, or any number.
    """
    n_features, on = table.place.shape[1], device(table.place)
    shape = (segments[0].size, n_features, 2, 2, n_codes)
    bins = xp.arange(n_codes, dtype=xp.int64, device=on)[:, None]
    error = xp.zeros(shape, dtype=xp.float64, device=on)
    median = xp.zeros(shape, dtype=xp.float64, device=on)
    for own, (first, last) in enumerate(zip(*(ends.tolist() for ends in segments), strict=True)):
        if first == last:
            continue
        node = _by_target(xp, table, ranks, first, last, output)
        for g in range(n_features):
            place = node.place[:, g]
            for way in (0, 1):
                left = (place <= bins) & ((place >= 1) | (way == 1))  # (B, n)
                for side, inside in enumerate((left, ~left)):
                    found = _side(xp, node, inside)
                    error[own, g, way, side, :], median[own, g, way, side, :] = found
    return error, median


def _side(xp: Any, node: _Node, inside: Any) -> tuple[Any, Any]:
    """Return (error around the lower median, median), each (B,), of the rows `inside` (B, n)."""
    weight = xp.where(inside, node.weight, 0)
    sums = xp.where(inside, node.sums, 0)
    reached = xp.cumulative_sum(weight, axis=1, dtype=xp.int64)
    total = reached[:, -1:]
    last = node.rank.shape[0] - 1

    def first_row(short_of: Any) -> Any:
        row = xp.sum(xp.astype(short_of, xp.int64), axis=1)
        return xp.where(row > last, last, row)

    low, high = first_row(2 * reached < total), first_row(2 * reached <= total)
    rank = xp.take(node.rank, low)[:, None]
    below = xp.astype(node.rank < rank, xp.int64)
    above = xp.astype(node.rank > rank, xp.int64)
    s = xp.sum(sums * (above - below), axis=1, dtype=xp.int64)
    w = xp.sum(weight * (below - above), axis=1, dtype=xp.int64)
    position = xp.take(node.position, low)
    error = xp.astype(s, xp.float64) + position * xp.astype(w, xp.float64)
    lower, upper = xp.take(node.value, low), xp.take(node.value, high)
    return error, xp.where(lower == upper, lower, lower / 2.0 + upper / 2.0)

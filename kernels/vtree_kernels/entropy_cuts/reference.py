"""The definition of `cuts` over the array API: sort by node and code, cumulate, compare."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from array_api_compat import array_namespace, device

from vtree_kernels.elementary.reference import log2
from vtree_kernels.histogram.reference import node_of_position, statistics, sums_by_key

TOLERANCE = 1e-12  # of gains that count as equal, for they differ by rounding
SLACK = 1.0 - 1e-9  # rounded fractions of rows may miss a whole weight by this much


class Rule(NamedTuple):
    """What makes a cut a candidate."""

    min_weight: float = 2.0
    margin: float = TOLERANCE  # by how much a later cut must be better


class Reach(NamedTuple):
    """Behind which codes of a feature cuts may come."""

    step: Any  # (V,) by how much larger the first code behind such a cut is
    span: int  # the largest of them


class Cuts(NamedTuple):
    """The best cut of each node and feature."""

    gain: Any  # (L, G)
    tries: Any
    bin: Any
    following: Any
    left: Any  # (L, G, S)
    known: Any


class _Groups(NamedTuple):
    """Rows of one node and code as one: P groups of one feature, sorted by node and code."""

    node: Any  # (P,)
    code: Any
    running: Any  # (P, S) statistics of the node's groups up to this one
    known: Any  # (P, S) of all groups of the node


def information(planes: list[Any]) -> Any:
    """Return T = S log2 S − Σ v log2 v of class weights, each plane of any shape."""
    total, parts = planes[0], x_log_x(planes[0])
    for plane in planes[1:]:
        total = total + plane
        parts = parts + x_log_x(plane)
    return x_log_x(total) - parts


def x_log_x(x: Any) -> Any:
    """Return x log2 x, 0 at 0."""
    xp = array_namespace(x)
    return x * log2(xp.where(x > 0.0, x, 1.0))


def reach_of(values: Any, gap: float) -> Reach:
    """Return from which code on a cut may come behind each code; see the package."""
    xp = array_namespace(values)
    # values[a] < values[b] − gap, in this form, for the difference of two floats is rounded.
    first = xp.searchsorted(values - gap, values, side="right")
    step = first - xp.arange(values.shape[0], dtype=first.dtype, device=device(values))
    span = int(xp.max(step)) if values.shape[0] else 1
    return Reach(xp.astype(step, xp.uint8 if span < 256 else xp.int32), span)


def cuts(
    codes: Any,
    rows: Any,
    start: Any,
    stop: Any,
    label: Any,
    weight: Any | None,
    reach: Sequence[Reach],
    layout: Any,
    unit: float,
    rule: Rule,
    lines: Any | None = None,
) -> Cuts:
    """Return the best cut of each node and feature; see the package for the contract."""
    xp = array_namespace(codes)
    positions, node = node_of_position(rows, start, stop)
    chosen = xp.take(rows, positions)
    place = device(codes)
    none = xp.zeros((codes.shape[0], 0), dtype=xp.int64, device=place)
    planes = statistics(chosen, label, weight, none, layout.n_stored, layout.implied == 0)
    if layout.implied:
        planes = [xp.ones(chosen.shape, dtype=xp.int64, device=place), *planes]
    total = sums_by_key(node, planes, start.size)
    found = []
    for g in range(codes.shape[1]):
        code = xp.astype(xp.take(codes[:, g], chosen), xp.int64)
        groups = _grouped(node, code, planes, start.size, layout)
        found.append(_best(groups, reach[g].step, total, layout, unit, rule))
    return Cuts(*(xp.stack(each, axis=1) for each in zip(*found, strict=True)))


def _grouped(node: Any, code: Any, planes: list[Any], n_nodes: int, layout: Any) -> _Groups:
    xp = array_namespace(node)
    present = xp.nonzero(code > 0)[0]
    width = int(xp.max(code)) + 1 if code.shape[0] else 1
    key = xp.take(node, present) * width + xp.take(code, present)
    distinct = xp.unique_values(key)
    place = xp.searchsorted(distinct, key)
    sums = sums_by_key(place, [xp.take(plane, present) for plane in planes], distinct.shape[0])
    own_node = distinct // width
    zero = xp.zeros((1, sums.shape[1]), dtype=xp.int64, device=device(node))
    everything = xp.concat([zero, xp.cumulative_sum(sums, axis=0)], axis=0)
    nodes = xp.arange(n_nodes, dtype=own_node.dtype, device=device(node))
    before = xp.take(everything, xp.searchsorted(own_node, nodes), axis=0)
    known = xp.take(everything, xp.searchsorted(own_node, nodes, side="right"), axis=0) - before
    return _Groups(
        node=own_node,
        code=distinct - own_node * width,
        running=everything[1:, ...] - xp.take(before, own_node, axis=0),
        known=xp.take(known, own_node, axis=0),
    )


def _best(
    groups: _Groups,
    step: Any,
    total: Any,
    layout: Any,
    unit: float,
    rule: Rule,
) -> tuple[Any, ...]:
    """Return what `Cuts` holds of one feature."""
    xp = array_namespace(total)
    n_nodes, place = total.shape[0], device(total)
    nodes = xp.arange(n_nodes, dtype=xp.int64, device=place)
    zeros = xp.zeros((n_nodes,), dtype=xp.int64, device=place)
    if groups.node.shape[0] == 0:
        nothing = xp.zeros_like(total)
        gain = xp.full((n_nodes,), -float("inf"), dtype=xp.float64, device=place)
        bins = xp.astype(zeros, xp.int32)
        return gain, zeros, bins, bins, nothing, nothing
    end = xp.searchsorted(groups.node, nodes, side="right")
    begin = xp.searchsorted(groups.node, nodes)
    some = end > begin
    known = xp.take(groups.known, xp.where(some, begin, 0), axis=0)
    known = xp.where(some[:, None], known, 0)
    candidate = _candidates(groups, step, layout, unit, rule)
    tries = sums_by_key(groups.node, [xp.astype(candidate, xp.int64)], n_nodes)[:, 0]
    weight = xp.astype(xp.take(total, groups.node, axis=0)[:, layout.weight], xp.float64) * unit
    gain = _gains(groups, weight, layout, unit)
    gain = xp.where(candidate, gain, -float("inf"))
    chosen = _best_so_far(gain, groups.node, begin, end, rule.margin)
    has = chosen >= 0
    chosen = xp.where(has, chosen, 0)
    following = xp.take(groups.code, xp.where(has, chosen + 1, 0))
    return (
        xp.where(has, xp.take(gain, chosen), -float("inf")),
        tries,
        xp.astype(xp.where(has, xp.take(groups.code, chosen), 0), xp.int32),
        xp.astype(xp.where(has, following, 0), xp.int32),
        xp.where(has[:, None], xp.take(groups.running, chosen, axis=0), 0),
        known,
    )


def _candidates(groups: _Groups, step: Any, layout: Any, unit: float, rule: Rule) -> Any:
    """Tell which groups (P,) have a candidate cut behind them."""
    xp = array_namespace(groups.node)
    last = groups.node.shape[0] - 1
    index = xp.arange(last + 1, dtype=xp.int64, device=device(groups.node))
    behind = xp.where(index < last, index + 1, last)
    inside = (index < last) & (xp.take(groups.node, behind) == groups.node)
    own_step = xp.astype(xp.take(step, groups.code - 1), xp.int64)
    apart = xp.take(groups.code, behind) - groups.code >= own_step
    known = xp.astype(groups.known[:, layout.weight], xp.float64) * unit
    left = xp.astype(groups.running[:, layout.weight], xp.float64) * unit
    least = 0.1 * known / float(layout.classes)
    least = xp.where(least > 25.0, 25.0, least)
    least = xp.where(least <= rule.min_weight, rule.min_weight, least) * SLACK
    return inside & apart & (left >= least) & (known - left >= least)


def _gains(groups: _Groups, weight: Any, layout: Any, unit: float) -> Any:
    xp = array_namespace(weight)

    def classes(stats: Any) -> list[Any]:
        return [
            xp.astype(stats[:, k], xp.float64) * unit
            for k in range(layout.first, layout.first + layout.classes)
        ]

    known = xp.astype(groups.known[:, layout.weight], xp.float64) * unit
    left = information(classes(groups.running))
    right = information(classes(groups.known - groups.running))
    decrease = (information(classes(groups.known)) - (left + right)) / known
    return known / weight * decrease


def _best_so_far(gain: Any, node: Any, begin: Any, end: Any, margin: float) -> Any:
    """Return each node's last place that gained more than `margin` more than all before, or −1."""
    xp = array_namespace(gain)
    length, where = gain.shape[0], device(gain)
    index = xp.arange(length, dtype=xp.int64, device=where)
    best = xp.zeros(begin.shape, dtype=xp.float64, device=where)
    place = xp.full(begin.shape, -1, dtype=xp.int64, device=where)
    first = xp.where(begin < length, begin, length - 1)  # any place will do for an empty node
    while True:
        better = xp.astype(
            (gain > xp.take(best, node) + margin) & (index > xp.take(place, node)), xp.int64
        )
        running = xp.cumulative_sum(better)
        before = xp.take(running, first) - xp.take(better, first)
        found = xp.searchsorted(running, before + 1)
        has = found < end
        if not bool(xp.any(has)):
            return place
        place = xp.where(has, found, place)
        best = xp.where(has, xp.take(gain, xp.where(has, found, 0)), best)

"""`level_subsets` in Numba: one pass over each (node, feature), compiled once per rule."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numba
import numpy as np
from numpy.typing import NDArray

from vtree_kernels import _threads
from vtree_kernels._counting import UNCOUNTED
from vtree_kernels._naming import named_after
from vtree_kernels._registered import register_jitable, register_once
from vtree_kernels.level_subsets import prefix_search, sorted_search
from vtree_kernels.level_subsets.ordering import plane_of, write_side
from vtree_kernels.level_subsets.reference import Prefixes
from vtree_kernels.level_subsets.sorted_levels import Sorted
from vtree_kernels.scan.cpu import Shape, empty_best, scratch_for, shape_of
from vtree_kernels.scan.reference import Best, Limits

_CELLS = 16_384  # of a task

Gain = Callable[[Any, Any, Any], Any]


@functools.cache
def search_of(gain: Gain, lost: Gain | None, shape: Shape) -> Any:
    """Return the compiled search by `Prefixes`, or by the `Sorted` levels whose nodes lose."""
    if lost is None:
        return prefix_search.prefix_search(gain, shape)
    register_once(lost)
    return sorted_search.sorted_search(gain, lost, shape)


def lost_of(rule: Prefixes | Sorted) -> Gain | None:
    """Return by what a rule's search is compiled, besides the criterion."""
    return rule.lost if isinstance(rule, Sorted) else None


def numbers_of(rule: Prefixes | Sorted, layout: Any) -> tuple[Any, ...]:
    """Return a rule as its compiled search takes it."""
    if isinstance(rule, Sorted):
        return sorted_search.numbers_of(rule, layout)
    return prefix_search.numbers_of(rule)


def room_of(rule: Prefixes | Sorted, n_codes: int, layout: Any) -> tuple[NDArray[Any], ...]:
    """Return what a rule's search works with, for features of up to `n_codes`."""
    if isinstance(rule, Sorted):
        return sorted_search.room_for(n_codes, layout.n_statistics)
    return prefix_search.room_for(n_codes, layout.n_stored)


@register_jitable
def set_rare_apart(kept: Any, cells: Any, least_rows: Any, implied: Any, classes: Any) -> None:
    """Write cells (B, S) to kept, those of levels with too few rows added to code 0."""
    for s in range(cells.shape[1]):
        kept[0, s] = cells[0, s]
    for code in range(1, cells.shape[0]):
        rare = plane_of(cells[code], 0, implied, classes) < least_rows
        for s in range(cells.shape[1]):
            kept[code, s] = 0 if rare else cells[code, s]
            if rare:
                kept[0, s] += cells[code, s]


@register_jitable
def rare_ways(ways: Any, cells: Any, least_rows: Any, implied: Any, classes: Any) -> None:
    """Let levels with rows, but too few, go the way of missing values."""
    if least_rows <= 1:
        return
    for code in range(1, cells.shape[0]):
        if 0 < plane_of(cells[code], 0, implied, classes) < least_rows:
            ways[code] = -1


@functools.cache
def _kernel(gain: Gain, lost: Gain | None, shape: Shape) -> Any:
    """Compile the search around one rule, one criterion and one shape of layout, as `scan` is."""
    register_once(gain)
    search_levels = search_of(gain, lost, shape)

    @numba.njit(cache=True, nogil=True, error_model="numpy", **UNCOUNTED)
    @named_after(gain, lost, shape)
    def search_nodes(  # type: ignore[no-untyped-def]
        hist, total, rule, least_rows, n_levels, lower, minima, layout, first, last, sums, room,
        kept, out, goes_left,
    ):  # fmt: skip
        out_gain, out_bin, out_next, out_missing_left, out_missing, out_varies, out_left = out
        for node in range(first, last):
            for g in range(hist.shape[1]):
                cells, ways = hist[node, g], goes_left[node, g]
                if least_rows > 1:
                    set_rare_apart(kept, cells, least_rows, layout.implied, layout.classes)
                    cells = kept
                found = search_levels(
                    cells, total[node], n_levels[g], rule, minima, lower[node], layout, sums, room,
                    ways,
                )  # fmt: skip
                write_side(
                    out_left[node, g], cells, ways[: n_levels[g] + 1], found[3], layout.implied,
                    layout.classes,
                )  # fmt: skip
                out_gain[node, g], out_bin[node, g], out_next[node, g] = found[:3]
                out_missing_left[node, g], out_missing[node, g], out_varies[node, g] = found[3:]
                for code in range(n_levels[g] + 1, ways.size):
                    ways[code] = -1
                rare_ways(
                    ways[: n_levels[g] + 1], hist[node, g, : n_levels[g] + 1], least_rows,
                    layout.implied, layout.classes,
                )  # fmt: skip

    return search_nodes


def level_subsets(
    hist: NDArray[np.int64],
    total: NDArray[np.int64],
    rule: Prefixes | Sorted,
    least_rows: int,
    n_levels: NDArray[np.int64],
    limits: Limits,
    gain: Gain,
    layout: Any,
) -> tuple[Best, NDArray[np.int8]]:
    """Return the best subset of each node and feature; see the package for the contract."""
    n_nodes, n_features, n_codes, stored = hist.shape
    best = empty_best(n_nodes, n_features, total.shape[1])
    goes_left = np.empty((n_nodes, n_features, n_codes), np.int8)
    lower = np.ascontiguousarray(np.broadcast_to(np.reshape(layout.lower, -1), n_nodes), np.float64)
    layout = layout._replace(
        unit=np.asarray(layout.unit, np.float64), lower=-np.inf, implied=total.shape[1] - stored
    )
    kernel = _kernel(gain, lost_of(rule), shape_of(layout, layout.implied))
    minima = (max(1, limits.min_rows), float(limits.min_weight))
    fixed = (hist, total, numbers_of(rule, layout), least_rows, n_levels, lower, minima, layout)
    per_task = max(1, _CELLS // max(1, n_features * n_codes))

    def nodes(index: int) -> None:
        first = index * per_task
        room = scratch_for(layout), room_of(rule, n_codes, layout), np.empty_like(hist[0, 0])
        kernel(*fixed, first, min(first + per_task, n_nodes), *room, tuple(best), goes_left)

    _threads.run(nodes, -(-n_nodes // per_task), work=hist.size * 16)
    return best, goes_left

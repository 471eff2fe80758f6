"""`level_subsets` by `Prefixes` in one node and feature, compiled: sorted cells are scanned."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vtree_kernels._naming import named_after
from vtree_kernels._registered import register_jitable
from vtree_kernels.elementary import choose
from vtree_kernels.level_subsets.ordering import plane_of, sort_by_key
from vtree_kernels.level_subsets.reference import Prefixes
from vtree_kernels.scan.cpu import Shape, feature_search, next_filled


def numbers_of(rule: Prefixes) -> tuple[Any, ...]:
    """Return the rule as compiled code takes it."""
    return np.asarray(rule.planes, dtype=np.int64), rule.light, rule.reach


def room_for(n_codes: int, stored: int) -> tuple[NDArray[Any], ...]:
    """Return what a search works with: keys, order, spare codes, cells in order."""
    return (
        np.empty(n_codes),
        np.empty(n_codes, np.int64),
        np.empty(n_codes, np.int64),
        np.empty((n_codes, stored), np.int64),
    )


@register_jitable
def _write_order(
    cells: Any, n_levels: Any, plane: Any, light: Any, least: Any, layout: Any, room: Any
) -> Any:
    """Write the codes in the order of their means, code 0 first; return how many are in play."""
    keys, order, spare, _ = room
    clip, implied, classes = layout.clip, layout.implied, layout.classes
    order[0], n = 0, 1
    for code in range(1, n_levels + 1):
        cell = cells[code]
        if plane_of(cell, 0, implied, classes) > 0.0:
            own = plane_of(cell, plane, implied, classes)
            weight = plane_of(cell, layout.weight, implied, classes)
            kept = choose(own > clip, own - clip, choose(own < -clip, own + clip, 0.0))
            mean = kept / (weight + layout.shrink) if weight > 0.0 else kept
            keys[code] = 0.0 if light and weight < least else mean
        elif light:
            keys[code] = 0.0
        else:
            continue
        order[n] = code
        n += 1
    sort_by_key(order, keys, 1, n, spare)
    return n


@register_jitable
def _gather(cells: Any, n: Any, first: Any, last: Any, room: Any) -> None:
    """Write the cells in their order; those of places first … last all go to the last of them."""
    _, order, _, sorted_ = room
    for place in range(n):
        own = cells[order[place]]
        if 0 < first < place <= last:
            for s in range(own.size):
                sorted_[place, s] = own[s] + sorted_[place - 1, s]
                sorted_[place - 1, s] = 0
        else:
            for s in range(own.size):
                sorted_[place, s] = own[s]


@register_jitable
def _write_ways(ways: Any, order: Any, n: Any, bin: Any) -> None:
    ways[:] = -1
    for place in range(1, n):
        ways[order[place]] = place <= bin


def prefix_search(gain: Callable[[Any, Any, Any], Any], shape: Shape) -> Any:
    """Return the search for one criterion and one shape of layout."""
    best_of = feature_search(shape)

    @register_jitable
    @named_after(gain, shape)
    def search_levels(
        cells: Any, own: Any, n_levels: Any, rule: Any, minima: Any, lower: Any, layout: Any,
        sums: Any, room: Any, ways: Any,
    ) -> Any:  # fmt: skip
        """Return (gain, place, next place, missing left, missing rows, whether it varies).

        cells (B, S): of all codes; writes ways (B,), which way each code goes.
        """
        planes, light, reach = rule
        order, sorted_, bounds = room[1], room[3], (np.int64(0), -np.inf, np.inf)
        # Places of the middle that are not parted.
        first = reach + 1 if reach >= 0 else 0
        last = n_levels - reach if reach >= 0 else 0
        best, its_bin, its_next = -np.inf, np.int64(0), np.int64(0)
        its_way, its_missing, its_varies = False, np.int64(0), False
        for p in range(planes.size):
            n = _write_order(cells, n_levels, planes[p], light, minima[1], layout, room)
            _gather(cells, n, first, last, room)
            score, bin, way, n_missing, varies = best_of(
                gain, sorted_[:n], own, 0, bounds, minima, layout, sums
            )
            if p == 0 or score > best:
                best, its_bin, its_way = score, bin, way == 1
                its_missing, its_varies = n_missing, varies
                its_next = np.int64(next_filled(sorted_[:n], bin, layout.implied, layout.classes))
                _write_ways(ways, order, n, bin)
        return best, its_bin, its_next, its_way, its_missing, its_varies

    return search_levels

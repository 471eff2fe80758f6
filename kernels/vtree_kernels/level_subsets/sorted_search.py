"""`level_subsets` by `Sorted` in one node and feature, compiled."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vtree_kernels._naming import named_after
from vtree_kernels._registered import register_jitable
from vtree_kernels.level_subsets.ordering import add_cell, plane_of, sort_by_key
from vtree_kernels.level_subsets.sorted_levels import Sorted
from vtree_kernels.scan.cpu import Shape, layout_for

Gain = Callable[[Any, Any, Any], Any]


def numbers_of(rule: Sorted, layout: Any) -> tuple[Any, ...]:
    """Return the rule as compiled code takes it, but for what is lost."""
    more = (layout.unit[0] + rule.shrink, *layout.unit[1:])
    careful = float(rule.smooth), float(rule.least_rows)
    return (*careful, *rule[3:6], layout._replace(unit=np.asarray(more, dtype=np.float64)))


def room_for(n_codes: int, n_statistics: int) -> tuple[NDArray[Any], ...]:
    """Return what a search works with: keys, order, spare codes, sides, sums of the left one."""
    return (
        np.empty(n_codes),
        np.empty(n_codes, np.int64),
        np.empty(n_codes, np.int64),
        np.empty((3, n_statistics)),
        np.empty(n_statistics, np.int64),
    )


@register_jitable
def _write_order(cells: Any, n_levels: Any, rule: Any, layout: Any, room: Any) -> Any:
    """Write the codes with enough rows in the order of their means; return how many these are."""
    smooth, least_rows = rule[:2]
    keys, order, spare = room[:3]
    implied, classes, n = layout.implied, layout.classes, 0
    for code in range(1, n_levels + 1):
        rows = plane_of(cells[code], 0, implied, classes)
        if rows <= 0.0 or rows < least_rows:
            continue
        weight = plane_of(cells[code], layout.weight, implied, classes) + smooth
        own = plane_of(cells[code], layout.first, implied, classes)
        keys[code] = -(own / weight if weight > 0.0 else own)
        order[n] = code
        n += 1
    sort_by_key(order, keys, 0, n, spare)
    return n


@register_jitable(forceinline=True)
def _part(running: Any, own: Any, sides: Any) -> None:
    """Write what is left and right, as float64."""
    for s in range(running.size):
        sides[0, s] = running[s]
        sides[1, s] = own[s] - running[s]


@register_jitable(forceinline=True)
def _is_large(side: Any, minima: Any, layout: Any) -> Any:
    return side[0] >= minima[0] and side[layout.weight] >= minima[1]


def _from_rest(gain: Gain, lost: Gain, shape: Shape) -> Any:
    """Return what looks for the best level that goes left alone."""

    @register_jitable
    @named_after(gain, lost, shape)
    def from_rest(cells: Any, own: Any, n_levels: Any, minima: Any, layout: Any, room: Any) -> Any:
        """Return (gain, code)."""
        sides, running = room[3:]
        less, best, found = lost(sides[2], layout, layout), -np.inf, 0
        for code in range(1, n_levels + 1):
            running[:] = 0
            add_cell(running, cells[code], layout.implied, layout.classes)
            _part(running, own, sides)
            if _is_large(sides[0], minima, layout) and _is_large(sides[1], minima, layout):
                score = gain(sides[0], sides[1], layout) - less
                if score > best:
                    best, found = score, code
        return best, found

    return from_rest


def _from_either_end(gain: Gain, lost: Gain, shape: Shape) -> Any:
    """Return what looks for the best of the first levels in order, or of the last ones."""

    @register_jitable
    @named_after(gain, lost, shape)
    def from_either_end(
        cells: Any, own: Any, n: Any, rule: Any, minima: Any, layout: Any, more: Any, room: Any
    ) -> Any:
        """Return (gain, levels that go left, whether they are the last ones)."""
        most_levels, group_rows = rule[2:4]
        order, sides, running = room[1], room[3], room[4]
        less, best, found, from_back = lost(sides[2], layout, more), -np.inf, 0, False
        for back in range(2):
            running[:] = 0
            before = 0.0  # rows at the last candidate
            for step in range(min((n + 1) // 2, most_levels)):
                code = order[n - 1 - step if back else step]
                add_cell(running, cells[code], layout.implied, layout.classes)
                _part(running, own, sides)
                enough, rest = _is_large(sides[0], minima, layout), sides[1]
                room_left = _is_large(rest, minima, layout) and rest[0] >= group_rows
                if enough and not room_left:
                    break
                if not enough or sides[0, 0] - before < group_rows:
                    continue
                before = sides[0, 0]
                score = gain(sides[0], sides[1], more) - less
                if score > best:
                    best, found, from_back = score, step + 1, back == 1
        return best, found, from_back

    return from_either_end


@register_jitable
def _varies(cells: Any, n_levels: Any, layout: Any) -> Any:
    """Tell whether two codes have rows."""
    n_filled = 0
    for code in range(n_levels + 1):
        n_filled += plane_of(cells[code], 0, layout.implied, layout.classes) > 0.0
    return n_filled >= 2


def sorted_search(gain: Gain, lost: Gain, shape: Shape) -> Any:
    """Return the search for one criterion, what nodes lose by it, and one shape of layout."""
    settled = layout_for(shape)
    from_rest, from_either_end = _from_rest(gain, lost, shape), _from_either_end(gain, lost, shape)

    @register_jitable
    @named_after(gain, lost, shape)
    def search_levels(
        cells: Any, own: Any, n_levels: Any, rule: Any, minima: Any, lower: Any, layout: Any,
        sums: Any, room: Any, ways: Any,
    ) -> Any:  # fmt: skip
        """Return what the search by `Prefixes` does."""
        implied, bounds = own.size - cells.shape[1], (np.int64(0), lower, np.inf)
        layout, more = settled(layout, implied, bounds), settled(rule[5], implied, bounds)
        _, order, _, sides, _ = room
        for s in range(own.size):
            sides[2, s] = own[s]
        ways[:] = 0
        ways[0] = -1
        if n_levels <= rule[4]:
            best, code = from_rest(cells, own, n_levels, minima, layout, room)
            if best > -np.inf:
                ways[code] = 1
        else:
            n = _write_order(cells, n_levels, rule, layout, room)
            best, size, back = from_either_end(cells, own, n, rule, minima, layout, more, room)
            for step in range(size):
                ways[order[n - 1 - step if back else step]] = 1
        n_missing = np.int64(plane_of(cells[0], 0, implied, layout.classes))
        return best, np.int64(0), np.int64(0), False, n_missing, _varies(cells, n_levels, layout)

    return search_levels

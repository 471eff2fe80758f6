"""Codes of levels in the order of their keys, compiled."""

from __future__ import annotations

from typing import Any

import numpy as np

from vtree_kernels._registered import register_jitable

_RUN = 8  # codes that are put in order one by one


@register_jitable
def _put_in_order(order: Any, keys: Any, first: Any, last: Any) -> None:
    for i in range(first + 1, last):
        code, at = order[i], i
        while at > first and keys[order[at - 1]] > keys[code]:
            order[at] = order[at - 1]
            at -= 1
        order[at] = code


@register_jitable
def _merge(order: Any, keys: Any, first: Any, middle: Any, last: Any, spare: Any) -> None:
    for i in range(middle - first):
        spare[i] = order[first + i]
    one, other, at = 0, middle, first
    while one < middle - first:
        if other < last and keys[order[other]] < keys[spare[one]]:
            order[at] = order[other]
            other += 1
        else:
            order[at] = spare[one]
            one += 1
        at += 1


@register_jitable
def sort_by_key(order: Any, keys: Any, first: Any, last: Any, spare: Any) -> None:
    """Sort the codes order[first:last] by keys[code], equal ones as they were."""
    for start in range(first, last, _RUN):
        _put_in_order(order, keys, start, min(start + _RUN, last))
    width = _RUN
    while width < last - first:
        for start in range(first, last - width, 2 * width):
            _merge(order, keys, start, start + width, min(start + 2 * width, last), spare)
        width *= 2


@register_jitable(forceinline=True)
def add_cell(sums: Any, cell: Any, implied: Any, classes: Any) -> None:
    """Add a cell to the sums of a side, with rows where they are only implied."""
    if implied:
        sums[0] += np.int64(plane_of(cell, 0, implied, classes))
    for s in range(cell.size):
        sums[implied + s] += cell[s]


@register_jitable
def write_side(
    left: Any, cells: Any, ways: Any, missing_left: Any, implied: Any, classes: Any
) -> None:
    """Write the sums of the codes that go left."""
    left[:] = 0
    for code in range(ways.size):
        if ways[code] > 0 or (code == 0 and missing_left):
            add_cell(left, cells[code], implied, classes)


@register_jitable(forceinline=True)
def plane_of(cell: Any, plane: Any, implied: Any, classes: Any) -> Any:
    """Return a plane of a cell, as float64, also that of rows where it is only implied."""
    if implied and plane == 0:
        rows = 0.0
        for c in range(classes):
            rows += cell[c]
        return rows
    return 1.0 * cell[plane - implied]

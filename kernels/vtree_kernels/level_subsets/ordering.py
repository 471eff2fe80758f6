"""Codes of levels in the order of their keys, compiled."""

from __future__ import annotations

from typing import Any

from numba.extending import register_jitable

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
def plane_of(cell: Any, plane: Any, implied: Any, classes: Any) -> Any:
    """Return a plane of a cell, as float64, also that of rows where it is only implied."""
    if implied and plane == 0:
        rows = 0.0
        for c in range(classes):
            rows += cell[c]
        return rows
    return 1.0 * cell[plane - implied]

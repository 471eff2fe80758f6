"""The definition of `descend` over the array API: all rows take one step at a time."""

from __future__ import annotations

from typing import Any

from array_api_compat import array_namespace


def descend(
    values: Any,
    row: Any,
    node: Any,
    feature: Any,
    kind: Any,
    threshold: Any,
    first_child: Any,
    map_offset: Any,
    branch_map: Any,
) -> Any:
    """Return the nodes (E,) at rest; see the package for the contract."""
    xp = array_namespace(values)
    flat = xp.reshape(xp.astype(values, xp.float64), (-1,))
    base = row * values.shape[1]
    while node.shape[0]:
        first = xp.astype(xp.take(first_child, node), xp.int64)
        inner = first >= 0
        column = xp.where(inner, xp.astype(xp.take(feature, node), xp.int64), 0)
        x = xp.take(flat, base + column)
        moves = inner & ~xp.isnan(x)
        if not bool(xp.any(moves)):
            break
        child = xp.astype(x > xp.take(threshold, node), xp.int64)
        if branch_map.shape[0]:
            by_map = moves & (xp.take(kind, node) > 0)
            level = xp.astype(xp.where(by_map, x, 0.0), xp.int64)
            place = xp.where(by_map, xp.take(map_offset, node) + level + 1, 0)
            child = xp.where(by_map, xp.astype(xp.take(branch_map, place), xp.int64), child)
        node = xp.where(moves, first + child, node)
    return node

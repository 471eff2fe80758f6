"""The definition of `partition` over the array API."""

from __future__ import annotations

from typing import Any

import numpy as np
from array_api_compat import array_namespace, device

from vtree_kernels.histogram.reference import node_of_position


def partition(rows: Any, start: Any, stop: Any, child: Any, n_children: int) -> Any:
    """Return the rows; see the package for the contract."""
    xp = array_namespace(rows)
    positions, node = node_of_position(rows, start, stop)
    own = xp.astype(xp.take(child, positions), xp.int64)
    return by_child(rows, start, stop, positions, node, own, n_children)


def by_child(
    rows: Any, start: Any, stop: Any, positions: Any, node: Any, child: Any, n_children: int
) -> Any:
    """Do it for node (P,) and child (P,) int64 of the segments' positions (P,)."""
    xp = array_namespace(rows)
    place = device(rows)
    key = node * n_children + child
    order = xp.argsort(key, stable=True)
    # Segments ascend, so the sorted rows fill the nodes' positions from first to last.
    inside = np.zeros(rows.shape[0] + 1, dtype=np.int64)
    np.add.at(inside, start, 1)
    np.add.at(inside, stop, -1)
    inside = np.cumsum(inside)[:-1]
    filled = xp.asarray(np.where(inside > 0, np.cumsum(inside) - 1, 0), device=place)
    if positions.shape[0] == 0:
        return rows
    moved = xp.take(xp.take(xp.take(rows, positions), order), filled)
    return xp.where(xp.asarray(inside > 0, device=place), moved, rows)

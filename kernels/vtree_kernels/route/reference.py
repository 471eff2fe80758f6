"""The definition of `route` over the array API."""

from __future__ import annotations

from typing import Any

import numpy as np
from array_api_compat import array_namespace, device

from vtree_kernels.histogram.reference import node_of_position
from vtree_kernels.partition.reference import by_child


def route(
    rows: Any,
    start: Any,
    stop: Any,
    codes: Any,
    column: Any,
    kind: Any,
    bin: Any,
    missing_child: Any,
    map_offset: Any,
    branch_map: Any,
    n_children: int,
    overwrite: bool = False,
) -> Any:
    """Return the rows; see the package for the contract."""
    xp = array_namespace(rows)
    place = device(rows)
    positions, node = node_of_position(rows, start, stop)
    chosen = xp.take(rows, positions)

    def of_node(values: Any) -> Any:
        return xp.take(xp.asarray(np.asarray(values, dtype=np.int64), device=place), node)

    flat = xp.reshape(xp.astype(codes, xp.int64), (-1,))
    code = xp.take(flat, xp.astype(chosen, xp.int64) * codes.shape[1] + of_node(column))
    table = xp.asarray(np.append(branch_map, 0).astype(np.int64), device=place)
    mapped = xp.take(table, xp.where(of_node(kind) > 0, of_node(map_offset) + code, 0))
    child = xp.where(of_node(kind) > 0, mapped, xp.astype(code > of_node(bin), xp.int64))
    child = xp.where(code == 0, of_node(missing_child), child)

    return by_child(rows, start, stop, positions, node, child, n_children)

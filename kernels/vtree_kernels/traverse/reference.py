"""The definition of `traverse` over the array API: all rows take one step at a time."""

from __future__ import annotations

from typing import Any

import numpy as np
from array_api_compat import array_namespace, device


def traverse(
    values: Any,
    root: Any,
    feature: Any,
    kind: Any,
    threshold: Any,
    first_child: Any,
    missing_child: Any,
    map_offset: Any,
    branch_map: Any,
) -> Any:
    """Return leaf (N, T) int32; see the package for the contract."""
    xp = array_namespace(values)
    place = device(values)

    def put(array: Any, dtype: Any) -> Any:
        return xp.asarray(np.asarray(array, dtype=dtype), device=place)

    n_rows, n_columns = values.shape
    flat = xp.reshape(xp.astype(values, xp.float64), (-1,))
    base = xp.arange(n_rows, dtype=xp.int64, device=place) * n_columns
    features, kinds = put(feature, np.int64), put(kind, np.int64)
    thresholds, firsts = put(threshold, np.float64), put(first_child, np.int64)
    missing, offsets = put(missing_child, np.int64), put(map_offset, np.int64)
    table = put(np.append(branch_map, 0), np.int64)
    leaves = []
    for tree_root in np.asarray(root).tolist():
        node = xp.full((n_rows,), tree_root, dtype=xp.int64, device=place)
        while n_rows:
            f = xp.take(features, node)
            x = xp.take(flat, base + xp.where(f < 0, 0, f))
            absent = xp.isnan(x)
            by_map = xp.take(kinds, node) > 0
            level = xp.astype(xp.where(absent | ~by_map, -1.0, x), xp.int64)
            mapped = xp.take(table, xp.where(by_map, xp.take(offsets, node) + level + 1, 0))
            child = xp.where(by_map, mapped, xp.astype(x > xp.take(thresholds, node), xp.int64))
            child = xp.where(absent, xp.take(missing, node), child)
            moves = (f >= 0) & (child >= 0)
            if not bool(xp.any(moves)):
                break
            node = xp.where(moves, xp.take(firsts, node) + child, node)
        leaves.append(xp.astype(node, xp.int32))
    return xp.stack(leaves, axis=1)

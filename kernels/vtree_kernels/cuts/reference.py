"""The definitions of `extremes`, `cut_sums` and `sides` over the array API, feature by feature."""

from __future__ import annotations

from typing import Any

import numpy as np
from array_api_compat import array_namespace, device

from vtree_kernels._host import to_numpy
from vtree_kernels.histogram.reference import node_of_position, statistics, sums_by_key


def _column(values: Any, chosen: Any, feature: int) -> Any:
    xp = array_namespace(values)
    return xp.astype(xp.take(values[:, feature], chosen), xp.float64)


def _first_of_nodes(x: Any, node: Any, begin: Any) -> Any:
    """Return the least x (P,) of each node, ∞ for empty ones; begin (L,): of the nodes."""
    xp = array_namespace(x)
    by_value = xp.argsort(x, stable=True)
    order = xp.take(by_value, xp.argsort(xp.take(node, by_value), stable=True))
    padded = xp.concat([xp.take(x, order), xp.asarray([np.inf], device=device(x))])
    return xp.take(padded, begin)


def extremes(
    values: Any, rows: Any, start: Any, stop: Any, wanted: Any
) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    """Return (least, greatest); see the package for the contract."""
    xp = array_namespace(values)
    place = device(values)
    positions, node = node_of_position(rows, start, stop)
    chosen = xp.take(rows, positions)
    lengths = stop - start
    begin = np.where(lengths > 0, np.cumsum(lengths) - lengths, lengths.sum())
    first = xp.asarray(begin, device=place)
    least, greatest = np.full(wanted.shape, np.inf), np.full(wanted.shape, -np.inf)
    for feature in np.flatnonzero(wanted.any(axis=0)).tolist():
        x = _column(values, chosen, feature)
        known = ~xp.isnan(x)
        own = wanted[:, feature]
        low = to_numpy(_first_of_nodes(xp.where(known, x, np.inf), node, first))
        high = to_numpy(_first_of_nodes(xp.where(known, -x, np.inf), node, first))
        least[own, feature] = low[own] + 0.0
        greatest[own, feature] = 0.0 - high[own]
    return least, greatest


def cut_sums(
    values: Any,
    rows: Any,
    start: Any,
    stop: Any,
    wanted: Any,
    threshold: Any,
    label: Any,
    weight: Any | None,
    sums: Any,
    n_statistics: int,
    counted: bool = True,
) -> Any:
    """Return hist (L, F, 3, S); see the package for the contract."""
    xp = array_namespace(values)
    place = device(values)
    positions, node = node_of_position(rows, start, stop)
    chosen = xp.take(rows, positions)
    planes = statistics(chosen, label, weight, sums, n_statistics, counted)
    features = []
    for feature in range(wanted.shape[1]):
        x = _column(values, chosen, feature)
        cut = xp.take(xp.asarray(threshold[:, feature], device=place), node)
        side = xp.where(xp.isnan(x), 0, xp.astype(x > cut, xp.int64) + 1)
        own = sums_by_key(node * 3 + side, planes, start.size * 3)
        shown = xp.asarray(wanted[:, feature], device=place)
        features.append(
            xp.where(shown[:, None, None], xp.reshape(own, (start.size, 3, n_statistics)), 0)
        )
    return xp.astype(xp.stack(features, axis=1), xp.int64 if counted else xp.int32)


def sides(
    values: Any, rows: Any, start: Any, stop: Any, feature: Any, threshold: Any, missing_child: Any
) -> Any:
    """Return the child of each position (R,); see the package for the contract."""
    xp = array_namespace(values)
    place = device(values)

    def at_positions(of_nodes: Any, dtype: Any) -> Any:
        # Segments ascend; positions between them take the node before, and nobody asks them.
        own = np.searchsorted(start, np.arange(rows.shape[0]), side="right") - 1
        return xp.asarray(np.asarray(of_nodes, dtype=dtype)[np.maximum(own, 0)], device=place)

    column = at_positions(feature, np.int64)
    flat = xp.reshape(xp.astype(values, xp.float64), (-1,))
    x = xp.take(flat, xp.astype(rows, xp.int64) * values.shape[1] + column)
    right = xp.astype(x > at_positions(threshold, np.float64), xp.int64)
    child = xp.where(xp.isnan(x), at_positions(missing_child, np.int64), right)
    return xp.astype(child, xp.uint8)

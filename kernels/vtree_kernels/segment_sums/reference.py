"""The definition of `segment_sums` over the array API."""

from __future__ import annotations

from typing import Any

from array_api_compat import array_namespace

from vtree_kernels.histogram.reference import node_of_position, sums_by_key


def segment_sums(values: Any, rows: Any, start: Any, stop: Any, number: Any = None) -> Any:
    """Return sums (L, P); see the package for the contract."""
    xp = array_namespace(values)
    positions, segment = node_of_position(rows, start, stop)
    own = xp.astype(xp.take(values, xp.take(rows, positions), axis=0), xp.int64)
    return sums_by_key(segment, [own[:, p] for p in range(own.shape[1])], start.size)

"""Nodes as rows that go down a tree read them: what a step asks for lies in one cache line.

        cut            link                                      a node: two words of 4 bytes, where
    ┌──────────────┬────────────────┬─────────┬────────────┐     values are float32, or of 8
    │ x > cut?     │ first child    │ missing │ column     │
    │ ∞ at leaves  │ minus own place│ right?  │ of x       │
    └──────────────┴────────────────┴─────────┴────────────┘

So a child is own place + link's distance + (x > cut), and a leaf, whose distance is 0, its own
child. A cut of float32 is the greatest one up to the threshold: float32 values compare alike.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numba
import numpy as np
from numpy.typing import NDArray

from vtree_kernels import _threads

_BLOCK = 1 << 16  # nodes


class Packed(NamedTuple):
    """Nodes of all trees, packed."""

    cut: NDArray[Any]  # (2M,) float32 or float64; the node's at 2m
    link: NDArray[Any]  # (2M,) the same bytes, uint32 or uint64; the node's at 2m + 1
    column_bits: np.uint64  # of `link`, the lowest; above them missing, then the distance


class Mapped(NamedTuple):
    """The same of trees that branch by maps too, or where missing values stay."""

    cut: NDArray[Any]
    link: NDArray[Any]
    column_bits: np.uint64
    kind: NDArray[np.int8]  # (M,)
    missing_child: NDArray[np.int32]
    map_offset: NDArray[np.int64]
    branch_map: NDArray[Any]  # (P,), P ≥ 1


@numba.njit(cache=True, nogil=True)
def _farthest(first_child):  # type: ignore[no-untyped-def]
    """Return how far children are from their parents at most."""
    most = np.int64(0)
    for node in range(first_child.size):
        most = max(most, first_child[node] - node)
    return most


@numba.njit(cache=True, nogil=True)
def _pack(  # type: ignore[no-untyped-def]
    cut, link, column_bits, begin, end, feature, threshold, first_child, missing_child
):
    """Fill the words of some nodes; tell whether at some of them missing values stay."""
    stays = False
    for node in range(begin, end):
        if feature[node] < 0:
            cut[2 * node], link[2 * node + 1] = np.inf, 0
            continue
        missing = np.int64(missing_child[node])
        if missing < 0:
            stays = True
        own = (np.int64(first_child[node] - node) << 1) | (missing & 1)
        link[2 * node + 1] = (own << column_bits) | np.int64(feature[node])
        limit = cut.dtype.type(threshold[node])
        if limit > threshold[node]:
            limit = np.nextafter(limit, cut.dtype.type(-np.inf))
        cut[2 * node] = limit
    return stays


def pack(
    values: NDArray[Any],
    feature: NDArray[np.int32],
    threshold: NDArray[np.float64],
    first_child: NDArray[np.int32],
    missing_child: NDArray[np.int32],
) -> tuple[Packed, bool]:
    """Return (the nodes for tables like `values`, whether missing values stay at some)."""
    size, width = feature.size, values.shape[1]
    column_bits = max(width - 1, 0).bit_length()
    fits = int(_farthest(first_child)).bit_length() + 1 + column_bits <= 32
    narrow = fits and values.dtype == np.float32
    link = np.empty(2 * size, np.uint32 if narrow else np.uint64)
    cut = link.view(np.float32 if narrow else np.float64)
    stays = np.zeros(-(-size // _BLOCK), dtype=bool)

    def block(index: int) -> None:
        begin, end = index * _BLOCK, min((index + 1) * _BLOCK, size)
        own = (feature, threshold, first_child, missing_child)
        stays[index] = _pack(cut, link, column_bits, begin, end, *own)

    _threads.run(block, stays.size, work=size)
    return Packed(cut, link, np.uint64(column_bits)), bool(stays.any())

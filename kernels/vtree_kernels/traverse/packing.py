"""Nodes as rows that go down a tree read them: what a step asks for lies in one cache line.

        cut            link                                      a node: two words of 4 bytes, where
    ┌──────────────┬────────────────┬─────────┬────────────┐     values are float32, or of 8
    │ x > cut?     │ first child    │ missing │ column     │
    │ all ones at  │ minus own place│ left?   │ of x       │
    │ leaves       │                │         │            │
    └──────────────┴────────────────┴─────────┴────────────┘

So a child is own place + link's distance + (x > cut), and a leaf, whose distance is 0, its own
child. Cuts and values are unsigned order keys (`vtree_kernels._keys`): a cut the greatest one of
values up to the threshold, a missing value all ones, so that it is above every cut.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numba
import numpy as np
from numpy.typing import NDArray

from vtree_kernels import _threads
from vtree_kernels._keys import last_key, no_value, unsigned_key

_BLOCK = 1 << 16  # nodes


class Packed(NamedTuple):
    """Nodes of all trees, packed."""

    word: NDArray[Any]  # (2M,) uint32 or uint64: node m's cut at 2m, its link at 2m + 1
    column_bits: np.uint64  # of a link, the lowest; above them missing, then the distance
    no_value: Any  # the key of a missing value


class Mapped(NamedTuple):
    """The same of trees that branch by maps too, or where missing values stay."""

    word: NDArray[Any]
    column_bits: np.uint64
    no_value: Any
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
    word, no_value, column_bits, begin, end, feature, threshold, first_child, missing_child
):
    """Fill the words of some nodes; tell whether at some of them missing values stay."""
    stays = False
    for node in range(begin, end):
        if feature[node] < 0:
            word[2 * node], word[2 * node + 1] = no_value, 0
            continue
        missing = np.int64(missing_child[node])
        if missing < 0:
            stays = True
        own = (np.int64(first_child[node] - node) << 1) | (missing == 0)
        word[2 * node + 1] = (own << column_bits) | np.int64(feature[node])
        word[2 * node] = last_key(threshold[node], no_value)
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
    word = np.empty(2 * size, np.uint32 if narrow else np.uint64)
    stays = np.zeros(-(-size // _BLOCK), dtype=bool)

    def block(index: int) -> None:
        begin, end = index * _BLOCK, min((index + 1) * _BLOCK, size)
        own = (feature, threshold, first_child, missing_child)
        stays[index] = _pack(word, no_value(word), column_bits, begin, end, *own)

    _threads.run(block, stays.size, work=size)
    return Packed(word, np.uint64(column_bits), no_value(word)), bool(stays.any())


@numba.njit(cache=True, nogil=True)
def fill_keys(keys, values, no_value):  # type: ignore[no-untyped-def]
    """Write the keys of values, both C-contiguous (rows, F); tell whether a value is missing."""
    most, out, own = no_value ^ no_value, keys.reshape(-1), values.reshape(-1)
    for i in range(own.size):
        key = unsigned_key(own[i], no_value)
        out[i] = key
        most = max(most, key)
    return most == no_value

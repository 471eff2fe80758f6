"""`bincode` in Numba: blocks of rows, tiles of columns whose edges stay in L1."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numba
import numpy as np
from numpy.typing import NDArray

from vtree_kernels import _threads
from vtree_kernels._sixteens import number_below, trees_of

BLOCK = 2048  # rows
TILE = 16  # columns: a line of float32 values a row; of 255 edges each, 17 kB


@numba.njit(cache=True, nogil=True)
def _encode_levels(values, column, n_edges, codes, begin, end):  # type: ignore[no-untyped-def]
    """Write the codes of columns side by side whose edges are ½, 1½ …, without a search."""
    half, none = n_edges.dtype.type(0.5), n_edges.dtype.type(0.0)
    for i in range(begin, end):
        for g in range(n_edges.size):
            x = values[i, column + g]
            inside = min(max(x, none), n_edges[g])
            code = np.int32(np.ceil(inside - half)) + 1
            codes[i, g] = code if x == x else 0


@numba.njit(cache=True, nogil=True)
def _encode(values, columns, trees, starts, codes, begin, end):  # type: ignore[no-untyped-def]
    tile = TILE * 4 // trees.itemsize
    for first in range(0, columns.size, tile):
        last = min(first + tile, columns.size)
        for i in range(np.uint64(begin), np.uint64(end)):
            for g in range(np.uint64(first), np.uint64(last)):
                x = trees.dtype.type(values[i, columns[g]])
                code = number_below(trees, starts, g, x) + 1
                codes[i, g] = code if x == x else 0


def _below(edges: NDArray[np.float64]) -> NDArray[Any]:
    """Return the largest float32 not above each edge: float32 values lie above both or neither.

    Comparing in float32 halves the bytes and doubles the numbers a vector holds.
    """
    with np.errstate(over="ignore", under="ignore"):
        rounded = edges.astype(np.float32)
    lower = np.nextafter(rounded, np.float32(-np.inf))
    return np.where(rounded.astype(np.float64) > edges, lower, rounded)


def _are_halves(edges: NDArray[np.float64]) -> bool:
    """Tell whether edges are ½, 1½ …, as between numbers of levels: nothing to search then."""
    return edges.size > 0 and bool((edges == np.arange(edges.size) + 0.5).all())


def _side_by_side(columns: list[int]) -> bool:
    return bool(columns) and columns == list(range(columns[0], columns[0] + len(columns)))


def bincode(
    values: NDArray[Any],
    columns: list[int],
    edges: NDArray[np.float64],
    offsets: list[int],
    codes_dtype: Any,
) -> NDArray[Any]:
    """Return codes (N, G) of `values` (N, F); see the package for the contract."""
    n_rows = values.shape[0]
    codes = np.empty((n_rows, len(columns)), dtype=codes_dtype)
    ends = np.asarray(offsets, dtype=np.int64)
    if (
        values.flags.c_contiguous
        and _side_by_side(columns)
        and all(_are_halves(edges[a:z]) for a, z in pairwise(offsets))
    ):
        n_edges = np.diff(ends).astype(values.dtype)

        def block(begin: int, end: int) -> None:
            _encode_levels(values, columns[0], n_edges, codes, begin, end)
    else:
        own_edges = _below(edges) if values.dtype == np.float32 else edges
        trees, starts = trees_of(own_edges, ends)
        which = np.asarray(columns, dtype=np.uint64)

        def block(begin: int, end: int) -> None:
            _encode(values, which, trees, starts, codes, begin, end)

    def task(index: int) -> None:
        block(index * BLOCK, min((index + 1) * BLOCK, n_rows))

    _threads.run(task, -(-n_rows // BLOCK), work=codes.size * 8)
    return codes

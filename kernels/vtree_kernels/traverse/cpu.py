"""`traverse` in Numba: blocks of rows, one tree after another over a block.

A row's way down a tree is a chain of loads, each waiting for the one before. Eight rows at a time
go down together, so that eight chains are under way: 8.9 ns a level become 1. For that a leaf is
its own child, and all rows take as many steps as the tree is deep, or until none moves any more.
Trees with branch maps, or whose missing values stay at a node, are walked row by row; symmetric
ones are asked level by level.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numba
import numpy as np
from numpy.typing import NDArray

from vtree_kernels import _threads
from vtree_kernels.traverse.levels import count_levels, leaves_by_level

BLOCK = 512  # rows; with their 28 float32 they lie in the L2 cache while all trees pass over them
TOGETHER = 8  # rows that go down a tree together
_STEPS = 4  # levels between two looks whether any row still moves


class Nodes(NamedTuple):
    """Trees as both ways to walk them need: the node arrays, and those of the loops to leaves."""

    feature: NDArray[np.int32]
    kind: NDArray[np.int8]
    threshold: NDArray[np.float64]
    first_child: NDArray[np.int32]
    missing_child: NDArray[np.int32]
    map_offset: NDArray[np.int64]
    branch_map: NDArray[Any]
    column: NDArray[np.int32]  # (M,) twice the feature, plus 1 where missing values go right
    next: NDArray[np.int32]  # (M,) the first child, at leaves the leaf itself
    cut: NDArray[np.float64]  # (M,) the threshold, ∞ at leaves
    depth: NDArray[np.int64]  # (T,) of trees whose rows may go down together, −1 of others
    levels: NDArray[np.int64]  # (T,) of symmetric trees, −1 of others


@numba.njit(cache=True, nogil=True)
def _loops(  # type: ignore[no-untyped-def]
    column, next, cut, depth, root, feature, kind, threshold, first_child, missing_child
):
    """Fill `column`, `next`, `cut` and `depth`; parents come before their children."""
    level = np.zeros(feature.size, dtype=np.int64)
    tree = np.full(feature.size, -1)  # below a branch map nobody asks
    tree[root] = np.arange(root.size)
    for node in range(feature.size):
        own = tree[node]
        if own < 0:
            continue
        if feature[node] < 0:
            column[node], next[node], cut[node] = 0, node, np.inf
            if depth[own] >= 0:
                depth[own] = max(depth[own], level[node])
            continue
        first, missing = first_child[node], missing_child[node]
        column[node], next[node], cut[node] = 2 * feature[node] + missing, first, threshold[node]
        if kind[node] > 0 or missing < 0:
            depth[own] = -1
        if kind[node] == 0:
            level[first] = level[first + 1] = level[node] + 1
            tree[first] = tree[first + 1] = own


@numba.njit(cache=True, nogil=True)
def _step(flat, base, column, next, cut, node):  # type: ignore[no-untyped-def]
    place = column[node]
    x = np.float64(flat[base + np.uint64(place >> 1)])
    right = (x > cut[node]) | ((x != x) & ((place & 1) > 0))
    return np.uint64(next[node]) + np.uint64(right)


@numba.njit(cache=True, nogil=True)
def _together(  # type: ignore[no-untyped-def]
    out, flat, width, root, depth, column, next, cut
):
    """Send rows down one tree, eight at a time; return the first row that is left over."""
    w = np.uint64(width)
    whole = out.size // TOGETHER * TOGETHER
    for i in range(0, whole, TOGETHER):
        b0 = np.uint64(i) * w
        b1, b2, b3, b4 = b0 + w, b0 + 2 * w, b0 + 3 * w, b0 + 4 * w
        b5, b6, b7 = b0 + 5 * w, b0 + 6 * w, b0 + 7 * w
        n0 = n1 = n2 = n3 = n4 = n5 = n6 = n7 = np.uint64(root)
        left = depth
        while left > 0:
            was0, was1, was2, was3, was4, was5, was6, was7 = n0, n1, n2, n3, n4, n5, n6, n7
            for _ in range(_STEPS):  # a leaf is its own child: steps too many change nothing
                n0 = _step(flat, b0, column, next, cut, n0)
                n1 = _step(flat, b1, column, next, cut, n1)
                n2 = _step(flat, b2, column, next, cut, n2)
                n3 = _step(flat, b3, column, next, cut, n3)
                n4 = _step(flat, b4, column, next, cut, n4)
                n5 = _step(flat, b5, column, next, cut, n5)
                n6 = _step(flat, b6, column, next, cut, n6)
                n7 = _step(flat, b7, column, next, cut, n7)
            left -= _STEPS
            moved = (n0 ^ was0) | (n1 ^ was1) | (n2 ^ was2) | (n3 ^ was3)
            if moved | (n4 ^ was4) | (n5 ^ was5) | (n6 ^ was6) | (n7 ^ was7) == 0:
                break
        out[i], out[i + 1], out[i + 2], out[i + 3] = n0, n1, n2, n3
        out[i + 4], out[i + 5], out[i + 6], out[i + 7] = n4, n5, n6, n7
    return whole


@numba.njit(cache=True, nogil=True)
def _walk(out, begin, values, root, nodes):  # type: ignore[no-untyped-def]
    """Send rows from `begin` on down one tree, one after another."""
    feature, kind, threshold, first_child, missing_child, map_offset, branch_map = nodes
    for row in range(begin, values.shape[0]):
        node = np.int64(root)
        while feature[node] >= 0:
            x = np.float64(values[row, feature[node]])
            if x != x:
                child = np.int64(missing_child[node])
                if child < 0:
                    break
            elif kind[node] == 0:
                child = np.int64(0 if x <= threshold[node] else 1)
            else:
                child = np.int64(branch_map[map_offset[node] + np.int64(x) + 1])
            node = first_child[node] + child
        out[row] = node


@numba.njit(cache=True, nogil=True)
def descend(values, root, nodes):  # type: ignore[no-untyped-def]
    """Return where the rows of a block of values, C-contiguous, come to rest, (T, rows)."""
    out = np.empty((root.size, values.shape[0]), dtype=np.int32)
    width = values.shape[1]
    flat = values.reshape(-1)
    plain, column, next, cut, depth = nodes[:7], nodes[7], nodes[8], nodes[9], nodes[10]
    levels = nodes[11]
    columns = np.empty((0, 0), values.dtype)
    if np.any(levels > 0):
        columns = values.T.copy()
    for t in range(root.size):
        done = 0
        if levels[t] > 0:
            leaves_by_level(out[t], columns, np.int64(root[t]), levels[t], column, cut)
            continue
        if depth[t] >= 0:
            done = _together(out[t], flat, width, root[t], depth[t], column, next, cut)
        _walk(out[t], done, values, root[t], plain)
    return out


def prepared(
    values: NDArray[Any],
    root: NDArray[np.int32],
    feature: NDArray[np.int32],
    kind: NDArray[np.int8],
    threshold: NDArray[np.float64],
    first_child: NDArray[np.int32],
    missing_child: NDArray[np.int32],
    map_offset: NDArray[np.int64],
    branch_map: NDArray[Any],
) -> Nodes:
    """Return the trees as `descend` takes them."""
    size = feature.size
    depth = np.zeros(root.size, dtype=np.int64)
    column, next = np.empty(size, dtype=np.int32), np.empty(size, dtype=np.int32)
    cut = np.empty(size)
    # Few rows cost less to walk than all nodes to prepare.
    if values.shape[0] * root.size < size or values.shape[0] < TOGETHER:
        depth[:] = -1
    else:
        _loops(column, next, cut, depth, root, feature, kind, threshold, first_child, missing_child)
    plain = (feature, kind, threshold, first_child, missing_child, map_offset, branch_map)
    levels = np.full(root.size, -1)
    if depth.max(initial=-1) > 0:
        _find_symmetric(levels, root, *plain[:2], first_child, missing_child, column, next, cut)
        # Columns have to be laid side by side for it: not for few questions to a wide table.
        if levels[levels > 0].sum() < values.shape[1]:
            levels[:] = -1
    return Nodes(*plain, column, next, cut, depth, levels)


@numba.njit(cache=True, nogil=True)
def _find_symmetric(  # type: ignore[no-untyped-def]
    levels, root, feature, kind, first_child, missing_child, column, next, cut
):
    for t in range(root.size):
        tree = (feature, kind, first_child, missing_child, column, next, cut)
        levels[t] = count_levels(np.int64(root[t]), *tree)


@numba.njit(cache=True, nogil=True)
def _leaves(out, values, root, nodes):  # type: ignore[no-untyped-def]
    leaf = descend(values, root, nodes)
    for i in range(values.shape[0]):
        for t in range(root.size):
            out[i, t] = leaf[t, i]


def traverse(
    values: NDArray[Any],
    root: NDArray[np.int32],
    feature: NDArray[np.int32],
    kind: NDArray[np.int8],
    threshold: NDArray[np.float64],
    first_child: NDArray[np.int32],
    missing_child: NDArray[np.int32],
    map_offset: NDArray[np.int64],
    branch_map: NDArray[Any],
) -> NDArray[np.int32]:
    """Return leaf (N, T) int32; see the package for the contract."""
    out = np.empty((values.shape[0], root.size), dtype=np.int32)
    plain = (feature, kind, threshold, first_child, missing_child, map_offset, branch_map)
    nodes = prepared(values, root, *plain)

    def block(index: int) -> None:
        rows = slice(index * BLOCK, (index + 1) * BLOCK)
        _leaves(out[rows], np.ascontiguousarray(values[rows]), root, nodes)

    _threads.run(block, -(-values.shape[0] // BLOCK), work=out.size * 16)
    return out

"""`traverse` in Numba: blocks of rows, one tree after another over a block.

Rows go down a tree together, where nodes are packed for it; the few rows that do not pay for
packing walk one after another, and symmetric trees are asked level by level. A block has as many
rows as read most of what a tree has anyway: so a large tree comes to the cache once for many rows,
and the rows stay there while small ones pass over them.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numba
import numpy as np
from numpy.typing import NDArray

from vtree_kernels import _threads
from vtree_kernels.traverse.levels import count_levels, leaves_by_level
from vtree_kernels.traverse.packing import Mapped, Packed, fill_keys, pack
from vtree_kernels.traverse.together import STEPS, TOGETHER, by_map, by_missing, by_number, descent

LEAST, MOST = 512, 8192  # rows of a block
_NODES_A_ROW = 4  # of a tree, in a block
_SMALL = 1024  # nodes of a tree that is looked through for its depth
_LEAVES = 1 << 16  # found at a time, of a block's rows in some trees
_COLUMNS_A_STEP = 4  # whose keys are made in the time of a step
_FEWEST, _KEY_BYTES = 64, 1 << 22  # of a block in a wide table: rows, keys
# Nodes that are packed in the time that a row walks down a tree alone: of nodes in the L2 cache,
# and of more.
_NEAR = 1 << 15
_PAYS, _PAYS_AFAR = 12, 48

Plain = tuple[NDArray[Any], ...]


class Forest(NamedTuple):
    """Trees as all ways to walk them need."""

    root: NDArray[np.int32]
    plain: Plain  # the node arrays
    packed: Packed | None  # None where few rows walk
    stays: bool  # whether missing values stay at some nodes
    end: NDArray[np.int64]  # (T,) behind each tree's last node
    first: NDArray[np.int64]  # (T,) steps that most rows take, −1 of symmetric trees
    levels: NDArray[np.int64]  # (T,) of symmetric trees, −1 of others
    symmetric: bool  # whether some trees are
    others: bool  # whether some are not
    by_key: bool  # whether a block's values become keys before they go down
    block: int  # rows


@numba.njit(cache=True, nogil=True)
def _walk(leaf, values, roots, nodes):  # type: ignore[no-untyped-def]
    """Send rows down trees, one after another: leaf (T, rows)."""
    feature, kind, threshold, first_child, missing_child, map_offset, branch_map = nodes
    for tree in range(roots.size):
        for row in range(values.shape[0]):
            node = np.int64(roots[tree])
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
            leaf[tree, row] = node


@numba.njit(cache=True, nogil=True)
def _depths(root, sizes, first_child):  # type: ignore[no-untyped-def]
    """Return the depth of each tree, as far as its nodes have two children."""
    level = np.zeros(first_child.size + 1, np.int64)
    depth = np.zeros(root.size, np.int64)
    for tree in range(root.size):
        for node in range(root[tree], min(root[tree] + sizes[tree], first_child.size)):
            child = first_child[node]
            if child >= 0:
                level[child] = level[child + 1] = level[node] + 1
                depth[tree] = max(depth[tree], level[node] + 1)
    return depth


def _first_steps(root: NDArray[np.int32], first_child: NDArray[np.int32]) -> NDArray[np.int64]:
    """Return how many steps all rows take before those at rest are left out, (T,).

    As many as in a full tree of as many nodes, or all where the tree is hardly deeper.
    """
    sizes = np.diff(np.append(root, first_child.size))
    sizes = np.where(sizes > 0, sizes, first_child.size)
    full = np.log2((sizes + 1) / 2).astype(np.int64)
    if first_child.size > _SMALL * root.size:
        return full
    depth = _depths(root, sizes, first_child)
    return np.where((full < depth) & (depth <= full + STEPS), depth, full)


def _ends(root: NDArray[np.int32], size: int) -> NDArray[np.int64]:
    """Return where the nodes of each tree end, whose roots stand in any order."""
    ends = np.append(np.sort(root), size)
    return ends[np.searchsorted(ends[:-1], root, side="right")]


def prepared(values: NDArray[Any], root: NDArray[np.int32], *plain: NDArray[Any]) -> Forest:
    """Return trees, their node arrays as `traverse` is given them, for a table's rows."""
    size, n_rows = plain[0].size, values.shape[0]
    first = _first_steps(root, plain[3])
    levels = np.full(root.size, -1)
    packed, stays = None, False
    pays = n_rows * root.size * (_PAYS if size <= _NEAR else _PAYS_AFAR) >= size
    if n_rows >= TOGETHER and pays:
        packed, stays = pack(values, plain[0], *plain[2:5])
        _find_symmetric(levels, root, *plain[:5])
        # Columns have to be laid side by side for it: not for few questions to a wide table.
        if levels[levels > 0].sum() < values.shape[1]:
            levels[:] = -1
    rows = max(LEAST, min(MOST, size // max(1, root.size) // _NODES_A_ROW))
    share = -(-n_rows // (2 * _threads.allowed()))
    block = max(LEAST, min(rows, share))
    is_symmetric = levels > 0
    some, others = bool(is_symmetric.any()), not is_symmetric.all()
    # Keys of all columns are not worth it in a wide table for few steps.
    by_key = packed is not None and others
    by_key = by_key and values.shape[1] <= _COLUMNS_A_STEP * int(first.sum())
    if by_key:
        block = min(block, max(_FEWEST, _KEY_BYTES // (8 * max(1, values.shape[1]))))
    first = np.where(is_symmetric, -1, first)
    end = _ends(root, size)
    return Forest(root, plain, packed, stays, end, first, levels, some, others, by_key, block)


@numba.njit(cache=True, nogil=True)
def _find_symmetric(  # type: ignore[no-untyped-def]
    levels, root, feature, kind, threshold, first_child, missing_child
):
    tree = (feature, kind, threshold, first_child, missing_child)
    for t in range(root.size):
        levels[t] = count_levels(np.int64(root[t]), *tree)


@numba.njit(cache=True, nogil=True)
def _ask_levels(  # type: ignore[no-untyped-def]
    leaf, values, root, levels, feature, threshold, missing_child
):
    columns = values.T.copy()
    for t in range(root.size):
        node, nodes = np.int64(root[t]), (feature, threshold, missing_child)
        if levels[t] > 0:
            leaves_by_level(leaf[t], columns, node, levels[t], *nodes)


def _as_asked(values: NDArray[Any], forest: Forest, packed: Packed) -> tuple[Any, Any, Any]:
    """Return (the least step that takes a block's rows down, nodes and rows as it reads them)."""
    maps, some_missing, rows = forest.plain[6].size > 0, True, values
    if forest.by_key:
        rows = np.empty(values.shape, packed.word.dtype)
        some_missing = fill_keys(rows, values, packed.no_value)
    if not maps and not (some_missing and forest.stays):
        return by_missing if some_missing else by_number, packed, rows
    _, kind, _, _, missing_child, map_offset, branch_map = forest.plain
    branch_map = branch_map if maps else np.zeros(1, branch_map.dtype)
    return by_map, Mapped(*packed, kind, missing_child, map_offset, branch_map), rows


def descend(values: NDArray[Any], forest: Forest) -> Iterator[tuple[slice, NDArray[np.int32]]]:
    """Yield (some trees, where the rows of a block, C-contiguous, rest in them (trees, rows))."""
    n_rows, n_trees = values.shape[0], forest.root.size
    feature, _, threshold, _, missing_child, _, _ = forest.plain
    step, nodes, rows = None, None, None
    if forest.packed is not None and forest.others:
        step, nodes, rows = _as_asked(values, forest, forest.packed)
    each = max(1, _LEAVES // max(1, n_rows))
    for begin in range(0, n_trees, each):
        trees = slice(begin, min(begin + each, n_trees))
        root, first, levels = forest.root[trees], forest.first[trees], forest.levels[trees]
        leaf = np.empty((root.size, n_rows), dtype=np.int32)
        if forest.packed is None:
            _walk(leaf, values, root, forest.plain)
            yield trees, leaf
            continue
        if forest.symmetric:
            _ask_levels(leaf, values, root, levels, feature, threshold, missing_child)
        if forest.others:
            descent(step)(leaf, rows, root, forest.end[trees], first, nodes)
        yield trees, leaf


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
    forest = prepared(values, root, *plain)

    def block(index: int) -> None:
        rows = slice(index * forest.block, (index + 1) * forest.block)
        for trees, leaf in descend(np.ascontiguousarray(values[rows]), forest):
            out[rows, trees] = leaf.T

    _threads.run(block, -(-values.shape[0] // forest.block), work=out.size * 16)
    return out

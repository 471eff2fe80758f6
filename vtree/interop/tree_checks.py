"""What makes arrays a `Tree`: every index and shape, before anything walks on it.

A walk over checked arrays ends: children come after their parents. It stays inside: features,
children and branch maps are in range. All checks are array expressions, and none allocates by a
number that the arrays merely claim.
"""

from collections.abc import Callable, Iterator

import numpy as np
from numpy.typing import NDArray

from vtree.tree import MULTIWAY, SUBSET, THRESHOLD, Tree

# The widest; files of earlier versions have no narrower ones.
DTYPES: dict[str, type[np.generic]] = {
    "feature": np.int32,
    "kind": np.int8,
    "bin": np.int32,
    "threshold": np.float64,
    "first_child": np.int32,
    "n_children": np.int32,
    "missing_child": np.int32,
    "map_offset": np.int64,
    "branch_map": np.uint16,
    "value": np.float64,
    "weight": np.float64,
    "n_rows": np.int64,
    "impurity": np.float64,
    "gain": np.float64,
    "root": np.int32,
}

_NARROW: dict[str, tuple[type[np.generic], ...]] = {
    **{"n_children": (np.int8,), "missing_child": (np.int8,), "bin": (np.uint8, np.uint16)},
    **{"map_offset": (np.int32,), "n_rows": (np.int32,), "branch_map": (np.uint8,)},
}

# (the nodes that break a rule, the rule)
_Rules = Iterator[tuple[NDArray[np.bool_], str]]


def fault_of_tree(tree: Tree, n_levels: NDArray[np.int64]) -> str | None:
    """Say what is wrong with the arrays of a tree, or None where nothing is.

    Parameters
    ----------
    tree : Tree
    n_levels : (F,) int64, the levels of each categorical feature, −1 for numeric ones; or (T, F),
        where trees have their own

    Returns
    -------
    None if: all arrays have the dtypes and shapes of `Tree`, with M, T, K >= 1; nodes are numbered
    breadth first, tree by tree, each but the roots with one parent; leaves have no split; features,
    kinds, missing children and branch maps are in range, maps packed in the order of the nodes;
    thresholds are not NaN, other numbers finite, weights and counts not negative.
    Otherwise a phrase that names the array and the first node.
    """
    # In this order: each relies on what those before it have found to hold.
    checks: tuple[Callable[[Tree, NDArray[np.int64]], _Rules], ...]
    checks = (_of_structure, _of_splits, _of_maps, _of_numbers)
    fault = _fault_of_arrays(tree) or _fault_of_roots(tree)
    if fault is None and n_levels.ndim == 2 and len(n_levels) != tree.root.size:
        fault = f"there are {tree.root.size:,} trees, and levels of {len(n_levels):,}"
    for check in checks:
        if fault is not None:
            break
        fault = next((_at(bad, rule) for bad, rule in check(tree, n_levels) if bad.any()), None)
    return fault


def _at(bad: NDArray[np.bool_], rule: str) -> str:
    return f"{rule}; number {int(np.argmax(bad)):,} breaks this"


def _fault_of_arrays(tree: Tree) -> str | None:
    for name, array in tree._asdict().items():
        dtype = np.dtype(DTYPES[name])
        allowed = {dtype, *map(np.dtype, _NARROW.get(name, ()))}
        if not isinstance(array, np.ndarray) or array.dtype not in allowed:
            found = array.dtype if isinstance(array, np.ndarray) else type(array).__name__
            return f"{name} is an array of {dtype}, not {found}"
        n_axes = 2 if name == "value" else 1
        if array.ndim != n_axes:
            return f"{name} has {n_axes} axes, not {array.ndim}"
        if name not in ("branch_map", "root") and array.shape[0] != tree.feature.shape[0]:
            return f"{name} has {array.shape[0]:,} nodes and feature has {tree.feature.shape[0]:,}"
    if 0 in tree.value.shape:
        return f"value has a node and a column at least, not the shape {tree.value.shape}"
    return None


def _fault_of_roots(tree: Tree) -> str | None:
    root, n_nodes = tree.root, tree.feature.size
    if root.size == 0 or root[0] != 0:
        return "the first root is node 0"
    if root[-1] >= n_nodes or not (root[1:] > root[:-1]).all():
        return f"roots ascend and are below {n_nodes:,}"
    return None


def _of_structure(tree: Tree, n_levels: NDArray[np.int64]) -> _Rules:
    """Breadth first means: each split's children follow those of the split before it.

    The first split of a tree has the nodes behind the root. Where that holds, and a tree has as
    many children as nodes behind its root, each of these has exactly one parent.
    """
    n_nodes, count = tree.feature.size, tree.n_children.astype(np.int64)
    split = tree.first_child >= 0
    yield tree.first_child < -1, "first_child is −1 or a node"
    yield split != (tree.feature >= 0), "only nodes with a feature have a first_child"
    yield np.where(split, count < 2, count != 0), "n_children is 0 at leaves, 2 or more at splits"
    before = np.cumsum(count) - count
    sizes = np.diff(tree.root, append=n_nodes)
    own = before - np.repeat(before[tree.root] - tree.root, sizes)  # the root's number, and before
    yield split & (tree.first_child != own + 1), "first_child follows the children numbered before"
    yield split & (own < np.arange(n_nodes)), "children come after their parent"
    total = np.append(before, count.sum())[np.append(tree.root[1:], n_nodes)] - before[tree.root]
    yield total != sizes - 1, "each node of a tree but its root has one parent"


def _of_splits(tree: Tree, n_levels: NDArray[np.int64]) -> _Rules:
    leaf = tree.feature < 0
    n_features = n_levels.shape[-1]
    outside = (tree.feature < -1) | (tree.feature >= n_features)
    yield outside, f"feature is −1 or below {n_features:,}"
    yield (tree.kind < THRESHOLD) | (tree.kind > MULTIWAY), "kind is 0, 1 or 2"
    yield leaf & (tree.kind != THRESHOLD), "kind is 0 at leaves"
    yield ~leaf & (tree.kind <= SUBSET) & (tree.n_children != 2), "binary splits have 2 children"
    outside = (tree.missing_child < -1) | (tree.missing_child >= tree.n_children)
    yield outside, "missing_child is −1 or below n_children"
    yield np.isnan(tree.threshold), "threshold is a number"


def _of_maps(tree: Tree, n_levels: NDArray[np.int64]) -> _Rules:
    mapped = tree.kind != THRESHOLD
    yield ~mapped & (tree.map_offset != -1), "map_offset is −1 where no map is used"
    # Of the last feature at leaves, where none is asked for.
    if n_levels.ndim == 1:
        levels = n_levels[tree.feature]
    else:
        number = np.repeat(np.arange(tree.root.size), np.diff(tree.root, append=tree.feature.size))
        levels = n_levels[number, tree.feature]
    yield mapped & (levels < 0), "only splits by categories have a branch map"
    length = np.where(mapped, levels + 1, 0)
    yield mapped & (tree.map_offset != np.cumsum(length) - length), "branch maps lie back to back"
    total = int(length.sum())
    yield np.array([total != tree.branch_map.size]), f"branch_map has {total:,} entries"
    yield tree.branch_map >= np.repeat(tree.n_children, length), "branch_map is below n_children"


def _of_numbers(tree: Tree, n_levels: NDArray[np.int64]) -> _Rules:
    yield ~np.asarray(np.isfinite(tree.value).all(axis=1)), "value is finite"
    yield ~np.isfinite(tree.weight) | (tree.weight < 0), "weight is finite and not negative"
    yield ~np.isfinite(tree.impurity), "impurity is finite"
    yield ~np.isfinite(tree.gain), "gain is finite"
    yield tree.n_rows < 0, "n_rows is not negative"

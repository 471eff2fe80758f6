"""Trees as few bytes as answers take: what training knew of each node is left out.

A node costs its feature in the narrowest integers; a split its threshold and the branch of missing
values; a leaf its values. Children, offsets and kinds follow from the numbering. A fully grown tree
of two classes takes 13.5 bytes a node, where `Tree` has 68.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from vtree.errors import InputError
from vtree.tree import SUBSET, THRESHOLD, Tree, narrow

Arrays = dict[str, NDArray[Any]]

FIELDS = ("feature", "threshold", "missing_child", "value", "root", "branch_map")


def packed(tree: Tree, value_dtype: Any = np.float64) -> Arrays:
    """Return the arrays from which `unpacked` makes trees that answer alike.

    tree: canonical, of binary splits, none of which keeps missing values to itself. value_dtype:
    float64, or float32 to round what leaves answer.

    Raises
    ------
    InputError
        Trees of other kinds, whose answers take more than their leaves.
    """
    split = tree.feature >= 0
    if (tree.n_children[split] != 2).any() or (tree.missing_child[split] < 0).any():
        raise InputError(
            "slim=True is for trees of binary splits that send missing values on; save this model "
            "without it"
        )
    return {
        "feature": tree.feature.astype(np.min_scalar_type(-int(tree.feature.max(initial=0)) - 1)),
        "threshold": tree.threshold[split],
        "missing_child": tree.missing_child[split].astype(np.uint8),
        "value": tree.value[~split].astype(value_dtype),
        "root": tree.root,
        "branch_map": tree.branch_map,
    }


def unpacked(arrays: Arrays, n_levels: NDArray[np.int64]) -> Tree:
    """Return the trees of `packed`; all that training knew is zero.

    n_levels (F,): of each categorical feature, −1 for numeric ones. What comes out still has to
    pass `vtree.interop.tree_checks`.

    Raises
    ------
    InputError
        Arrays that do not belong to each other.
    """
    _check_shapes(arrays)
    feature = arrays["feature"].astype(np.int32)
    root = arrays["root"]
    split = feature >= 0
    n_nodes = feature.size
    if (feature < -1).any() or (feature >= n_levels.size).any():
        raise InputError("its trees split by features that there are not")
    count = np.where(split, 2, 0)
    before = np.cumsum(count) - count
    sizes = np.diff(root, append=n_nodes)
    own = before - np.repeat(before[root] - root, sizes)
    levels = n_levels[feature]
    mapped = split & (levels >= 0)
    length = np.where(mapped, levels + 1, 0)

    def of_splits(values: NDArray[Any], dtype: Any, at_leaf: float) -> NDArray[Any]:
        found = np.full(n_nodes, at_leaf, dtype=dtype)
        found[split] = values
        return found

    value = np.zeros((n_nodes, arrays["value"].shape[1]))
    value[~split] = arrays["value"]
    nothing = np.zeros(n_nodes)
    return narrow(
        Tree(
            feature=feature,
            kind=np.where(mapped, SUBSET, THRESHOLD).astype(np.int8),
            bin=np.zeros(n_nodes, dtype=np.int32),
            threshold=of_splits(arrays["threshold"], np.float64, 0.0),
            first_child=np.where(split, own + 1, -1).astype(np.int32),
            n_children=count.astype(np.int32),
            missing_child=of_splits(arrays["missing_child"], np.int32, -1),
            map_offset=np.where(mapped, np.cumsum(length) - length, -1),
            branch_map=arrays["branch_map"],
            value=value,
            weight=nothing,
            n_rows=np.zeros(n_nodes, dtype=np.int64),
            impurity=nothing.copy(),
            gain=nothing.copy(),
            root=root,
        )
    )


def _check_shapes(arrays: Arrays) -> None:
    """Raise InputError for arrays whose shapes and types do not belong to each other."""
    feature, value, root = arrays["feature"], arrays["value"], arrays["root"]
    if feature.ndim != 1 or feature.dtype.kind != "i" or feature.size == 0:
        raise InputError("slim.feature is a row of signed integers, and not empty")
    n_splits = int((feature >= 0).sum())
    for name, kind in (("threshold", "f"), ("missing_child", "u")):
        if arrays[name].shape != (n_splits,) or arrays[name].dtype.kind != kind:
            raise InputError(f"slim.{name} has one number a split, {n_splits:,}")
    if value.ndim != 2 or value.shape[0] != feature.size - n_splits or value.dtype.kind != "f":
        raise InputError(f"slim.value has a row a leaf, {feature.size - n_splits:,}")
    n_nodes = feature.size
    ascends = root.ndim == 1 and root.dtype == np.int32 and root.size and root[0] == 0
    if not ascends or (np.diff(root.astype(np.int64)) <= 0).any() or root[-1] >= n_nodes:
        raise InputError(f"slim.root ascends from 0 and is below {n_nodes:,}")

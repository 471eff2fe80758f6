"""Symmetric trees of few rows, grown in one compiled call.

A level of `grow` costs half a millisecond of Python, as much as all else on a few thousand rows.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from vtree import draws
from vtree.binning import Bins
from vtree.symmetric import SymmetricSearch
from vtree.targets import Targets
from vtree.thresholds import thresholds
from vtree.tree import Tree, narrow
from vtree_kernels.symmetric_splits import Columns, Levels, Rule, symmetric_splits

Integers = NDArray[np.int64]

# Codes of a table: with one thread up to a million take less time so, with two half as many. Levels
# of a tree: their nodes are put in order one by one.
_FEW_CODES, _FEW_LEVELS = 1 << 19, 8


def grows_at_once(bins: Bins, targets: Targets, search: SymmetricSearch, depth: int) -> bool:
    """Tell whether `grown_at_once` takes trees of these rows: of numbers, divided by any column."""
    group = bins.groups[0]
    return (
        len(bins.groups) == 1
        and not group.categorical
        and search.directions is None
        and search.columns.all_of_them
        and depth <= _FEW_LEVELS
        and group.codes.shape[0] * group.codes.shape[1] <= _FEW_CODES
        and symmetric_splits.is_native(group.codes)
    )


def grown_at_once(
    bins: Bins,
    targets: Targets,
    search: SymmetricSearch,
    depth: int,
    roots: list[Integers],
    key: np.uint64,
) -> tuple[Tree, Integers]:
    """Return (the first tree, which answers nothing yet, the leaf of each row), as growth would.

    roots: the rows of each tree, all rows one after another; key: of all roots.
    """
    group, noise = bins.groups[0], search.noise
    state = np.uint64(draws.mix(draws.SCORE, noise.seed))
    usual = depth, float(search.shrink), search.cosine, float(noise.spread), state, key
    rule = Rule(*usual, len(roots), search.judges)
    tree = np.repeat(np.arange(len(roots)), [root.size for root in roots])
    columns = Columns(group.features, bins.n_bins[group.features].astype(np.int64))
    statistics = group.codes, targets.weight, targets.sums, tree
    levels, leaf = symmetric_splits(*statistics, columns, group.n_codes, rule)
    return _tree(levels, group.features[levels.column], bins, targets.sums.shape[1]), leaf


def _tree(levels: Levels, feature: Integers, bins: Bins, outputs: int) -> Tree:
    """Return the tree that has these splits at each level."""
    bin, threshold = thresholds(feature, levels.bin, levels.following, bins)
    depth = feature.size
    n_inner, n_leaves = (1 << depth) - 1, 1 << depth
    level = np.repeat(np.arange(depth), 1 << np.arange(depth))

    def field(of_level: NDArray[np.generic], leaf: float, dtype: type[np.generic]) -> Any:
        found = np.full(n_inner + n_leaves, leaf, dtype=dtype)
        found[:n_inner] = of_level[level]
        return found

    tree = Tree(
        feature=field(feature, -1, np.int32),
        kind=np.zeros(n_inner + n_leaves, dtype=np.int8),
        bin=field(bin, 0, np.int32),
        threshold=field(threshold, 0.0, np.float64),
        first_child=field(np.arange(depth), -1, np.int32),
        n_children=field(np.full(depth, 2), 0, np.int32),
        missing_child=field(levels.missing_child, -1, np.int32),
        map_offset=np.full(n_inner + n_leaves, -1),
        branch_map=np.empty(0, dtype=np.uint8),
        value=np.zeros((n_inner + n_leaves, outputs)),
        weight=np.zeros(n_inner + n_leaves),
        n_rows=np.zeros(n_inner + n_leaves, dtype=np.int64),
        impurity=np.zeros(n_inner + n_leaves),
        gain=np.zeros(n_inner + n_leaves),
        root=np.zeros(1, dtype=np.int32),
    )
    tree.first_child[:n_inner] = 2 * np.arange(n_inner) + 1
    return narrow(tree)

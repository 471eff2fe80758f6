"""Symmetric trees of few rows, grown in one compiled call.

A level of `grow` costs half a millisecond of Python, as much as all else on a few thousand rows.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from vtree import arrays, draws
from vtree.binning import Bins
from vtree.symmetric import SymmetricSearch
from vtree.targets import Targets
from vtree.thresholds import thresholds
from vtree.tree import SUBSET, THRESHOLD, Tree, narrow
from vtree_kernels.symmetric_splits import Columns, Levels, Rule, symmetric_splits

Integers = NDArray[np.int64]

# Codes of a table: with one thread up to a million take less time so, with two half as many; more
# where several trees share their splits, whose many nodes cost growth more. Levels of a tree: their
# nodes are put in order one by one.
_FEW_CODES, _FEW_OF_SEVERAL, _FEW_LEVELS = 1 << 19, 1 << 21, 8


class SideBySide(NamedTuple):
    """A table's codes in one array, numbers and categories."""

    codes: NDArray[Any]  # (N, F) of the features that have any
    features: Integers  # (F,) which they are
    n_codes: int


def side_by_side(bins: Bins, *, several: bool = False) -> SideBySide | None:
    """Return the codes of a table for `grown_at_once`, None if they are too many for it.

    several: whether its rows are those of several trees.
    """
    groups = bins.groups
    n_columns = sum(group.codes.shape[1] for group in groups)
    most = _FEW_OF_SEVERAL if several else _FEW_CODES
    if bins.n_rows * n_columns > most or not arrays.is_numpy(groups[0].codes):
        return None
    features = np.concatenate([group.features for group in groups])
    n_codes = max(group.n_codes for group in groups)
    if len(groups) == 1:
        return SideBySide(groups[0].codes, features, n_codes)
    in_order = np.argsort(features)
    codes = np.concatenate([group.codes for group in groups], axis=1)
    return SideBySide(np.ascontiguousarray(codes[:, in_order]), features[in_order], n_codes)


def grows_at_once(table: SideBySide, search: SymmetricSearch, depth: int) -> bool:
    """Tell whether `grown_at_once` takes trees of this table: divided by any column."""
    return (
        search.directions is None
        and search.columns.all_of_them
        and depth <= _FEW_LEVELS
        and symmetric_splits.is_native(table.codes)
    )


def grown_at_once(
    table: SideBySide,
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
    noise, features = search.noise, table.features
    state = np.uint64(draws.mix(draws.SCORE, noise.seed))
    usual = depth, float(search.shrink), search.cosine, float(noise.spread), state, key
    rule = Rule(*usual, len(roots), search.judges)
    tree = np.repeat(np.arange(len(roots)), [root.size for root in roots])
    n_bins = bins.n_bins[features].astype(np.int64)
    columns = Columns(features, n_bins, bins.is_categorical[features])
    statistics = table.codes, targets.weight, targets.sums, tree
    levels, leaf = symmetric_splits(*statistics, columns, table.n_codes, rule)
    return _tree(levels, features[levels.column], bins, targets.sums.shape[1]), leaf


def _tree(levels: Levels, feature: Integers, bins: Bins, outputs: int) -> Tree:
    """Return the tree that has these splits at each level."""
    depth, one_hot = feature.size, bins.is_categorical[feature]
    bin, threshold = levels.bin.copy(), np.zeros(depth)
    gap = feature[~one_hot], bin[~one_hot], levels.following[~one_hot]
    bin[~one_hot], threshold[~one_hot] = thresholds(*gap, bins)
    n_inner, n_leaves = (1 << depth) - 1, 1 << depth
    level = np.repeat(np.arange(depth), 1 << np.arange(depth))

    def field(of_level: NDArray[np.generic], leaf: float, dtype: type[np.generic]) -> Any:
        found = np.full(n_inner + n_leaves, leaf, dtype=dtype)
        found[:n_inner] = of_level[level]
        return found

    width = np.where(one_hot, bins.n_bins[feature] + 1, 0)[level]  # of the maps
    maps = [(np.arange(width[node]) != bin[level[node]]) for node in range(n_inner)]
    offset = np.full(n_inner + n_leaves, -1)
    offset[:n_inner] = np.where(width > 0, np.cumsum(width) - width, -1)
    tree = Tree(
        feature=field(feature, -1, np.int32),
        kind=field(np.where(one_hot, SUBSET, THRESHOLD), 0, np.int8),
        bin=field(bin, 0, np.int32),
        threshold=field(threshold, 0.0, np.float64),
        first_child=field(np.arange(depth), -1, np.int32),
        n_children=field(np.full(depth, 2), 0, np.int32),
        missing_child=field(levels.missing_child, -1, np.int32),
        map_offset=offset,
        branch_map=np.concatenate([*maps, np.empty(0, np.uint8)]).astype(np.uint8),
        value=np.zeros((n_inner + n_leaves, outputs)),
        weight=np.zeros(n_inner + n_leaves),
        n_rows=np.zeros(n_inner + n_leaves, dtype=np.int64),
        impurity=np.zeros(n_inner + n_leaves),
        gain=np.zeros(n_inner + n_leaves),
        root=np.zeros(1, dtype=np.int32),
    )
    tree.first_child[:n_inner] = 2 * np.arange(n_inner) + 1
    return narrow(tree)

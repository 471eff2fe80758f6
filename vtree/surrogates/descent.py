"""Prediction by surrogates: encoded rows → the nodes where they come to rest."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from vtree import arrays
from vtree.arrays import Array
from vtree.predict import leaves
from vtree.surrogates.rules import NO_WAY, Rules, child_of, places
from vtree.tree import SUBSET, Tree

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]


def come_to_rest(tree: Tree, rules: Rules, values: Array) -> NDArray[np.int32]:
    """Return the node where each row comes to rest in each tree, (N, T), on the host.

    values (N, F): raw numbers, category levels by number, NaN for missing. At each node the first
    rule that can tell sends the row on; then `tree.missing_child` does, or the row stays.
    """
    found = leaves(tree, values)
    if found.shape[0] == 0 or rules.node.size == 0:
        return found
    table = arrays.to_numpy(values)
    # Rows that all nodes can send by themselves, most of them as a rule, are done already.
    lost = np.flatnonzero(_may_need_surrogates(tree, rules, table))
    for number, root in enumerate(tree.root.tolist()):
        found[lost, number] = _descend(tree, rules, table[lost], root)
    return found


def _may_need_surrogates(tree: Tree, rules: Rules, table: Floats) -> NDArray[np.bool_]:
    """Return which rows some node may not be able to send by its own test."""
    unable = np.zeros(len(table), dtype=np.bool_)
    own = np.diff(rules.node, prepend=-1) != 0  # the first rule of each node
    for feature in np.unique(rules.feature[own]).tolist():
        column = table[:, feature]
        unable |= np.isnan(column)
        asking = np.flatnonzero(own & (rules.feature == feature) & (rules.kind == SUBSET))
        if asking.size:
            n_codes = _map_length(rules, int(asking[0]))
            maps = rules.branch_map[rules.map_offset[asking][:, None] + np.arange(n_codes)]
            unknown = (maps == NO_WAY).any(axis=0)
            unable |= unknown[np.where(np.isnan(column), -1, column).astype(np.int64) + 1]
    return unable


def _map_length(rules: Rules, rule: int) -> int:
    starts = rules.map_offset[rules.map_offset >= 0]
    ends = np.append(starts, rules.branch_map.size)
    start = int(rules.map_offset[rule])
    return int(ends[np.searchsorted(starts, start) + 1]) - start


def _descend(tree: Tree, rules: Rules, table: Floats, root: int) -> NDArray[np.int64]:
    first, count = places(rules, tree.feature.size)
    node = np.full(len(table), root, dtype=np.int64)
    moving = np.arange(len(table))
    while moving.size:
        moving = moving[tree.first_child[node[moving]] >= 0]
        at = node[moving]
        way = np.full(moving.size, -1, dtype=np.int8)
        for rank in range(int(count[at].max(initial=0))):
            lost = np.flatnonzero((way < 0) & (rank < count[at]))
            which = first[at[lost]] + rank
            x = table[moving[lost], rules.feature[which]]
            level = np.where(np.isnan(x) | (rules.kind[which] != SUBSET), 0.0, x).astype(np.int64)
            code = np.where(np.isnan(x), 0, level + 1)
            way[lost] = child_of(rules, which, x > rules.threshold[which], code)
        way = np.where(way < 0, tree.missing_child[at], way)
        moving, at, way = moving[way >= 0], at[way >= 0], way[way >= 0]
        node[moving] = tree.first_child[at] + way
    return node

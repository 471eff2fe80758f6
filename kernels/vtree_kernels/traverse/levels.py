"""Symmetric trees in Numba: a row's leaf is an index of bits, one a level.

        level 0: x > a ?          no  │ yes            leaf = 2 · (2 · (x > a) + (y > b)) + (x > c)
        level 1: y > b ?      no │ yes no │ yes
        level 2: x > c ?      0 1  2 3  4 5  6 7       the same question for all nodes of a level

No step waits for another row's memory, and a column of a block is compared with one number, several
rows at a time. Trees are as `vtree.tree` numbers them: the leaves follow the inner nodes.
"""

from __future__ import annotations

import numba
import numpy as np


@numba.njit(cache=True, nogil=True)
def count_levels(  # type: ignore[no-untyped-def]
    root, feature, kind, threshold, first_child, missing_child
):
    """Return how many levels a tree has if it is symmetric, −1 if not."""
    levels, leftmost = 0, np.int64(root)
    while feature[leftmost] >= 0 and first_child[leftmost] >= 0:
        leftmost, levels = np.int64(first_child[leftmost]), levels + 1
    inner = (np.int64(1) << levels) - 1
    if levels == 0 or root + 2 * inner + 1 > feature.size:
        return -1
    for level in range(levels):
        first = root + (np.int64(1) << level) - 1
        for node in range(first, first + (np.int64(1) << level)):
            question = feature[node] >= 0 and kind[node] == 0 and missing_child[node] >= 0
            alike = feature[node] == feature[first] and threshold[node] == threshold[first]
            alike = alike and missing_child[node] == missing_child[first]
            if not question or not alike or first_child[node] != 2 * node - root + 1:
                return -1
    for node in range(root + inner, root + 2 * inner + 1):
        if feature[node] >= 0:
            return -1
    return levels


@numba.njit(cache=True, nogil=True)
def leaves_by_level(  # type: ignore[no-untyped-def]
    out, columns, root, levels, feature, threshold, missing_child
):
    """Write the leaf of each row of a block in one tree: out (rows,), columns (F, rows)."""
    out[:] = 0
    for level in range(levels):
        node = root + (np.int64(1) << level) - 1
        x, limit = columns[feature[node]], threshold[node]
        if missing_child[node] > 0:  # missing values, which compare with nothing, go right
            for i in range(out.size):
                out[i] = 2 * out[i] + np.int32(1) - np.int32(np.float64(x[i]) <= limit)
        else:
            for i in range(out.size):
                out[i] = 2 * out[i] + np.int32(np.float64(x[i]) > limit)
    out += np.int32(root + (np.int64(1) << levels) - 1)

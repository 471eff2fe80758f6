"""The definition of `offspring`: all children at once."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from vtree_kernels.mixing import next_state

Integers = NDArray[np.int64]


class Family(NamedTuple):
    """What M nodes have, those that are to come included, as `vtree.grown.Grown`."""

    n_children: NDArray[np.int32]  # (M,)
    first_child: Integers
    parent: Integers
    tree: Integers
    depth: Integers
    key: NDArray[np.uint64]
    start: Integers
    stop: Integers
    total: Integers  # (M, S)


def offspring(chosen: Integers, before: int, given: Integers, tree: Family) -> None:
    """Write the children; see the package for the contract."""
    n_children = tree.n_children[chosen]
    first = np.cumsum(n_children) - n_children
    tree.first_child[chosen] = before + first
    parent = np.repeat(chosen, n_children)
    own = slice(before, before + parent.size)
    sizes, stop = given[:, 0], np.cumsum(given[:, 0])
    stop += np.repeat(tree.start[chosen] - (stop - sizes)[first], n_children)
    number = np.arange(parent.size) - np.repeat(first, n_children)
    tree.parent[own], tree.tree[own] = parent, tree.tree[parent]
    tree.depth[own] = tree.depth[parent] + 1
    tree.start[own], tree.stop[own], tree.total[own] = stop - sizes, stop, given
    with np.errstate(over="ignore"):
        state = next_state(np.zeros(1, np.uint64), tree.key[parent])
        tree.key[own] = next_state(state, number.astype(np.uint64))

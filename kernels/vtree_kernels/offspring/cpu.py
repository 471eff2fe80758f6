"""`offspring` in Numba: one child after another."""

from __future__ import annotations

from typing import Any

import numba
import numpy as np
from numpy.typing import NDArray

from vtree_kernels import mixing
from vtree_kernels._registered import register_jitable
from vtree_kernels.offspring.reference import Family

Integers = NDArray[np.int64]

_next_state: Any = register_jitable(forceinline=True)(mixing.next_state)


@numba.njit(cache=True, nogil=True)
def _append(chosen, before, given, tree):  # type: ignore[no-untyped-def]
    n_children, first_child, parent, number, depth, key, start, stop, total = tree
    child, row = np.int64(before), np.int64(0)
    for i in range(chosen.size):
        node = chosen[i]
        first_child[node], begin = child, start[node]
        path = _next_state(np.uint64(0), key[node])
        for which in range(n_children[node]):
            parent[child], number[child] = node, number[node]
            depth[child], key[child] = depth[node] + 1, _next_state(path, np.uint64(which))
            start[child] = begin
            begin += given[row, 0]
            stop[child] = begin
            for s in range(total.shape[1]):
                total[child, s] = given[row, s]
            child, row = child + 1, row + 1


def offspring(chosen: Integers, before: int, given: Integers, tree: Family) -> None:
    """Write the children; see the package for the contract."""
    _append(chosen, before, given, tuple(tree))

"""`siblings` in Numba: one node after another, what is asked of all nodes in one array each."""

from __future__ import annotations

from typing import Any

import numba
import numpy as np
from numpy.typing import NDArray

from vtree_kernels._registered import register_jitable
from vtree_kernels.siblings.reference import Siblings

Integers = NDArray[np.int64]


@register_jitable
def _smaller(node: Any, slot: Any, parent: Any, first_child: Any, n_children: Any, n: Any) -> Any:
    """Return the sibling that a node is derived from, −1 if it is built itself."""
    above = parent[node]
    if above < 0 or slot[above] < 0 or n_children[above] != 2:
        return np.int64(-1)
    other = np.int64(2 * first_child[above] + 1 - node)
    if n[node] + n[other] != n[above]:
        return np.int64(-1)
    larger = n[node] > n[other] or (n[node] == n[other] and node > other)
    return other if larger else np.int64(-1)


@numba.njit(cache=True, nogil=True)
def _pair(  # type: ignore[no-untyped-def]
    wanted, slot, parent, first_child, n_children, total, nodes, sibling, parent_slot
):
    """Fill what `Siblings` has; return how many nodes are built and how many derived.

    nodes (2 W,): first those that are built for others alone, then wanted ones; from the end
    derived ones.
    """
    n_derived, n_rows = 0, total[:, 0]
    place = np.full(parent.size, -1)  # −2: built for its sibling; −3: wanted itself
    for i in range(wanted.size):
        node = wanted[i]
        other = _smaller(node, slot, parent, first_child, n_children, n_rows)
        if other < 0:
            place[node] = -3
            continue
        sibling[n_derived], parent_slot[n_derived] = other, slot[parent[node]]
        n_derived += 1
        nodes[nodes.size - n_derived] = node
        place[other] = min(place[other], -2)
    n_built = 0
    for kind in (-2, -3):
        for node in range(place.size):
            if place[node] == kind:
                nodes[n_built], place[node] = node, n_built
                n_built += 1
    for i in range(n_derived):
        sibling[i] = place[sibling[i]]
    return n_built, n_derived


def siblings(
    wanted: Integers,
    kept: Integers,
    parent: NDArray[Any],
    first_child: NDArray[Any],
    n_children: NDArray[Any],
    total: Integers,
    start: NDArray[Any],
    stop: NDArray[Any],
) -> Siblings:
    """Return what to build; see the package for the contract."""
    slot = np.full(parent.size, -1)
    slot[kept] = np.arange(kept.size)
    nodes, others = np.empty(2 * wanted.size, np.int64), np.empty((2, wanted.size), np.int64)
    tree = parent, first_child, n_children, total
    n_built, n_derived = _pair(wanted, slot, *tree, nodes, others[0], others[1])
    built, derived = nodes[:n_built], nodes[nodes.size - n_derived :][::-1]
    unwanted = n_built + n_derived - wanted.size
    return Siblings(
        start=start[built],
        stop=stop[built],
        sibling=others[0, :n_derived],
        parent_slot=others[1, :n_derived],
        unwanted=unwanted,
        nodes=np.concatenate([built[unwanted:], derived]),
    )

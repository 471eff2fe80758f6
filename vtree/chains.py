"""Chains: the order in which leaves of a symmetric tree with monotone features may not fall.

Nodes of a level that splits by monotone features alone have parted are a chain. Along it the first
of these splits counts most, so that whatever is larger in such a feature, and else alike, comes
later. A node's place is one number, that of its chain plus its rank there / 2^16.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vtree.grown import Grown

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

_RANKS = float(1 << 16)  # as many as the deepest level has nodes


def child_places(place: Floats, direction: Any, right: Any) -> Floats:
    """Return the places of children (C,) of nodes at `place` (C,).

    direction: of the features that part these nodes, −1, 0, 1; right: 1 for right children, else 0.
    """
    chain = np.floor(place)
    rank = (place - chain) * _RANKS
    later = np.where(direction < 0, 1 - right, right)
    free = direction == 0
    chain = np.where(free, 2.0 * chain + right, chain)
    return chain + np.where(free, rank, 2.0 * rank + later) / _RANKS


def places_of_new(directions: NDArray[np.int8]) -> Callable[[Grown, Integers], Floats]:
    """Return what tells growth the places of new nodes by directions of features (F,)."""

    def places(grown: Grown, nodes: Integers) -> Floats:
        parent = grown.parent[nodes]
        if parent[0] < 0:
            return np.zeros(nodes.size)
        right = nodes - grown.first_child[parent]
        return child_places(grown.lower[parent], directions[grown.feature[parent]], right)

    return places


def places_of_leaves(directions: Integers) -> Floats:
    """Return the places of leaves, from the left, by the directions of the levels (D,), (2^D,).

    >>> (places_of_leaves(np.array([1, 0])) * 2**16).astype(int).tolist()
    [0, 65536, 1, 65537]
    """
    place = np.zeros(1)
    for direction in directions.tolist():
        place = child_places(
            np.repeat(place, 2), np.asarray(direction), np.arange(2 * place.size) % 2
        )
    return place


def not_falling(value: Floats, weight: Floats, place: Floats) -> Floats:
    """Return the isotonic regression of value (J, L) by weight (J, L) along all chains, (J, L).

    Leaf after leaf comes in as a block of its own and takes in the block before as long as that
    answers as much or more; a block answers its weighted mean.

    >>> not_falling(np.array([[3.0, 1.0]]), np.array([[1.0, 3.0]]), np.array([0.0, 2**-16]))
    array([[1.5, 1.5]])
    """
    found = value.copy()
    order = np.argsort(place, kind="stable")
    chains = np.split(order, np.flatnonzero(np.diff(np.floor(place[order]))) + 1)
    for own, own_value, own_weight in zip(found, value.tolist(), weight.tolist(), strict=True):
        for chain in chains:
            own[chain] = _pooled([(own_value[leaf], own_weight[leaf]) for leaf in chain.tolist()])
    return found


def _pooled(leaves: list[tuple[float, float]]) -> list[float]:
    """Return the isotonic regression of (value, weight) leaf by leaf."""
    blocks: list[tuple[float, float, float, int]] = []  # answer, Σ w v, Σ w, leaves
    for value, weight in leaves:
        block = (value, weight * value, weight, 1)
        while blocks and blocks[-1][0] >= block[0]:
            _, product, mass, count = blocks.pop()
            product, mass, count = product + block[1], mass + block[2], count + block[3]
            block = (product / mass if mass > 0.0 else 0.0, product, mass, count)
        blocks.append(block)
    return [answer for answer, _, _, count in blocks for _ in range(count)]

"""The definition of `siblings`: all nodes at once."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

Integers = NDArray[np.int64]


class Siblings(NamedTuple):
    """What is built and what is derived."""

    start: Integers  # (built,) the rows of nodes to build: the unwanted ones, then the wanted ones
    stop: Integers
    sibling: Integers  # (derived,) index into the built nodes
    parent_slot: Integers  # (derived,) index into the kept nodes
    unwanted: int  # how many of the built nodes only serve a sibling
    nodes: Integers  # (W,) the wanted nodes: the built ones, then the derived ones


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
    slot = np.full(parent.size + 1, -1)  # one more for the parent of roots, −1
    slot[kept] = np.arange(kept.size)
    above = parent[wanted]
    # Only of two children that share all rows of their parent is one what the other leaves.
    paired = (above >= 0) & (n_children[above] == 2)
    sibling = np.where(paired, 2 * first_child[above] + 1 - wanted, -1)
    together = total[wanted, 0] + total[sibling, 0]
    sibling = np.where(together == total[above, 0], sibling, -1)
    own_rows = total[wanted, 0]
    fewer = np.where(sibling < 0, 0, total[sibling, 0])
    larger = (own_rows > fewer) | ((own_rows == fewer) & (wanted > sibling))
    is_derived = (slot[above] >= 0) & (sibling >= 0) & larger
    derived, their_siblings = wanted[is_derived], sibling[is_derived]
    built = np.sort(wanted[~is_derived])
    place = np.full(parent.size, -1)
    place[built] = 0
    unwanted = np.sort(their_siblings[place[their_siblings] < 0])
    all_built = np.concatenate([unwanted, built])
    place[all_built] = np.arange(all_built.size)
    return Siblings(
        start=start[all_built],
        stop=stop[all_built],
        sibling=place[their_siblings],
        parent_slot=slot[parent[derived]],
        unwanted=unwanted.size,
        nodes=np.concatenate([built, derived]),
    )

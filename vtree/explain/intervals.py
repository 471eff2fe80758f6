"""The numbers that the branches of a split by bins take, for texts and pictures."""

from __future__ import annotations

from typing import Any

import numpy as np

from vtree.tree import Tree


def with_own_bins(model: Any, number: int) -> Any | None:
    """Return the member of an ensemble that grew tree `number`, if members have their own bins."""
    members = vars(model).get("estimators_")
    own = members[number] if isinstance(members, list) and members else None
    return own if hasattr(own, "edges_") else None


def interval_ends(model: Any, tree: Tree, node: int) -> list[tuple[float, float] | None]:
    """Return (above, up to) of the numbers that each branch of a split by bins takes.

    None stands for a branch of missing values alone.
    """
    edges = np.concatenate([[-np.inf], model.edges_[tree.feature[node]], [np.inf]])
    offset = int(tree.map_offset[node]) + 1
    child = tree.branch_map[offset : offset + edges.size - 1]
    ends = []
    for number in range(int(tree.n_children[node])):
        own = np.flatnonzero(child == number)  # neighbours, for numbers have an order
        ends.append((edges[own[0]], edges[own[-1] + 1]) if own.size else None)
    return ends

"""How much of a tree's decrease of impurity each feature stands for, surrogates included."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from vtree.surrogates.rules import Rules, places
from vtree.tree import Tree

Floats = NDArray[np.float64]


def credit(tree: Tree, rules: Rules | None, n_features: int) -> Floats:
    """Return Σ gain over the splits by a feature + Σ gain · adjusted agreement over its surrogates.

    tree : one tree; rules : its surrogates, or None; (F,) in units of the tree's gains (Therneau
    and Atkinson, An introduction to recursive partitioning using the rpart routines, §3.4).
    """
    split = np.flatnonzero(tree.first_child >= 0)
    total = np.bincount(tree.feature[split], tree.gain[split], n_features).astype(np.float64)
    if rules is None:
        return total
    first, count = places(rules, tree.feature.size)
    others = np.ones(rules.node.size, dtype=np.bool_)
    others[first[count > 0]] = False  # a node's first rule is its own split
    own = tree.gain[rules.node] * rules.adjusted
    total += np.bincount(rules.feature[others], own[others], n_features)
    return total

"""Pessimistic pruning by a continuity correction (Quinlan, Simplifying decision trees, 1987)."""

from __future__ import annotations

import numpy as np

from vtree.pruning.losses import ROUNDING, Losses
from vtree.tree import Tree, collapse, sum_upward


def prune_pessimistic(tree: Tree, errors: Losses) -> Tree:
    """Return the tree without subtrees that are right by less than one standard error.

    With e errors among the n training rows of a node and half an error added for each leaf, a node
    becomes a leaf where

        e + 1/2 <= E + sqrt(E (n − E) / n),   E = Σ over the leaves below of (their errors + 1/2)

    E is that of the tree as it was grown.

    Parameters
    ----------
    tree : Tree
    errors : of the training rows at its nodes
    """
    leaf = tree.first_child < 0
    below = sum_upward(tree, errors.at_rest + np.where(leaf, 0.5, 0.0))
    n = np.where(tree.weight > 0.0, tree.weight, 1.0)  # branches may be empty
    spread = np.sqrt(below * np.maximum(n - below, 0.0) / n)
    tolerance = ROUNDING * float(tree.weight[0])
    return collapse(tree, ~leaf & (errors.as_leaf + 0.5 > below + spread + tolerance))

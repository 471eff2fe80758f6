"""The sweep from the leaves upwards that finds the cheapest pruning of a tree."""

from __future__ import annotations

import numpy as np

from vtree.pruning.losses import Losses
from vtree.tree import Tree, collapse, levels, parents


def cheapest(
    tree: Tree, losses: Losses, *, keeps_ties: bool = False, tolerance: float = 0.0
) -> Tree:
    """Return the pruning whose leaves lose least, of equal ones the smallest.

    Parameters
    ----------
    tree : Tree, any number of roots
    losses : of its nodes
    keeps_ties : True for the largest of equal ones
    tolerance : losses this close are equal
    """
    keeps = tree.first_child >= 0
    parent = parents(tree)
    margin = tolerance if keeps_ties else -tolerance
    least = losses.at_rest.copy()  # of the node's subtree, complete when the sweep comes by
    for nodes in reversed(levels(tree.first_child, tree.n_children, tree.root)):
        leaf, subtree = losses.as_leaf[nodes], least[nodes]
        pays = subtree <= leaf + margin if keeps_ties else subtree < leaf + margin
        keeps[nodes] &= pays
        least[nodes] = np.where(keeps[nodes], subtree, leaf)
        inner = nodes[parent[nodes] >= 0]
        np.add.at(least, parent[inner], least[inner])
    return collapse(tree, keeps)

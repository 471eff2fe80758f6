"""Reduced-error pruning (Quinlan, Simplifying decision trees, 1987)."""

from __future__ import annotations

from vtree.pruning.bottom_up import cheapest
from vtree.pruning.losses import Losses
from vtree.tree import Tree


def prune_reduced_error(tree: Tree, held_out: Losses, *, ties: str = "prune") -> Tree:
    """Return the tree in which no subtree loses more on held-out rows than a leaf in its place.

    From the leaves upwards a node becomes a leaf, with the answer it learnt in training, where it
    then loses no more than its pruned subtree: the smallest of the most accurate prunings. A node
    that no held-out row reaches becomes a leaf.

    Parameters
    ----------
    tree : Tree
    held_out : losses of the held-out rows at its nodes
    ties : "prune" or "keep"
        What happens where both lose the same; "keep" prunes only where the loss falls.
    """
    return cheapest(tree, held_out, keeps_ties=ties == "keep")

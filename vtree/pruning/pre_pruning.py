"""Pre-pruning: growth that stops where a split does not help on a validation set."""

from __future__ import annotations

from vtree.pruning.losses import Losses, children_sum
from vtree.tree import Tree, collapse


def prune_before_growth(tree: Tree, held_out: Losses) -> Tree:
    """Return the tree that grows where each split must lower the loss on held-out rows.

    A node is split only if its children, as leaves with the answers of training, lose less than it
    does itself. Which split is best in a node depends on nothing but its own rows, so the tree
    grown by that rule is the top of the tree grown without it. (Not so best-first trees with a
    bound on their leaves: there a split not made leaves room for others.)

    Parameters
    ----------
    tree : Tree
    held_out : losses of the held-out rows at its nodes
    """
    after = held_out.at_rest + children_sum(tree, held_out.as_leaf)
    return collapse(tree, (tree.first_child >= 0) & (after < held_out.as_leaf))

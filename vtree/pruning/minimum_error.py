"""Minimum-error pruning (Niblett and Bratko, 1986; Cestnik and Bratko, 1991)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from vtree.pruning.bottom_up import cheapest
from vtree.pruning.losses import ROUNDING, Losses, children_sum
from vtree.tree import Tree

Floats = NDArray[np.float64]


def prune_minimum_error(tree: Tree, weights: Floats, *, m: float | None = None) -> Tree:
    """Return the tree of least expected error, where each leaf has a prior of m rows.

    The expected error of a node with n rows, n_k of class k, is

        1 − max_k (n_k + m p_k) / (n + m)

    where p_k are the root's class shares (Cestnik and Bratko, On estimating probabilities in tree
    pruning). Without m it is 1 − (max_k n_k + 1) / (n + K), Laplace's rule (Niblett and Bratko,
    Learning decision rules in noisy domains). From the leaves upwards a node becomes a leaf where
    that is no more than the mean over its pruned branches.

    Parameters
    ----------
    tree : Tree
    weights : (M, K) of each class in each node
    m : rows, 0 or more; the more, the smaller the tree
    """
    n_classes = weights.shape[1]
    added = np.ones((1, n_classes)) if m is None else m * (weights[:1] / weights[0].sum())
    n = weights.sum(axis=1)
    of_all = n + added.sum()
    rate = 1.0 - (weights + added).max(axis=1) / np.where(of_all > 0.0, of_all, 1.0)
    resting = np.maximum(n - children_sum(tree, n), 0.0)
    return cheapest(tree, Losses(n * rate, resting * rate), tolerance=ROUNDING * float(n[0]))

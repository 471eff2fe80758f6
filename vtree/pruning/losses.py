"""Losses: what each node would lose on given rows, were it a leaf. All pruning compares them.

Losses of held-out rows are whole multiples of one small step, so that their sums are exact: ties
between a leaf and a subtree are ties, in any order of the rows.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from vtree.costs import expected_costs
from vtree.targets import SUM_BITS, quantise_weights
from vtree.tree import Tree, parents, sum_upward

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

ROUNDING = 1e-9  # how far apart equal losses of training rows may lie, in shares of the root's


class Losses(NamedTuple):
    """Total losses of some rows in M nodes."""

    as_leaf: Floats  # (M,) of all rows that reach the node, answered by it
    at_rest: Floats  # (M,) of those among them that come to rest there


def training_losses(tree: Tree, weights: Floats, costs: Floats) -> Losses:
    """Return the errors or costs of the training rows.

    weights (M, K): of each class in each node; costs (K, K): of a true class (row) taken for
    another (column). Every node answers the class that costs least, the first of equal ones.
    """
    price = expected_costs(weights, costs)
    label = price.argmin(axis=1)
    resting = _at_rest(tree, weights)
    at_rest = np.take_along_axis(expected_costs(resting, costs), label[:, None], axis=1)[:, 0]
    return Losses(price.min(axis=1), at_rest)


def impurities(tree: Tree) -> Losses:
    """Return each node's weight times its impurity, over the weight of the root."""
    share = tree.impurity / tree.weight[0]
    return Losses(tree.weight * share, _at_rest(tree, tree.weight) * share)


def class_weights(tree: Tree, weight: Floats) -> Floats:
    """Return the weight of each class in nodes of that `weight` (M,), (M, K).

    They are whole where they are but for rounding.
    """
    own: Floats = tree.value * weight[:, None]
    whole = np.rint(own)
    return np.where(np.abs(own - whole) <= 8.0 * np.spacing(weight)[:, None], whole, own)


def class_losses(
    tree: Tree,
    leaf: Integers,
    codes: Integers,
    labels: Integers,
    weight: Floats | None = None,
    costs: Floats | None = None,
) -> Losses:
    """Return the errors of held-out rows, or their costs.

    Parameters
    ----------
    tree : M nodes
    leaf : (N,) the node where each row comes to rest
    codes : (N, outputs) their true classes
    labels : (M, outputs) the class that each node answers
    weight : (N,) positive, or None where all rows weigh one
    costs : (K, K) of a true class (row) taken for another (column); None: 1 for each error
    """
    n_classes = int(max(codes.max(), labels.max())) + 1
    whole, _ = quantise_weights(weight, leaf.size)
    own: Floats = np.ones(leaf.size) if whole is None else whole.astype(np.float64)
    price = 1.0 - np.eye(n_classes)
    if costs is not None:
        price = _as_whole(costs, SUM_BITS - 1 - int(np.frexp(own.sum())[1]))
    as_leaf, at_rest = np.zeros(tree.feature.size), np.zeros(tree.feature.size)
    for output in range(codes.shape[1]):
        for k in range(n_classes):
            here = codes[:, output] == k
            resting: Floats = np.bincount(leaf[here], own[here], tree.feature.size).astype(float)
            as_leaf += sum_upward(tree, resting) * price[k, labels[:, output]]
            at_rest += resting * price[k, labels[:, output]]
    return Losses(as_leaf, at_rest)


def real_losses(
    tree: Tree,
    leaf: Integers,
    y: Floats,
    deviance: Callable[[Floats, Floats], Floats],
    weight: Floats | None = None,
) -> Losses:
    """Return the deviances of held-out rows from what the nodes predict.

    leaf (N,): where each row comes to rest; y (N, outputs); deviance(y, prediction) → (N, outputs);
    weight (N,): positive, or None.
    """
    parent = parents(tree)
    passed: list[tuple[Integers, Floats]] = []  # nodes and losses at the leaves, one up, two up, …
    node, row = leaf.astype(np.int64), np.arange(leaf.size)
    while node.size:
        loss = deviance(y[row], tree.value[node]).sum(axis=1)
        passed.append((node, loss if weight is None else loss * weight[row]))
        above = parent[node]
        node, row = above[above >= 0], row[above >= 0]
    largest = np.array([loss.max() for _, loss in passed]).max()
    room = SUM_BITS - 1 - leaf.size.bit_length()
    as_leaf, at_rest = np.zeros(tree.feature.size), np.zeros(tree.feature.size)
    for level, (node, loss) in enumerate(passed):
        whole = _as_whole(loss, room, largest)
        np.add.at(as_leaf, node, whole)
        if level == 0:
            np.add.at(at_rest, node, whole)
    return Losses(as_leaf, at_rest)


def children_sum(tree: Tree, values: Floats) -> Floats:
    """Return the sum of `values` (M, …) over each node's children, of the same shape."""
    parent = parents(tree)
    inner = parent >= 0
    total = np.zeros(values.shape)
    np.add.at(total, parent[inner], values[inner])
    return total


def _at_rest(tree: Tree, weights: Floats) -> Floats:
    """Return what of `weights` (M, …) is in no child, but for rounding."""
    resting = weights - children_sum(tree, weights)
    resting[np.abs(resting) <= ROUNDING * weights] = 0.0
    return resting


def _as_whole(values: Floats, bits: int, largest: float | None = None) -> Floats:
    """Return values as whole multiples of a step that leaves `bits` to the largest of them."""
    top = int(np.frexp(values.max() if largest is None else largest)[1])
    whole: Floats = np.rint(np.ldexp(values, bits - top))
    return whole

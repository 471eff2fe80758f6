"""Class priors and costs of misclassification (Breiman et al. 1984, §4.4).

A row of class k that weighs one acts in growth as a_k rows do, where

    a_k = (π_k r_k / Σ π r) / (n_k / n),   r_k = Σ_j C(k, j),

π the priors, n_k / n the weight of class k and C(k, j) the cost of taking k for j: these are the
altered priors. For two classes, and wherever a class costs the same whatever it is taken for,
they act as the costs do; otherwise they come near. What a node answers, and what it risks, is
said by π and C themselves.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from vtree.tree import Tree

Floats = NDArray[np.float64]


def class_factors(class_weight: Floats, priors: Floats | None, costs: Floats | None) -> Floats:
    """Return a_k (K,); class_weight (K,): the weight of each class among the rows."""
    share = class_weight / class_weight.sum()
    wanted = share if priors is None else priors / priors.sum()
    if costs is not None:
        wanted = wanted * costs.sum(axis=1)
    factors: Floats = wanted / wanted.sum() / share
    return factors


def without_costs(value: Floats, costs: Floats) -> Floats:
    """Return class shares (M, K) under the priors alone from those that growth saw."""
    share = value / costs.sum(axis=1)
    shares: Floats = share / share.sum(axis=1, keepdims=True)
    return shares


def prior_weight(tree: Tree, costs: Floats | None) -> Floats:
    """Return the weight of each node (M,) under the priors alone; the root's is the same.

    tree.value: shares under the priors; tree.weight: what growth saw.
    """
    if costs is None:
        return tree.weight
    price = (tree.value * costs.sum(axis=1)).sum(axis=1)
    sizes = np.diff(tree.root, append=tree.feature.size)
    weight: Floats = tree.weight * np.repeat(price[tree.root], sizes) / price
    return weight


def expected_costs(weights: Floats, costs: Floats) -> Floats:
    """Return what each answer costs at class weights or shares (M, K), (M, K).

    costs (K, K): of a true class (row) taken for another (column).
    """
    total = np.zeros(weights.shape)
    for k in range(costs.shape[0]):  # a fixed order: a matrix product adds up as its library likes
        total += weights[:, k, None] * costs[k]
    return total


def cheapest_class(weights: Floats, costs: Floats | None) -> NDArray[np.int64]:
    """Return the class that costs least at class weights (M, K), the first of equal ones, (M,)."""
    chosen: NDArray[np.int64]
    chosen = weights.argmax(axis=1) if costs is None else expected_costs(weights, costs).argmin(1)
    return chosen

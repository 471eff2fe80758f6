"""Losses at nodes, counted row by row."""

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from tests.fitting import Setting, fit
from tests.samples import classes, reals
from vtree.criteria import RANKED, REGRESSION
from vtree.predict import leaves
from vtree.pruning.losses import (
    Losses,
    class_losses,
    class_weights,
    impurities,
    real_losses,
    training_losses,
)
from vtree.tree import Tree, parents


def _passed(tree: Tree, X: NDArray[Any]) -> NDArray[np.bool_]:
    """Return which nodes each row passes, (N, M)."""
    node = leaves(tree, X)[:, 0].astype(np.int64)
    found = np.zeros((len(X), tree.feature.size), dtype=np.bool_)
    for _ in range(tree.feature.size):
        found[np.arange(len(X))[node >= 0], node[node >= 0]] = True
        node = np.where(node >= 0, parents(tree)[node], -1)
    return found


def _scaled(losses: NDArray[np.float64], like: NDArray[np.float64]) -> NDArray[np.float64]:
    scaled: NDArray[np.float64] = losses * (like.max() / losses.max())
    return scaled


@pytest.mark.parametrize("costs", [None, [[0, 1, 0.1], [0.3, 0, 2], [5, 0.7, 0]]])
@pytest.mark.parametrize("weighted", [False, True])
def test_classes(costs: Any, weighted: bool) -> None:
    X, y = classes(150)
    tree = fit(X, y, Setting(max_depth=4))
    X2, y2 = classes(70, seed=5)
    weight = np.random.default_rng(0).integers(1, 6, 70).astype(np.float64) if weighted else None
    table = 1.0 - np.eye(3) if costs is None else np.array(costs)
    label = (tree.value @ table).argmin(axis=1)
    own = None if costs is None else table
    leaf = leaves(tree, X2)[:, 0].astype(np.int64)
    found = class_losses(tree, leaf, y2[:, None], label[:, None], weight, own)
    each = table[y2[:, None], label[None, :]] * (1.0 if weight is None else weight[:, None])
    expected = (each * _passed(tree, X2)).sum(axis=0)
    np.testing.assert_allclose(_scaled(found.as_leaf, expected), expected, rtol=1e-12)
    leaf_only = np.where(tree.first_child < 0, found.as_leaf, 0.0)
    assert found.at_rest.tolist() == leaf_only.tolist()
    assert (found.as_leaf == np.rint(found.as_leaf)).all() and found.as_leaf.max() < 2.0**53


def test_costs_that_floats_cannot_hold_still_tie() -> None:
    """Three times a tenth in one leaf is what it is in three."""
    tree = fit(np.arange(4.0)[:, None], np.array([0, 1, 0, 1]), Setting())
    codes = np.ones((3, 1), dtype=np.int64)
    labels = np.zeros((tree.feature.size, 1), dtype=np.int64)
    costs = np.array([[0.0, 1.0], [0.1, 0.0]])
    resting = np.flatnonzero(tree.first_child < 0)[:3]
    apart = class_losses(tree, resting, codes, labels, None, costs)
    assert apart.as_leaf[0] == apart.at_rest.sum() == apart.as_leaf[resting].sum()


@pytest.mark.parametrize("criterion", [*REGRESSION, *RANKED])
def test_numbers(criterion: str) -> None:
    X, y = reals(150)
    tree = fit(X, y, Setting(criterion, max_depth=4))
    X2, y2 = reals(70, seed=5)
    deviance = {**REGRESSION, **RANKED}[criterion].deviance
    assert deviance is not None
    weight = np.random.default_rng(0).random(70) + 0.1
    leaf = leaves(tree, X2)[:, 0].astype(np.int64)
    found = real_losses(tree, leaf, y2[:, None], deviance, weight)
    each = deviance(y2[:, None], tree.value[:, 0][None, :]) * weight[:, None]
    expected = (each * _passed(tree, X2)).sum(axis=0)
    np.testing.assert_allclose(_scaled(found.as_leaf, expected), expected, rtol=1e-9)
    order = np.random.default_rng(1).permutation(70)
    again = real_losses(tree, leaf[order], y2[order, None], deviance, weight[order])
    assert again.as_leaf.tolist() == found.as_leaf.tolist()


def test_training_rows() -> None:
    X, y = classes(150)
    tree = fit(X, y, Setting(max_depth=4))
    weights = class_weights(tree, tree.weight)
    assert (weights == np.rint(weights)).all()
    assert weights[0].tolist() == np.bincount(y).tolist()
    losses = training_losses(tree, weights, 1.0 - np.eye(3))
    assert losses.as_leaf.tolist() == (weights.sum(axis=1) - weights.max(axis=1)).tolist()
    assert losses.at_rest.tolist() == np.where(tree.first_child < 0, losses.as_leaf, 0.0).tolist()


def test_rows_that_stay_at_a_split() -> None:
    """A third of the rows of a split in no child: their losses are its own."""
    X, y = classes(90)
    tree = fit(X, y, Setting(max_depth=1))
    n_stay = 30
    more = tree._replace(weight=tree.weight + np.array([n_stay, 0, 0]))
    rest = np.array([10.0, 15.0, 5.0])
    weights = class_weights(tree, tree.weight)
    weights[0] += rest
    losses = training_losses(more, weights, 1.0 - np.eye(3))
    label = int(weights[0].argmax())
    assert losses.at_rest[0] == n_stay - rest[label]
    shares: Losses = impurities(more)
    expected = n_stay * more.impurity[0] / more.weight[0]
    assert shares.at_rest[0] == pytest.approx(expected, rel=1e-12)

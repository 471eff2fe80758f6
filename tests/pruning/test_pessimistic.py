"""Pessimistic pruning beside the formula on hand-made trees."""

import numpy as np
import pytest

from tests.fitting import Setting, fit
from tests.pruning.worked import nominal_case
from tests.samples import classes
from vtree.pruning import class_weights, prune_pessimistic, training_losses
from vtree.tree import Tree

ERRORS = 1.0 - np.eye(2)


def _pruned(tree: Tree) -> Tree:
    weights = class_weights(tree, tree.weight)
    costs = 1.0 - np.eye(weights.shape[1])
    return prune_pessimistic(tree, training_losses(tree, weights, costs))


def two_sides(left: tuple[int, int], right: tuple[int, int]) -> Tree:
    """Return the tree of one split with so many rows of either class on its sides."""
    counts = np.array([left, right])
    X = np.repeat([0.0, 0.0, 1.0, 1.0], counts.ravel())[:, None]
    y = np.repeat([0, 1, 0, 1], counts.ravel())
    return fit(X, y, Setting(max_depth=1))


@pytest.mark.parametrize(
    ("left", "right", "leaves"),
    [
        # As a leaf 9 + ½ of 20 rows; below 1 + 1 + 1 = 3 and its error √(3 · 17 / 20) = 1.60.
        ((10, 1), (1, 8), 2),
        # 5.5 against 5 + √(5 · 15 / 20) = 6.94.
        ((13, 2), (2, 3), 1),
        # 6.5 against 4 + √(4 · 16 / 20) = 5.79.
        ((12, 1), (2, 5), 2),
        # 3.5 against 2 + √(2 · 6 / 8) = 3.22.
        ((4, 0), (1, 3), 2),
        # 2.5 against 2 + √(2 · 4 / 6) = 3.15.
        ((3, 0), (1, 2), 1),
        ((4, 0), (0, 4), 2),
    ],
)
def test_one_split(left: tuple[int, int], right: tuple[int, int], leaves: int) -> None:
    tree = two_sides(left, right)
    n, errors = sum(left + right), min(left[0] + right[0], left[1] + right[1])
    below = min(left) + min(right) + 1.0
    stays = errors + 0.5 > below + (below * (n - below) / n) ** 0.5
    assert (leaves == 2) == stays  # the figures above are right
    assert (_pruned(tree).first_child < 0).sum() == leaves


def test_noise_goes_and_signal_stays() -> None:
    X, y = classes(300, n_classes=2)
    draw = np.random.default_rng(0)
    noisy = np.where(draw.random(300) < 0.2, draw.integers(0, 2, 300), y)
    tree = fit(X, noisy, Setting())
    pruned = _pruned(tree)
    assert 1 < (pruned.first_child < 0).sum() < 0.5 * (tree.first_child < 0).sum()
    random = fit(X, draw.integers(0, 2, 300), Setting(max_depth=4))
    assert _pruned(random).feature.size < random.feature.size


def test_every_subtree_is_judged_as_it_was_grown() -> None:
    """One sweep tells all: what the formula says of a node knows nothing of other prunings."""
    X, y = classes(200)
    tree = fit(X, y, Setting("entropy", min_rows=4))
    weights = class_weights(tree, tree.weight)
    losses = training_losses(tree, weights, 1.0 - np.eye(3))
    pruned = prune_pessimistic(tree, losses)
    kept = {0}
    for node in range(tree.feature.size):
        if node not in kept or tree.first_child[node] < 0:
            continue
        leaves, waiting = [], [node]
        for each in waiting:
            first = int(tree.first_child[each])
            waiting += [first, first + 1] if first >= 0 else []
            leaves += [] if first >= 0 else [each]
        below = sum(tree.weight[leaf] - weights[leaf].max() + 0.5 for leaf in leaves)
        n = float(tree.weight[node])
        error = (below * max(0.0, n - below) / n) ** 0.5
        if n - weights[node].max() + 0.5 > below + error:
            kept |= {int(tree.first_child[node]), int(tree.first_child[node]) + 1}
    assert pruned.feature.size == len(kept) < tree.feature.size


@pytest.mark.parametrize("name", ["watermelon", "titanic", "haireye"])
def test_empty_branches(name: str) -> None:
    case = nominal_case(name)
    assert (case.tree.weight == 0.0).any() == (name == "watermelon")
    pruned = _pruned(case.tree)
    assert (pruned.first_child < 0).sum() <= (case.tree.first_child < 0).sum()
    assert case.figures(pruned)[1] <= 1.1 * case.figures(case.tree)[1]

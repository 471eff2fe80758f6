"""The sweep for the cheapest pruning, on losses made by hand."""

import numpy as np
import pytest

from tests.fitting import Setting, fit
from vtree.pruning.bottom_up import cheapest
from vtree.pruning.losses import Losses
from vtree.tree import Tree


def _chain() -> Tree:
    """Return seven nodes: 0 → 1 2, 1 → 3 4, 2 → 5 6."""
    X = np.arange(4.0)[:, None]
    tree = fit(X, np.array([0, 1, 2, 3]), Setting("entropy"))
    assert tree.first_child.tolist() == [1, 3, 5, -1, -1, -1, -1]
    return tree


@pytest.mark.parametrize(
    ("as_leaf", "at_rest", "leaves"),
    [
        ([9, 3, 3, 1, 1, 1, 1], [0, 0, 0], 4),
        ([9, 2, 3, 1, 1, 1, 1], [0, 0, 0], 3),  # node 1 ties with its children
        ([4, 2, 3, 1, 1, 1, 1], [0, 0, 0], 1),
        ([9, 3, 3, 1, 1, 1, 1], [0, 1, 0], 3),  # one loss rests at node 1 itself
        ([6, 3, 3, 1, 1, 1, 1], [2, 0, 0], 1),
        ([6, 3, 3, 1, 1, 1, 1], [1, 0, 0], 4),
    ],
)
def test_losses_by_hand(as_leaf: list[int], at_rest: list[int], leaves: int) -> None:
    own = np.array(as_leaf, dtype=np.float64)
    losses = Losses(own, np.concatenate([at_rest, own[3:]]))
    assert (cheapest(_chain(), losses).first_child < 0).sum() == leaves


def test_ties_and_what_counts_as_one() -> None:
    own = np.array([6.0, 2.0, 3.0, 1.0, 1.0, 1.0, 1.0])
    losses = Losses(own, np.append([0.0, 0.0, 0.0], own[3:]))
    sizes = [
        cheapest(_chain(), losses, keeps_ties=ties, tolerance=slack).feature.size
        for ties in (False, True)
        for slack in (0.0, 1.5)
    ]
    assert sizes == [5, 1, 7, 7]


def test_many_trees_at_once() -> None:
    X = np.arange(4.0)[:, None]
    everything = np.arange(4)
    forest = fit(X, everything, Setting("entropy"), roots=[everything, everything])
    own = np.array([9, 3, 3, 1, 1, 1, 1, 1, 3, 3, 1, 1, 1, 1], dtype=np.float64)
    at_rest = np.where(forest.first_child < 0, own, 0.0)
    pruned = cheapest(forest, Losses(own, at_rest))
    assert pruned.root.tolist() == [0, 7] and pruned.feature.size == 8

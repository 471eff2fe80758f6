"""Minimum-error pruning beside figures by hand and a search over all prunings."""

from typing import Any

import numpy as np
import pytest

from tests.fitting import Setting, fit
from tests.pruning.test_pessimistic import two_sides
from tests.pruning.test_reduced_error import all_prunings
from tests.pruning.worked import nominal_case
from tests.samples import classes
from vtree.pruning import class_weights, prune_minimum_error
from vtree.tree import Tree


def _pruned(tree: Tree, m: float | None = None) -> Tree:
    return prune_minimum_error(tree, class_weights(tree, tree.weight), m=m)


@pytest.mark.parametrize(
    ("left", "right", "m", "leaves"),
    [
        # Laplace: (4 + 1) / 12 = .4167 as a leaf; 5/10 · 1/7 + 5/10 · 3/7 = .2857 below.
        ((5, 0), (1, 4), None, 2),
        # (2 + 1) / 12 = .25 as a leaf; 6/10 · 1/8 + 4/10 · 3/6 = .275 below.
        ((6, 0), (2, 2), None, 1),
        # m = 2, shares .8 and .2: 1 − (8 + 1.6) / 12 = .2; .6 (1 − 7.6/8) + .4 (1 − 3.6/6) = .19.
        ((6, 0), (2, 2), 2.0, 2),
        # m = 0 counts errors alone: 2 as a leaf and below, and the leaf is smaller.
        ((6, 0), (2, 2), 0.0, 1),
        ((5, 0), (1, 4), 0.0, 2),
        ((5, 0), (1, 4), 1e9, 1),
    ],
)
def test_one_split(
    left: tuple[int, int], right: tuple[int, int], m: float | None, leaves: int
) -> None:
    assert (_pruned(two_sides(left, right), m).first_child < 0).sum() == leaves


def _expected_error(tree: Tree, root_share: Any, m: float | None) -> float:
    leaf = tree.first_child < 0
    counts = tree.value[leaf] * tree.weight[leaf, None]
    n = tree.weight[leaf]
    added = np.ones_like(root_share) if m is None else m * root_share
    error = 1.0 - (counts + added).max(axis=1) / (n + added.sum())
    return float((n * error).sum() / tree.weight[0])


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("m", [None, 0.0, 2.0, 20.0])
def test_no_pruning_expects_fewer_errors(seed: int, m: float | None) -> None:
    X, y = classes(60, seed=seed)
    tree = fit(X, y, Setting(max_leaves=9))
    expected = [_expected_error(each, tree.value[0], m) for each in all_prunings(tree)]
    assert _expected_error(_pruned(tree, m), tree.value[0], m) == pytest.approx(
        min(expected), abs=1e-12
    )


def test_more_prior_rows_make_smaller_trees() -> None:
    X, y = classes(300)
    tree = fit(X, y, Setting())
    sizes = [_pruned(tree, m).feature.size for m in (0.0, 1.0, 4.0, 16.0, 64.0)]
    assert sizes == sorted(sizes, reverse=True) and sizes[0] > 4 * sizes[-1]


@pytest.mark.parametrize("m", [None, 0.0, 2.0])
@pytest.mark.parametrize("name", ["watermelon", "titanic", "haireye"])
def test_empty_branches(name: str, m: float | None) -> None:
    case = nominal_case(name)
    assert (case.tree.weight == 0.0).any() == (name == "watermelon")
    pruned = _pruned(case.tree, m)
    assert (pruned.first_child < 0).sum() <= (case.tree.first_child < 0).sum()
    assert case.figures(pruned)[1] <= 1.1 * case.figures(case.tree)[1]

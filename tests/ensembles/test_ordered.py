"""Rounds by hand: what prefix models say, what chance does, and how training goes on."""

from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vtree.binning import bin_table
from vtree.ensembles.derivatives import Weights
from vtree.ensembles.folds import Ordering, planted, prefixes
from vtree.ensembles.ordered import Ordered, boost_ordered
from vtree.ensembles.steps import Leaves
from vtree.ensembles.symmetric_leaves import LeafRule
from vtree.ensembles.training import Training
from vtree.losses import REGRESSION
from vtree.tree import Tree

NUMBERS = np.array([-1, -1])
SQUARES = REGRESSION["squared_error"]


def _training(n_rows: int) -> Training:
    random = np.random.default_rng(0)
    X = random.integers(0, 4, (n_rows, 2)).astype(np.float64)
    y = X @ [3.0, 1.0] + random.normal(size=n_rows)
    weights = Weights.of(None, 1.0, n_rows)
    return Training(bin_table(X, NUMBERS), X, y, weights, SQUARES.derivatives, False, Leaves())


def _trees(
    training: Training,
    ordering: Ordering,
    rounds: int,
    before: list[Tree] | None = None,
    **own: Any,
) -> tuple[list[Tree], NDArray[np.float64]]:
    sums = np.zeros((training.y.size, 1))
    folds = planted(training.bins, training.values, ordering, None, 5, sums)
    start = np.array([training.y.mean()])
    grown = boost_ordered(training, Ordered(**own), start, folds, before or [])
    return list(islice(grown, rounds)), sums


def test_prefix_models_worked_by_hand() -> None:
    """Two rounds of stumps: each candidate's score from all prefixes, rows in their order."""
    training = _training(19)
    X, y = training.values, training.y
    rule: dict[str, Any] = {
        "learning_rate": 0.5,
        "depth": 1,
        "cosine": False,
        "leaves": LeafRule(1.0),
    }
    trees, _ = _trees(training, Ordering(prefixes=True, in_time=True), 2, **rule)
    said = [np.zeros(19) for _ in prefixes(19)]
    for tree in trees:
        worth = {}
        for feature, cut in ((f, c + 0.5) for f in range(2) for c in range(3)):
            worth[feature, cut] = 0.0
            for size, own in zip(prefixes(19), said, strict=True):
                rest = y - y.mean() - own
                for side in (X[:, feature] <= cut, X[:, feature] > cut):
                    learnt, judged = side[:size], side[size : 2 * size]
                    step = rest[:size][learnt].sum() / (learnt.sum() + 1.0)
                    worth[feature, cut] += step * rest[size : 2 * size][judged].sum()
        best = max(worth, key=lambda candidate: worth[candidate])
        assert (tree.feature[0], tree.threshold[0]) == best
        for size, own in zip(prefixes(19), said, strict=True):
            rest = (y - y.mean() - own)[:size]
            for side in (X[:, best[0]] <= best[1], X[:, best[0]] > best[1]):
                own[side] += 0.5 * rest[side[:size]].sum() / (side[:size].sum() + 1.0)


def test_the_tree_that_is_kept_learns_from_all_rows() -> None:
    training = _training(40)
    rule: dict[str, Any] = {"learning_rate": 0.5, "depth": 1}
    trees, sums = _trees(training, Ordering(prefixes=True), 1, **rule)
    rest = training.y - training.y.mean()
    side = training.values[:, trees[0].feature[0]] <= trees[0].threshold[0]
    for own, value in zip((side, ~side), trees[0].value[1:, 0], strict=True):
        assert np.isclose(value, 0.5 * rest[own].sum() / (own.sum() + 3.0), rtol=1e-12)
        np.testing.assert_array_equal(sums[own, 0], value)


def test_chance_shapes_trees_and_leaves_answer_for_all_rows() -> None:
    training = _training(60)
    training = training._replace(y=np.random.default_rng(1).normal(size=60))
    rest = training.y - training.y.mean()
    chances: list[Any] = [{"temperature": 1.0}, {"subsample": 0.3}, {"random_strength": 1.0}]
    chances.append({"subsample": 0.3, "by_variance": True})
    for own in chances:
        found = {}
        for seed in range(4):
            (tree,), _ = _trees(training, Ordering(), 1, depth=1, seed=seed, **own)
            found[tree.feature[0], tree.threshold[0]] = tree
        assert len(found) > 1
        for (feature, cut), tree in found.items():
            side = training.values[:, feature] <= cut
            step = 0.03 * rest[side].sum() / (side.sum() + 3.0)
            assert np.isclose(tree.value[1, 0], step, rtol=1e-12)


def test_going_on_is_what_one_run_would_have_been() -> None:
    training = _training(50)
    rule: dict[str, Any] = {"depth": 2, "temperature": 1.0, "random_strength": 1.0, "seed": 3}
    for ordering in (Ordering(), Ordering(prefixes=True)):
        whole, sums = _trees(training, ordering, 5, **rule)
        rest, again = _trees(training, ordering, 3, before=whole[:2], **rule)
        for tree, other in zip(whole[2:], rest, strict=True):
            np.testing.assert_array_equal(tree.value, other.value)
        np.testing.assert_array_equal(sums, again)


def test_odds_by_derivatives_follow_the_last_tree() -> None:
    training = _training(50)
    training = training._replace(y=np.random.default_rng(1).normal(size=50) ** 3)
    rule: dict[str, Any] = {"depth": 2, "subsample": 0.4, "by_variance": True, "seed": 3}
    for ordering in (Ordering(), Ordering(prefixes=True)):
        whole, sums = _trees(training, ordering, 4, **rule)
        rest, again = _trees(training, ordering, 2, before=whole[:2], **rule)
        np.testing.assert_array_equal(whole[3].threshold, rest[1].threshold)
        np.testing.assert_array_equal(sums, again)
    # Much more than all derivatives makes the odds alike, which is the plain share.
    flat, _ = _trees(training, Ordering(), 1, **rule, reg_variance=1e30)
    (plain,), _ = _trees(training, Ordering(), 1, **{**rule, "by_variance": False})
    np.testing.assert_array_equal(flat[0].threshold, plain.threshold)
    np.testing.assert_array_equal(flat[0].feature, plain.feature)

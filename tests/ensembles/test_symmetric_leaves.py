from typing import Any

import numpy as np
import pytest

from vtree import OrderedBoostingRegressor
from vtree.binning import bin_table, with_columns
from vtree.chains import places_of_leaves
from vtree.ensembles.derivatives import Weights
from vtree.ensembles.folds import whole_fold
from vtree.ensembles.steps import Leaves
from vtree.ensembles.symmetric_leaves import (
    LeafRule,
    Steps,
    answers,
    leaf_by_codes,
    leaf_of_rows,
    leaf_steps,
)
from vtree.ensembles.training import Training
from vtree.losses import CLASSIFICATION, REGRESSION
from vtree.tree import Tree, one_tree

Y = np.array([1.0, 0.0, 1.0, 1.0, 0.0, 1.0])
SEGMENT = np.array([0, 0, 1, 1, 1, 3])


def _steps(loss: Any, rule: LeafRule, weight: Any = None, level: float | None = None) -> Steps:
    bins = bin_table(Y[:, None], np.array([-1]))
    whole = None if weight is None else np.asarray(weight)
    weights = Weights.of(whole, 1.0, Y.size)
    leaves = Leaves(None if level is None else (level,))
    training = Training(bins, Y, Y, weights, loss.derivatives, loss.curved, leaves)
    fold = whole_fold(bins, None, np.zeros((Y.size, 1)))
    terms = loss.derivatives(fold.sums, Y)
    return leaf_steps(rule, fold, SEGMENT, 4, terms, training, np.zeros(1))


def test_steps_by_weights_and_by_curvature() -> None:
    loss = CLASSIFICATION["logistic"]
    gradient = _steps(loss, LeafRule(3.0, newton=False))
    np.testing.assert_allclose(gradient.value[:, 0], [0.0, 0.5 / 6.0, 0.0, 0.5 / 4.0], rtol=1e-12)
    newton = _steps(loss, LeafRule(3.0))
    np.testing.assert_allclose(newton.value[:, 0], [0.0, 0.5 / 3.75, 0.0, 0.5 / 3.25], rtol=1e-12)
    weighted = _steps(loss, LeafRule(3.0, newton=False), [1, 2, 1, 1, 3, 2])
    np.testing.assert_allclose(weighted.value[:, 0], [-0.5 / 6, -0.5 / 8, 0.0, 1 / 5], rtol=1e-12)
    assert weighted.weight.tolist() == [3.0, 5.0, 0.0, 2.0]
    assert weighted.n_rows.tolist() == [2, 3, 0, 1]


def test_many_steps_come_to_the_best_constant() -> None:
    found = _steps(CLASSIFICATION["logistic"], LeafRule(0.0, iterations=20)).value[:2, 0]
    np.testing.assert_allclose(found, [0.0, np.log(2.0)], atol=1e-12)


def test_quantiles_where_derivatives_do_not_say_it() -> None:
    steps = _steps(REGRESSION["absolute_error"], LeafRule(), None, 0.5)
    assert steps.value[:, 0].tolist() == [0.5, 1.0, 0.0, 1.0]


def test_answers_do_not_fall_along_chains() -> None:
    """Leaves 3 and 2, and then 1 and 0, of a falling split below a free one."""
    loss = REGRESSION["squared_error"]
    free = _steps(loss, LeafRule(1.0)).value[:, 0]
    np.testing.assert_allclose(free, [1 / 3, 2 / 4, 0.0, 1 / 2], rtol=1e-12)
    place = places_of_leaves(np.array([0, -1]))
    limited = _steps(loss, LeafRule(1.0, place=place)).value[:, 0]
    # Of the pairs (1, 0) and (3, 2) each, the sums over all rows and twice the penalty.
    np.testing.assert_allclose(limited, [3 / 7, 3 / 7, 1 / 3, 1 / 3], rtol=1e-12)
    medians = _steps(REGRESSION["absolute_error"], LeafRule(place=place), None, 0.5).value[:, 0]
    np.testing.assert_allclose(medians, [0.8, 0.8, 1.0, 1.0], rtol=1e-12)


def _tree(feature: list[int], threshold: list[float]) -> Tree:
    """Return a symmetric tree of two levels, with the feature and threshold of each."""
    inner, split = [0, 1, 1], np.arange(7) < 3
    zeros, nothing = np.zeros(7), np.full(7, -1)
    return Tree(
        feature=np.where(split, np.resize([feature[level] for level in inner], 7), -1),
        kind=np.zeros(7, dtype=np.int8),
        bin=np.zeros(7, dtype=np.int32),
        threshold=np.resize([threshold[level] for level in inner], 7),
        first_child=np.where(split, 2 * np.arange(7) + 1, -1).astype(np.int32),
        n_children=np.where(split, 2, 0).astype(np.int32),
        missing_child=np.where(split, 1, -1).astype(np.int32),
        map_offset=nothing,
        branch_map=np.empty(0, dtype=np.uint8),
        value=zeros[:, None],
        weight=zeros,
        n_rows=np.zeros(7, dtype=np.int64),
        impurity=zeros,
        gain=zeros,
        root=np.zeros(1, dtype=np.int32),
    )


def test_leaves_by_the_table_and_by_an_orders_own_statistics() -> None:
    values = np.array([[9.0, 0.0, 7.0], [9.0, 1.0, 7.0], [9.0, np.nan, 7.0]])
    assert leaf_of_rows(_tree([1, 1], [0.5, -1.0]), values, None).tolist() == [1, 3, 3]
    own = np.array([[1.0], [5.0], [1.0]])  # instead of the last column
    assert leaf_of_rows(_tree([1, 2], [0.5, 2.0]), values, own).tolist() == [0, 3, 2]
    assert leaf_of_rows(_tree([2, 2], [2.0, 0.0]), values, own).tolist() == [1, 3, 1]


@pytest.mark.parametrize("depth", [3, 9])
def test_leaves_by_codes_are_those_by_values(depth: int) -> None:
    draw = np.random.default_rng(depth)
    X = draw.normal(size=(20_000, 3))
    X[:, 1] = draw.integers(0, 5, 20_000)
    X[draw.random(X.shape) < 0.1] = np.nan
    model = OrderedBoostingRegressor(
        n_estimators=4, depth=depth, one_hot_max_size=9, categorical_features=[1], random_state=0
    ).fit(X, np.nan_to_num(X[:, 0] + (X[:, 1] == 3)))
    bins = bin_table(X, np.array([-1, 5, -1]))
    kinds = set()
    for number in range(4):
        tree = one_tree(model.grown_, number)
        kinds |= set(tree.kind[tree.feature >= 0].tolist())
        for own in (bins, with_columns(bins)):
            found = leaf_by_codes(tree, own)
            np.testing.assert_array_equal(found, leaf_of_rows(tree, X, None))
    assert kinds == {0, 1}


def test_inner_nodes_answer_the_mean_and_gain_what_squares_lose() -> None:
    value = np.array([[1.0], [3.0], [2.0], [0.0]])
    steps = Steps(
        value, np.array([[2.0], [6.0], [1.0], [0.0]]), np.array([2.0, 2, 1, 0]), SEGMENT[:4]
    )
    tree = answers(_tree([0, 0], [0.0, 0.0]), steps)
    assert tree.weight.tolist() == [5.0, 4.0, 1.0, 2.0, 2.0, 1.0, 0.0]
    assert tree.value[:, 0].tolist() == [2.0, 2.0, 2.0, 1.0, 3.0, 2.0, 0.0]
    # Σ R²/w of the children less that of the node
    assert tree.gain.tolist() == pytest.approx(
        [8**2 / 4 + 1 - 9**2 / 5, 2 + 18 - 16, 0, 0, 0, 0, 0]
    )


@pytest.mark.parametrize("size", [1e-150, 1e120])
def test_gains_of_any_size(size: float) -> None:
    value, sums = np.zeros((4, 1)), np.array([[2.0], [6.0], [1.0], [0.5]])
    weight = np.array([2.0, 2.0, 1.0, 3.0])
    plain, own = (
        answers(_tree([0, 0], [0.0, 0.0]), Steps(value, sums * by, weight * by, SEGMENT[:4]))
        for by in (1.0, size)
    )
    assert (plain.gain[:3] > 0.0).all()
    np.testing.assert_allclose(own.gain, plain.gain * size, rtol=1e-12)

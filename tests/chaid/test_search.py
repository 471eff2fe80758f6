import math

import numpy as np
import pytest
from numpy.typing import NDArray

from vtree import CHAIDClassifier, CHAIDRegressor
from vtree.chaid.search import NodeTests, Sizes, branch_map, joined_tests, log_p_of_nodes, node_keys
from vtree.tree import collapse, depth


def _data() -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    random = np.random.default_rng(0)
    X = random.integers(0, 5, (3_000, 4)).astype(float)
    y = (X[:, 0] > 2) * 2 + (X[:, 1] > 1) * (X[:, 2] != 1) + (random.random(3_000) < 0.1)
    return X, y.astype(int)


@pytest.mark.parametrize(
    ("child", "n_rows", "ordinal", "expected"),
    [
        # code 0 stands for missing values; −1: no rows in the node
        ([-1, 0, 1], [3, 9], False, [1, 0, 1]),
        ([-1, 0, 1], [9, 9], False, [0, 0, 1]),  # the first of equals
        ([2, 0, 1], [9, 3, 3], True, [2, 0, 1]),
        ([0, -1, 0, -1, 1, -1], [9, 9], True, [0, 0, 0, 0, 1, 1]),  # with the neighbour below
        ([0, -1, 1, -1, 0, -1], [9, 9], False, [0, 1, 1, 1, 0, 1]),  # with the first level
        ([0, -1, -1], [9], True, [0, 0, 0]),
    ],
)
def test_branch_map(
    child: list[int], n_rows: list[int], ordinal: bool, expected: list[int]
) -> None:
    assert branch_map(np.array(child), np.array(n_rows), ordinal).tolist() == expected


def test_sizes() -> None:
    weight = np.array([10.0, 100.0, 1000.0])
    assert Sizes(7.0, 0.01, 1.0).of(weight).tolist() == [1.0, 1.0, 7.0]
    assert Sizes(7.0, 1.0, 1.0).of(weight).tolist() == [7.0, 7.0, 7.0]
    assert Sizes(7.0, 1.0, 0.5).of(weight).tolist() == [10.0, 14.0, 14.0]  # in units of .5


def test_tests_belong_to_their_nodes() -> None:
    X, y = _data()
    model = CHAIDClassifier(min_samples_leaf=20).fit(X, y)
    tree, log_p = model.grown_, model.log_p_values_
    inner = tree.first_child >= 0
    assert inner.sum() > 3
    assert not np.isnan(log_p[inner]).any()
    chosen = log_p[inner].argmin(axis=1)
    np.testing.assert_array_equal(chosen, tree.feature[inner])
    assert (log_p[inner].min(axis=1) <= math.log(0.05)).all()
    tested = ~inner & ~np.isnan(log_p).any(axis=1)
    assert (log_p[tested].min(axis=1) > math.log(0.05)).all()


def test_tests_stay_with_their_nodes_in_a_pruned_tree() -> None:
    X, y = _data()
    model = CHAIDRegressor(min_samples_leaf=20).fit(X, y)
    whole, kept = model.grown_, node_keys(model.grown_)
    assert np.unique(kept).size == kept.size
    level = depth(whole)
    pruned = collapse(whole, (whole.first_child >= 0) & (level < 2) & (whole.feature != 2))
    log_p = log_p_of_nodes(pruned, model.tested_)
    number = [int(np.flatnonzero(kept == key)[0]) for key in node_keys(pruned)]
    np.testing.assert_array_equal(whole.n_rows[number], pruned.n_rows)
    np.testing.assert_array_equal(log_p, model.log_p_values_[number])


def test_nothing_tested() -> None:
    model = CHAIDClassifier().fit([[0.0], [1.0]], [0, 1])
    assert np.isnan(model.log_p_values_).all()
    assert joined_tests([], 3).log_p.shape == (0, 3)
    one = NodeTests(np.array([2, 1], dtype=np.uint64), np.array([[0.2], [0.1]]))
    assert joined_tests([one], 1).log_p.tolist() == [[0.1], [0.2]]


def test_the_gain_is_the_decrease_of_impurity() -> None:
    X, y = _data()
    for model in (CHAIDClassifier().fit(X, y), CHAIDRegressor().fit(X, y)):
        tree = model.grown_
        for node in np.flatnonzero(tree.first_child >= 0):
            below = slice(tree.first_child[node], tree.first_child[node] + tree.n_children[node])
            share = tree.weight / tree.weight[0]
            decrease = share[node] * tree.impurity[node]
            decrease -= (share[below] * tree.impurity[below]).sum()
            assert tree.gain[node] == pytest.approx(decrease, rel=1e-9)

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from tests.fitting import Setting, fit
from vtree.predict import leaves
from vtree.tree import Tree, fingerprint

GINI = Setting("gini")
nan, inf = np.nan, np.inf


def _stump(x: Any, y: Any, setting: Setting = GINI) -> Tree:
    X = np.asarray(x, dtype=np.float64)
    return fit(X.reshape(len(y), -1), np.asarray(y), replace(setting, max_depth=1))


def test_of_equal_cuts_the_lowest_wins_and_missing_values_go_right() -> None:
    assert _stump([0, 1, 2, 3], [0, 1, 0, 1]).threshold[0] == 0.5
    tree = _stump([0, 0, 1, 1, nan, nan], [0, 0, 1, 1, 0, 1])
    assert (tree.threshold[0], tree.missing_child[0]) == (0.5, 1)


@pytest.mark.parametrize(
    ("x", "y", "threshold", "missing_child"),
    [
        ([0, 1, 4, 5], [0, 0, 1, 1], 2.5, 1),  # none missing, equal sides: to the second
        ([0, 1, 4], [0, 0, 1], 2.5, 0),  # to the side with more rows
        ([0, 4, 5], [0, 1, 1], 2.0, 1),
        ([0, 1, 4, nan], [0, 0, 1, 0], 2.5, 0),  # learnt
        ([0, 1, 4, nan], [0, 0, 1, 1], 2.5, 1),
        ([0, 1, nan, nan], [0, 0, 1, 1], inf, 1),  # only missing or not tells
        ([nan, nan, 3, 3], [0, 1, 0, 1], inf, 1),
        ([-inf, 0, inf, inf], [0, 0, 1, 1], 0.0, 1),
        ([-inf, inf, inf], [0, 1, 1], -inf, 1),
        ([-0.0, 0.0, 5e-324], [0, 0, 1], 0.0, 0),
    ],
)
def test_thresholds_and_missing_values(
    x: list[float], y: list[int], threshold: float, missing_child: int
) -> None:
    tree = _stump(x, y)
    assert (tree.threshold[0], tree.missing_child[0]) == (threshold, missing_child)
    assert np.signbit(tree.threshold[0]) == (threshold < 0)


@pytest.mark.parametrize("alone", [False, True])
@pytest.mark.parametrize("criterion", ["gini", "squared_error", "absolute_error"])
@pytest.mark.parametrize("categories", [False, True])
def test_where_more_weight_goes_as_more_copies_would(
    alone: bool, criterion: str, categories: bool
) -> None:
    """No row tells where missing values go: two rows of weight nine are more than five of one."""
    draw = np.random.default_rng(4)
    X = draw.integers(0, 6, (60, 4)).astype(np.float64)
    y = (X[:, 0] + X[:, 1] * X[:, 2] + draw.integers(0, 6, 60) > 8).astype(int)
    weight = draw.choice([1, 9], 60, p=[0.8, 0.2])
    levels = (6, -1, 6, -1) if categories else None
    setting = Setting(criterion, levels, alone=alone)
    tree = fit(X, y, setting, weight)
    copies = fit(np.repeat(X, weight, axis=0), np.repeat(y, weight), setting)
    for name in set(Tree._fields) - {"n_rows"}:
        np.testing.assert_array_equal(getattr(tree, name), getattr(copies, name), name)
    split = np.flatnonzero(tree.first_child >= 0)
    first = tree.first_child[split]
    by_rows = np.where(tree.n_rows[first] > tree.n_rows[first + 1], 0, 1)
    assert (tree.missing_child[split] != by_rows).any()
    assert fingerprint(fit(X, y, setting, weight, mode="reference")) == fingerprint(tree)


def test_a_threshold_lies_between_the_nodes_own_values() -> None:
    # The root parts by the first feature; below, only 0 and 10 of the second are left.
    X = np.array([[0, 0], [0, 10], [1, 4], [1, 5], [1, 6]], dtype=np.float64)
    tree = fit(X, np.array([0, 1, 2, 2, 2]), GINI)
    assert (tree.feature[0], tree.threshold[0]) == (0, 0.5)
    assert (tree.feature[1], tree.threshold[1]) == (1, 5.0)


def test_of_quantile_bins_the_threshold_is_an_edge_in_the_middle_of_the_gap() -> None:
    x = np.repeat(np.arange(64.0), 2)
    X = np.stack([x, (x > 31.0) & (x < 60.0)], axis=1)
    setting = Setting("gini", max_bins=16)
    edges = setting.bins(X).edges[0]
    tree = fit(X, np.searchsorted([32.0, 60.0], x), setting)
    own = tree.threshold[tree.feature == 0]
    assert own.size
    assert np.isin(own, edges).all()


@pytest.mark.parametrize("max_bins", [None, 8])
@pytest.mark.parametrize("random_threshold", [False, True])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_raw_values_and_codes_take_the_same_way(
    max_bins: int | None, random_threshold: bool, dtype: Any
) -> None:
    random = np.random.default_rng(0)
    X = random.choice([*random.normal(size=40), 5e-324, -0.0, 0.0, inf, -inf, nan], (300, 4))
    X[:, 3] = random.choice([0, 1, 2, 3, nan], 300)
    with np.errstate(over="ignore"):
        X = X.astype(dtype)
    setting = Setting("gini", (-1, -1, -1, 4), max_bins, random_threshold=random_threshold)
    tree = fit(X, random.integers(0, 3, 300), setting)
    counts = np.bincount(leaves(tree, X)[:, 0], minlength=tree.feature.size)
    np.testing.assert_array_equal(counts, np.where(tree.first_child < 0, tree.n_rows, 0))


def test_drawn_thresholds_differ_by_seed_and_part_the_rows() -> None:
    X = np.random.default_rng(2).normal(size=(50, 1))
    y = (X[:, 0] > 0).astype(np.int64)
    trees = [fit(X, y, Setting(seed=seed, random_threshold=True)) for seed in range(5)]
    assert len({float(tree.threshold[0]) for tree in trees}) == 5
    assert all((tree.n_rows > 0).all() for tree in trees)

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from tests.bits import assert_same_bits
from tests.fitting import Setting, fit
from vtree.criteria import CLASSIFICATION, REGRESSION
from vtree.predict import leaves
from vtree.tree import depth, fingerprint

STRUCTURE = ("feature", "first_child", "missing_child", "n_rows", "value", "impurity", "gain")


def _data(n_rows: int = 200, seed: int = 0) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    random = np.random.default_rng(seed)
    X = np.round(random.normal(size=(n_rows, 4)), 1)
    X[random.random(X.shape) < 0.1] = np.nan
    y = np.rint(np.nan_to_num(X).sum(axis=1) + random.normal(size=n_rows))
    return X, np.clip(y + 2, 0, 4).astype(np.int64)


LIMITS: dict[str, Setting] = {
    "depth": Setting(max_depth=3),
    "split": Setting(min_rows_split=25),
    "leaf": Setting(min_rows=12),
    "weight": Setting(min_weight=9.5),
    "gain": Setting(min_gain=2.0),
    "leaves": Setting(max_leaves=5),
    "none": Setting(),
    "no split": Setting(min_rows=101),
    "root only": Setting(max_depth=0),
}


@pytest.mark.parametrize("name", LIMITS)
@pytest.mark.parametrize("criterion", ["gini", "squared_error"])
def test_limits_hold(name: str, criterion: str) -> None:
    X, y = _data()
    limit = replace(LIMITS[name], criterion=criterion)
    weight = np.random.default_rng(1).integers(1, 4, 200) / 2.0
    tree = fit(X, y, limit, weight)
    internal = tree.first_child >= 0
    assert depth(tree).max() <= (99 if limit.max_depth is None else limit.max_depth)
    assert (tree.n_rows[internal] >= limit.min_rows_split).all()
    assert (tree.n_rows >= limit.min_rows).all()
    assert (tree.weight >= limit.min_weight).all()
    assert (~internal).sum() <= (limit.max_leaves or 200)
    assert internal.any() == (name not in ("no split", "root only"))


@pytest.mark.parametrize("criterion", [*CLASSIFICATION, *REGRESSION])
def test_without_limits_only_rows_that_are_alike_stay_together(criterion: str) -> None:
    X, y = _data()
    tree = fit(X, y + 1, Setting(criterion))
    leaf = leaves(tree, X)[:, 0]
    for node in np.unique(leaf):
        own = leaf == node
        assert np.unique(y[own]).size == 1 or np.unique(X[own], axis=0).shape[0] == 1


@pytest.mark.parametrize("criterion", ["gini", "entropy", "twoing", "squared_error", "poisson"])
def test_a_weight_is_a_repetition(criterion: str) -> None:
    X, y = _data()
    weight = np.random.default_rng(2).integers(1, 6, 200)
    weighed = fit(X, y, Setting(criterion), weight)
    repeated = fit(np.repeat(X, weight, axis=0), np.repeat(y, weight), Setting(criterion))
    for field in ("feature", "threshold", "bin", "first_child", "value", "weight", "gain"):
        assert_same_bits(getattr(weighed, field), getattr(repeated, field), field)
    np.testing.assert_allclose(weighed.impurity, repeated.impurity, rtol=1e-9, atol=1e-12)


CHANGES: dict[str, Callable[[Any], Any]] = {
    "cube": lambda x: x**3,
    "exp": np.exp,
    "shift": lambda x: x + 7.0,
}


@given(st.floats(1e-3, 1e3), st.sampled_from(sorted(CHANGES)))
def test_what_keeps_the_order_of_a_feature_keeps_the_tree(scale: float, name: str) -> None:
    X, y = _data(80)
    changed = X.copy()
    changed[:, 1] = CHANGES[name](X[:, 1]) * scale
    before, after = fit(X, y, Setting()), fit(changed, y, Setting())
    for field in STRUCTURE:
        assert_same_bits(getattr(before, field), getattr(after, field), field)


@pytest.mark.parametrize("criterion", ["gini", "entropy", "squared_error"])
@pytest.mark.parametrize("budget", [256 * 2**20, None])
@pytest.mark.parametrize("max_leaves", [None, 6])
def test_many_roots_in_one_frontier_are_the_roots_one_by_one(
    criterion: str, budget: int | None, max_leaves: int | None
) -> None:
    X, y = _data()
    X[:, 3] = np.abs(np.rint(X[:, 3]))
    levels = (-1, -1, -1, 5)
    setting = Setting(criterion, levels, budget=budget, max_leaves=max_leaves)
    roots = [np.arange(200), np.arange(0, 200, 2), np.arange(50, 60), np.arange(3, 4)]
    forest = fit(X, y, setting, roots=roots)
    borders = [*forest.root.tolist(), forest.feature.size]
    for t, root in enumerate(roots):
        alone = fit(X, y, setting, roots=[root])
        own = slice(borders[t], borders[t + 1])
        for field in {*STRUCTURE, "threshold", "bin", "kind", "weight", "impurity", "gain"}:
            expected, found = getattr(alone, field), getattr(forest, field)[own]
            if field == "first_child":
                found = np.where(found < 0, found, found - borders[t])
            assert_same_bits(found, expected, field)


def test_trees_of_a_forest_draw_for_themselves() -> None:
    X, y = _data()
    rows = np.arange(200)
    forest = fit(X, y, Setting(max_features=1, seed=3), roots=[rows] * 5)
    assert len({int(forest.feature[root]) for root in forest.root}) > 1


def test_a_chain_as_deep_as_the_table_is_long() -> None:
    x = np.arange(600.0)  # of alternating classes, one row is cut off a level
    tree = fit(x[:, None], (x % 2).astype(np.int64), Setting("gini"))
    assert depth(tree).max() > 500
    assert (tree.n_rows[tree.first_child < 0] == 1).all()


@pytest.mark.parametrize("direction", [1, -1])
@pytest.mark.parametrize("criterion", ["gini", "entropy", "squared_error", "poisson"])
def test_monotone_features_never_turn_back(criterion: str, direction: int) -> None:
    random = np.random.default_rng(4)
    X = np.round(random.normal(size=(300, 3)), 1)
    y = (direction * X[:, 0] + np.abs(X[:, 1]) + random.normal(size=300) > 0.5).astype(np.int64)
    tree = fit(X, y, Setting(criterion, monotone=(direction, 0, 0)))
    for other in random.normal(size=(40, 2)):
        grid = np.stack([np.linspace(-4, 4, 200), *np.repeat(other[:, None], 200, axis=1)], axis=1)
        answers = tree.value[leaves(tree, grid)[:, 0], -1]
        assert (np.diff(answers) * direction >= 0.0).all()


def test_one_row_and_constant_tables() -> None:
    for X, y in (
        (np.zeros((1, 1)), np.zeros(1, dtype=np.int64)),
        (np.full((5, 2), np.nan), np.arange(5)),
        (np.ones((5, 2)), np.arange(5)),
        (np.arange(5.0)[:, None], np.zeros(5, dtype=np.int64)),
    ):
        for criterion in ("gini", "squared_error"):
            tree = fit(X, y, Setting(criterion))
            assert tree.feature.tolist() == [-1]
            assert tree.n_rows.tolist() == [len(X)]


def test_read_only_data_is_left_alone() -> None:
    X, y = _data()
    weight = np.full(200, 2.0)
    weight[0] = 1.0
    before = fingerprint(fit(X, y, Setting(), weight))
    copies = [X.copy(), y.copy(), weight.copy()]
    for array in copies:
        array.flags.writeable = False
    assert fingerprint(fit(copies[0], copies[1], Setting(), copies[2])) == before
    assert_same_bits(copies[0], X)

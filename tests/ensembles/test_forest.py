"""Forests grown in batches: the same trees whatever grows beside them."""

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from tests.conftest import NAMESPACES
from tests.fitting import Setting, fit
from vtree import draws
from vtree.ensembles import forest as forests
from vtree.ensembles.forest import Forest, grow_forest
from vtree.ensembles.samples import (
    Bootstrap,
    Sample,
    Subsample,
    drawn_subsample,
    sample,
    subsample_of,
)
from vtree.tree import Tree, fingerprint, joined, one_tree
from vtree_kernels import kernels, threads

SEEDS = np.array([3, 14, 15, 92, 65])
KEYS = draws.tree_keys(SEEDS)

SETTINGS = {
    "gini": Setting("gini", max_features=2),
    "entropy, few bins": Setting("entropy", max_bins=6, max_features=1),
    "squared error": Setting("squared_error", max_features=2, min_rows=2),
    "absolute error": Setting("absolute_error", max_depth=3),
    "poisson": Setting("poisson", max_features=3, max_depth=4),
    "random cuts": Setting("gini", max_features=2, random_threshold=True),
    "best first": Setting("gini", max_features=2, max_leaves=5),
    "categories": Setting("gini", levels=(4, -1, 9, -1), max_features=2),
}


def _data(setting: Setting, n_rows: int = 80) -> tuple[NDArray[Any], NDArray[Any]]:
    random = np.random.default_rng(1)
    X = np.round(random.normal(size=(n_rows, 4)), 1)
    for feature, levels in enumerate(setting.levels or ()):
        if levels > 0:
            X[:, feature] = random.integers(0, levels, n_rows)
    X[random.random(X.shape) < 0.1] = np.nan
    y = (np.nan_to_num(X) @ [1, 2, -1, 0.5] + random.normal(size=n_rows) > 0).astype(np.int64)
    return X, y + random.integers(0, 2, n_rows)


def _grown(
    setting: Setting,
    bootstrap: bool,
    *,
    asarray: Any = np.asarray,
    mode: str = "native",
    n_threads: int = 1,
    most_trees: int | None = None,
    n_trees: int = 5,
    width: int | None = None,
) -> Tree:
    X, y = _data(setting)
    with kernels(mode), threads(n_threads):
        targets, bins = setting.targets(y), setting.bins(asarray(X))
        draw = Bootstrap(80, 80)

        def drawn(number: int) -> Sample:
            if width is not None:
                return subsample_of(Subsample(80, 60, 4, width, False), int(SEEDS[number]))
            return sample(draw, int(SEEDS[number]))

        forest = Forest(
            bins,
            targets,
            setting.plan(bins, targets),
            setting.rule,
            setting.max_leaves,
            drawn if bootstrap else None,
        )
        return joined(list(grow_forest(forest, KEYS[:n_trees], most_trees)))


@pytest.mark.parametrize("bootstrap", [True, False])
@pytest.mark.parametrize("name", SETTINGS)
def test_every_way_to_grow_gives_the_same_forest(
    name: str, bootstrap: bool, monkeypatch: Any
) -> None:
    setting = SETTINGS[name]
    expected = fingerprint(_grown(setting, bootstrap))
    for most in (1, 2):
        own = fingerprint(_grown(setting, bootstrap, most_trees=most))
        assert own == expected, f"{most} trees a batch"
    assert fingerprint(_grown(setting, bootstrap, n_threads=4)) == expected
    for namespace, make in NAMESPACES.items():
        own = fingerprint(_grown(setting, bootstrap, asarray=make().asarray, mode="reference"))
        assert own == expected, f"reference on {namespace}"
    monkeypatch.setattr(forests, "_MOST_ROWS", 130)
    assert fingerprint(_grown(setting, bootstrap)) == expected, "batches by rows"


@pytest.mark.parametrize("name", SETTINGS)
def test_a_forest_begins_with_the_smaller_forest(name: str) -> None:
    five, two = _grown(SETTINGS[name], True), _grown(SETTINGS[name], True, n_trees=2)
    for number in range(2):
        assert fingerprint(one_tree(five, number)) == fingerprint(one_tree(two, number))


@pytest.mark.parametrize("name", ["gini", "squared error", "categories"])
def test_multiplicities_weigh_like_repeated_rows(name: str) -> None:
    setting = Setting(SETTINGS[name].criterion, SETTINGS[name].levels)
    X, y = _data(setting)
    drawn = sample(Bootstrap(80, 80), int(SEEDS[0]))
    own = one_tree(_grown(setting, True), 0)
    alone = fit(X[drawn.rows], y[drawn.rows], setting, drawn.times.astype(np.float64))
    for field in ("feature", "threshold", "first_child", "n_rows", "weight", "branch_map"):
        np.testing.assert_array_equal(getattr(own, field), getattr(alone, field), err_msg=field)
    np.testing.assert_allclose(own.value, alone.value, rtol=1e-12)


def test_a_budget_for_one_tree_grows_them_one_by_one(monkeypatch: Any) -> None:
    setting = SETTINGS["gini"]
    X, y = _data(setting)
    targets, bins = setting.targets(y), setting.bins(X)
    forest = Forest(bins, targets, setting.plan(bins, targets), setting.rule)
    monkeypatch.setattr(forests, "_MOST_ROWS", 80)
    assert [tree.root.size for tree in grow_forest(forest, KEYS)] == [1, 1, 1, 1, 1]
    monkeypatch.setattr(forests, "_MOST_ROWS", 200)
    assert [tree.root.size for tree in grow_forest(forest, KEYS)] == [2, 2, 1]


@pytest.mark.parametrize("name", SETTINGS)
def test_trees_split_by_the_features_that_they_drew(name: str) -> None:
    setting, subsample = SETTINGS[name], Subsample(80, 60, 4, 2, False)
    forest = _grown(setting, True, width=2)
    for number, seed in enumerate(SEEDS.tolist()):
        used = np.unique(one_tree(forest, number).feature)
        features, _ = drawn_subsample(subsample, seed)
        assert set(used.tolist()) - {-1} <= set(features.tolist())
    for namespace, make in NAMESPACES.items():
        own = _grown(setting, True, width=2, asarray=make().asarray, mode="reference")
        assert fingerprint(own) == fingerprint(forest), f"reference on {namespace}"


def test_a_tree_of_some_features_is_the_tree_of_their_table() -> None:
    setting = Setting("gini")
    X, y = _data(setting)
    own = one_tree(_grown(setting, True, width=2), 1)
    features, rows = drawn_subsample(Subsample(80, 60, 4, 2, False), int(SEEDS[1]))
    rows, features = np.sort(rows), np.sort(features)
    alone = fit(X[np.ix_(rows, features)], y[rows], setting)
    split = alone.feature >= 0
    np.testing.assert_array_equal(own.feature[split], features[alone.feature[split]])
    for field in ("threshold", "first_child", "n_rows", "value"):
        np.testing.assert_array_equal(getattr(own, field), getattr(alone, field), err_msg=field)

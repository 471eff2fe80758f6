"""Nodes that grow by themselves make the same trees as the levels of all nodes."""

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import vtree
from tests.fitting import Setting, fit
from vtree import draws, subtrees
from vtree.best_first import BestFirst
from vtree.constraints import Together
from vtree.growth import _rule_alone
from vtree.plan import Plan, level_order
from vtree.routing import Data
from vtree.sampling import Columns
from vtree.splits import Search
from vtree.subtrees import FEW_IN_ALL, _among, _usable
from vtree.tree import SUBSET, fingerprint
from vtree_kernels.subtree import Rule, packed_bits


@pytest.fixture(autouse=True)
def _compiled_for_few_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(subtrees, "MANY_ENOUGH", 0)


def _data(n_rows: int = 900) -> tuple[NDArray[np.float64], NDArray[np.int64], NDArray[np.int64]]:
    random = np.random.default_rng(0)
    X = random.normal(size=(n_rows, 5))
    X[:, 0], X[:, 1] = np.round(X[:, 0], 1), random.integers(0, 4, n_rows)
    X[random.random(X.shape) < 0.1] = np.nan
    noisy = np.nan_to_num(X[:, 0] + X[:, 2] * X[:, 3]) + random.normal(scale=0.3, size=n_rows)
    return X, (noisy > 0).astype(np.int64), random.integers(1, 4, n_rows)


SETTINGS = {
    "plain": Setting(max_bins=255),
    "limits": Setting(max_bins=255, max_depth=5, min_rows=4, min_weight=5.0, min_gain=0.5),
    "splits": Setting(max_bins=20, min_rows_split=25),
    "draws": Setting(max_bins=255, max_features=2, seed=4),
    "leaves": Setting(max_bins=255, max_leaves=9, min_rows=3),
    "monotone": Setting(max_bins=255, monotone=(1, 0, 0, -1, 0)),
    "monotone, draws": Setting(max_bins=20, monotone=(1, 0, 0, -1, 0), max_features=2, seed=4),
    "monotone, leaves": Setting(max_bins=255, monotone=(1, 0, 0, -1, 0), max_leaves=9),
    "leaves, draws": Setting(max_bins=255, max_leaves=9, max_features=2, seed=4),
    "cuts": Setting(max_bins=255, random_threshold=True, raw=True, seed=5),
    "cuts, draws": Setting(random_threshold=True, raw=True, max_features=1, seed=5),
}


@pytest.mark.parametrize("name", SETTINGS)
@pytest.mark.parametrize("weighted", [False, True])
def test_same_model_with_and_without_levels(
    name: str, weighted: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    X, y, times = _data()
    weight = times if weighted else None
    levels = SETTINGS[name]
    alone = replace(levels, alone=True)
    roots = [np.arange(900), np.arange(0, 900, 3), np.arange(5)]
    expected = fingerprint(fit(X, y, levels, weight, roots=roots))
    assert fingerprint(fit(X, y, levels, weight, roots=roots, mode="reference")) == expected
    for most in (0, 40, 10**9):  # rows of a node
        monkeypatch.setattr(subtrees, "FEW_IN_ALL", most // 2)
        monkeypatch.setattr(subtrees, "FEW", most)
        monkeypatch.setattr(subtrees, "FEW_DRAWN", most)
        for count in (1, 4):
            found = fit(X, y, alone, weight, roots=roots, n_threads=count)
            assert fingerprint(found) == expected, (most, count)
    order = np.random.default_rng(3).permutation(900)
    one = fingerprint(fit(X, y, levels, weight))
    moved = fit(X[order], y[order], alone, times[order] if weighted else None)
    assert fingerprint(moved) == one


@pytest.mark.parametrize("monotone", [None, (0, 0, 1, -1, 0)])
@pytest.mark.parametrize("criterion", ["squared_error", "poisson"])
def test_real_targets(criterion: str, monotone: Any) -> None:
    X, _, times = _data()
    y = np.abs(np.nan_to_num(X[:, 2]) * 3).round(1)
    levels = Setting(criterion, max_bins=255, monotone=monotone)
    expected = fingerprint(fit(X, y, levels, times))
    assert fingerprint(fit(X, y, replace(levels, alone=True), times)) == expected


@pytest.mark.parametrize("monotone", [None, (0, 0, 1, -1, 0)])
def test_several_classes(monotone: Any) -> None:
    X, y, times = _data()
    levels = Setting("entropy", max_bins=255, monotone=monotone, min_rows=3)
    expected = fingerprint(fit(X, y + 2 * times, levels))
    assert fingerprint(fit(X, y + 2 * times, replace(levels, alone=True))) == expected


# What takes more than a node's own rows grows level by level.
LEVELS: dict[str, dict[str, Any]] = {
    "all subsets of few levels": {"levels": (-1, 4, -1, -1, -1)},
    "drawn thresholds with constraints": {
        **{"monotone": (1, 0, 0, 0, 0), "random_threshold": True, "raw": True},
    },
    "medians": {"criterion": "absolute_error"},
    "thresholds between bins": {"random_threshold": True},
}


@pytest.mark.parametrize("name", [*LEVELS, "none of these"])
def test_which_trees_have_nodes_that_grow_by_themselves(name: str) -> None:
    X, _, times = _data(60)
    X[:, 1], y = np.nan_to_num(X[:, 1]), times - 1
    setting = replace(Setting(alone=True), **LEVELS.get(name, {}))
    targets, bins = setting.targets(y), setting.bins(X)
    plan: Plan = setting.plan(bins, targets)
    data = Data(bins, targets, None, np.arange(60, dtype=np.int32))  # type: ignore[arg-type]
    assert (_rule_alone(plan, level_order, data, 1) is None) == (name in LEVELS)


def test_large_trees_split_no_nodes_ahead_of_their_turn() -> None:
    X, y, _ = _data(FEW_IN_ALL + 1)
    setting = Setting(alone=True, max_features=4)  # of five: no sums by code for their children's
    targets, bins = setting.targets(y), setting.bins(X)
    plan, rows = setting.plan(bins, targets), np.arange(FEW_IN_ALL + 1, dtype=np.int32)
    data = Data(bins, targets, None, rows)  # type: ignore[arg-type]
    first = BestFirst(9)
    assert _rule_alone(plan, level_order, data, 1) is not None
    assert _rule_alone(plan, first, data, 1) is None
    assert _rule_alone(plan, first, data, 2) is not None
    assert _rule_alone(plan, first, data._replace(order=rows[1:]), 1) is not None


@pytest.mark.parametrize(("max_leaves", "whole"), [(9, True), (200, False)])
def test_trees_of_few_leaves_grow_no_others(max_leaves: int, whole: bool) -> None:
    X, y, _ = _data(FEW_IN_ALL + 1)
    setting = Setting(alone=True, max_bins=255)
    targets, bins = setting.targets(y), setting.bins(X)
    plan = setting.plan(bins, targets)._replace(budget=1 << 21)
    rows = np.arange(FEW_IN_ALL + 1, dtype=np.int32)
    data = Data(bins, targets, None, rows)  # type: ignore[arg-type]
    rule = _rule_alone(plan, BestFirst(max_leaves), data, 1)
    # The sums of 200 nodes do not fit: all leaves are grown then, and cut off, of so few rows.
    assert rule is not None
    assert rule.max_leaves == (max_leaves if whole else 0)


CONSTRAINTS: dict[str, dict[str, Any]] = {
    "monotone": {"monotone_constraints": (1, 0, -1, 0, 0)},
    "interactions": {"interaction_constraints": [[0, 1], [1, 2, 3], [4]]},
    "draws": {"colsample_bytree": 0.8, "colsample_bynode": 0.8},
}
CONSTRAINTS["all"] = {name: own for each in CONSTRAINTS.values() for name, own in each.items()}


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize(
    ("estimator", "name"),
    [
        *((vtree.NewtonBoostingClassifier, name) for name in CONSTRAINTS),
        *((vtree.LeafwiseBoostingRegressor, name) for name in ("monotone", "all")),
    ],
)
def test_boosting_with_constraints(
    estimator: Any, name: str, weighted: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    X, y, times = _data()
    limits: dict[str, Any] = {"n_estimators": 4, "max_depth": 5, "random_state": 0}
    weight = times if weighted else None
    model = estimator(**limits, **CONSTRAINTS[name])
    found = vtree.digest(model.fit(X, y, weight))
    assert vtree.digest(estimator(**limits).fit(X, y, weight)) != found
    with vtree.kernels("reference"):
        assert vtree.digest(model.fit(X, y, weight)) == found
    for most in ("FEW_IN_ALL", "FEW_WITH_SUMS", "FEW_OF_LIMITED"):
        monkeypatch.setattr(subtrees, most, 0)
    for few in (200, 0):  # rows of a node
        monkeypatch.setattr(subtrees, "FEW", few)
        assert vtree.digest(model.fit(X, y, weight)) == found


@pytest.mark.parametrize("by_tree", [1.0, 0.6])
def test_features_of_nodes_are_those_of_the_levels(by_tree: float) -> None:
    draw = np.random.default_rng(0)
    sets, n_nodes = draw.random((70, 12)) < 0.2, 40
    rules = Columns(by_tree, 0.8, 0.7, seed=5), Together(sets)
    usable = _usable(rules, 12)
    assert usable is not None
    nodes: Any = SimpleNamespace(
        key=draws.mix(np.arange(n_nodes)),
        depth=draw.integers(0, 6, n_nodes),
        used=np.arange(12) == draw.integers(0, 12, n_nodes)[:, None],
    )
    columns = rules[0].of_tree(12)
    own = _among(_rule()._replace(usable=usable), columns).usable
    assert own is not None
    held = packed_bits(rules[1].holding(nodes.used))
    expected = rules[0](nodes, 12) & rules[1](nodes, 12)
    assert not np.delete(expected, columns, axis=1).any()
    for node in range(n_nodes):
        found = own.of_node(nodes.depth[node], nodes.key[node], held[node])
        np.testing.assert_array_equal(found, expected[node, columns])


def _rule() -> Rule:
    X, y, _ = _data(60)
    setting = Setting(alone=True)
    targets, bins = setting.targets(y), setting.bins(X)
    plan = setting.plan(bins, targets)
    data = Data(bins, targets, None, np.arange(60, dtype=np.int32))  # type: ignore[arg-type]
    rule = _rule_alone(plan, level_order, data, 1)
    assert rule is not None
    return rule


@pytest.mark.parametrize("share", ["colsample_bytree", "colsample_bynode"])
@pytest.mark.parametrize(
    "estimator", [vtree.NewtonBoostingClassifier, vtree.LeafwiseBoostingClassifier]
)
def test_trees_of_some_columns(estimator: Any, share: str, monkeypatch: pytest.MonkeyPatch) -> None:
    X, y, times = _data()
    model = estimator(n_estimators=4, random_state=0, **{share: 0.5})
    found = [vtree.digest(model.fit(X, y + (times == 1), times))]
    monkeypatch.setattr(subtrees, "WHOLE", 0)
    found.append(vtree.digest(model.fit(X, y + (times == 1), times)))
    assert found[0] == found[1]


# Boosting by both rules of levels, trees of classes whose levels have one order.
_OF_CATEGORIES = {
    "newton": vtree.NewtonBoostingRegressor(n_estimators=3, max_cat_threshold=3),
    "leafwise": vtree.LeafwiseBoostingClassifier(
        n_estimators=3, min_data_per_group=5, cat_smooth=2.0
    ),
    "drawn": vtree.RandomForestClassifier(n_estimators=3, max_features=2, random_state=0),
}


@pytest.mark.parametrize("name", _OF_CATEGORIES)
def test_categories(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    X, y, times = _data()
    draw = np.random.default_rng(1)
    X = np.column_stack([X, draw.integers(0, 3, len(X)), draw.integers(0, 90, len(X))])
    X[draw.random(len(X)) < 0.1, 5] = np.nan
    y = (y > 0).astype(int) ^ (X[:, 6] % 3 == 0)
    model = _OF_CATEGORIES[name].set_params(categorical_features=[5, 6])
    found = vtree.digest(model.fit(X, y, times))
    assert (model.grown_.kind == SUBSET).any()
    with vtree.kernels("reference"):
        assert vtree.digest(model.fit(X, y, times)) == found
    for settings in (
        {"FEW_WITH_SUMS": 0, "FEW_OF_LIMITED": 0, "FEW_IN_ALL": 0, "FEW": 200},
        {"FEW": 0},
    ):
        for limit, rows in settings.items():
            monkeypatch.setattr(subtrees, limit, rows)
        assert vtree.digest(model.fit(X, y, times)) == found


def test_every_field_of_a_search_was_thought_of() -> None:
    # `rule_of` takes these over, or leaves the nodes to the levels;
    # `with_subtrees` asks for `size`, which rests on `curved`, and for the columns of `legal`.
    taken = {"criterion", "layout", "limits", "draw", "feature_costs", "curved", "monotone"}
    taken |= {"min_level_rows", "subsets", "legal"}
    of_paths = {"uses_once"}  # what a rule of `legal` asks for
    assert set(Search._fields) == taken | of_paths | {"leaning"}

"""Trees that several threads grow together are those of one, whatever holds their nodes."""

import time
from typing import Any

import numpy as np
import pytest

import vtree
from vtree import subtrees
from vtree_kernels import _threads, threads
from vtree_kernels.subtree import together
from vtree_kernels.subtree.holding import Kind
from vtree_kernels.subtree.jobs import desk_for
from vtree_kernels.subtree.together import FEW, LEAST_CODES, MOST_THREADS, TREES, useful_threads


def _table(n_rows: int = 4000, n_features: int = 13) -> tuple[Any, Any]:
    draw = np.random.default_rng(5)
    X = np.round(draw.normal(size=(n_rows, n_features)), 2)
    X[:, 3] = X[:, 1]  # equal gains: the first feature wins, whoever found it
    X[:, 11] = X[:, 1]
    X[draw.random(X.shape) < 0.05] = np.nan
    y = np.nansum(X[:, ::2], axis=1) + draw.normal(size=n_rows)
    return X, y


ESTIMATORS: dict[str, Any] = {
    "leaf by leaf": vtree.LeafwiseBoostingRegressor(n_estimators=4, min_child_samples=3),
    "level by level": vtree.NewtonBoostingRegressor(n_estimators=4, max_depth=7),
    "monotone": vtree.NewtonBoostingRegressor(
        n_estimators=4, monotone_constraints=[1, -1, *[0] * 10, 1]
    ),
    "weights": vtree.GradientBoostingRegressor(n_estimators=4, max_depth=5),
    "a tree": vtree.DecisionTreeRegressor(),
    "some leaves": vtree.DecisionTreeRegressor(max_leaf_nodes=40),
    "costs": vtree.DecisionTreeRegressor(max_depth=6, feature_costs=np.arange(1.0, 14.0)),
}


@pytest.fixture(autouse=True)
def many_cores(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_threads, "available", lambda: 64)


@pytest.mark.parametrize("name", ESTIMATORS)
def test_digests_are_those_of_one_thread(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    X, y = _table()
    used: list[int] = []
    asked = desk_for

    def counted(n_chunks: int) -> Any:
        used.append(n_chunks)
        return asked(n_chunks)

    monkeypatch.setattr(together, "desk_for", counted)
    monkeypatch.setattr(together._Load, "allows_more", lambda load: True)
    monkeypatch.setattr(subtrees, "MANY_ENOUGH", 1)  # rows, for trees within bounds
    weight = np.arange(len(y)) % 4 + 1.0 if name == "weights" else None
    found = set()
    for n_jobs in (1, 2, 3, 5):
        used.clear()
        model = ESTIMATORS[name].set_params(n_jobs=n_jobs).fit(X, y, sample_weight=weight)
        found.add(vtree.digest(model))
        assert used and (set(used) == {1}) is (n_jobs == 1)
    assert len(found) == 1


def test_threads_are_of_use_where_there_is_enough_to_share() -> None:
    few, many, kind = (1, 1, 1, 0, 0, 0), (-1,) * 6, Kind()
    n_rows = MOST_THREADS * LEAST_CODES // 20
    with threads(64):
        assert useful_threads(n_rows, 20, few, kind, drawn=False) == MOST_THREADS
        assert useful_threads(4 * n_rows, 6, few, kind, drawn=False) == 3
        assert useful_threads(LEAST_CODES // 10, 20, few, kind, drawn=False) == 2
        assert useful_threads(LEAST_CODES // 10 - 1, 20, few, kind, drawn=False) == 1
        assert useful_threads(n_rows, 20, many, kind, drawn=False) == 1
        assert useful_threads(n_rows, 20, few, Kind(some_features=True), drawn=False) == 1
        assert useful_threads(n_rows, 20, few, kind, drawn=True) == 1
    with threads(1):
        assert useful_threads(n_rows, 20, few, kind, drawn=False) == 1


def test_a_busy_machine_is_spared_for_a_while(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(together, "load", together._Load())
    X, y = _table()
    model = vtree.NewtonBoostingRegressor(n_estimators=5, n_jobs=2)
    used: list[int] = []

    def counted(n_chunks: int) -> Any:
        used.append(n_chunks)
        return desk_for(n_chunks)

    monkeypatch.setattr(together, "desk_for", counted)
    monkeypatch.setattr(time, "thread_time", lambda: 0.0)  # none of its core
    digest = vtree.digest(model.fit(X, y))
    assert used == [4, 4, 4, 1, 1] and together.load.trees_alone == TREES - 2
    monkeypatch.undo()  # and with it the cores
    assert vtree.digest(model.fit(X, y)) == digest


def test_now_and_then_a_thread_has_to_wait() -> None:
    load = together._Load()
    for own in (0.1, 0.1, 0.9, 0.1, 0.1, 0.7):
        load.learn(own, 1.0)
        assert load.allows_more()
    for pause in (TREES, 2 * TREES, 4 * TREES, TREES):
        if pause == TREES:
            load.learn(0.9, 1.0)  # the machine is free again
        for _ in range(FEW):
            load.learn(0.1, 1.0)
        assert [load.allows_more() for _ in range(pause + 1)] == [False] * pause + [True]


def test_threads_are_no_more_than_cores(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_threads, "available", lambda: 2)
    with threads(8):
        assert useful_threads(100_000, 20, (1, 1, 1, 0, 0, 0), Kind(), drawn=False) == 2


def test_an_error_sends_the_others_home(monkeypatch: pytest.MonkeyPatch) -> None:
    X, y = _table()

    def fails(*compiled: Any) -> Any:
        raise KeyboardInterrupt

    monkeypatch.setattr(together, "whole_grower", fails)
    with pytest.raises(KeyboardInterrupt):
        vtree.DecisionTreeRegressor(n_jobs=2).fit(X, y)
    monkeypatch.undo()
    assert vtree.DecisionTreeRegressor(n_jobs=2).fit(X, y).score(X, y) > 0.9

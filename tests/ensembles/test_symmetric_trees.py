"""Symmetric trees of few rows in one call: those that growth grows level by level."""

from typing import Any

import numpy as np
import pytest

import vtree
from vtree.ensembles import ordered, symmetric_trees

DRAW = np.random.default_rng(0)
X = DRAW.normal(size=(400, 5))
Y = np.round(X[:, 0] * X[:, 1] + np.abs(X[:, 2]) + 0.3 * DRAW.normal(size=400), 2)
GAPS = np.where(DRAW.random(X.shape) < 0.2, np.nan, X)


def _digests(monkeypatch: Any, X: Any, y: Any, **given: Any) -> tuple[list[str], list[bool]]:
    """Return the digests of a fit in one call a tree and level by level, and what was asked."""
    asked: list[bool] = []
    allowed = True

    def told(*own: Any) -> bool:
        asked.append(symmetric_trees.grows_at_once(*own))
        return asked[-1] and allowed

    monkeypatch.setattr(ordered, "grows_at_once", told)
    found = []
    for allowed in (True, False):  # noqa: B007  (`told` reads it)
        usual: dict[str, Any] = {"n_estimators": 6, "boosting_type": "Plain", "random_state": 1}
        several = y.dtype.kind == "i"
        kind = vtree.OrderedBoostingClassifier if several else vtree.OrderedBoostingRegressor
        model: Any = kind(**(usual | given)).fit(X, y)
        found.append(vtree.digest(model))
    return found, asked


@pytest.mark.parametrize("table", [X, GAPS, X[:30].round(0), np.full_like(X, np.nan)])
@pytest.mark.parametrize(
    "given",
    [
        {},
        {"depth": 8},
        {"random_strength": 0.0, "bootstrap_type": "No"},
        {"score_function": "L2", "bootstrap_type": "MVS"},
        {"bootstrap_type": "Bernoulli", "max_bins": 300},
        {"boosting_type": "Ordered"},
        {"boosting_type": "Ordered", "random_strength": 0.0, "score_function": "L2"},
    ],
)
def test_digests_are_those_of_growth(monkeypatch: Any, table: Any, given: dict[str, Any]) -> None:
    (once, by_level), asked = _digests(monkeypatch, table, Y[: table.shape[0]], **given)
    assert once == by_level
    assert all(asked)


@pytest.mark.parametrize("mode", ["Plain", "Ordered"])
@pytest.mark.parametrize("classes", [2, 3])
def test_digests_of_classes(monkeypatch: Any, mode: str, classes: int) -> None:
    y = np.digitize(Y, np.quantile(Y, [0.4, 0.7][: classes - 1]))
    (once, by_level), asked = _digests(monkeypatch, GAPS, y, boosting_type=mode, n_estimators=8)
    assert once == by_level
    assert all(asked)


@pytest.mark.parametrize("given", [{"rsm": 0.5}, {"depth": 9}])
def test_others_grow_level_by_level(monkeypatch: Any, given: dict[str, Any]) -> None:
    _, asked = _digests(monkeypatch, X, Y, **given)
    assert not any(asked)


def test_the_reference_grows_level_by_level(monkeypatch: Any) -> None:
    native, _ = _digests(monkeypatch, GAPS, Y, n_estimators=2)
    with vtree.kernels("reference"):
        plain, asked = _digests(monkeypatch, GAPS, Y, n_estimators=2)
    assert set(plain) == set(native)
    assert not any(asked)


@pytest.mark.parametrize("mode", ["Plain", "Ordered"])
@pytest.mark.parametrize("one_hot", [0, 2, 40])
def test_digests_of_categories(monkeypatch: Any, mode: str, one_hot: int) -> None:
    """Columns of few levels split one from all others, others by their statistics."""
    table = np.column_stack([GAPS, DRAW.integers(0, 2, 400), DRAW.integers(0, 30, 400)])
    table[::7, 5] = np.nan
    how = {"categorical_features": [5, 6], "one_hot_max_size": one_hot, "boosting_type": mode}
    y = Y + 2.0 * (table[:, 5] == 1) + np.sin(table[:, 6])
    (once, by_level), asked = _digests(monkeypatch, table, y, **how, n_estimators=12)
    assert once == by_level
    assert all(asked)
    with vtree.kernels("reference"):
        plain, _ = _digests(monkeypatch, table, y, **how, n_estimators=12)
    assert set(plain) == {once}

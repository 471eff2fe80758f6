"""Thresholds drawn among raw values: where they fall, what they divide, and that draws go on."""

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import vtree
from tests.conftest import NAMESPACES
from vtree import DecisionTreeClassifier, DecisionTreeRegressor, draws
from vtree.histogram import rows_of
from vtree.predict import leaves
from vtree.random_cuts import random_cuts
from vtree.sampling import Draw, drawn_places
from vtree.targets import class_targets

KEYS = draws.mix(np.arange(300))


def _cut(values: NDArray[np.float64], draw: Draw, n_nodes: int = 300) -> tuple[Any, Any]:
    n_rows, n_features = values.shape
    targets = class_targets(np.arange(n_rows)[:, None] % 2, [2], None)
    order = np.tile(np.arange(n_rows, dtype=np.int32), n_nodes)
    start = np.arange(n_nodes) * n_rows
    rows = rows_of(targets, order)
    where = order, start, start + n_rows, rows
    return random_cuts(draw, KEYS[:n_nodes], values, np.arange(n_features), *where)


def test_thresholds_are_uniform_between_the_extremes() -> None:
    values = np.array([[1.0, 5.0], [2.0, np.nan], [9.0, 5.0], [1.5, 5.0]])
    hist, threshold = _cut(values, Draw(0, None, True, True))
    first = threshold[:, 0]
    assert first.min() >= 1.0 and first.max() < 9.0
    assert first.mean() == pytest.approx(5.0, abs=0.4)  # standard error 0.13
    assert (threshold[:, 1] == np.inf).all()  # constant: only "missing or not" is left
    np.testing.assert_array_equal(
        hist[:, 0].sum(axis=2)[:, 1], (values[:, 0] <= first[:, None]).sum(1)
    )
    np.testing.assert_array_equal(hist[:, 1].sum(axis=2), [[1, 3, 0]] * 300)


def test_a_draw_of_constant_features_goes_on_as_the_choice_does() -> None:
    values = np.ones((4, 6))
    values[:, 4] = [1, 2, 3, 4]
    draw = Draw(0, 2, True, True)
    hist, threshold = _cut(values, draw)
    assert (threshold[:, 4] < 4.0).all()  # found in every node
    varies = (hist.sum(axis=3) > 0).sum(axis=2) >= 2
    assert (drawn_places(draw, KEYS, varies)[:, 4] < 6).all()


def test_features_that_are_not_drawn_are_not_looked_at() -> None:
    values = np.random.default_rng(0).normal(size=(20, 6))
    hist, _ = _cut(values, Draw(0, 2, True, True))
    seen = hist.sum(axis=(2, 3)) > 0
    assert (seen.sum(axis=1) == 2).all()
    np.testing.assert_array_equal(seen, drawn_places(Draw(0, 2), KEYS, seen) < 6)


@pytest.mark.parametrize("max_bins", [4, 255, None])
@pytest.mark.parametrize("kind", [DecisionTreeClassifier, DecisionTreeRegressor])
def test_bins_do_not_matter(kind: Any, max_bins: int | None) -> None:
    random = np.random.default_rng(1)
    X = random.normal(size=(600, 4))
    X[random.random(X.shape) < 0.05] = np.nan
    y = (np.nan_to_num(X).sum(axis=1) > 0).astype(int)
    models = [kind(splitter="random", random_state=3, max_bins=b).fit(X, y) for b in (max_bins, 16)]
    one, other = (model.grown_ for model in models)
    np.testing.assert_array_equal(one.threshold, other.threshold)
    np.testing.assert_array_equal(one.feature, other.feature)
    np.testing.assert_array_equal(one.value, other.value)


def test_rows_are_where_prediction_finds_them() -> None:
    random = np.random.default_rng(2)
    X = random.normal(size=(900, 3)).astype(np.float32)
    y = random.normal(size=900)
    tree = DecisionTreeRegressor(splitter="random", max_bins=8, random_state=0, max_depth=6)
    grown = tree.fit(X, y).grown_
    leaf = leaves(grown, X)[:, 0]
    np.testing.assert_array_equal(
        np.bincount(leaf, minlength=grown.feature.size)[grown.feature < 0],
        grown.n_rows[grown.feature < 0],
    )
    means = np.array([y[leaf == each].mean() for each in np.unique(leaf)])
    np.testing.assert_allclose(grown.value[np.unique(leaf), 0], means, rtol=1e-9)


@pytest.mark.parametrize("max_features", [None, 1, 2])
@pytest.mark.parametrize("categorical", [None, [1]])
def test_one_model_everywhere(max_features: int | None, categorical: Any) -> None:
    random = np.random.default_rng(5)
    X = random.normal(size=(150, 3))
    X[:, 1] = random.integers(0, 5, 150)
    X[random.random(X.shape) < 0.1] = np.nan
    y = (np.nan_to_num(X).sum(axis=1) > 1).astype(int)
    y[:20] = 2

    def digest(table: Any, order: Any = slice(None), **parameters: Any) -> str:
        tree = DecisionTreeClassifier(
            splitter="random",
            max_features=max_features,
            random_state=1,
            max_bins=20,
            categorical_features=categorical,
            **parameters,
        )
        return str(vtree.digest(tree.fit(table, y[order])))

    expected = digest(X, n_jobs=1)
    assert digest(X, n_jobs=4) == expected
    assert digest(X, histogram_budget=40_000) == expected
    assert digest(X[::-1], slice(None, None, -1)) == expected
    for name, make in NAMESPACES.items():
        with vtree.kernels("reference"):
            assert digest(make().asarray(X)) == expected, name

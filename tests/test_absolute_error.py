"""Trees by absolute error: one model on every way to grow it, and the splits of brute force."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from sklearn import tree as peers

from tests.conftest import NAMESPACES
from tests.fitting import Setting, fit
from vtree import DecisionTreeRegressor
from vtree.tree import Tree, fingerprint
from vtree_kernels import _threads
from vtree_kernels.medians import cpu as medians_cpu

Data = tuple[NDArray[np.float64], NDArray[np.float64]]

SETTING = Setting("absolute_error")
LEVELS = (4, -1, 9)


@pytest.fixture(autouse=True, scope="module")
def many_small_tasks() -> Iterator[None]:
    """Cut work so finely that tables of a hundred rows go through every thread and chunk."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_threads, "UPDATES_PER_THREAD", 1)
        patch.setattr(_threads, "available", lambda: 4)
        patch.setattr(medians_cpu, "CHUNK", 16)
        yield


def _data(n_rows: int = 90, seed: int = 0, missing: float = 0.0, outputs: int = 1) -> Data:
    """Return numbers with ties and whole targets, on which all errors are exact."""
    draw = np.random.default_rng(seed)
    X = np.round(draw.normal(size=(n_rows, 3)), 1)
    noise = draw.integers(-2, 3, (n_rows, outputs))
    y: NDArray[np.float64] = np.rint(3.0 * X[:, :1] + np.abs(2.0 * X[:, 1:2])) + noise
    X[draw.random(X.shape) < missing] = np.nan
    return X, y


def _mixed(missing: float = 0.0) -> Data:
    draw = np.random.default_rng(4)
    X, y = _data(missing=missing)
    for feature in (0, 2):
        there = ~np.isnan(X[:, feature])
        X[there, feature] = draw.integers(0, LEVELS[feature], there.sum())
    return X, y


WAYS: dict[str, tuple[Data, Setting]] = {
    "numbers": (_data(), SETTING),
    "reals": ((_data()[0], _data()[1] * 0.1 + 1e9), SETTING),
    "missing": (_data(missing=0.2), SETTING),
    "binned": (_data(), replace(SETTING, max_bins=5)),
    "levels": (_mixed(missing=0.1), replace(SETTING, levels=LEVELS)),
    "outputs": (_data(outputs=2), replace(SETTING, min_rows=3)),
    "best first": (_data(), replace(SETTING, max_leaves=7)),
    "monotone": (_data(missing=0.1), replace(SETTING, monotone=(1, 0, -1))),
    "random": (_data(missing=0.1), replace(SETTING, random_threshold=True, max_features=2)),
}


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("name", WAYS)
def test_every_way_to_grow_gives_the_same_model(name: str, weighted: bool) -> None:
    (X, y), setting = WAYS[name]
    weight = np.random.default_rng(2).integers(1, 5, len(X)) if weighted else None

    def model(setting: Setting = setting, order: Any = slice(None), **how: Any) -> str:
        own = None if weight is None else weight[order]
        return fingerprint(fit(X[order], y[order], setting, own, **how))

    expected = model()
    for count in (2, 4):
        assert model(n_threads=count) == expected, f"{count} threads"
    assert model(replace(setting, budget=None)) == expected, "least memory"
    assert model(order=np.random.default_rng(3).permutation(len(X))) == expected, "other order"
    for library, make in NAMESPACES.items():
        found = model(asarray=make().asarray, mode="reference")
        assert found == expected, f"reference on {library}"


@pytest.mark.parametrize("name", ["numbers", "missing", "levels", "outputs", "best first"])
def test_a_weight_is_so_many_rows(name: str) -> None:
    (X, y), setting = WAYS[name]
    setting = replace(setting, min_rows=1)
    weight = np.random.default_rng(5).integers(1, 4, len(X))
    # `missing_child` may differ: missing values that a node has not seen follow more rows.
    weighted = fit(X, y, setting, weight)
    repeated = fit(np.repeat(X, weight, axis=0), np.repeat(y, weight, axis=0), setting)
    for field in ("feature", "threshold", "value", "impurity", "weight", "gain"):
        np.testing.assert_array_equal(getattr(weighted, field), getattr(repeated, field), field)


def _error(y: NDArray[np.float64]) -> float:
    return float(np.abs(y - np.median(y, axis=0)).sum() / y.shape[1])


def _best_gain(X: NDArray[np.float64], y: NDArray[np.float64]) -> float:
    """Return the largest decrease of the total error that any threshold brings."""
    found: float = -np.inf
    for x in X.T:
        for cut in np.unique(x[~np.isnan(x)]):
            for left in (x <= cut, (x <= cut) | np.isnan(x)):
                if 0 < left.sum() < len(y):
                    found = max(found, _error(y) - _error(y[left]) - _error(y[~left]))
    return found


def _rows_of_nodes(tree: Tree, X: NDArray[np.float64]) -> list[NDArray[np.int64]]:
    rows = [np.arange(0)] * tree.feature.size
    rows[0] = np.arange(len(X))
    for m in np.flatnonzero(tree.feature >= 0).tolist():
        x = X[rows[m], tree.feature[m]]
        left = np.where(np.isnan(x), tree.missing_child[m] == 0, x <= tree.threshold[m])
        rows[tree.first_child[m]], rows[tree.first_child[m] + 1] = rows[m][left], rows[m][~left]
    return rows


@pytest.mark.parametrize("name", ["numbers", "missing", "outputs"])
def test_every_split_is_the_best_by_brute_force(name: str) -> None:
    (X, y), _ = WAYS[name]
    tree = fit(X, y, SETTING)
    assert tree.feature.size > 30
    for m, rows in enumerate(_rows_of_nodes(tree, X)):
        assert tree.n_rows[m] == rows.size
        np.testing.assert_array_equal(tree.value[m], np.median(y[rows], axis=0))
        assert tree.impurity[m] == pytest.approx(_error(y[rows]) / rows.size, rel=1e-12)
        if tree.feature[m] >= 0:
            gain = _best_gain(X[rows], y[rows])
            assert tree.gain[m] * len(X) == pytest.approx(gain, rel=1e-12, abs=1e-12)
        else:
            assert tree.impurity[m] == 0.0 or _best_gain(X[rows], y[rows]) == -np.inf


@pytest.mark.parametrize("limits", [{"max_depth": 3}, {"max_leaf_nodes": 6}, {"max_depth": 2}])
@pytest.mark.parametrize("weighted", [False, True])
def test_scikit_learn_gains_as_much(limits: dict[str, Any], weighted: bool) -> None:
    draw = np.random.default_rng(8)
    X = draw.normal(size=(120, 3)).astype(np.float32)
    y = X[:, 0] * 2.0 + np.abs(X[:, 1]) + draw.normal(scale=0.1, size=120)
    weight = draw.random(120) + 0.1 if weighted else None  # reals: no ties
    chosen = {"criterion": "absolute_error", **limits}
    ours = DecisionTreeRegressor(**chosen).fit(X, y, weight)
    theirs = peers.DecisionTreeRegressor(**chosen, random_state=0).fit(X, y, weight)
    np.testing.assert_allclose(ours.predict(X), theirs.predict(X), rtol=1e-12)
    assert ours.tree_.node_count == theirs.tree_.node_count
    found, expected = sorted(ours.tree_.impurity), sorted(theirs.tree_.impurity)
    np.testing.assert_allclose(found, expected, rtol=1e-6)


def test_pure_nodes_are_exactly_pure() -> None:
    X, y = _data()
    model = DecisionTreeRegressor(criterion="absolute_error").fit(X, y * 0.1 + 1e6)
    impurity = model.tree_.impurity
    assert impurity.min() >= 0.0
    single = model.tree_.n_node_samples == 1
    assert single.any()
    assert (impurity[single] == 0.0).all()
    flat = DecisionTreeRegressor(criterion="absolute_error").fit(X, np.full(len(X), 0.1))
    assert (flat.tree_.node_count, flat.predict(X[:1])[0]) == (1, 0.1)


def test_medians_rise_along_a_constrained_feature() -> None:
    X, y = _data(200, seed=3)
    model = DecisionTreeRegressor(criterion="absolute_error", monotonic_cst=[1, 0, 0])
    model.fit(X, y[:, 0])
    grid = np.repeat(X[:20], 30, axis=0)
    grid[:, 0] = np.tile(np.linspace(-3, 3, 30), 20)
    assert (np.diff(model.predict(grid).reshape(20, 30), axis=1) >= 0.0).all()
    assert model.get_n_leaves() > 10


def test_outliers_do_not_move_a_leaf() -> None:
    X = np.array([[0.0]] * 5 + [[1.0]] * 5)
    y = np.array([1.0, 1.0, 1.0, 1.0, 1e6, 2.0, 2.0, 2.0, 2.0, -1e6])
    model = DecisionTreeRegressor(criterion="absolute_error").fit(X, y)
    assert model.predict([[0.0], [1.0]]).tolist() == [1.0, 2.0]

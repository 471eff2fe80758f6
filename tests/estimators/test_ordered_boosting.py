"""CatBoost's mechanisms: its own numbers where nothing is left to chance, and else what holds."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

import vtree
from tests.golden_tables import GOLDEN, numbers
from tests.peer_tables import table as made
from tests.samples import classes, columns, reals
from vtree import OrderedBoostingClassifier, OrderedBoostingRegressor, digest, kernels

ORACLE = json.loads((GOLDEN / "boosting.json").read_text())
WITHOUT_CHANCE: dict[str, Any] = {
    "learning_rate": 0.3,
    "depth": 3,
    "score_function": "L2",
    "leaf_estimation_method": "Gradient",
    "bootstrap_type": "No",
    "random_strength": 0.0,
    "has_time": True,
}

# A draw by row, the bootstrap or an order of the rows, is another one for a row of weight 2.
BY_ROW = {
    f"check_sample_weight_equivalence_on_{kind}_data": "draws are by row"
    for kind in ("dense", "sparse")
}


def _excused(estimator: Any) -> dict[str, str]:
    return {} if estimator.bootstrap_type == "No" else BY_ROW


@pytest.mark.filterwarnings("ignore:.*expected to fail:UserWarning")
@parametrize_with_checks(  # type: ignore[untyped-decorator]
    [
        OrderedBoostingClassifier(n_estimators=5, depth=3, learning_rate=0.5),
        OrderedBoostingRegressor(n_estimators=5, depth=3, learning_rate=0.5, bootstrap_type="No"),
    ],
    expected_failed_checks=_excused,
)
def test_scikit_learns_checks(estimator: Any, check: Any) -> None:
    check(estimator)


def _parts(name: str) -> tuple[Any, Any, Any, Any]:
    X, y = numbers(name)
    train = np.arange(len(y)) % 3 != 2
    return X[train], y[train], X[~train], y[~train]


@pytest.mark.parametrize("mode", ["Plain", "Ordered"])
def test_the_trees_of_catboost(mode: str) -> None:
    oracle = ORACLE[f"catboost diabetes {mode}"]
    X, y, other, _ = _parts("diabetes")
    model = OrderedBoostingRegressor(n_estimators=10, boosting_type=mode, **WITHOUT_CHANCE)
    model.fit(X, y)
    # Its start value is a float32, and thresholds are.
    np.testing.assert_allclose(model.predict(other), oracle["test_pred"], rtol=1e-7)
    tree = model.grown_
    for number, expected in enumerate(oracle["trees"]):
        root = tree.root[number]
        levels = root + np.array([0, 1, 3])  # the first node of each
        features, cuts = zip(*expected["splits"], strict=True)
        assert tree.feature[levels].tolist() == list(features)
        np.testing.assert_allclose(tree.threshold[levels], cuts, rtol=1e-6)
        # The first split is its lowest bit.
        place = [int(f"{leaf:03b}"[::-1], 2) for leaf in range(8)]
        values = tree.value[root + 7 : root + 15, 0][place]
        np.testing.assert_allclose(values, expected["leaf_values"], rtol=1e-5, atol=1e-6)
        weights = tree.weight[root + 7 : root + 15][place]
        assert weights.tolist() == expected["leaf_weights"]


@pytest.mark.parametrize("mode", ["Plain", "Ordered"])
def test_held_out_loss_where_bins_differ(mode: str) -> None:
    X, y, other, truth = _parts("breast_cancer")
    model = OrderedBoostingClassifier(n_estimators=10, boosting_type=mode, **WITHOUT_CHANCE)
    raw = model.fit(X, y).decision_function(other)
    theirs = np.asarray(ORACLE[f"catboost breast_cancer {mode}"]["test_pred"])
    ours, peers = (np.mean(np.logaddexp(0, own) - truth * own) for own in (raw, theirs))
    assert ours <= 1.005 * peers


def test_several_outputs_of_catboost() -> None:
    """MultiRMSE, whose trees answer for all outputs."""
    oracle = json.loads((GOLDEN / "boosting_options.json").read_text())["catboost outputs"]
    X, y = made()
    targets = np.stack([y, X[:, 3] * X[:, 5] / 100.0, -X[:, 4]], axis=1)
    model = OrderedBoostingRegressor(n_estimators=5, **{**WITHOUT_CHANCE, **oracle["params"]})
    found = model.fit(X, targets).predict(X[:60])
    np.testing.assert_allclose(found, oracle["prediction"], rtol=2e-6, atol=1e-6)


def test_means_of_several_outputs_have_names(tmp_path: Path) -> None:
    targets = np.stack([Y, -Y], axis=1)
    model = OrderedBoostingRegressor(n_estimators=3, depth=2).fit(FRAME[["place"]], targets)
    means = ["mean target 0 by place", "mean target 1 by place"]
    assert model.derived_names_ == [*means, "rows by place"]
    vtree.save(model, tmp_path / "model.vtree")
    again = vtree.load(tmp_path / "model.vtree")
    np.testing.assert_array_equal(again.predict(FRAME[["place"]]), model.predict(FRAME[["place"]]))
    levels = {"objective": "quantile", "quantile_alpha": [0.1, 0.9]}
    model.set_params(**levels).fit(FRAME[["place"]], Y)
    assert model.derived_names_ == ["mean target by place", "rows by place"]
    vtree.save(model, tmp_path / "model.vtree")
    again = vtree.load(tmp_path / "model.vtree")
    np.testing.assert_array_equal(again.predict(FRAME[["place"]]), model.predict(FRAME[["place"]]))


X, Y = reals()
LABELS = classes()[1]
FRAME = pd.DataFrame({**columns(200)[0], "place": np.arange(200) % 7 % 5}).astype({"place": str})
SETTINGS: dict[str, tuple[Any, Any, Any, dict[str, Any]]] = {
    "plain": (OrderedBoostingRegressor, X, Y, {}),
    "ordered": (OrderedBoostingClassifier, X, LABELS > 0, {"boosting_type": "Ordered"}),
    "classes, L2": (OrderedBoostingClassifier, X, LABELS, {"score_function": "L2", "rsm": 0.6}),
    "quantiles": (
        OrderedBoostingRegressor,
        X,
        Y,
        {"objective": "quantile", "quantile_alpha": 0.7, "boosting_type": "Ordered"},
    ),
    "monotone": (
        OrderedBoostingRegressor,
        FRAME,
        Y,
        {"monotone_constraints": {"size": 1}, "boosting_type": "Ordered"},
    ),
    "outputs": (
        OrderedBoostingRegressor,
        FRAME,
        np.stack([Y, np.sin(9.0 * Y)], axis=1),
        {"bootstrap_type": "MVS", "boosting_type": "Ordered"},
    ),
    "several quantiles": (
        OrderedBoostingRegressor,
        FRAME,
        Y,
        {"objective": "quantile", "quantile_alpha": [0.2, 0.5, 0.9]},
    ),
    "categories": (
        OrderedBoostingClassifier,
        FRAME,
        LABELS > 0,
        {"one_hot_max_size": 4, "max_ctr_complexity": 2, "bootstrap_type": "MVS"},
    ),
    "ordered categories": (
        OrderedBoostingClassifier,
        FRAME,
        LABELS,
        {"boosting_type": "Ordered", "leaf_estimation_iterations": 3, "class_weight": "balanced"},
    ),
}


@pytest.mark.parametrize("name", SETTINGS)
def test_one_model_everywhere(name: str, tmp_path: Path) -> None:
    estimator, table, y, own = SETTINGS[name]
    setting = {"n_estimators": 4, "depth": 3, "learning_rate": 0.5, "random_state": 7, **own}
    model = estimator(**setting).fit(table, y)
    assert digest(estimator(n_jobs=2, **setting).fit(table, y)) == digest(model)
    with kernels("reference"):
        assert digest(estimator(device="cpu", **setting).fit(table, y)) == digest(model)
    longer = estimator(**{**setting, "n_estimators": 2}, warm_start=True).fit(table, y)
    assert digest(longer.set_params(n_estimators=4).fit(table, y)) == digest(model)
    kept: dict[str, Any] = {"checkpoint": tmp_path / "run.vtree", "checkpoint_every": 1}
    estimator(**{**setting, "n_estimators": 2}).fit(table, y, **kept)
    assert digest(estimator(**setting).fit(table, y, **kept)) == digest(model)
    vtree.save(model, tmp_path / "model.vtree")
    loaded = vtree.load(tmp_path / "model.vtree")
    assert digest(loaded) == digest(model)
    np.testing.assert_array_equal(loaded.predict(table), model.predict(table))
    np.testing.assert_array_equal(list(model.staged_predict(table))[-1], model.predict(table))


def test_all_classes_share_a_tree() -> None:
    model = OrderedBoostingClassifier(n_estimators=20, depth=3, learning_rate=0.5).fit(X, LABELS)
    assert model.grown_.root.size == model.n_estimators_ == 20
    assert model.grown_.value.shape[1] == 3
    assert model.score(X, LABELS) > 0.8
    np.testing.assert_allclose(model.predict_proba(X).sum(axis=1), 1.0)


def test_early_stopping_keeps_the_best_rounds() -> None:
    half = np.arange(200) % 2 == 0
    model = OrderedBoostingClassifier(
        n_estimators=60, learning_rate=0.9, depth=4, early_stopping_rounds=3, eval_metric="error"
    ).fit(X[half], LABELS[half], eval_set=[(X[~half], LABELS[~half])])
    history = model.evals_result_["validation_0"]["error"]
    assert len(history) < 60
    assert model.n_estimators_ == int(np.argmin(history)) + 1
    assert 1.0 - model.score(X[~half], LABELS[~half]) == pytest.approx(min(history))

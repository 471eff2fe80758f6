"""XGBoost's mechanism: its own numbers, one model everywhere, and what users ask of it."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_iris
from sklearn.metrics import log_loss
from sklearn.utils.estimator_checks import parametrize_with_checks

from tests.golden_tables import GOLDEN, numbers
from tests.peer_tables import table as peer_table
from tests.samples import classes, columns, reals
from vtree import (
    Bins,
    GradientBoostingRegressor,
    NewtonBoostingClassifier,
    NewtonBoostingRegressor,
    digest,
    kernels,
    load,
    save,
)
from vtree.errors import InputError, InputTypeError

ORACLE = json.loads((GOLDEN / "boosting.json").read_text())
X, Y = reals()
LABELS = classes()[1]
ESTIMATORS = {"diabetes": NewtonBoostingRegressor, "breast_cancer": NewtonBoostingClassifier}


@parametrize_with_checks(  # type: ignore[untyped-decorator]
    [NewtonBoostingClassifier(n_estimators=5), NewtonBoostingRegressor(n_estimators=5)]
)
def test_scikit_learns_checks(estimator: Any, check: Any) -> None:
    check(estimator)


def _as_in_xgboost(name: str, kind: str, **changes: Any) -> tuple[Any, Any, Any]:
    oracle = ORACLE[f"xgboost {name} {kind}"]
    given = oracle["params"]
    table, y = numbers(name)
    keep = np.arange(len(y)) % 3 != 2
    own = {
        "reg_lambda": given.get("reg_lambda", 1.0),
        "reg_alpha": given.get("reg_alpha", 0.0),
        "gamma": given.get("gamma", 0.0),
        "min_child_weight": given.get("min_child_weight", 1.0),
    }
    model = ESTIMATORS[name](
        n_estimators=given["rounds"],
        max_depth=given["max_depth"],
        learning_rate=given["eta"],
        max_bins=None,
        **own,
        **changes,
    )
    model.fit(table[keep], y[keep])
    return model, oracle, table[~keep]


@pytest.mark.parametrize("kind", ["default", "reg"])
@pytest.mark.parametrize("name", ESTIMATORS)
def test_gains_covers_and_leaves_of_xgboost(name: str, kind: str) -> None:
    model, oracle, _ = _as_in_xgboost(name, kind)
    tree = model.grown_
    ends = np.append(tree.root, tree.feature.size)
    for number, expected in enumerate(oracle["trees"]):
        own = slice(ends[number], ends[number + 1])
        split = tree.first_child[own] >= 0
        # XGBoost works in float32.
        gain, cover = np.array(expected["split"]).reshape(-1, 2).T
        np.testing.assert_allclose(np.sort(tree.gain[own][split]), np.sort(gain), rtol=2e-5)
        np.testing.assert_allclose(np.sort(tree.weight[own][split]), np.sort(cover), rtol=1e-5)
        leaf = np.sort(tree.value[own][~split, 0])
        np.testing.assert_allclose(leaf, np.sort(expected["leaf"]), rtol=2e-4, atol=1e-4)


@pytest.mark.parametrize(
    ("name", "kind", "base", "gain"),
    [
        ("diabetes", "default", 150.15254, 528235.1190),
        ("diabetes", "reg", 150.15254, 513830.1818),
        ("breast_cancer", "default", 0.6236842, 263.765239),
        ("breast_cancer", "reg", 0.6236842, 237.204888),
    ],
)
def test_worked_root_gains(name: str, kind: str, base: float, gain: float) -> None:
    model, _, _ = _as_in_xgboost(name, kind, base_score=base)
    assert model.grown_.gain[0] == pytest.approx(gain, rel=3e-9)


@pytest.mark.parametrize("kind", ["default", "reg"])
def test_predictions_of_xgboost(kind: str) -> None:
    model, oracle, table = _as_in_xgboost("breast_cancer", kind)
    found = model.predict_proba(table)[:, 1]
    np.testing.assert_allclose(found, oracle["test_pred"], atol=1e-6)
    model, oracle, table = _as_in_xgboost("diabetes", kind)
    # A value equal to a threshold goes right there.
    found = model.predict(table + 1e-5)
    np.testing.assert_allclose(found, oracle["test_pred"], rtol=1e-6)


OPTIONS = json.loads((GOLDEN / "boosting_options.json").read_text())
TARGETS: dict[str, tuple[str | None, Callable[[Any], Any]]] = {
    "counts": ("poisson", lambda y: np.floor(2.0 * y)),
    "absolute": ("absolute_error", lambda y: y),
    "classes": (None, lambda y: (y > np.median(y) + 1.0).astype(np.int64)),
}


@pytest.mark.parametrize("name", [name for name, own in OPTIONS.items() if "target" in own])
def test_starts_steps_and_weights_of_xgboost(name: str) -> None:
    oracle = OPTIONS[name]
    table, y = peer_table()
    objective, of = TARGETS[oracle["target"]]
    estimator: Any = NewtonBoostingRegressor if objective else NewtonBoostingClassifier
    model = estimator(n_estimators=5, objective=objective, **oracle["params"]).fit(table, of(y))
    # A value equal to a threshold goes right there.
    shifted = table[:60] + 1e-6
    found = model.predict(shifted) if objective else model.predict_proba(shifted)[:, 1]
    np.testing.assert_allclose(found, oracle["prediction"], rtol=2e-6)


def test_levels_are_sorted_as_in_xgboost() -> None:
    oracle = OPTIONS["xgboost categories"]
    table, y = peer_table()
    model = NewtonBoostingRegressor(
        n_estimators=5, categorical_features=[0, 1, 2], **oracle["params"]
    ).fit(table, y)
    shifted = table[:60] + np.array([0.0, 0.0, 0.0, 1e-6, 1e-6, 1e-6])
    np.testing.assert_allclose(model.predict(shifted), oracle["prediction"], rtol=2e-6)


# Levels have some 30 rows; a leaf needs a weight of 3, or fewer than 5 levels stand on one side.
@pytest.mark.parametrize("name", ["xgboost light categories", "xgboost few levels"])
def test_light_and_absent_levels_stand_in_the_middle_as_in_xgboost(name: str) -> None:
    oracle = OPTIONS[name]
    table, y = peer_table()
    model = NewtonBoostingClassifier(
        n_estimators=5, categorical_features=[0, 1, 2], **oracle["params"]
    ).fit(table, TARGETS["classes"][1](y))
    shifted = table[:60] + np.array([0.0, 0.0, 0.0, 1e-6, 1e-6, 1e-6])
    found = model.predict_proba(shifted)[:, 1]
    np.testing.assert_allclose(found, oracle["prediction"], rtol=2e-6)


@pytest.mark.parametrize("rows", [1, 20])
def test_rare_levels_go_where_missing_ones_go(rows: int) -> None:
    draw = np.random.default_rng(0)
    table = np.stack([draw.geometric(0.25, 400), draw.normal(size=400)], axis=1)
    y = table[:, 0] % 3 + table[:, 1] ** 2
    table[::9, 0] = np.nan
    setting = {"n_estimators": 1, "learning_rate": 1.0, "reg_lambda": 0.0, "max_depth": 4}
    model = NewtonBoostingRegressor(
        categorical_features=[0], min_samples_category=rows, **setting
    ).fit(table, y)
    found = model.predict(table)
    for answer in np.unique(found):  # the mean of the rows that come there
        assert y[found == answer].mean() == pytest.approx(answer, abs=1e-9)


@pytest.mark.parametrize("most", [5, 64])
def test_levels_of_wider_columns_change_nothing(most: int) -> None:
    level = np.repeat(np.arange(160), 12)
    y = np.where(level % 2 == 0, -1.0, 1.0) + 0.001 * (level - 80)
    table = np.stack([level, np.arange(level.size) % 250], axis=1).astype(np.float64)
    setting = {"n_estimators": 1, "max_depth": 1, "learning_rate": 1.0, "reg_lambda": 0.0}
    models = [
        NewtonBoostingRegressor(
            categorical_features=list(range(width)), max_cat_threshold=most, **setting
        ).fit(table[:, :width], y)
        for width in (1, 2)
    ]
    alone, beside = (
        model.predict(table[:, :width]) for model, width in zip(models, (1, 2), strict=True)
    )
    np.testing.assert_array_equal(beside, alone)
    sides = np.unique(alone[::12], return_counts=True)[1]
    assert sides.min() < most


SETTINGS: dict[str, tuple[Any, Any, dict[str, Any]]] = {
    "squared": (NewtonBoostingRegressor, Y, {}),
    "absolute": (NewtonBoostingRegressor, Y, {"objective": "absolute_error"}),
    "huber": (NewtonBoostingRegressor, Y, {"objective": "huber"}),
    "quantile": (NewtonBoostingRegressor, Y, {"objective": "quantile", "quantile_alpha": 0.8}),
    "quantiles": (
        NewtonBoostingRegressor,
        Y,
        {"objective": "quantile", "quantile_alpha": [0.2, 0.5, 0.9]},
    ),
    "outputs": (NewtonBoostingRegressor, np.stack([Y, Y[::-1]], axis=1), {"reg_alpha": 0.1}),
    "absolute outputs": (
        NewtonBoostingRegressor,
        np.stack([Y, -Y], axis=1),
        {"objective": "absolute_error"},
    ),
    "poisson": (NewtonBoostingRegressor, LABELS, {"objective": "poisson"}),
    "gamma": (NewtonBoostingRegressor, Y + 0.1, {"objective": "gamma"}),
    "tweedie": (NewtonBoostingRegressor, LABELS, {"objective": "tweedie"}),
    "logistic": (NewtonBoostingClassifier, LABELS > 0, {"reg_alpha": 0.1}),
    "multinomial": (NewtonBoostingClassifier, LABELS, {"gamma": 0.2}),
    "drawn": (
        NewtonBoostingClassifier,
        LABELS,
        {"subsample": 0.7, "colsample_bynode": 0.8, "colsample_bytree": 0.8, "random_state": 3},
    ),
    "monotone": (NewtonBoostingRegressor, Y, {"monotone_constraints": [1, 0, -1, 0]}),
    "best first": (
        NewtonBoostingRegressor,
        Y,
        {"grow_policy": "lossguide", "max_leaves": 5, "max_depth": 0},
    ),
    "categories": (NewtonBoostingClassifier, LABELS, {"categorical_features": [1]}),
    "approx": (NewtonBoostingClassifier, LABELS, {"tree_method": "approx", "max_bins": 9}),
    "bounded": (NewtonBoostingClassifier, LABELS, {"max_delta_step": 0.3, "max_bins": 5}),
}


def _fitted(name: str, **changes: Any) -> Any:
    estimator, y, own = SETTINGS[name]
    table = np.round(X * 2) % 5 if name == "categories" else X.copy()
    table[::9, 2] = np.nan
    setting = {"n_estimators": 4, "max_depth": 3, **own, **changes}
    return estimator(**setting).fit(table, y), table, y


@pytest.mark.parametrize("name", SETTINGS)
def test_one_model_on_every_backend_and_at_any_number_of_threads(name: str) -> None:
    model, table, y = _fitted(name)
    if name != "quantiles":
        assert model.score(table, y) > (0.0 if name in ("quantile", "bounded") else 0.2)
    expected = digest(model), model.start_.tobytes()
    other, _, _ = _fitted(name, n_jobs=2)
    assert (digest(other), other.start_.tobytes()) == expected
    with kernels("reference"):
        other, _, _ = _fitted(name, device="cpu")
        assert (digest(other), other.start_.tobytes()) == expected
        plain = other.predict(table)
    np.testing.assert_array_equal(model.predict(table), plain)


@pytest.mark.parametrize("name", ["squared", "absolute", "poisson", "logistic", "multinomial"])
def test_no_order_of_rows_matters_and_weights_repeat(name: str) -> None:
    estimator, y, own = SETTINGS[name]
    setting = {"n_estimators": 4, "max_depth": 3, **own}
    draw = np.random.default_rng(0)
    order, weight = draw.permutation(len(X)), draw.integers(0, 4, len(X))
    model = estimator(**setting).fit(X, y)
    assert digest(estimator(**setting).fit(X[order], y[order])) == digest(model)
    weighted = estimator(**setting).fit(X, y, sample_weight=weight)
    repeated = estimator(**setting).fit(np.repeat(X, weight, axis=0), np.repeat(y, weight))
    np.testing.assert_array_equal(weighted.predict(X), repeated.predict(X))


@pytest.mark.parametrize("name", ["squared", "multinomial", "drawn"])
def test_going_on_is_the_same_as_one_fit(name: str) -> None:
    whole, table, y = _fitted(name, n_estimators=7)
    model, _, _ = _fitted(name, n_estimators=3, warm_start=True)
    model.set_params(n_estimators=7).fit(table, y)
    assert digest(model) == digest(whole)
    with pytest.raises(InputError, match="7 rounds"):
        model.set_params(n_estimators=2).fit(table, y)


def test_stages_end_in_the_prediction() -> None:
    model, table, y = _fitted("multinomial")
    stages = list(model.staged_predict_proba(table))
    assert len(stages) == model.n_estimators_ == 4
    np.testing.assert_array_equal(stages[-1], model.predict_proba(table))
    losses = [log_loss(y, stage) for stage in stages]
    assert losses == sorted(losses, reverse=True)
    np.testing.assert_array_equal(list(model.staged_predict(table))[-1], model.predict(table))
    raw = list(model.staged_decision_function(table))[-1]
    np.testing.assert_array_equal(raw, model.decision_function(table))
    assert model.apply(table).shape == (200, 12)


def test_an_objective_of_ones_own_is_the_built_in_one() -> None:
    def squares(y: Any, raw: Any) -> Any:
        return raw - y, np.ones_like(raw)

    own = NewtonBoostingRegressor(n_estimators=5, objective=squares, base_score=1.5).fit(X, Y)
    built_in = NewtonBoostingRegressor(n_estimators=5, base_score=1.5).fit(X, Y)
    np.testing.assert_allclose(own.predict(X), built_in.predict(X), rtol=1e-12)


def test_bad_input_is_named() -> None:
    table, y = load_iris(return_X_y=True)
    model = NewtonBoostingClassifier(n_estimators=2)
    with pytest.raises(InputError, match="one class"):
        model.fit(table, y * 0)
    with pytest.raises(InputError, match="eval_set is empty"):
        model.fit(table, y, eval_set=[])
    with pytest.raises(InputTypeError, match="pairs"):
        model.fit(table, y, eval_set=[table])
    with pytest.raises(InputError, match="150 rows, but its y has 3"):
        model.fit(table, y, eval_set=[(table, y[:3])])
    with pytest.raises(InputError, match="did not see"):
        model.fit(table, y, eval_set=[(table, y + 1)])
    with pytest.raises(InputError, match="early_stopping_rounds needs"):
        NewtonBoostingClassifier(early_stopping_rounds=2).fit(table, y)
    with pytest.raises(InputError, match="lossguide"):
        NewtonBoostingClassifier(max_leaves=4).fit(table, y)
    with pytest.raises(InputError, match="eval_metric='rmse'"):
        NewtonBoostingClassifier(eval_metric="rmse").fit(table, y, eval_set=[(table, y)])
    with pytest.raises(InputError, match="from 0 up"):
        NewtonBoostingRegressor(objective="poisson").fit(table, y - 1.0)
    with pytest.raises(InputError, match="above 0"):
        NewtonBoostingRegressor(objective="gamma").fit(table, y)
    with pytest.raises(InputError, match="base_score=1.0 .* between 0 and 1"):
        NewtonBoostingClassifier(base_score=1.0).fit(table, y)
    with pytest.raises(InputError, match="base_score=-1.0 .* above 0"):
        NewtonBoostingRegressor(objective="poisson", base_score=-1.0).fit(table, y)
    assert not hasattr(model, "grown_")


def test_importances_by_gain_cover_and_number() -> None:
    model, _, _ = _fitted("squared")
    tree = model.grown_
    inner = tree.first_child >= 0
    for kind, own in (("total_gain", tree.gain), ("total_cover", tree.weight), ("weight", None)):
        model.importance_type = kind
        each = np.bincount(tree.feature[inner], None if own is None else own[inner], 4)
        np.testing.assert_allclose(model.feature_importances_, each / each.sum())
    model.importance_type = "gain"
    assert model.feature_importances_.sum() == pytest.approx(1.0)


def test_frames_with_categories_and_gaps() -> None:
    table, y = columns()
    frame = pd.DataFrame(table)
    model = NewtonBoostingClassifier(n_estimators=10).fit(frame, y, eval_set=[(frame, y)])
    assert model.score(frame, y) > 0.9
    assert model.evals_result_["validation_0"]["loss"][-1] < 0.4
    assert (model.grown_.kind == 1).any()


def test_several_outputs_are_models_of_their_own(tmp_path: Path) -> None:
    both = np.stack([Y, np.sin(X[:, 1])], axis=1)
    model = NewtonBoostingRegressor(n_estimators=6, max_depth=3, eval_metric="rmse")
    model.fit(X, both, eval_set=[(X, both)])
    assert model.n_outputs_ == 2 and model.predict(X).shape == both.shape
    for column in range(2):
        own = NewtonBoostingRegressor(n_estimators=6, max_depth=3).fit(X, both[:, column])
        np.testing.assert_allclose(own.predict(X), model.predict(X)[:, column], rtol=1e-12)
    distance = ((model.predict(X) - both) ** 2).mean()
    assert model.evals_result_["validation_0"]["rmse"][-1] == pytest.approx(distance**0.5)
    save(model, tmp_path / "model.vtree")
    np.testing.assert_array_equal(load(tmp_path / "model.vtree").predict(X), model.predict(X))
    with pytest.raises(InputError, match="y of eval_set has 3 columns, but y has 2"):
        model.fit(X, both, eval_set=[(X, both[:, [0, 1, 1]])])
    counts = np.stack([LABELS, 0 * LABELS], axis=1)
    with pytest.raises(InputError, match="zero in every row"):
        model.set_params(objective="poisson").fit(X, counts)


@pytest.mark.parametrize("levels", [[0.9, 0.1], [0.5, 0.5], [0.0, 0.5], [], ["a"]])
def test_levels_of_quantiles_ascend(levels: list[Any]) -> None:
    with pytest.raises(InputError, match="quantile_alpha"):
        NewtonBoostingRegressor(objective="quantile", quantile_alpha=levels).fit(X, Y)


def test_bins_of_a_round_cannot_be_ready() -> None:
    model = NewtonBoostingClassifier(tree_method="approx", n_estimators=2, max_bins=20)
    with pytest.raises(InputError, match="bins X anew each round"):
        model.fit(Bins(X, max_bins=20), LABELS)
    fine = NewtonBoostingClassifier(n_estimators=2, max_bins=255).fit(X, LABELS)
    assert digest(model.set_params(max_bins=255).fit(X, LABELS)) == digest(fine)


def test_where_values_miss_that_no_row_did() -> None:
    """The heavier side, as of copies; beside second derivatives, the one with more rows."""
    X, y = reals(80, n_features=3)
    weight = np.random.default_rng(2).choice([1, 9], 80)
    common: dict[str, Any] = {"n_estimators": 3, "max_depth": 4, "max_bins": None}
    for kind in (GradientBoostingRegressor, NewtonBoostingRegressor):
        tree = kind(**common).fit(X, y, weight).grown_
        copies = kind(**common).fit(X.repeat(weight, axis=0), y.repeat(weight)).grown_
        np.testing.assert_array_equal(tree.missing_child, copies.missing_child)
    tree = NewtonBoostingClassifier(**common).fit(X, y > np.median(y), weight).grown_
    first = tree.first_child[tree.first_child >= 0]
    more_rows = np.where(tree.n_rows[first] > tree.n_rows[first + 1], 0, 1)
    np.testing.assert_array_equal(tree.missing_child[tree.first_child >= 0], more_rows)

"""Faults that users reported of boosting libraries in public, as what is right here.

Only what the estimators' own tests do not hold already.
"""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.model_selection import train_test_split

import vtree
from tests.samples import classes, reals
from vtree import (
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    LeafwiseBoostingClassifier,
    LeafwiseBoostingRegressor,
    NewtonBoostingClassifier,
    NewtonBoostingRegressor,
    OrderedBoostingClassifier,
    OrderedBoostingRegressor,
    digest,
)
from vtree.errors import InputError, ModelFileError
from vtree.interop.model_file import read_model, write_model

X, Y = reals(160)
LABELS = classes()[1]
TRAIN, HELD = (X[:100], Y[:100]), (X[100:], Y[100:])
REGRESSORS = [
    GradientBoostingRegressor,
    NewtonBoostingRegressor,
    LeafwiseBoostingRegressor,
    OrderedBoostingRegressor,
]


def _patience(kind: Any) -> str:
    return "n_iter_no_change" if kind is GradientBoostingRegressor else "early_stopping_rounds"


def _patient(kind: Any, **how: Any) -> Any:
    return kind(**{_patience(kind): 4, "learning_rate": 0.5, "random_state": 0, **how})


@pytest.mark.parametrize("kind", REGRESSORS)
def test_going_on_after_early_stopping_keeps_the_best_rounds_of_all(kind: Any) -> None:
    once = _patient(kind, n_estimators=60).fit(*TRAIN, eval_set=HELD)
    assert once.n_estimators_ < 56
    again = _patient(kind, n_estimators=60, warm_start=True).fit(*TRAIN, eval_set=HELD)
    again.fit(*TRAIN, eval_set=HELD)
    assert digest(again) == digest(once)
    assert again.evals_result_ == once.evals_result_
    assert (again.best_iteration_, again.best_score_) == (once.best_iteration_, once.best_score_)
    # Rounds that nobody watched are judged, too, and those past the best one go.
    unwatched = kind(n_estimators=once.n_estimators_ + 9, learning_rate=0.5, random_state=0)
    unwatched.fit(*TRAIN).set_params(**_patient(kind, n_estimators=60).get_params())
    unwatched.set_params(warm_start=True).fit(*TRAIN, eval_set=HELD)
    assert digest(unwatched) == digest(once)
    assert unwatched.evals_result_ == once.evals_result_


@pytest.mark.parametrize("kind", REGRESSORS)
def test_a_fit_forgets_what_an_earlier_one_was_told(kind: Any) -> None:
    model = _patient(kind, n_estimators=40).fit(*TRAIN, eval_set=HELD)
    model.set_params(**{_patience(kind): None}, n_estimators=3).fit(*TRAIN)
    assert not any(hasattr(model, name) for name in ("best_iteration_", "evals_result_"))
    model.fit(*TRAIN, eval_set=HELD)
    assert hasattr(model, "evals_result_") and not hasattr(model, "best_score_")


def test_training_losses_are_those_of_the_rounds_that_stay() -> None:
    model = _patient(GradientBoostingRegressor, n_estimators=60).fit(*TRAIN, eval_set=HELD)
    plain = GradientBoostingRegressor(n_estimators=40, learning_rate=0.5).fit(*TRAIN)
    assert model.train_score_.tolist() == plain.train_score_[: model.n_estimators_].tolist()
    longer = model.set_params(n_iter_no_change=None, warm_start=True, n_estimators=40)
    np.testing.assert_array_equal(longer.fit(*TRAIN).train_score_, plain.train_score_)


def test_rows_held_out_once_are_held_out_when_trees_go_on() -> None:
    state = np.random.RandomState(3)
    how = {"validation_fraction": 0.3, "early_stopping_rounds": 50, "max_depth": 2}
    model = NewtonBoostingRegressor(warm_start=True, n_estimators=5, random_state=state, **how)
    first = list(model.fit(X, Y).evals_result_["validation_0"]["loss"])
    model.set_params(n_estimators=8).fit(X, Y)
    assert model.evals_result_["validation_0"]["loss"][:5] == first
    rows = train_test_split(np.arange(160), test_size=0.3, random_state=model._seed)
    explicit = NewtonBoostingRegressor(n_estimators=8, early_stopping_rounds=50, max_depth=2)
    explicit.fit(X[rows[0]], Y[rows[0]], eval_set=(X[rows[1]], Y[rows[1]]))
    assert digest(explicit) == digest(model)


@pytest.mark.parametrize("kind", REGRESSORS)
def test_the_best_round_is_in_the_file(kind: Any, tmp_path: Path) -> None:
    model = _patient(kind, n_estimators=40).fit(*TRAIN, eval_set=HELD)
    vtree.save(model, tmp_path / "model.vtree")
    loaded = vtree.load(tmp_path / "model.vtree")
    for name in ("best_iteration_", "best_score_", "evals_result_"):
        assert getattr(loaded, name) == getattr(model, name)
    header, tree, extra = read_model(tmp_path / "model.vtree")
    for told in ({"best_iteration_": "3"}, {"evals_result_": [1.0]}, {"best_score_": None}, 3):
        wrong = {**header, "own": {**header["own"], "told": told}}
        write_model(tmp_path / "wrong.vtree", wrong, tree, extra)
        with pytest.raises(ModelFileError):
            vtree.load(tmp_path / "wrong.vtree")


def test_trees_that_cannot_split_answer_as_in_lightgbm_nothing() -> None:
    table = np.random.default_rng(0).integers(0, 40, size=(60, 2)).astype(float)
    y = np.digitize(table[:, 0], [10, 20])
    model = LeafwiseBoostingClassifier(n_estimators=200, min_child_samples=5, learning_rate=0.3)
    model.fit(table, y)
    # LightGBM 4.7 with min_data_in_bin=1. One class after another has nothing left to split.
    expected = [-6.70833692, -6.45988488, 5.00548709]
    np.testing.assert_allclose(model.decision_function(table[:1])[0], expected, rtol=1e-7)

    def own(y: Any, raw: Any) -> Any:
        return raw - y, np.ones(y.size)

    few = LeafwiseBoostingRegressor(objective=own, n_estimators=3).fit(X[:19], Y[:19])
    assert (few.predict(X) == 0.0).all()


@pytest.mark.parametrize("small", [0.0, 1e-300, 1e-3])
@pytest.mark.parametrize("kind", [NewtonBoostingRegressor, LeafwiseBoostingRegressor])
def test_a_root_too_light_for_a_leaf_answers_nothing(kind: Any, small: float) -> None:
    def own(y: Any, raw: Any) -> Any:
        return raw - y, np.full(y.size, small)

    how = {"n_estimators": 3, "min_child_weight": 1.0}
    assert (kind(objective=own, **how).fit(X, Y).predict(X) == 0.0).all()
    if kind is NewtonBoostingRegressor:  # one that may is held by reg_lambda alone
        model = kind(objective=own, n_estimators=1, max_depth=0, min_child_weight=0.0)
        model.set_params(learning_rate=1.0, gamma=1e12).fit(X, Y)
        expected = Y.sum() / (160 * small + 1.0)
        np.testing.assert_allclose(model.predict(X), expected, rtol=1e-9)


@pytest.mark.parametrize("boosting_type", ["Plain", "Ordered"])
def test_second_derivatives_of_nothing_are_not_ones(boosting_type: str) -> None:
    def model(small: float) -> Any:
        def own(y: Any, raw: Any) -> Any:
            return raw - y, np.full(y.size, small)

        how = {"boosting_type": boosting_type, "random_state": 0, "learning_rate": 0.1}
        return OrderedBoostingRegressor(objective=own, n_estimators=4, **how).fit(X, Y)

    np.testing.assert_allclose(model(0.0).predict(X), model(1e-200).predict(X), rtol=1e-12)
    assert digest(model(0.0)) != digest(model(1.0))


def test_functions_that_work_in_place_change_nothing_but_their_own() -> None:
    def tidy(y: Any, raw: Any) -> Any:
        return raw - y, np.ones(y.size)

    def untidy(y: Any, raw: Any) -> Any:
        raw -= y
        y[:] = 1.0
        return raw, y

    def error(y: Any, prediction: Any) -> float:
        prediction -= y
        y[:] = 0.0
        return float(np.abs(prediction).mean())

    for kind in REGRESSORS[1:]:
        how = {"n_estimators": 4, "random_state": 0, "eval_metric": [error, "mae"]}
        one, other = (kind(objective=f, **how).fit(X, Y, eval_set=HELD) for f in (tidy, untidy))
        assert digest(one) == digest(other)
        told = one.evals_result_["validation_0"]
        np.testing.assert_allclose(told["error"], told["mae"], rtol=1e-12)


@pytest.mark.parametrize("kind", REGRESSORS[1:])
@pytest.mark.parametrize("objective", ["poisson", "tweedie"])
def test_tables_to_judge_by_may_hold_zeros_alone(kind: Any, objective: str) -> None:
    counts = np.arange(160) % 3
    model = kind(objective=objective, n_estimators=2)
    model.fit(X, counts, eval_set=(X[::3], counts[::3]))
    assert np.isfinite(model.evals_result_["validation_0"]["loss"]).all()
    with pytest.raises(InputError, match="y is zero in every row that has a weight"):
        model.fit(X, counts, sample_weight=counts == 0)


def test_directions_and_weights_that_classes_cannot_have() -> None:
    model = GradientBoostingClassifier(n_estimators=1, monotonic_cst=[1, 0, 0, 0])
    with pytest.raises(InputError, match="monotonic_cst is for two classes, and y has 3"):
        model.fit(classes()[0], LABELS)
    with pytest.raises(InputError, match="class_weight"):
        OrderedBoostingClassifier(class_weight=[1.0, 5.0], n_estimators=1).fit(X, np.median(Y) < Y)
    with pytest.raises(InputError, match="scale_pos_weight=2.0 weighs the second of two"):
        NewtonBoostingClassifier(scale_pos_weight=2).fit(classes()[0], LABELS)


def test_names_of_metrics_in_any_letters() -> None:
    y = np.median(Y) < Y
    metrics = ["Logloss", "AUC", "Accuracy"]
    model = NewtonBoostingClassifier(n_estimators=3, max_depth=1, eval_metric=metrics)
    told = model.fit(X, y, eval_set=(X, y)).evals_result_["validation_0"]
    assert list(told) == metrics
    assert told["Accuracy"][-1] == model.score(X, y)
    model.set_params(early_stopping_rounds=2, n_estimators=30).fit(X, y, eval_set=(X, y))
    assert model.best_score_ == max(model.evals_result_["validation_0"]["Accuracy"])


def test_rows_without_weight_are_held_out_no_more_than_absent_ones() -> None:
    weight = np.where(np.arange(160) % 3 == 0, 1.5, 0.0)
    how = {"validation_fraction": 0.3, "early_stopping_rounds": 2, "random_state": 4}
    model = NewtonBoostingRegressor(n_estimators=20, **how)
    known = digest(model.fit(X[weight > 0], Y[weight > 0], weight[weight > 0]))
    told = model.evals_result_
    assert digest(model.fit(X, Y, weight)) == known and model.evals_result_ == told


@pytest.mark.parametrize(
    ("step", "expected"),
    [(0.7, [2.76752891, 3.07193688, 2.24500410]), (0.1, [2.45072071, 3.16624879, 1.86437070])],
)
def test_steps_of_counts_are_as_long_as_in_lightgbm(step: float, expected: list[float]) -> None:
    table = np.random.default_rng(1).integers(0, 30, size=(120, 2)).astype(float)
    counts = np.random.default_rng(2).poisson(np.exp(table[:, 0] / 15))
    how = {"n_estimators": 10, "min_child_samples": 0, "min_child_weight": 40}
    model = LeafwiseBoostingRegressor(objective="poisson", poisson_max_delta_step=step, **how)
    # LightGBM 4.7 with min_data_in_bin=1.
    np.testing.assert_allclose(model.fit(table, counts).predict(table[:3]), expected, rtol=1e-7)

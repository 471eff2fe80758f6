"""Faults that users reported of tree libraries in public, as what is right here.

Only what `test_bad_input.py` and the estimators' own tests do not hold already.
"""

import copy
import os
import pickle
import signal
import time
import warnings
from pathlib import Path

import joblib
import numpy as np
import pandas as pd
import pytest
from numpy.typing import NDArray

from vtree import DecisionTreeClassifier, DecisionTreeRegressor, digest

Floats = NDArray[np.float64]


def test_a_label_that_means_missing_takes_one_split() -> None:
    x = np.zeros(60)
    x[::3] = np.nan
    model = DecisionTreeClassifier().fit(x[:, None], np.isnan(x))
    assert model.score(x[:, None], np.isnan(x)) == 1.0
    assert model.get_n_leaves() == 2


def _best_poisson_deviance(x: Floats, y: Floats) -> float:
    def cost(own: Floats) -> float:
        return float((own * np.log(own / own.mean())).sum())

    missing = np.isnan(x)
    sides = [x <= value for value in np.unique(x[~missing])]
    sides += [side | missing for side in sides]
    return min(cost(y[s]) + cost(y[~s]) for s in sides if 0 < s.sum() < y.size)


def test_poisson_stumps_with_missing_values_are_the_best_there_are() -> None:
    random = np.random.default_rng(5)
    for _ in range(40):
        x = random.integers(0, 5, 12).astype(float)
        x[random.random(12) < 0.35] = np.nan
        y = np.round(0.1 + random.gamma(1.0, 2.0, 12), 2)
        model = DecisionTreeRegressor(criterion="poisson", max_depth=1).fit(x[:, None], y)
        found = float((y * np.log(y / model.predict(x[:, None]))).sum())
        assert found <= _best_poisson_deviance(x, y) + 1e-9
        assert model.tree_.impurity.min() >= 0.0


def test_between_two_values_the_prediction_steps_once() -> None:
    random = np.random.default_rng(4)
    lows = random.normal(size=60) * 10.0 ** np.arange(-30, 30)
    for low, gap in zip(lows, random.random(60), strict=True):
        high = low + abs(low) * gap + 1e-3 * abs(low)
        model = DecisionTreeRegressor().fit([[low], [high]], [0.0, 1.0])
        walk = [low, np.nextafter(low, np.inf), *np.linspace(low, high, 41)[1:-1], high]
        answers = model.predict(np.sort(walk)[:, None])
        assert answers[0] == 0.0
        assert answers[-1] == 1.0
        assert (np.diff(answers) >= 0.0).all()
        assert model.predict([[model.tree_.threshold[0]]])[0] == 0.0


def test_dates_written_as_numbers_keep_their_days() -> None:
    X = np.tile(np.arange(20180130, 20180136), 8)[:, None]
    assert DecisionTreeClassifier().fit(X, X[:, 0] % 2).score(X, X[:, 0] % 2) == 1.0
    ids = np.tile(2**53 + np.arange(8), 6)[:, None]
    as_floats = DecisionTreeClassifier().fit(ids.astype(np.float64), ids[:, 0] % 2)
    assert digest(DecisionTreeClassifier().fit(ids, ids[:, 0] % 2)) == digest(as_floats)


@pytest.mark.parametrize("constant", [0.1, 1 / 3, -7.0, 1e-12, 123456789.123, 1e15])
def test_a_constant_target_is_one_leaf_with_that_value(constant: float) -> None:
    X = np.random.default_rng(0).normal(size=(97, 3))
    model = DecisionTreeRegressor().fit(X, np.full(97, constant))
    assert model.get_n_leaves() == 1
    assert (model.predict(X) == constant).all()


def test_a_large_offset_moves_the_predictions_and_nothing_else() -> None:
    random = np.random.default_rng(1)
    X = random.normal(size=(90, 3))
    y = np.round(4 * X[:, 0] + random.normal(size=90))
    plain = DecisionTreeRegressor().fit(X, y)
    moved = DecisionTreeRegressor().fit(X, y + 2.0**40)
    np.testing.assert_array_equal(moved.grown_.feature, plain.grown_.feature)
    np.testing.assert_array_equal(moved.predict(X) - 2.0**40, plain.predict(X))


@pytest.mark.parametrize("factor", [0.01, 1e-15, 2.0**-900, 2.0**60, 2.0**900])
def test_a_common_factor_of_the_weights_changes_nothing(factor: float) -> None:
    random = np.random.default_rng(8)
    X = random.normal(size=(100, 4))
    y = random.integers(0, 3, 100)
    weight = 1.0 + random.integers(0, 3, 100)
    plain = DecisionTreeClassifier().fit(X, y, sample_weight=weight)
    scaled = DecisionTreeClassifier().fit(X, y, sample_weight=weight * factor)
    np.testing.assert_array_equal(scaled.predict_proba(X).round(9), plain.predict_proba(X).round(9))
    assert np.isfinite(scaled.feature_importances_).all()


def test_depth_and_leaves_hold_together() -> None:
    random = np.random.default_rng(2)
    X, y = random.normal(size=(120, 4)), random.normal(size=120)
    for depth in (1, 2, 3):
        for leaves in (2, 3, 5, 99):
            model = DecisionTreeRegressor(max_depth=depth, max_leaf_nodes=leaves).fit(X, y)
            assert model.get_depth() <= depth
            assert model.get_n_leaves() <= leaves
    two = DecisionTreeRegressor(max_leaf_nodes=2).fit(X, y)
    assert digest(two) == digest(DecisionTreeRegressor(max_depth=1).fit(X, y))


def test_the_label_of_a_category_decides() -> None:
    frame = pd.DataFrame({"c": pd.Categorical(list("abcabcabc") * 5)})
    y = (frame["c"] == "b").astype(int)
    model = DecisionTreeClassifier().fit(frame, y)
    for categories in (["c", "b", "a"], ["b", "z", "a", "c"], ["b"]):
        rows = pd.DataFrame({"c": pd.Categorical(["b", "b"], categories=categories)})
        assert model.predict(rows).tolist() == [1, 1]


def test_names_of_any_script_are_only_names() -> None:
    X = np.random.default_rng(3).normal(size=(80, 3))
    y = X[:, 1] > 0
    plain = DecisionTreeClassifier().fit(pd.DataFrame(X, columns=["a", "b", "c"]), y)
    odd = pd.DataFrame(X, columns=["größe", "价格\n[<]", '"{}:,'])
    model = DecisionTreeClassifier().fit(odd, y)
    assert digest(model) == digest(plain)
    assert (pickle.loads(pickle.dumps(model)).predict(odd) == y).all()


def test_twenty_thousand_columns() -> None:
    X = np.random.default_rng(28).integers(0, 2, (12, 20_000)).astype(np.float32)
    y = np.array([0, 1] * 6)
    same = (y[:, None] == X).all(axis=0) | (y[:, None] != X).all(axis=0)
    X[:, same] = 0
    X[:, 19_998] = y
    model = DecisionTreeClassifier().fit(X, y)
    assert model.tree_.feature[0] == 19_998
    assert model.score(X, y) == 1.0


def test_copies_of_every_kind_answer_alike(tmp_path: Path) -> None:
    X = np.random.default_rng(6).normal(size=(100, 4))
    model = DecisionTreeRegressor().fit(X, X[:, 0])
    joblib.dump(model, tmp_path / "model")
    for other in (
        pickle.loads(pickle.dumps(model)),
        copy.deepcopy(model),
        joblib.load(tmp_path / "model", mmap_mode="r"),
    ):
        np.testing.assert_array_equal(other.predict(X), model.predict(X))
    assert pickle.dumps(model) == pickle.dumps(DecisionTreeRegressor().fit(X, X[:, 0]))


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system cannot fork")
def test_a_forked_child_fits_and_predicts_after_threads_ran() -> None:
    X = np.random.default_rng(7).normal(size=(20_000, 8))
    y = X[:, 0] > 0
    model = DecisionTreeClassifier(max_depth=4, n_jobs=2).fit(X, y)
    want = digest(model)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        child = os.fork()
    if child == 0:
        status = 1
        try:
            again = DecisionTreeClassifier(max_depth=4, n_jobs=2).fit(X, y)
            status = (
                0 if digest(again) == want and (model.predict(X) == again.predict(X)).all() else 2
            )
        finally:
            os._exit(status)
    deadline = time.monotonic() + 30
    while time.monotonic() < deadline:
        done, state = os.waitpid(child, os.WNOHANG)
        if done:
            assert os.waitstatus_to_exitcode(state) == 0
            return
        time.sleep(0.02)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    pytest.fail("the forked child hangs")

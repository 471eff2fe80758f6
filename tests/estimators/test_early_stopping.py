from typing import Any

import array_api_strict
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from sklearn.datasets import load_breast_cancer
from sklearn.metrics import log_loss, roc_auc_score
from sklearn.model_selection import train_test_split

from tests.samples import reals
from vtree import (
    GradientBoostingClassifier,
    LeafwiseBoostingClassifier,
    NewtonBoostingClassifier,
    NewtonBoostingRegressor,
    OrderedBoostingClassifier,
    OrderedBoostingRegressor,
    digest,
)
from vtree.errors import InputError, InputTypeError, VTreeError


def test_early_stopping_keeps_the_best_rounds() -> None:
    table, y = load_breast_cancer(return_X_y=True)
    train, held = (table[::2], y[::2]), (table[1::2], y[1::2])
    model = NewtonBoostingClassifier(early_stopping_rounds=5, eval_metric="logloss")
    model.fit(*train, eval_set=[train, held])
    history = model.evals_result_["validation_1"]["logloss"]
    assert len(history) == model.best_iteration_ + 6 < 100
    assert model.best_score_ == min(history) == history[model.best_iteration_]
    assert model.n_estimators_ == model.best_iteration_ + 1
    shorter = NewtonBoostingClassifier(n_estimators=model.n_estimators_).fit(*train)
    assert digest(model) == digest(shorter)
    assert model.best_score_ == pytest.approx(log_loss(held[1], model.predict_proba(held[0])))
    for metric in ("auc", "error", lambda y, p: float(np.mean((y - p) ** 2))):
        model.set_params(eval_metric=metric).fit(*train, eval_set=[held])
        assert 0.0 <= model.best_score_ <= 1.0


def test_the_last_of_several_metrics_decides() -> None:
    table, y = load_breast_cancer(return_X_y=True)
    train, held = (table[::2], y[::2]), (table[1::2], y[1::2])
    how = {"early_stopping_rounds": 4, "n_estimators": 60, "max_depth": 2}
    model = NewtonBoostingClassifier(eval_metric=["logloss", "error"], **how)
    model.fit(*train, eval_set=[held])
    alone = NewtonBoostingClassifier(eval_metric="error", **how).fit(*train, eval_set=[held])
    assert digest(model) == digest(alone)
    assert list(model.evals_result_["validation_0"]) == ["logloss", "error"]
    assert model.best_score_ == min(model.evals_result_["validation_0"]["error"])


def test_a_share_is_held_out_where_there_is_no_eval_set() -> None:
    table, y = load_breast_cancer(return_X_y=True)
    systems = (NewtonBoostingClassifier, LeafwiseBoostingClassifier, OrderedBoostingClassifier)
    for kind in systems:
        how = {"n_estimators": 300, "early_stopping_rounds": 5, "learning_rate": 0.3}
        model = kind(validation_fraction=0.3, random_state=1, **how).fit(table, y)
        parts = train_test_split(table, y, test_size=0.3, random_state=1, stratify=y)
        explicit = kind(random_state=1, **how)
        explicit.fit(parts[0], parts[2], eval_set=[(parts[1], parts[3])])
        assert digest(model) == digest(explicit) and model.n_estimators_ < 295
        weighted = model.fit(table, y, np.ones(len(y)))
        assert digest(weighted) == digest(explicit)
    few = np.zeros(len(y))
    few[0] = 1.0  # one row of a class cannot be in both parts
    with pytest.raises(InputError, match="validation_fraction"):
        model.fit(table, few)


@pytest.mark.parametrize("kind", [OrderedBoostingClassifier, OrderedBoostingRegressor])
def test_the_last_rows_are_held_out_where_rows_come_in_the_order_of_time(kind: Any) -> None:
    X, y = reals(300)
    if kind is OrderedBoostingClassifier:
        y = (y > np.median(y)).astype(int)
    how: dict[str, Any] = {"n_estimators": 50, "early_stopping_rounds": 3, "has_time": True}
    how |= {"learning_rate": 0.3, "boosting_type": "Ordered", "random_state": 0}
    model = kind(validation_fraction=0.2, **how).fit(X, y)
    explicit = kind(**how).fit(X[:240], y[:240], eval_set=(X[240:], y[240:]))
    assert digest(model) == digest(explicit) and model.n_estimators_ < 50
    assert model.evals_result_ == explicit.evals_result_


def test_a_share_of_any_table_is_held_out() -> None:
    X, y = reals()
    model = NewtonBoostingRegressor(
        n_estimators=3, early_stopping_rounds=2, validation_fraction=0.2, random_state=0
    )
    known = digest(model.fit(X, y))
    frame = pd.DataFrame(X, columns=list("abcd"))
    arrow = pa.Table.from_pandas(frame), pa.RecordBatch.from_pandas(frame)
    tables = (X.tolist(), array_api_strict.asarray(X), pl.from_pandas(frame), frame, *arrow)
    for table in (*tables, {name: frame[name].tolist() for name in frame}):
        assert digest(model.fit(table, y.tolist(), 1.0)) == known
    for wrong, message in (((X, y[:3]), "y: .*inconsistent"), ((X, None), "y to be passed")):
        with pytest.raises(InputError, match=message):
            model.fit(*wrong)
    with pytest.raises(InputError, match=r"^sample_weight.shape == \(3,\)"):
        model.fit(X, y, np.ones(3))


def test_a_function_says_whether_larger_is_better_and_one_pair_needs_no_list() -> None:
    table, y = load_breast_cancer(return_X_y=True)
    train, held = (table[::2], y[::2]), (table[1::2], y[1::2])
    how = {"early_stopping_rounds": 3, "n_estimators": 40, "max_depth": 2}

    def area(y: Any, shares: Any) -> tuple[str, float, bool]:
        return "area", float(roc_auc_score(y, shares)), True

    own = NewtonBoostingClassifier(eval_metric=area, **how).fit(*train, eval_set=held)
    known = NewtonBoostingClassifier(eval_metric="auc", **how).fit(*train, eval_set=[held])
    assert digest(own) == digest(known) and own.best_score_ == known.best_score_ > 0.9


def test_what_is_wrong_with_a_table_is_said_of_eval_set() -> None:
    X, y = reals(64)
    model = NewtonBoostingRegressor(n_estimators=2)
    for wrong in ((X[:0], y[:0]), (X[:, :2], y), (X, y * np.nan)):
        with pytest.raises(InputError, match=r"^a table of eval_set cannot be used: "):
            model.fit(X, y, eval_set=[wrong])


@pytest.mark.parametrize(
    ("weights", "kind"),
    [
        ([["a"] * 64], InputError),
        ([-np.ones(64)], InputError),
        ([np.full(64, np.nan)], InputError),
        ([np.zeros(64)], InputError),
        ([np.ones(3)], InputError),
        (np.ones(64), InputError),
        (3, InputTypeError),
    ],
)
def test_weights_to_judge_by_that_are_refused(weights: Any, kind: type[VTreeError]) -> None:
    X, y = reals(64)
    model = NewtonBoostingRegressor(n_estimators=2)
    with pytest.raises(kind, match="sample_weight_eval_set"):
        model.fit(X, y, eval_set=[(X, y)], sample_weight_eval_set=weights)
    with pytest.raises(InputError, match="sample_weight_eval_set weighs the rows of eval_set"):
        model.fit(X, y, sample_weight_eval_set=weights)


@pytest.mark.parametrize(
    "model",
    [
        GradientBoostingClassifier,
        NewtonBoostingClassifier,
        LeafwiseBoostingClassifier,
        OrderedBoostingClassifier,
    ],
)
def test_a_level_that_was_held_out_is_no_mistake_of_the_users(model: Any) -> None:
    # One of 60 rows has the level: some seed of these holds it out.
    frame = pd.DataFrame({"c": ["rare", *"ab" * 29, "a"], "x": np.arange(60.0)})
    y = np.arange(60) % 3 == 0
    how = {"n_estimators": 3, "validation_fraction": 0.3, "unknown_categories": "error"}
    stopping = (
        "n_iter_no_change" if model is GradientBoostingClassifier else "early_stopping_rounds"
    )
    for seed in range(6):
        model(random_state=seed, **how, **{stopping: 2}).fit(frame, y)
    fitted = model(random_state=0, **how).fit(frame[1:], y[1:])
    with pytest.raises(VTreeError, match="rare"):
        fitted.predict(frame)
    with pytest.raises(VTreeError, match=r"a table of eval_set cannot be used: .*rare"):
        model(random_state=0, **how).fit(frame[1:], y[1:], eval_set=[(frame, y)])

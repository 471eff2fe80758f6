from functools import partial
from typing import Any

import numpy as np
import pytest
from sklearn import metrics

from vtree.errors import InputError
from vtree.estimators.boosting_metrics import metric_of, metrics_of
from vtree.losses import CLASSIFICATION, REGRESSION

DRAW = np.random.default_rng(0)
RAW, Y, W = DRAW.normal(size=(50, 1)), DRAW.normal(size=50), DRAW.random(50)


def test_names_are_scikit_learns_metrics() -> None:
    loss = REGRESSION["squared_error"]
    found, _ = metric_of("rmse", loss).score(RAW, Y, W, loss)
    expected = metrics.root_mean_squared_error(Y, RAW[:, 0], sample_weight=W)
    assert found == pytest.approx(expected)
    found, _ = metric_of("mae", loss).score(RAW, Y, W, loss)
    assert found == pytest.approx(metrics.mean_absolute_error(Y, RAW[:, 0], sample_weight=W))
    own, shares = CLASSIFICATION["logistic"], CLASSIFICATION["logistic"].link(RAW)
    labels = (Y > 0).astype(np.float64)
    for name, expected in (
        ("logloss", metrics.log_loss(labels, shares, sample_weight=W)),
        ("error", 1.0 - metrics.accuracy_score(labels, shares.argmax(axis=1), sample_weight=W)),
        ("auc", metrics.roc_auc_score(labels, shares[:, 1], sample_weight=W)),
        ("aucpr", metrics.average_precision_score(labels, shares[:, 1], sample_weight=W)),
    ):
        metric = metric_of(name, own)
        assert metric.score(RAW, labels, W, own)[0] == pytest.approx(expected)
        assert metric.larger == name.startswith("auc")
    found, _ = metric_of("l2", loss).score(RAW, Y, W, loss)
    assert found == pytest.approx(metrics.mean_squared_error(Y, RAW[:, 0], sample_weight=W))


def test_several_classes_have_an_area_too_and_all_must_be_there() -> None:
    loss, raw = CLASSIFICATION["multinomial"], DRAW.normal(size=(50, 3))
    labels = np.asarray(np.arange(50) % 3, dtype=np.float64)
    how = {"multi_class": "ovr", "average": "weighted", "sample_weight": W}
    expected = metrics.roc_auc_score(labels, loss.link(raw), **how)
    assert metric_of("auc", loss).score(raw, labels, W, loss)[0] == pytest.approx(expected)
    for name, y in (("auc", np.minimum(labels, 1.0)), ("aucpr", labels)):
        with pytest.raises(InputError, match="eval_metric"):
            metric_of(name, loss).score(raw, y, None, loss)


def test_functions_are_given_weights_if_they_ask_for_them() -> None:
    loss = REGRESSION["squared_error"]

    def by_place(y: Any, prediction: Any, weight: Any) -> tuple[str, float, bool]:
        return "own", float(np.average(np.abs(y - prediction), weights=weight)), False

    def plain(y: Any, prediction: Any, power: int = 1) -> float:
        return float(np.mean(np.abs(y - prediction) ** power))

    for weight in (W, None):
        expected, _ = metric_of("mae", loss).score(RAW, Y, weight, loss)
        for own in (metrics.mean_absolute_error, by_place):
            assert metric_of(own, loss).score(RAW, Y, weight, loss) == (expected, False)
        unweighted = np.mean(np.abs(Y - RAW[:, 0]))
        assert metric_of(plain, loss).score(RAW, Y, weight, loss)[0] == pytest.approx(unweighted)


def test_scikit_learns_own_functions() -> None:
    loss, logistic = REGRESSION["squared_error"], CLASSIFICATION["logistic"]
    assert metric_of(metrics.r2_score, loss).score(RAW, Y, W, loss)[1]
    squared = partial(metrics.r2_score, multioutput="uniform_average")
    for own in (squared, "r2"):
        found = metric_of(own, loss).score(RAW, Y, W, loss)
        assert found == (metrics.r2_score(Y, RAW[:, 0], sample_weight=W), True)
    labels = (Y > 0).astype(np.float64)
    # Of two classes a function is given the shares of the second.
    for own, name in ((metrics.roc_auc_score, "auc"), (metrics.log_loss, "logloss")):
        expected = metric_of(name, logistic).score(RAW, labels, W, logistic)
        found = metric_of(own, logistic).score(RAW, labels, W, logistic)
        assert found == pytest.approx(expected)
    with pytest.raises(InputError, match=r"(?s)^eval_metric: .*shares of the second, \(N,\)"):
        metric_of(metrics.accuracy_score, logistic).score(RAW, labels, W, logistic)


def test_functions_of_one_name_are_told_apart() -> None:
    loss = REGRESSION["squared_error"]
    own = [lambda y, p: 1.0, lambda y, p: 2.0, partial(metrics.r2_score), "mae"]
    assert [each.name for each in metrics_of(own, loss)] == [
        "<lambda>",
        "<lambda>_1",
        "r2_score",
        "mae",
    ]


def test_lists_of_metrics() -> None:
    loss = REGRESSION["squared_error"]
    assert [metric.name for metric in metrics_of(["mae", "rmse"], loss)] == ["mae", "rmse"]
    assert [metric.name for metric in metrics_of(None, loss)] == ["loss"]
    for wrong in ([], ["mae", "mae"], ["mae", "auc"]):
        with pytest.raises(InputError, match="eval_metric"):
            metrics_of(wrong, loss)


def test_functions_and_what_is_none() -> None:
    loss = REGRESSION["squared_error"]
    metric = metric_of(lambda y, prediction: np.abs(y - prediction).max(), loss)
    score, larger = metric.score(RAW, Y, None, loss)
    assert score == pytest.approx(np.abs(Y - RAW[:, 0]).max()) and not larger
    score, larger = metric_of(None, loss).score(RAW, Y, None, loss)
    assert score == pytest.approx(((Y - RAW[:, 0]) ** 2).mean() / 2) and not larger
    named = metric_of(lambda y, prediction: ("least", prediction.min(), True), loss)
    assert named.score(RAW, Y, None, loss) == (RAW.min(), True)
    with pytest.raises(InputError, match="eval_metric='auc' is not known"):
        metric_of("auc", loss)
    with pytest.raises(InputError, match="returned nan"):
        metric_of(lambda y, prediction: np.nan, loss).score(RAW, Y, None, loss)
    with pytest.raises(InputError, match="eval_metric: could not convert"):
        metric_of(lambda y, prediction: "good", loss).score(RAW, Y, None, loss)

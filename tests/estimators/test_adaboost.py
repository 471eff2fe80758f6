"""AdaBoost beside worked rounds, scikit-learn, and itself on other backends."""

from functools import partial
from typing import Any

import numpy as np
import pandas as pd
import pytest
import sklearn.ensemble
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_diabetes, load_wine
from sklearn.linear_model import LogisticRegression

import vtree
from tests.estimator_checks import failed_checks
from tests.samples import classes, columns, reals
from vtree import (
    AdaBoostClassifier,
    AdaBoostRegressor,
    C45Classifier,
    CHAIDRegressor,
    DecisionTreeClassifier,
    DecisionTreeRegressor,
    growth,
    routing,
)
from vtree.errors import InputError

# Errors and weights of the first rounds, stumps on the rows i with i % 3 != 2.
ROUNDS = {
    "breast_cancer": (
        load_breast_cancer,
        [0.073684211, 0.129058442, 0.159999297, 0.242581716, 0.229512185],
        [2.531426665, 1.909309540, 1.658233310, 1.138577028, 1.211067718],
    ),
    "wine": (
        load_wine,
        [0.302521008, 0.217759929, 0.128161247, 0.260923301, 0.243265078],
        [1.528468850, 1.971915660, 2.610462454, 1.734322387, 1.828008499],
    ),
}


def _split(load: Any) -> tuple[Any, Any, Any, Any]:
    X, y = load(return_X_y=True)
    train = np.arange(len(y)) % 3 != 2
    return X[train], y[train], X[~train], y[~train]


@pytest.mark.parametrize("name", ROUNDS)
def test_worked_rounds(name: str) -> None:
    load, errors, alphas = ROUNDS[name]
    X, y, _, _ = _split(load)
    model = AdaBoostClassifier(n_estimators=5).fit(X, y)
    np.testing.assert_allclose(model.estimator_errors_, errors, atol=1e-9)
    np.testing.assert_allclose(model.estimator_weights_, alphas, atol=1e-9)


def test_the_first_stump_of_breast_cancer() -> None:
    X, y, _, _ = _split(load_breast_cancer)
    first = AdaBoostClassifier(n_estimators=1).fit(X, y).estimators_[0].tree_
    assert first.feature[0] == 20 and first.threshold[0] == pytest.approx(16.305)


@pytest.mark.parametrize("name", ROUNDS)
def test_fifty_rounds_are_scikit_learns(name: str) -> None:
    X, y, X_test, _ = _split(ROUNDS[name][0])
    X, X_test = X.astype(np.float32), X_test.astype(np.float32)  # as scikit-learn's trees see them
    ours = AdaBoostClassifier(n_estimators=12).fit(X, y)
    theirs = sklearn.ensemble.AdaBoostClassifier(n_estimators=12, random_state=0).fit(X, y)
    np.testing.assert_allclose(ours.estimator_errors_, theirs.estimator_errors_, rtol=1e-9)
    assert (ours.predict(X_test) == theirs.predict(X_test)).mean() > 0.97


@pytest.mark.parametrize("loss", ["linear", "square", "exponential"])
def test_regression_is_as_good_as_scikit_learns(loss: str) -> None:
    X, y, X_test, y_test = _split(load_diabetes)
    ours = AdaBoostRegressor(loss=loss).fit(X, y).score(X_test, y_test)
    theirs = [
        sklearn.ensemble.AdaBoostRegressor(loss=loss, random_state=seed)
        .fit(X, y)
        .score(X_test, y_test)
        for seed in range(5)
    ]
    assert ours > min(theirs) - 0.03


@pytest.mark.parametrize("estimator", [AdaBoostClassifier, AdaBoostRegressor])
def test_stages_end_at_the_prediction(estimator: Any) -> None:
    X, y = classes()
    model = estimator(n_estimators=7).fit(X, y)
    stages = list(model.staged_predict(X))
    assert len(stages) == len(model.estimators_) == 7
    np.testing.assert_array_equal(stages[-1], model.predict(X))
    scores = list(model.staged_score(X, y))
    assert scores[-1] == model.score(X, y) > scores[0]
    if hasattr(model, "decision_function"):
        last = list(model.staged_decision_function(X))[-1]
        np.testing.assert_allclose(last, model.decision_function(X), rtol=1e-12, atol=1e-15)
        proba = list(model.staged_predict_proba(X))[-1]
        np.testing.assert_allclose(proba, model.predict_proba(X), rtol=1e-12)
        np.testing.assert_allclose(proba.sum(axis=1), 1.0)


@pytest.mark.parametrize("learner", [1, 2])
@pytest.mark.parametrize("estimator", [AdaBoostClassifier, AdaBoostRegressor])
def test_one_model_everywhere(estimator: Any, learner: int) -> None:
    X, y = reals() if estimator is AdaBoostRegressor else classes()
    kind = DecisionTreeRegressor if estimator is AdaBoostRegressor else DecisionTreeClassifier

    def made(n_jobs: int = 1) -> Any:
        return estimator(kind(max_depth=learner, n_jobs=n_jobs), n_estimators=6)

    expected = vtree.digest(made().fit(X, y))
    order = np.random.default_rng(0).permutation(len(y))
    assert vtree.digest(made(n_jobs=4).fit(X, y)) == expected
    assert vtree.digest(made().fit(X[order], y[order])) == expected
    with vtree.kernels("reference"):
        assert vtree.digest(made().fit(X, y)) == expected


def _told(called: list[str], name: str, whole: Any, *args: Any, **more: Any) -> Any:
    called.append(name)
    return whole(*args, **more)


@pytest.fixture
def passes(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What sorts rows by the node they go to, in the order of the calls."""
    called: list[str] = []
    for module, name in ((routing, "route"), (routing, "partition"), (growth, "with_subtrees")):
        monkeypatch.setattr(module, name, partial(_told, called, name, getattr(module, name)))
    return called


def test_stumps_of_classes_sort_no_rows(passes: list[str]) -> None:
    # Up to 8,192 rows grow in one compiled call, in the cache, and deeper trees up to 65,536.
    X, y = classes(66_000)
    X[::7, 1] = np.nan
    table = {"a": X[:, 0], "b": X[:, 1], "c": np.where(X[:, 2] > 0, "up", "down"), "d": X[:, 3]}
    for criterion in ("gini", "entropy"):
        stump = DecisionTreeClassifier(max_depth=1, criterion=criterion)
        for given in (X, table):
            assert len(AdaBoostClassifier(stump, n_estimators=3).fit(given, y).estimators_) == 3
    assert passes == []
    AdaBoostClassifier(DecisionTreeClassifier(max_depth=2), n_estimators=3).fit(X, y)
    assert passes.count("route") >= 3
    passes.clear()
    # The impurity of a leaf of numbers is a sum over its rows.
    AdaBoostRegressor(DecisionTreeRegressor(max_depth=1), n_estimators=3).fit(X, y)
    assert passes == ["route"] * 3


def test_frames_with_gaps_and_categories() -> None:
    table, two = columns()
    frame = pd.DataFrame(table)
    model = AdaBoostClassifier(n_estimators=20).fit(frame, two)
    assert list(model.feature_names_in_) == list(frame.columns)
    assert model.score(frame, two) > 0.8
    assert any((tree.grown_.kind == 1).any() for tree in model.estimators_)
    assert model.feature_importances_.sum() == pytest.approx(1.0)


def test_any_of_our_trees_is_boosted_from_tables_that_it_takes() -> None:
    table, two = columns()
    frame = pd.DataFrame(table)
    model = AdaBoostClassifier(C45Classifier(), n_estimators=5).fit(frame, two)
    # Zhu et al., algorithm 2, with K = 2, in its own words.
    weight, total = np.full(len(two), 1.0 / len(two)), np.zeros(len(two))
    for member in model.estimators_:
        alone = C45Classifier().fit(frame, two, sample_weight=weight * len(two) / weight.sum())
        missed = alone.predict(frame) != two
        np.testing.assert_array_equal(member.predict(frame) != two, missed)
        error = weight[missed].sum() / weight.sum()
        alpha = np.log((1.0 - error) / error)
        total += alpha * np.where(alone.predict(frame) == model.classes_[1], 1.0, -1.0)
        weight = weight * np.exp(alpha * missed)
    np.testing.assert_array_equal(model.predict(frame), model.classes_[(total > 0.0).astype(int)])
    assert model.score(frame, two) >= model.estimators_[0].score(frame, two)
    np.testing.assert_array_equal(list(model.staged_predict(frame))[-1], model.predict(frame))


def test_numbers_are_boosted_by_any_of_our_trees() -> None:
    X, y = reals(200)
    table = {"a": X[:, 0], "b": X[:, 1], "c": np.where(X[:, 2] > 0, "up", "down")}
    tree = CHAIDRegressor(min_samples_split=20, min_samples_leaf=10)
    model = AdaBoostRegressor(tree, n_estimators=4).fit(table, y)
    answers = np.stack([member.predict(table) for member in model.estimators_], axis=1)
    found = model.predict(table)
    for own, answer in zip(answers, found, strict=True):
        order = np.argsort(own, kind="stable")
        reached = np.cumsum(model.estimator_weights_[: len(own)][order])
        assert answer == own[order][np.argmax(reached >= 0.5 * reached[-1])]


def test_other_learners_are_boosted_too() -> None:
    X, y = classes()
    model = AdaBoostClassifier(LogisticRegression(), n_estimators=3).fit(X, y)
    assert isinstance(model.estimators_[0], LogisticRegression)
    weighted = AdaBoostClassifier(DecisionTreeClassifier(max_depth=1, class_weight="balanced"))
    assert weighted.set_params(n_estimators=3).fit(X, y).score(X, y) > 0.5
    again = model.set_params(estimator=None).fit(X, y)
    assert isinstance(again.estimators_[0], DecisionTreeClassifier)
    assert again.set_params(estimator=LogisticRegression()).fit(X, y).score(X, y) > 0.5


def test_a_learner_no_better_than_chance_is_refused() -> None:
    X = np.zeros((6, 2))
    with pytest.raises(InputError, match="worse than random"):
        AdaBoostClassifier().fit(X, [0, 1, 0, 1, 0, 1])
    with pytest.raises(InputError, match="several outputs"):
        AdaBoostRegressor().fit(np.eye(4), np.eye(4))


@pytest.mark.parametrize("estimator", [AdaBoostClassifier, AdaBoostRegressor])
def test_scikit_learns_checks(estimator: Any) -> None:
    assert not failed_checks(estimator(n_estimators=5))


def test_one_class_answers_from_any_table() -> None:
    table = {"a": [1.0, None, 3.0], "b": ["x", "y", "x"]}
    model = AdaBoostClassifier(n_estimators=3).fit(table, ["only"] * 3)
    assert model.predict(table).tolist() == ["only"] * 3
    for shares in (model.predict_proba(table), *model.staged_predict_proba(table)):
        assert shares.tolist() == [[1.0]] * 3
    assert model.decision_function(table).tolist() == [[0.0]] * 3
    with pytest.raises(InputError, match="feature names"):
        model.predict_proba({"a": [1.0]})


def test_a_learner_worse_than_a_guess_has_importances() -> None:
    X, y = np.repeat([[0.0], [1.0]], 10, axis=0), np.tile([0.0, 1.0], 10)
    y[0] = 1.0
    model = AdaBoostRegressor().fit(X, y)
    assert model.feature_importances_.tolist() == [1.0]
    assert not model.estimator_weights_.any()
    np.testing.assert_array_equal(
        model.feature_importances_, model.estimators_[0].feature_importances_
    )


@pytest.mark.parametrize("estimator", [AdaBoostClassifier, vtree.BaggingRegressor])
def test_errors_of_parameters_are_ours(estimator: Any) -> None:
    with pytest.raises(InputError, match="'n_estimators' parameter"):
        estimator(n_estimators=0).fit([[0.0], [1.0]], [0, 1])


@pytest.mark.parametrize("loss", ["linear", "square", "exponential"])
@pytest.mark.parametrize("criterion", ["squared_error", "absolute_error", "poisson"])
def test_a_whole_weight_is_that_many_rows_to_the_last_bit(loss: str, criterion: str) -> None:
    X, y = reals(60)
    tree = vtree.DecisionTreeRegressor(max_depth=2, criterion=criterion)
    model = AdaBoostRegressor(tree, n_estimators=12, loss=loss)
    _weighed_and_repeated(model, X, np.abs(y))


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("depth", [1, 3])
def test_so_it_is_of_classes(n_classes: int, depth: int) -> None:
    X, y = reals(60)
    labels = np.digitize(y, np.quantile(y, np.arange(1, n_classes) / n_classes))
    tree = DecisionTreeClassifier(max_depth=depth, max_features=2)
    _weighed_and_repeated(AdaBoostClassifier(tree, n_estimators=12, random_state=0), X, labels)


@pytest.mark.parametrize("times", [[3], [2, 4, 6], [1, 2, 3]])
def test_so_are_weights_of_a_common_factor(times: list[int]) -> None:
    X, y = reals(60)
    _weighed_and_repeated(AdaBoostRegressor(n_estimators=5), X, y, np.tile(times, 60 // len(times)))


def _weighed_and_repeated(model: Any, X: Any, y: Any, times: Any = None) -> None:
    if times is None:
        times = np.arange(y.size) % 3 + 1
    weighed = clone(model).fit(X, y, times / 4 if times.max() > times.min() == 1 else times)
    repeated = clone(model).fit(X.repeat(times, axis=0), y.repeat(times))
    assert len(weighed.estimators_) > 2
    np.testing.assert_array_equal(weighed.estimator_errors_, repeated.estimator_errors_)
    np.testing.assert_array_equal(weighed.estimator_weights_, repeated.estimator_weights_)
    for name in ("feature", "threshold", "value"):
        np.testing.assert_array_equal(getattr(weighed.grown_, name), getattr(repeated.grown_, name))
    np.testing.assert_array_equal(weighed.predict(X), repeated.predict(X))


def test_names_of_a_table_before_are_forgotten() -> None:
    model = AdaBoostRegressor(n_estimators=1).fit({"a": [1.0, 2.0], "b": [0.0, 0.0]}, [1, 2])
    model.fit([[1.0], [2.0]], [1, 2])
    assert model.n_features_in_ == 1 and not hasattr(model, "feature_names_in_")


LEARNERS: dict[str, tuple[Any, Any]] = {
    "stumps": (AdaBoostClassifier, None),
    "C4.5": (AdaBoostClassifier, C45Classifier()),
    "others": (AdaBoostClassifier, LogisticRegression()),
    "numbers": (AdaBoostRegressor, None),
    "CHAID of numbers": (AdaBoostRegressor, CHAIDRegressor()),
}


@pytest.mark.parametrize("n_classes", [1, 2, 3])
@pytest.mark.parametrize("name", LEARNERS)
def test_answers_are_arrays_of_the_callers_library(name: str, n_classes: int) -> None:
    torch = pytest.importorskip("torch", reason="PyTorch is not installed")
    kind, learner = LEARNERS[name]
    X = classes(90)[0]
    sums = X[:, 0] + X[:, 1] ** 2
    y: Any = sums
    if kind is AdaBoostClassifier:
        y = np.searchsorted(np.quantile(sums, [0.3, 0.7][: n_classes - 1]), sums)
    if name == "others" and n_classes == 1:
        pytest.skip("logistic regression takes two classes or more")
    model = kind(learner, n_estimators=4, random_state=0).fit(X, y)
    methods = ["predict", "predict_proba", "predict_log_proba", "decision_function"]
    methods += [f"staged_{each}" for each in methods if each != "predict_log_proba"]
    for method in (each for each in methods if hasattr(model, each)):
        for rows in (X, torch.asarray(X)):
            answers = getattr(model, method)(rows)
            found = list(answers) if method.startswith("staged") else [answers]
            assert found and {type(each) for each in found} == {type(rows)}
        plain = getattr(model, method)(X)
        expected = list(plain) if method.startswith("staged") else [plain]
        for own, other in zip(found, expected, strict=True):
            np.testing.assert_array_equal(own.numpy(), other)
    words = AdaBoostClassifier(n_estimators=2).fit(X, np.where(X[:, 0] > 0, "up", "down"))
    assert isinstance(words.predict(torch.asarray(X)), np.ndarray)


def test_shares_are_scikit_learns_of_the_votes() -> None:
    X = classes(90)[0]
    model = AdaBoostClassifier(n_estimators=5).fit(X, np.arange(90) % 3)
    votes = np.exp(model.decision_function(X) / 2.0)
    shares = votes / votes.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(model.predict_proba(X), shares, rtol=1e-12)
    np.testing.assert_allclose(model.predict_log_proba(X), np.log(shares), rtol=1e-12, atol=1e-15)

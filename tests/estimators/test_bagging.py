"""Bagging over our trees: the default learner, any other, samples and scores."""

import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
import sklearn.ensemble
from sklearn.linear_model import LinearRegression
from sklearn.metrics import mean_absolute_error
from sklearn.neighbors import KNeighborsClassifier

import vtree
from tests.conftest import NAMESPACES
from tests.samples import classes, columns, reals
from vtree import (
    BaggingClassifier,
    BaggingRegressor,
    C45Classifier,
    CHAIDClassifier,
    DecisionTreeClassifier,
    DecisionTreeRegressor,
)
from vtree.ensembles import forest as forests
from vtree.errors import InputError
from vtree.estimators import bagged_trees, base
from vtree.estimators.base import thread_count


@pytest.mark.parametrize("bagging", [BaggingClassifier, BaggingRegressor])
def test_the_default_learner_is_a_whole_tree_of_ours(bagging: Any) -> None:
    X, y = reals() if bagging is BaggingRegressor else classes()
    model = bagging(n_estimators=40, oob_score=True, random_state=0).fit(X, y)
    assert all(type(tree).__module__.startswith("vtree.") for tree in model.estimators_)
    assert model.oob_score_ > 0.5
    for tree, rows in zip(model.estimators_, model.estimators_samples_, strict=True):
        distinct, times = np.unique(rows, return_counts=True)
        alone = type(tree)(random_state=tree.random_state).fit(X[distinct], y[distinct], times)
        # The table is read once: codes, and what real targets are measured from, are of all rows.
        for field in ("feature", "threshold", "first_child", "n_rows", "weight"):
            own, expected = getattr(tree.grown_, field), getattr(alone.grown_, field)
            np.testing.assert_array_equal(own, expected, err_msg=field)
        np.testing.assert_allclose(tree.grown_.value, alone.grown_.value, rtol=1e-12, atol=1e-12)


LEARNERS = {
    "ours": None,
    "drawn features": DecisionTreeClassifier(max_features=1, max_leaf_nodes=9),
    "C4.5": C45Classifier(),
    "CHAID": CHAIDClassifier(alpha_split=0.3),
}


@pytest.mark.parametrize("name", LEARNERS)
@pytest.mark.parametrize("max_features", [1.0, 2])
def test_tables_of_any_kind_with_categories_and_gaps(name: str, max_features: Any) -> None:
    table, y = columns()
    setting: dict[str, Any] = {"n_estimators": 25, "max_features": max_features, "random_state": 0}
    models = [
        BaggingClassifier(LEARNERS[name], oob_score=True, **setting).fit(frame, y)
        for frame in (pd.DataFrame(table), pl.DataFrame(table), table)
    ]
    shares = models[0].predict_proba(pd.DataFrame(table))
    assert models[0].score(pd.DataFrame(table), y) > 0.6
    for model, frame in zip(models[1:], (pl.DataFrame(table), table), strict=True):
        np.testing.assert_array_equal(model.predict_proba(frame), shares)
        assert vtree.digest(model) == vtree.digest(models[0])
        assert model.oob_score_ == models[0].oob_score_
    with pytest.raises(InputError, match="feature names"):
        models[0].predict(pd.DataFrame(table).rename(columns={"size": "length"}))


@pytest.mark.parametrize("bagging", [BaggingClassifier, BaggingRegressor])
def test_one_model_on_every_backend_at_any_number_of_threads_in_any_batches(
    bagging: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    X, y = reals(100) if bagging is BaggingRegressor else classes(100)
    X = np.round(X, 1)
    kind = DecisionTreeRegressor if bagging is BaggingRegressor else DecisionTreeClassifier
    weight = np.arange(100.0) % 3

    def digest(values: Any, n_jobs: int = 1) -> str:
        learner = kind(max_features=2, n_jobs=n_jobs)
        model = bagging(learner, n_estimators=5, random_state=3).fit(values, y, weight)
        found: str = vtree.digest(model)
        return found

    expected = digest(X)
    assert digest(X, 4) == expected
    for make in NAMESPACES.values():
        with vtree.kernels("reference"):
            assert digest(make().asarray(X)) == expected
    monkeypatch.setattr(forests, "_MOST_ROWS", 120)
    assert digest(X) == expected


@pytest.mark.parametrize("bagging", [BaggingClassifier, BaggingRegressor])
def test_trees_grown_together_answer_as_one_by_one(bagging: Any) -> None:
    X, y = reals() if bagging is BaggingRegressor else classes()
    model = bagging(n_estimators=6, random_state=0).fit(X, y)
    method = "predict" if bagging is BaggingRegressor else "predict_proba"
    mean = np.mean([getattr(tree, method)(X) for tree in model.estimators_], axis=0)
    np.testing.assert_allclose(getattr(model, method)(X), mean, rtol=1e-13)
    with np.errstate(divide="ignore"):
        if method == "predict_proba":
            np.testing.assert_array_equal(
                model.predict_log_proba(X), np.log(model.predict_proba(X))
            )


@pytest.mark.parametrize("bootstrap", [True, False])
def test_samples_and_features_are_those_of_scikit_learn(bootstrap: bool) -> None:
    X, y = classes()
    setting: dict[str, Any] = {
        "n_estimators": 4,
        "max_samples": 0.4,
        "max_features": 0.5,
        "bootstrap": bootstrap,
        "random_state": 5,
    }
    ours = BaggingClassifier(**setting).fit(X, y)
    theirs = sklearn.ensemble.BaggingClassifier(**setting).fit(X, y)
    np.testing.assert_array_equal(ours.estimators_samples_, theirs.estimators_samples_)
    np.testing.assert_array_equal(ours.estimators_features_, theirs.estimators_features_)
    for tree, features in zip(ours.estimators_, ours.estimators_features_, strict=True):
        assert tree.predict(X[:, features]).shape == (200,)


def test_steps_of_warm_start_are_one_fit() -> None:
    X, y = classes()
    once = BaggingClassifier(n_estimators=6, random_state=5).fit(X, y)
    steps = BaggingClassifier(n_estimators=1, random_state=5, warm_start=True).fit(X, y)
    for count in (3, 6):
        steps.set_params(n_estimators=count).fit(X, y)
    assert vtree.digest(steps) == vtree.digest(once)
    with pytest.raises(InputError, match="n_estimators=2 must be larger or equal to"):
        steps.set_params(n_estimators=2).fit(X, y)


def test_rows_without_weight_are_never_drawn() -> None:
    X, y = reals()
    weight = np.ones(200)
    weight[50:] = 0.0
    with pytest.warns(UserWarning, match="recommended to use bootstrap=True"):
        model = BaggingRegressor(bootstrap=False, n_estimators=3).fit(X, y, weight)
    for rows in model.estimators_samples_:
        np.testing.assert_array_equal(np.sort(rows), np.arange(50))


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"max_samples": 0}, "max_samples"),
        ({"max_samples": 300, "bootstrap": False}, "max_samples=300 must be <= n_samples"),
        ({"max_features": 5}, "max_features must be <= n_features"),
        ({"bootstrap": False, "oob_score": True}, "Out of bag estimation only available"),
        ({"warm_start": True, "oob_score": True}, "Out of bag estimate only available"),
        ({"n_estimators": 0}, "n_estimators"),
        ({"n_jobs": 0}, "n_jobs"),
        ({"max_samples": True}, "'max_samples' parameter"),
        ({"max_features": True}, "'max_features' parameter"),
    ],
)
def test_contradictions_are_named(parameters: dict[str, Any], message: str) -> None:
    model = BaggingClassifier(**parameters)
    with pytest.raises(ValueError, match=message):
        model.fit(*classes())
    assert not hasattr(model, "estimators_")


def test_any_classifier_may_be_bagged() -> None:
    X, y = classes()
    trees = DecisionTreeClassifier(max_depth=2), vtree.RuleListClassifier()
    for learner in (KNeighborsClassifier(), *trees):
        model = BaggingClassifier(learner, n_estimators=5, random_state=0).fit(X, y)
        assert type(model.estimators_[0]) is type(learner)
        assert model.score(X, y) > 0.7


def test_bagging_lowers_the_error_of_one_tree() -> None:
    X, y = classes(600)
    alone = DecisionTreeClassifier().fit(X[:300], y[:300]).score(X[300:], y[300:])
    model = BaggingClassifier(n_estimators=30, random_state=0).fit(X[:300], y[:300])
    assert model.score(X[300:], y[300:]) >= alone


def test_rows_in_every_sample_have_no_out_of_bag_answer() -> None:
    X = np.random.default_rng(0).normal(size=(60, 4))
    y = X[:, 0] + 1000.0
    model = BaggingRegressor(n_estimators=2, oob_score=True, random_state=0)
    with pytest.warns(UserWarning, match="OOB"):
        model.fit(X, y)
    known = ~np.isnan(model.oob_prediction_)
    assert not known.all()
    assert (model.oob_prediction_[known] > 900.0).all()
    assert model.oob_score_ > 0.5


@pytest.mark.parametrize(
    ("bagging", "learner", "kind"),
    [
        (BaggingClassifier, DecisionTreeRegressor(), "classifier"),
        (BaggingClassifier, LinearRegression(), "classifier"),
        (BaggingRegressor, C45Classifier(), "regressor"),
    ],
)
def test_learners_of_the_other_kind_are_refused(bagging: Any, learner: Any, kind: str) -> None:
    with pytest.raises(InputError, match=f"'estimator' parameter .* must be a {kind}"):
        bagging(learner).fit(*classes(40))


@pytest.mark.parametrize("learner", [None, C45Classifier(), DecisionTreeClassifier(n_jobs=4)])
def test_the_threads_are_the_bags_own(learner: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[Any] = []

    def counted(n_jobs: int | None) -> int | None:
        asked.append(n_jobs)
        return thread_count(n_jobs)

    for module in (bagged_trees, base):
        monkeypatch.setattr(module, "thread_count", counted)
    X, y = classes(60)
    model = BaggingClassifier(learner, n_estimators=3, n_jobs=2, random_state=0).fit(X, y)
    model.predict(X)
    assert len(asked) > 1 and set(asked) == {2}
    asked.clear()
    BaggingClassifier(DecisionTreeClassifier(n_jobs=3), n_estimators=3).fit(X, y).predict(X)
    assert set(asked) == {3}


@pytest.mark.parametrize("learner", LEARNERS.values(), ids=LEARNERS)
def test_majority_votes(learner: Any) -> None:
    table, y = columns()
    frame = pd.DataFrame(table)
    setting: dict[str, Any] = {"n_estimators": 9, "random_state": 0}
    soft = BaggingClassifier(learner, **setting).fit(frame, y)
    hard = BaggingClassifier(learner, voting="hard", oob_score=True, **setting)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of rows that all samples hold
        hard.fit(frame, y)
    assert vtree.digest(hard) == vtree.digest(soft)
    each = [member.predict(frame).astype(int) for member in hard.estimators_]
    votes = np.stack(each)[:, :, None] == np.arange(hard.n_classes_)
    np.testing.assert_allclose(hard.predict_proba(frame), votes.mean(axis=0), rtol=1e-15)
    first_most = np.argmax(votes.sum(axis=0), axis=1)
    np.testing.assert_array_equal(hard.predict(frame), hard.classes_[first_most])
    left_out = np.stack([np.bincount(r, minlength=len(y)) == 0 for r in hard.estimators_samples_])
    with np.errstate(invalid="ignore"):
        expected = (votes & left_out[:, :, None]).sum(axis=0) / left_out.sum(axis=0)[:, None]
    np.testing.assert_allclose(hard.oob_decision_function_, expected, rtol=1e-15)
    with pytest.raises(InputError, match="voting"):
        BaggingClassifier(voting="loud").fit(frame, y)


def test_majority_votes_of_other_learners() -> None:
    X, y = classes(100)
    learner = KNeighborsClassifier(3)
    model = BaggingClassifier(learner, n_estimators=20, voting="hard", oob_score=True)
    model.set_params(random_state=0).fit(X, y)
    every = zip(model.estimators_, model.estimators_features_, strict=True)
    votes = np.stack([member.predict(X[:, own]) for member, own in every])
    shares = (votes[:, :, None] == np.arange(3)).mean(axis=0)
    np.testing.assert_allclose(model.predict_proba(X), shares)
    np.testing.assert_array_equal(
        model.predict(X), model.classes_[model.predict_proba(X).argmax(1)]
    )
    np.testing.assert_allclose(model.oob_decision_function_.sum(axis=1), 1.0)
    answers = model.classes_[model.oob_decision_function_.argmax(axis=1)]
    assert model.oob_score_ == (answers == y).mean() > 0.5
    soft: dict[str, Any] = {"n_estimators": 20, "oob_score": True, "random_state": 0}
    learner = KNeighborsClassifier(1)  # whose shares are whole, so that ties are ties
    ours = BaggingClassifier(learner, **soft).fit(X, y)
    theirs = sklearn.ensemble.BaggingClassifier(learner, **soft).fit(X, y)
    np.testing.assert_allclose(ours.oob_decision_function_, theirs.oob_decision_function_)
    assert ours.oob_score_ == theirs.oob_score_


@pytest.mark.parametrize("learner", [None, C45Classifier(), KNeighborsClassifier()])
def test_samples_of_warm_started_bags(learner: Any, tmp_path: Path) -> None:
    X, y = classes()
    once = BaggingClassifier(learner, n_estimators=10, random_state=5).fit(X, y)
    steps = BaggingClassifier(learner, n_estimators=7, random_state=5, warm_start=True).fit(X, y)
    for count in (9, 10, 10):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of nothing to do
            steps.set_params(n_estimators=count).fit(X, y)
    np.testing.assert_array_equal(steps.estimators_samples_, once.estimators_samples_)
    if isinstance(learner, KNeighborsClassifier):
        return
    vtree.save(steps, tmp_path / "bag.vtree")
    again = vtree.load(tmp_path / "bag.vtree")
    np.testing.assert_array_equal(again.estimators_samples_, once.estimators_samples_)
    again.set_params(n_estimators=12).fit(X, y)
    more = BaggingClassifier(learner, n_estimators=12, random_state=5).fit(X, y)
    np.testing.assert_array_equal(again.estimators_samples_, more.estimators_samples_)
    np.testing.assert_array_equal(again.predict_proba(X), more.predict_proba(X))


def test_weights_and_priors_of_classes_by_their_names(tmp_path: Path) -> None:
    X, y = classes()
    words = np.array(["no", "yes", "maybe"])[y.astype(int)]
    weight = {"maybe": 1.0, "no": 2.0, "yes": 7.0}
    model = BaggingClassifier(DecisionTreeClassifier(class_weight=weight), random_state=0)
    model.fit(X, words)
    number = DecisionTreeClassifier(class_weight={0: 1.0, 1: 2.0, 2: 7.0})
    codes = np.unique(words, return_inverse=True)[1]
    expected = BaggingClassifier(number, random_state=0).fit(X, codes)
    assert vtree.digest(model) == vtree.digest(expected)
    # Numbers, too, are names: here of other classes than their places.
    shifted = DecisionTreeClassifier(class_weight={1: 1.0, 2: 2.0, 3: 7.0})
    other = BaggingClassifier(shifted, random_state=0).fit(X, codes + 1)
    assert vtree.digest(other) == vtree.digest(expected)
    vtree.save(model, tmp_path / "bag.vtree")
    again = vtree.load(tmp_path / "bag.vtree")
    np.testing.assert_array_equal(again.predict_proba(X), model.predict_proba(X))
    priors = {"maybe": 0.5, "no": 0.25, "yes": 0.25}
    model = BaggingClassifier(DecisionTreeClassifier(priors=priors), random_state=0).fit(X, words)
    number = DecisionTreeClassifier(priors=[0.5, 0.25, 0.25])
    expected = BaggingClassifier(number, random_state=0).fit(X, codes)
    assert vtree.digest(model) == vtree.digest(expected)
    forest = vtree.RandomForestClassifier(2, class_weight=weight)
    whole = BaggingClassifier(forest, n_estimators=2, random_state=0).fit(X, words)
    forest = vtree.RandomForestClassifier(2, class_weight={0: 1.0, 1: 2.0, 2: 7.0})
    same = BaggingClassifier(forest, n_estimators=2, random_state=0).fit(X, codes)
    np.testing.assert_array_equal(whole.predict_proba(X), same.predict_proba(X))
    with pytest.raises(InputError, match="class_weight"):
        BaggingClassifier(DecisionTreeClassifier(class_weight={"never": 1.0})).fit(X, words)


@pytest.mark.parametrize("learner", [None, KNeighborsClassifier()])
def test_out_of_bag_scores_of_ones_own(learner: Any) -> None:
    X, y = classes()
    words = np.array(["no", "yes", "yes"])[y.astype(int)]
    seen: list[Any] = []

    def share(truth: Any, answers: Any) -> float:
        seen.append((truth, answers))
        return float(np.mean(truth == answers))

    setting: dict[str, Any] = {"n_estimators": 30, "random_state": 0}
    model = BaggingClassifier(learner, oob_score=share, **setting).fit(X, words)
    plain = BaggingClassifier(learner, oob_score=True, **setting).fit(X, words)
    assert model.oob_score_ == plain.oob_score_
    assert set(seen[0][0]) | set(seen[0][1]) == {"no", "yes"}
    of_numbers = BaggingRegressor(oob_score=mean_absolute_error, **setting).fit(X, y)
    errors = np.abs(of_numbers.oob_prediction_ - y)
    assert of_numbers.oob_score_ == pytest.approx(np.nanmean(errors))


@pytest.mark.parametrize("max_features", [1.0, 2])
@pytest.mark.parametrize("learner", [None, C45Classifier()])
def test_other_numbers_of_columns_are_told_of_the_bag(learner: Any, max_features: Any) -> None:
    X, y = classes(60)
    model = BaggingClassifier(learner, n_estimators=3, max_features=max_features).fit(X, y)
    for table in (X[:, :2], np.hstack([X, X])):
        with pytest.raises(InputError, match=r"X has \d features, but BaggingClassifier is expect"):
            model.predict(table)

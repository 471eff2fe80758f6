"""Isolation forests beside scikit-learn's: draws, scores, weights, and one model everywhere."""

import inspect
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import sklearn.ensemble
from sklearn.metrics import roc_auc_score

import vtree
from tests.conftest import NAMESPACES
from tests.estimator_checks import failed_checks
from vtree import IsolationForest
from vtree.ensembles import forest as forests
from vtree.errors import InputError

DRAW = np.random.default_rng(0)
X = np.concatenate([DRAW.normal(size=(280, 3)), DRAW.normal(4.0, 3.0, size=(20, 3))])


def test_parameters_and_defaults_are_those_of_scikit_learn() -> None:
    theirs = inspect.signature(sklearn.ensemble.IsolationForest).parameters
    ours = inspect.signature(IsolationForest).parameters
    assert {name: each.default for name, each in theirs.items()}.items() <= {
        name: each.default for name, each in ours.items()
    }.items()


@pytest.mark.parametrize(
    "parameters", [{}, {"max_samples": 0.3, "max_features": 2}, {"bootstrap": True}]
)
@pytest.mark.parametrize("weighted", [False, True])
def test_rows_and_features_are_those_that_scikit_learn_draws(
    parameters: dict[str, Any], weighted: bool
) -> None:
    weight = np.linspace(0.1, 1.0, len(X)) if weighted else None
    own = {"n_estimators": 5, "random_state": 3, **parameters}
    ours = IsolationForest(**own).fit(X, sample_weight=weight)
    theirs = sklearn.ensemble.IsolationForest(**own).fit(X, sample_weight=weight)
    assert ours.max_samples_ == theirs.max_samples_
    np.testing.assert_array_equal(ours.estimators_samples_, theirs.estimators_samples_)
    np.testing.assert_array_equal(ours.estimators_features_, theirs.estimators_features_)
    for tree, rows in zip(ours.estimators_, ours.estimators_samples_, strict=True):
        assert tree.grown_.n_rows[0] == np.unique(rows).size


def test_scores_are_distributed_as_scikit_learns() -> None:
    ours, theirs = (
        np.stack(
            [
                home.IsolationForest(
                    n_estimators=10, max_samples=64, max_features=2, random_state=seed
                )
                .fit(X)
                .score_samples(X)
                for seed in range(40)
            ]
        )
        for home in (vtree, sklearn.ensemble)
    )
    # Forests of one seed have the same rows and features, so that they differ by their cuts alone;
    # the scores of one forest's rows go together, so that a forest counts once.
    apart = (ours - theirs).mean(axis=1)
    assert abs(apart.mean()) < 3.0 * apart.std() / np.sqrt(40)
    row_error = np.sqrt((ours.var(axis=0) + theirs.var(axis=0)) / 40)
    z = (ours.mean(axis=0) - theirs.mean(axis=0)) / row_error
    assert 0.5 < z.std() < 1.5 and abs(z).max() < 4.5
    assert ours.std(axis=0).mean() == pytest.approx(theirs.std(axis=0).mean(), rel=0.15)
    truth = np.arange(len(X)) >= 280
    auc = [np.mean([roc_auc_score(truth, -each) for each in own]) for own in (ours, theirs)]
    assert auc[0] == pytest.approx(auc[1], abs=0.01)


SETTINGS: dict[str, dict[str, Any]] = {
    "plain": {},
    "some features": {"max_features": 2, "contamination": 0.1},
    "with replacement": {"bootstrap": True, "max_samples": 40},
}


@pytest.mark.parametrize("name", SETTINGS)
def test_one_model_on_every_backend_and_in_any_batches(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = np.round(X, 1)
    table[::7, 1] = np.nan
    own = {"n_estimators": 6, "random_state": 1, **SETTINGS[name]}
    model = IsolationForest(**own).fit(table)
    expected = vtree.digest(model), model.offset_
    assert (model.grown_.missing_child[model.grown_.feature == 1] == 0).any(), "one side only"
    for n_jobs in (2, 4):
        other = IsolationForest(**own, n_jobs=n_jobs).fit(table)
        assert (vtree.digest(other), other.offset_) == expected
    for make in NAMESPACES.values():
        with vtree.kernels("reference"):
            other = IsolationForest(**own).fit(make().asarray(table))
        assert (vtree.digest(other), other.offset_) == expected
    monkeypatch.setattr(forests, "_MOST_ROWS", 300)
    assert vtree.digest(IsolationForest(**own).fit(table)) == expected[0]


def test_three_steps_of_warm_start_are_one_fit_and_keep_their_trees() -> None:
    once = IsolationForest(n_estimators=9, random_state=5, contamination=0.1).fit(X)
    steps = IsolationForest(n_estimators=2, random_state=5, contamination=0.1, warm_start=True)
    first = steps.fit(X).estimators_[0]
    for count in (4, 9):
        steps.set_params(n_estimators=count).fit(X)
    assert steps.estimators_[0] is first
    assert vtree.digest(steps) == vtree.digest(once)
    assert steps.offset_ == once.offset_


def test_a_share_of_the_rows_is_called_outliers() -> None:
    model = IsolationForest(contamination=0.1, random_state=0).fit(X)
    assert (model.predict(X) == -1).sum() == 30
    np.testing.assert_array_equal(
        model.decision_function(X), model.score_samples(X) - model.offset_
    )
    np.testing.assert_array_equal(model.predict(X) == -1, model.decision_function(X) < 0)
    assert IsolationForest(random_state=0).fit(X).offset_ == -0.5


def test_frames_with_categories_and_gaps() -> None:
    frame = pd.DataFrame({"size": X[:, 0], "colour": np.where(np.arange(300) % 3, "red", "blue")})
    frame.loc[299, "colour"] = "mauve"
    frame.loc[10:20, "size"] = np.nan
    model = IsolationForest(random_state=0).fit(frame)
    score = model.score_samples(frame)
    assert np.isfinite(score).all()
    # A level that one row has is split off sooner than one that a third of them have.
    assert score[299] < score[:280].min()
    with pytest.raises(InputError, match="feature names"):
        model.predict(frame.rename(columns={"size": "length"}))


def test_rows_of_weight_zero_are_never_drawn() -> None:
    weight = np.zeros(len(X))
    weight[:50] = 1.0
    model = IsolationForest(n_estimators=10, random_state=0).fit(X, sample_weight=weight)
    assert model.max_samples_ == 50
    assert max(rows.max() for rows in model.estimators_samples_) < 50


def test_saved_and_pickled_models_answer_alike(tmp_path: Path) -> None:
    model = IsolationForest(n_estimators=7, max_features=2, contamination=0.2, random_state=0)
    model.fit(X, sample_weight=np.linspace(0.1, 1, len(X)))
    vtree.save(model, tmp_path / "model.vtree")
    for twin in (vtree.load(tmp_path / "model.vtree"), pickle.loads(pickle.dumps(model))):
        np.testing.assert_array_equal(twin.decision_function(X), model.decision_function(X))
        np.testing.assert_array_equal(twin.estimators_samples_, model.estimators_samples_)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"max_samples": 0}, "max_samples"),
        ({"max_samples": 1.5}, "max_samples"),
        ({"max_samples": True}, "'max_samples' .* Got True"),
        ({"max_features": True}, "'max_features' .* Got True"),
        ({"max_features": 4}, "max_features=4 must be <= n_features"),
        ({"contamination": 0.6}, "contamination"),
        ({"n_estimators": 0}, "n_estimators"),
    ],
)
def test_what_cannot_be_used_is_named(parameters: dict[str, Any], message: str) -> None:
    model = IsolationForest(**parameters)
    with pytest.raises(InputError, match=message):
        model.fit(X)
    assert not hasattr(model, "grown_")


def test_splits_at_random_tell_no_importances() -> None:
    model = IsolationForest(n_estimators=3, random_state=0).fit(X)
    assert not hasattr(model, "feature_importances_")
    with pytest.raises(AttributeError, match="drawn at random"):
        _ = model.feature_importances_


def test_scikit_learns_checks() -> None:
    # Rows are drawn, so that a weight of two is not two rows.
    excused = {f"check_sample_weight_equivalence_on_{kind}_data" for kind in ("dense", "sparse")}
    assert failed_checks(IsolationForest(n_estimators=3)).keys() <= excused

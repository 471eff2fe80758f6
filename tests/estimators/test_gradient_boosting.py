"""Friedman's machine: scikit-learn's losses round by round."""

import json
from typing import Any

import numpy as np
import pytest
from sklearn import ensemble
from sklearn.datasets import load_breast_cancer, load_diabetes
from sklearn.metrics import roc_auc_score
from sklearn.utils.estimator_checks import parametrize_with_checks

from tests.golden_tables import GOLDEN, numbers
from tests.samples import classes, reals
from vtree import GradientBoostingClassifier, GradientBoostingRegressor, digest, kernels
from vtree.errors import InputError

ORACLE = json.loads((GOLDEN / "boosting.json").read_text())
X, Y = reals()
LABELS = classes()[1]
ESTIMATORS = {"diabetes": GradientBoostingRegressor, "breast_cancer": GradientBoostingClassifier}


@parametrize_with_checks(  # type: ignore[untyped-decorator]
    [GradientBoostingClassifier(n_estimators=5), GradientBoostingRegressor(n_estimators=5)]
)
def test_scikit_learns_checks(estimator: Any, check: Any) -> None:
    check(estimator)


@pytest.mark.parametrize("name", ESTIMATORS)
def test_losses_of_scikit_learn_round_by_round(name: str) -> None:
    table, y = numbers(name)
    keep = np.arange(len(y)) % 3 != 2
    model = ESTIMATORS[name](n_estimators=20, max_bins=None).fit(table[keep], y[keep])
    expected = ORACLE[f"sklearn {name}"]
    np.testing.assert_allclose(model.train_score_, expected["train_score"], rtol=1e-9)
    if name == "diabetes":
        assert model.start_[0] == pytest.approx(expected["init"], rel=1e-12)
        tree = model.grown_
        assert (tree.feature[0], tree.threshold[0]) == (2, pytest.approx(26.35))
        children = tree.value[tree.first_child[0] + np.arange(2), 0] / 0.1
        np.testing.assert_allclose(children, [-37.176494469, 48.503707627], rtol=1e-9)


def test_losses_of_several_classes() -> None:
    theirs = ensemble.GradientBoostingClassifier(n_estimators=8, random_state=0).fit(X, LABELS)
    ours = GradientBoostingClassifier(n_estimators=8, max_bins=None).fit(X, LABELS)
    np.testing.assert_allclose(ours.train_score_, theirs.train_score_, rtol=1e-9)
    np.testing.assert_allclose(ours.predict_proba(X), theirs.predict_proba(X), rtol=1e-6)


def test_exponential_losses_of_scikit_learn() -> None:
    y = LABELS > 1
    how = {"n_estimators": 15, "loss": "exponential", "random_state": 0}
    theirs = ensemble.GradientBoostingClassifier(**how).fit(X, y)
    ours = GradientBoostingClassifier(max_bins=None, **how).fit(X, y)
    np.testing.assert_allclose(ours.train_score_, theirs.train_score_, rtol=1e-9)
    np.testing.assert_allclose(ours.predict_proba(X), theirs.predict_proba(X), rtol=1e-9)
    with pytest.raises(InputError, match="of two classes, and y holds 3"):
        GradientBoostingClassifier(loss="exponential").fit(X, LABELS)


@pytest.mark.parametrize("how", [{"init": "zero"}, {"ccp_alpha": 0.02}])
def test_losses_of_scikit_learn_from_zero_and_with_costs_of_leaves(how: dict[str, Any]) -> None:
    how = {"n_estimators": 8, "max_depth": 5, "random_state": 0, **how}
    times = np.random.default_rng(0).integers(1, 4, len(Y))
    for name, y, weight in (("Classifier", LABELS, None), ("Regressor", Y / Y.std(), times)):
        theirs = getattr(ensemble, f"GradientBoosting{name}")(**how).fit(X, y, weight)
        own: Any = GradientBoostingClassifier if name == "Classifier" else GradientBoostingRegressor
        ours = own(max_bins=None, **how).fit(X, y, weight)
        np.testing.assert_allclose(ours.train_score_, theirs.train_score_, rtol=1e-9)
        if "ccp_alpha" in how:
            leaves = sum(tree.get_n_leaves() for tree in theirs.estimators_.ravel())
            full = own(max_bins=None, **{**how, "ccp_alpha": 0.0}).fit(X, y, weight)
            assert ours.get_n_leaves() == leaves < full.get_n_leaves()
        else:
            assert (ours.start_ == 0.0).all()


@pytest.mark.parametrize("table", ["reals", "diabetes"])
@pytest.mark.parametrize("loss", ["squared_error", "absolute_error", "huber", "quantile"])
def test_losses_of_scikit_learn_with_weights(loss: str, table: str) -> None:
    X, y = reals() if table == "reals" else load_diabetes(return_X_y=True)
    # Of uneven weights no quantile is reached exactly, where scikit-learn takes the lower of two
    # values and not what is halfway, and no gains of signs tie, which it settles by chance.
    weight = np.random.default_rng(0).uniform(0.5, 1.5, len(y))
    theirs = ensemble.GradientBoostingRegressor(n_estimators=20, loss=loss, random_state=0)
    theirs.fit(X, y, weight)
    ours = GradientBoostingRegressor(n_estimators=20, loss=loss, max_bins=None).fit(X, y, weight)
    np.testing.assert_allclose(ours.train_score_, theirs.train_score_, rtol=1e-12)
    np.testing.assert_allclose(ours.predict(X), theirs.predict(X), rtol=1e-10)


@pytest.mark.parametrize("loss", ["absolute_error", "huber", "quantile"])
def test_losses_fall_without_weights(loss: str) -> None:
    model = GradientBoostingRegressor(n_estimators=20, loss=loss).fit(X, Y)
    assert (np.diff(model.train_score_) < 0.0).all()


SETTINGS: dict[str, tuple[Any, Any, dict[str, Any]]] = {
    "squares": (GradientBoostingRegressor, Y, {"subsample": 0.7, "random_state": 1}),
    "huber": (GradientBoostingRegressor, Y, {"loss": "huber"}),
    "quantile": (GradientBoostingRegressor, Y, {"loss": "quantile", "alpha": 0.3}),
    "quantiles": (GradientBoostingRegressor, Y, {"loss": "quantile", "alpha": [0.3, 0.8]}),
    "outputs": (
        GradientBoostingRegressor,
        np.stack([Y, np.sin(Y)], axis=1),
        {"loss": "huber", "subsample": 0.7, "random_state": 1},
    ),
    "leaves": (GradientBoostingRegressor, Y, {"max_leaf_nodes": 5, "min_samples_leaf": 0.05}),
    "two": (GradientBoostingClassifier, LABELS > 1, {"max_features": 2, "random_state": 2}),
    "exponential": (GradientBoostingClassifier, LABELS > 1, {"loss": "exponential"}),
    "three": (GradientBoostingClassifier, LABELS, {"min_impurity_decrease": 1e-3}),
}


@pytest.mark.parametrize("name", SETTINGS)
def test_one_model_everywhere(name: str) -> None:
    estimator, y, own = SETTINGS[name]
    model = estimator(n_estimators=4, **own).fit(X, y)
    assert digest(estimator(n_estimators=4, n_jobs=2, **own).fit(X, y)) == digest(model)
    with kernels("reference"):
        other = estimator(n_estimators=4, device="cpu", **own).fit(X, y)
    assert digest(other) == digest(model)
    np.testing.assert_array_equal(other.train_score_, model.train_score_)
    longer = estimator(n_estimators=2, warm_start=True, **own).fit(X, y)
    longer.set_params(n_estimators=4).fit(X, y)
    assert digest(longer) == digest(model)
    np.testing.assert_array_equal(longer.train_score_, model.train_score_)


def test_a_held_out_share_stops_it() -> None:
    table, y = load_breast_cancer(return_X_y=True)
    model = GradientBoostingClassifier(n_estimators=200, n_iter_no_change=5, random_state=0)
    model.fit(table, y)
    assert model.n_estimators_ < 190
    weight = np.ones(len(y))
    model.fit(table, y, weight)
    assert model.score(table, y) > 0.97
    explicit = GradientBoostingClassifier(n_estimators=200, n_iter_no_change=5)
    explicit.fit(table[::2], y[::2], eval_set=[(table[1::2], y[1::2])])
    assert explicit.n_estimators_ == explicit.best_iteration_ + 1 < 190


def test_importances_of_scikit_learn_and_by_cover_and_number() -> None:
    how = {"n_estimators": 8, "random_state": 0}
    for name, y in (("Regressor", Y), ("Classifier", LABELS)):
        theirs = getattr(ensemble, f"GradientBoosting{name}")(**how).fit(X, y)
        own: Any = GradientBoostingClassifier if name == "Classifier" else GradientBoostingRegressor
        ours = own(max_bins=None, **how).fit(X, y)
        np.testing.assert_allclose(
            ours.feature_importances_, theirs.feature_importances_, rtol=1e-6
        )
        tree = ours.grown_
        inner = np.flatnonzero(tree.first_child >= 0)
        for kind, each in (("cover", tree.weight[inner]), ("split", np.ones(inner.size))):
            ours = own(importance_type=kind, max_bins=None, **how).fit(X, y)
            whole = np.bincount(tree.feature[inner], each, 4)
            np.testing.assert_allclose(ours.feature_importances_, whole / whole.sum())
            assert digest(ours) == digest(tree)


@pytest.mark.parametrize("estimator", [GradientBoostingClassifier, GradientBoostingRegressor])
def test_what_its_docstring_says_of_evaluation_sets(estimator: Any) -> None:
    y = LABELS if estimator is GradientBoostingClassifier else Y
    model = estimator(n_estimators=2, n_iter_no_change=2).fit(X, y, eval_set=[(X, y)])
    for name in ("evals_result_", "best_iteration_", "best_score_"):
        assert hasattr(model, name)
        assert name in str(GradientBoostingRegressor.__doc__)


@pytest.mark.parametrize(
    ("own", "theirs", "ours"),
    [
        ({"loss": "absolute_error"}, (3.5, 3.35), (3.5, 3.5)),
        ({"loss": "quantile", "alpha": 0.5}, (3.5, 3.35), (3.5, 3.5)),
        ({"loss": "quantile", "alpha": 0.25}, (1.75, 1.675), (1.5, 1.5)),
        ({"loss": "huber"}, (3.5, 3.5375), (3.5, 3.575)),
    ],
)
def test_quantiles_between_two_values(
    own: dict[str, Any], theirs: tuple[float, float], ours: tuple[float, float]
) -> None:
    """What the README says: scikit-learn's start interpolates, its leaves take the lower value."""
    y, table = np.array([1.0, 2.0, 5.0, 9.0]), np.zeros((4, 1))
    peer = ensemble.GradientBoostingRegressor(n_estimators=1, **own).fit(table, y)
    found = peer.init_.predict(table)[0], peer.predict(table)[0]
    np.testing.assert_allclose(found, theirs, rtol=1e-12)
    model = GradientBoostingRegressor(n_estimators=1, **own).fit(table, y)
    np.testing.assert_allclose((model.start_[0], model.predict(table)[0]), ours, rtol=1e-12)


def test_any_metric_says_when_to_stop() -> None:
    table, y = load_breast_cancer(return_X_y=True)
    train, held = (table[::2], y[::2]), (table[1::2], y[1::2])
    how: dict[str, Any] = {"n_estimators": 60, "n_iter_no_change": 3, "max_depth": 2}
    by_loss = GradientBoostingClassifier(**how).fit(*train, eval_set=[held])
    model = GradientBoostingClassifier(eval_metric=["logloss", "error"], **how)
    told = model.fit(*train, eval_set=[held]).evals_result_["validation_0"]
    assert list(told) == ["logloss", "error"]
    assert model.best_score_ == min(told["error"]) == pytest.approx(1.0 - model.score(*held))
    assert model.n_estimators_ == model.best_iteration_ + 1 < by_loss.n_estimators_
    with pytest.raises(InputError, match="eval_metric='rmse' is not known here"):
        model.set_params(eval_metric="rmse").fit(*train, eval_set=[held])
    area = GradientBoostingClassifier(eval_metric=roc_auc_score, **how)
    assert area.fit(*train).n_estimators_ > area.best_iteration_ >= 0

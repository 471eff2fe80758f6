"""LightGBM's mechanism: its own numbers where the bins are the same."""

import json
from typing import Any

import numpy as np
import pytest
from sklearn.datasets import load_wine
from sklearn.utils.estimator_checks import parametrize_with_checks

from tests.golden_tables import GOLDEN, numbers
from tests.samples import classes, reals
from vtree import LeafwiseBoostingClassifier, LeafwiseBoostingRegressor, digest, kernels
from vtree.errors import InputError

ORACLE = json.loads((GOLDEN / "boosting.json").read_text())
X, Y = reals()
LABELS = classes()[1]


@parametrize_with_checks(  # type: ignore[untyped-decorator]
    [LeafwiseBoostingClassifier(n_estimators=5), LeafwiseBoostingRegressor(n_estimators=5)]
)
def test_scikit_learns_checks(estimator: Any, check: Any) -> None:
    check(estimator)


@pytest.mark.parametrize("name", [name for name in ORACLE if name.startswith("lightgbm")])
def test_predictions_of_lightgbm(name: str) -> None:
    oracle, kind = ORACLE[name], name.split()[1]
    table, y = load_wine(return_X_y=True) if kind == "wine" else numbers(kind)
    keep = np.arange(len(y)) % 3 != 2
    estimator = LeafwiseBoostingRegressor if kind == "diabetes" else LeafwiseBoostingClassifier
    model = estimator(n_estimators=10, max_bins=None, **oracle["params"])
    model.fit(table[keep], y[keep])
    if kind != "wine":
        assert model.grown_.gain[0] == pytest.approx(oracle["root_gain"], rel=2e-6)
    raw = model.predict if kind == "diabetes" else model.decision_function
    found = np.asarray(raw(table[keep])).reshape(len(oracle["train_raw"]), -1)
    np.testing.assert_allclose(found, oracle["train_raw"], rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize(
    ("weighs", "expected"),
    [
        (False, [-1.6546139, -1.4933565, -0.1637536, -0.3626535, -0.1637536, -1.4768307]),
        (True, [-1.5880306, -1.0406256, -0.1527661, -1.0406256, -0.1527661, -1.5769638]),
    ],
)
def test_weighed_classes_start_as_in_lightgbm(weighs: bool, expected: list[float]) -> None:
    """LightGBM 4.7.0: from the odds of the classes without `scale_pos_weight`."""
    i = np.arange(300)
    table = np.stack([i * 7 % 19, i * 11 % 23, i * 5 % 17], axis=1).astype(float)
    y = np.sin(table[:, 0]) + table[:, 1] / 9 + np.cos(table[:, 2] * i) > 2.2
    limits = {"num_leaves": 6, "min_child_samples": 1, "min_child_weight": 3.0}
    model = LeafwiseBoostingClassifier(n_estimators=5, scale_pos_weight=3.0, **limits)
    model.fit(table, y, 1.0 + i % 3 if weighs else None)
    np.testing.assert_allclose(model.decision_function(table)[:6], expected, atol=2e-7)


SETTINGS: dict[str, tuple[Any, Any, dict[str, Any]]] = {
    "squares": (LeafwiseBoostingRegressor, Y, {"num_leaves": 6}),
    "goss": (
        LeafwiseBoostingClassifier,
        LABELS,
        {"data_sample_strategy": "goss", "learning_rate": 0.5, "num_leaves": 6},
    ),
    "bagging": (
        LeafwiseBoostingRegressor,
        Y,
        {"subsample": 0.6, "subsample_freq": 2, "objective": "poisson", "learning_rate": 0.2},
    ),
    "extra trees": (LeafwiseBoostingClassifier, LABELS > 0, {"extra_trees": True}),
    "smooth, together": (
        LeafwiseBoostingRegressor,
        Y,
        {"path_smooth": 9.0, "interaction_constraints": [[0, 1], [1, 2, 3]]},
    ),
    "smooth": (
        LeafwiseBoostingClassifier,
        LABELS,
        {"path_smooth": 20.0, "categorical_features": [1], "num_leaves": 5},
    ),
    "outputs": (
        LeafwiseBoostingRegressor,
        np.stack([Y, np.sin(Y)], axis=1),
        {"data_sample_strategy": "goss", "learning_rate": 0.5, "num_leaves": 6},
    ),
    "smooth, monotone": (
        LeafwiseBoostingRegressor,
        Y,
        {"path_smooth": 9.0, "monotone_constraints": [1, -1, 0, 0]},
    ),
    "balanced": (LeafwiseBoostingClassifier, LABELS > 1, {"class_weight": "balanced"}),
}


@pytest.mark.parametrize("name", SETTINGS)
def test_one_model_everywhere(name: str) -> None:
    estimator, y, own = SETTINGS[name]
    setting = {"n_estimators": 4, "min_child_samples": 5, "random_state": 7, **own}
    model = estimator(**setting).fit(X, y)
    assert digest(estimator(n_jobs=2, **setting).fit(X, y)) == digest(model)
    with kernels("reference"):
        assert digest(estimator(device="cpu", **setting).fit(X, y)) == digest(model)
    longer = estimator(**{**setting, "n_estimators": 2}, warm_start=True).fit(X, y)
    assert digest(longer.set_params(n_estimators=4).fit(X, y)) == digest(model)
    assert model.score(X, y) > 0.3


def test_leaves_are_bounded_and_as_good_as_their_number_allows() -> None:
    for num_leaves in (2, 5, 12):
        model = LeafwiseBoostingRegressor(n_estimators=1, num_leaves=num_leaves)
        tree = model.fit(X, Y).grown_
        assert (tree.first_child < 0).sum() <= num_leaves
        assert tree.n_rows[tree.first_child < 0].min() >= 20


def test_parameters_that_contradict_each_other() -> None:
    with pytest.raises(InputError, match="their sum may be 1"):
        LeafwiseBoostingRegressor(data_sample_strategy="goss", top_rate=0.7, other_rate=0.5).fit(
            X, Y
        )
    with pytest.raises(InputError, match=r"^alpha=1.5 must be a level"):
        LeafwiseBoostingRegressor(objective="quantile", alpha=1.5).fit(X, Y)


def test_importances_by_number_and_gain() -> None:
    model = LeafwiseBoostingRegressor(n_estimators=3).fit(X, Y)
    inner = model.grown_.first_child >= 0
    count = np.bincount(model.grown_.feature[inner], minlength=4)
    np.testing.assert_allclose(model.feature_importances_, count / count.sum())
    model.importance_type = "gain"
    gain = np.bincount(model.grown_.feature[inner], model.grown_.gain[inner], 4)
    np.testing.assert_allclose(model.feature_importances_, gain / gain.sum())
    model = LeafwiseBoostingRegressor(n_estimators=3, importance_type="cover").fit(X, Y)
    cover = np.bincount(model.grown_.feature[inner], model.grown_.weight[inner], 4)
    np.testing.assert_allclose(model.feature_importances_, cover / cover.sum())


@pytest.mark.parametrize("verbose", [-1, -2, 0, False])
def test_lightgbms_way_to_be_silent(verbose: int, capsys: pytest.CaptureFixture[str]) -> None:
    for estimator, y in ((LeafwiseBoostingRegressor, Y), (LeafwiseBoostingClassifier, LABELS)):
        estimator(n_estimators=2, verbose=verbose).fit(X, y)
    assert capsys.readouterr() == ("", "")
    with pytest.raises(InputError, match="verbose"):
        LeafwiseBoostingRegressor(verbose=0.5).fit(X, Y)

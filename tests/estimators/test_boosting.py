"""What all boosting estimators share, seen through their parameters and files."""

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

import vtree
from tests.samples import classes, columns, reals
from vtree.ensembles import boosting
from vtree.errors import InputError, ModelFileError
from vtree.interop.model_file import read_model, write_model

X, Y = reals()
LABELS = np.array(["ant", "bee", "cow"])[classes()[1]]
NAMES = [name for name in vtree.__all__ if "Boosting" in name]


def _fitted(name: str, **own: Any) -> Any:
    y = LABELS if name.endswith("Classifier") else Y
    return getattr(vtree, name)(n_estimators=3, random_state=1, **own).fit(X, y)


@pytest.mark.parametrize("name", NAMES)
def test_models_come_back_from_files(name: str, tmp_path: Path) -> None:
    model = _fitted(name)
    vtree.save(model, tmp_path / "model.vtree")
    loaded = vtree.load(tmp_path / "model.vtree")
    assert vtree.digest(loaded) == vtree.digest(model)
    assert repr(loaded) == repr(model)
    np.testing.assert_array_equal(loaded.predict(X), model.predict(X))
    np.testing.assert_array_equal(loaded.feature_importances_, model.feature_importances_)
    y = LABELS if name.endswith("Classifier") else Y
    longer = loaded.set_params(n_estimators=5, warm_start=True).fit(X, y)
    assert vtree.digest(longer) == vtree.digest(clone(model).set_params(n_estimators=5).fit(X, y))


def test_files_that_do_not_fit_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "model.vtree"
    vtree.save(_fitted("NewtonBoostingClassifier"), path)
    header, tree, _ = read_model(path)
    for wrong in ({"start": [0.0], "seed": 1}, {"start": [0.0, 0.0, np.inf], "seed": 1}, {}):
        write_model(path, {**header, "own": wrong}, tree)
        with pytest.raises(ModelFileError):
            vtree.load(path)


@pytest.mark.parametrize("name", NAMES)
def test_frames_with_categories_gaps_and_names(name: str) -> None:
    table, y = columns()
    frame = pd.DataFrame(table)
    model = getattr(vtree, name)(n_estimators=20, learning_rate=0.3).fit(frame, y)
    assert list(model.feature_names_in_) == ["size", "colour", "is_new"]
    assert model.score(frame, y) > 0.5
    assert (model.grown_.kind == 1).any() or (model.grown_.feature >= 3).any()  # statistics
    assert model.feature_importances_.shape == (3,)
    with pytest.raises(InputError, match="feature names"):
        model.predict(frame[["colour", "size", "is_new"]])


def test_a_fit_that_fails_leaves_the_model_as_it_was() -> None:
    model = _fitted("NewtonBoostingRegressor")
    before = vtree.digest(model)
    with pytest.raises(InputError):
        model.fit(X, np.full(200, np.nan))
    assert vtree.digest(model) == before
    np.testing.assert_array_equal(list(model.staged_predict(X))[-1], model.predict(X))


def test_depth_and_leaves_are_of_all_trees() -> None:
    model = vtree.NewtonBoostingClassifier(n_estimators=3, max_depth=2).fit(X, LABELS)
    assert model.get_depth() == 2
    assert model.get_n_leaves() == sum(np.unique(own).size for own in model.apply(X).T)


@pytest.mark.parametrize("name", ["Gradient", "Newton", "Leafwise", "Ordered"])
def test_weights_next_to_nothing(name: str) -> None:
    X, y = reals(40)
    model = getattr(vtree, f"{name}BoostingRegressor")(n_estimators=2)
    with pytest.raises(InputError, match=r"sample_weight adds up to .*multiply all weights"):
        model.fit(X, y, np.full(40, 5e-324))
    assert np.isfinite(model.fit(X, y, np.full(40, 2.0**-890)).predict(X)).all()
    assert np.isfinite(model.fit(X, y * 2.0**-1000).predict(X)).all()


@pytest.mark.parametrize("name", ["Newton", "Leafwise", "Ordered"])
@pytest.mark.parametrize("size", [(1e300, 1e-300), (1e200, 1.0), (1e-10, 0.0)])
def test_steps_beyond_what_numbers_hold_are_an_error(name: str, size: tuple[float, float]) -> None:
    def objective(y: Any, raw: Any) -> Any:
        return np.where(y > 0.0, size[0], -size[0]), np.full(raw.shape, size[1])

    model = getattr(vtree, f"{name}BoostingRegressor")(n_estimators=2, objective=objective)
    if size[1] == 0.0:  # no second derivative: steps by the first ones alone
        assert np.isfinite(model.fit(X, Y).predict(X)).all()
        return
    with np.errstate(over="ignore"), pytest.raises(InputError, match="no longer finite"):
        model.fit(X, Y)
    assert not hasattr(model, "grown_")


@pytest.mark.parametrize("name", ["Newton", "Leafwise"])
@pytest.mark.parametrize("categorical", [None, [3]])
def test_gains_that_overflow_are_no_splits(name: str, categorical: Any) -> None:
    def objective(y: Any, raw: Any) -> Any:
        return raw - y, np.full(raw.shape, 1e-200)

    table = X.copy()
    table[:, 3] = np.arange(200) % 7
    model = getattr(vtree, f"{name}BoostingRegressor")(
        n_estimators=2, objective=objective, reg_lambda=10.0, categorical_features=categorical
    )
    compiled = vtree.digest(model.fit(table, Y))
    assert model.get_n_leaves() == 2
    with vtree.kernels("reference"):
        assert vtree.digest(model.fit(table, Y)) == compiled


_SEVERAL: dict[str, tuple[Any, Any]] = {
    "Gradient classes": (vtree.GradientBoostingClassifier(subsample=0.7), LABELS),
    "Newton classes": (vtree.NewtonBoostingClassifier(gamma=0.1), LABELS),
    "Newton quantiles": (
        vtree.NewtonBoostingRegressor(objective="quantile", quantile_alpha=[0.2, 0.5, 0.9]),
        Y,
    ),
    "Newton outputs": (vtree.NewtonBoostingRegressor(), np.stack([Y, -Y, Y * Y], axis=1)),
    "Leafwise classes": (vtree.LeafwiseBoostingClassifier(data_sample_strategy="goss"), LABELS),
}


@pytest.mark.parametrize("name", _SEVERAL)
def test_trees_of_a_round_are_the_same_in_one_frontier_and_in_several(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    model, y = _SEVERAL[name]
    model = clone(model).set_params(n_estimators=3, learning_rate=0.4, random_state=1)
    weight = np.arange(200) % 3 + 1.0
    together = vtree.digest(model.fit(X, y, weight))
    for rows in (400, 1):  # two trees and one, and one after another
        monkeypatch.setattr(boosting, "FRONTIER_ROWS", rows)
        assert vtree.digest(model.fit(X, y, weight)) == together

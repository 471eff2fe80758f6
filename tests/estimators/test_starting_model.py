import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn import ensemble
from sklearn.datasets import load_breast_cancer, load_diabetes, load_wine
from sklearn.neighbors import KNeighborsClassifier
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from vtree import (
    Bins,
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    digest,
    save,
)
from vtree.errors import InputError, InputTypeError

# Of classes that no leaf is pure of, whose log-odds would be nothing but rounding.
CLASSIFIER = DecisionTreeClassifier(max_depth=1, splitter="random", max_features=1, random_state=3)
REGRESSOR = DecisionTreeRegressor(min_samples_leaf=30, random_state=0)
TABLES: dict[str, tuple[Any, Any]] = {
    "two classes": (load_breast_cancer, CLASSIFIER),
    "three classes": (load_wine, CLASSIFIER),
    "numbers": (load_diabetes, REGRESSOR),
}


def _of(name: str) -> tuple[Any, Any, Any, Any]:
    """Return (X, y, uneven weights with zeros among them, init)."""
    load, init = TABLES[name]
    X, y = load(return_X_y=True)
    weight = np.random.default_rng(0).uniform(0.5, 1.5, y.size)
    weight[::7] = 0.0
    return X.astype(np.float32), y, weight, init


def _model(name: str, **how: Any) -> Any:
    if name == "numbers":
        return GradientBoostingRegressor(max_bins=None, **how)
    return GradientBoostingClassifier(max_bins=None, **how)


@pytest.mark.parametrize(
    ("name", "loss"),
    [
        *(("two classes", loss) for loss in ("log_loss", "exponential")),
        ("three classes", "log_loss"),
        *(("numbers", loss) for loss in ("squared_error", "absolute_error", "huber")),
    ],
)
def test_losses_of_scikit_learn_from_another_model(name: str, loss: str) -> None:
    X, y, weight, init = _of(name)
    how: dict[str, Any] = {"loss": loss, "n_estimators": 10, "init": init}
    kind = ensemble.GradientBoostingRegressor
    kind = kind if name == "numbers" else ensemble.GradientBoostingClassifier
    theirs = kind(random_state=0, **how).fit(X, y, weight)
    ours = _model(name, **how).fit(X, y, weight)
    np.testing.assert_allclose(ours.train_score_, theirs.train_score_, rtol=1e-9)
    ask = "predict" if name == "numbers" else "decision_function"
    counted = weight > 0.0
    found, expected = (getattr(each, ask)(X)[counted] for each in (ours, theirs))
    np.testing.assert_allclose(found, expected, rtol=1e-8, atol=1e-10)


def test_several_classes_start_where_scikit_learns_do() -> None:
    X, y, weight, _ = _of("three classes")
    theirs = ensemble.GradientBoostingClassifier(n_estimators=3).fit(X, y, weight)
    ours = _model("three classes", n_estimators=3).fit(X, y, weight)
    counted = weight > 0.0
    found, expected = (each.decision_function(X)[counted] for each in (ours, theirs))
    np.testing.assert_allclose(found, expected, rtol=1e-9)


@pytest.mark.parametrize("name", TABLES)
def test_stages_warm_start_evaluation_and_pickles(name: str) -> None:
    X, y, weight, init = _of(name)
    model = _model(name, n_estimators=6, init=init)
    model.fit(X, y, weight, eval_set=[(X, y)], sample_weight_eval_set=[weight])
    *_, last = model.staged_predict(X)
    np.testing.assert_array_equal(last, model.predict(X))
    (history,) = model.evals_result_["validation_0"].values()
    scores = np.asarray(history) * (1.0 if name == "three classes" else 2.0)
    np.testing.assert_allclose(scores, model.train_score_, rtol=1e-9)
    longer = _model(name, n_estimators=2, init=init, warm_start=True).fit(X, y, weight)
    longer.set_params(n_estimators=6).fit(X, y, weight)
    assert digest(longer) == digest(model)
    np.testing.assert_array_equal(longer.train_score_, model.train_score_)
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again.predict(X), model.predict(X))
    assert model.set_params(init=None).fit(X, y).init_ is None


def test_a_frame_goes_to_the_other_model_as_it_came() -> None:
    class Mean:
        """Answers by the mean of a group; no estimator of scikit-learn."""

        def fit(self, X: Any, y: Any) -> None:
            self.mean = {g: y[np.asarray(X["g"]) == g].mean() for g in set(X["g"])}

        def predict(self, X: Any) -> list[float]:
            return [self.mean[g] for g in X["g"]]

    table = {"g": ["a", "b"] * 20, "x": list(range(40))}
    y = np.asarray([5.0, -5.0] * 20)
    model = GradientBoostingRegressor(init=Mean(), n_estimators=3, n_iter_no_change=2)
    model.set_params(random_state=0).fit(table, y)
    np.testing.assert_array_equal(model.predict({"g": ["b", "a"], "x": [0, 0]}), [-5.0, 5.0])


class _Odd(DecisionTreeRegressor):
    def predict(self, X: Any, check_input: bool = True) -> Any:
        found = super().predict(X)
        return found[:-1] if self.max_depth == 1 else found * np.nan


def test_what_cannot_be_started_from(tmp_path: Path) -> None:
    X, y, weight, init = _of("three classes")
    neighbours = KNeighborsClassifier()
    with pytest.raises(InputTypeError, match=r"init=KNeighborsClassifier\(\) takes no sample_w"):
        GradientBoostingClassifier(init=neighbours).fit(X, y, weight)
    with pytest.raises(InputTypeError, match=r"X is vtree.Bins, but init=DecisionTreeClass"):
        GradientBoostingClassifier(init=init).fit(Bins(X), y)
    with pytest.raises(InputError, match="must be a str among {'zero'}, an object implementing"):
        GradientBoostingClassifier(init=REGRESSOR).fit(X, y)
    with pytest.raises(InputError, match=r"predicts an array of shape \(177,\)"):
        GradientBoostingRegressor(init=_Odd(max_depth=1)).fit(X, y)
    with pytest.raises(InputError, match="predicts numbers that are not finite"):
        GradientBoostingRegressor(init=_Odd(max_depth=2)).fit(X, y)
    model = GradientBoostingClassifier(init=neighbours, n_estimators=2)
    with pytest.raises(InputTypeError, match="checkpoint: parameter init"):
        model.fit(X, y, checkpoint=tmp_path / "checkpoint.vtree")
    with pytest.raises(InputTypeError, match="which neither a model file nor a checkpoint"):
        save(model.fit(X, y), tmp_path / "model.vtree")
    assert not any(tmp_path.iterdir())

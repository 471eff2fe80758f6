"""Runs that go on: killed ones from their checkpoints, and models read from files."""

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris

import vtree
from vtree import (
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    LeafwiseBoostingClassifier,
    NewtonBoostingClassifier,
    NewtonBoostingRegressor,
)
from vtree.errors import InputError, InputTypeError, ModelFileError

X, Y = load_diabetes(return_X_y=True)
CANCER = load_breast_cancer(return_X_y=True)
IRIS = load_iris(return_X_y=True)


def _absolute(y: Any, prediction: Any) -> float:
    return float(np.mean(np.abs(y - prediction)))


def _squares(y: Any, raw: Any) -> tuple[Any, Any]:
    return raw - y, np.ones_like(y)


# Each with draws, so that rounds depend on their numbers; then the data.
RUNS: dict[str, tuple[Any, dict[str, Any], Any]] = {
    "gbm": (GradientBoostingRegressor, {"subsample": 0.5, "max_features": 3}, (X, Y)),
    "gbm held out": (GradientBoostingClassifier, {"n_iter_no_change": 2, "tol": 0.0}, CANCER),
    "newton": (NewtonBoostingRegressor, {"subsample": 0.7, "colsample_bylevel": 0.5}, (X, Y)),
    "newton classes": (NewtonBoostingClassifier, {"max_depth": 2, "subsample": 0.9}, IRIS),
    "goss": (
        LeafwiseBoostingClassifier,
        {"data_sample_strategy": "goss", "learning_rate": 0.5, "num_leaves": 4},
        CANCER,
    ),
    "own loss": (
        NewtonBoostingRegressor,
        {
            "objective": _squares,
            "eval_metric": ["rmse", _absolute],
            "early_stopping_rounds": 12,
            "validation_fraction": 0.2,
        },
        (X, Y),
    ),
}


class Killed(BaseException):
    """What ends a run."""


class _Killer:
    """A callback that ends a run after a round."""

    def __init__(self, rounds: int) -> None:
        self.rounds = rounds

    def setup(self, estimator: Any, context: Any) -> None: ...

    def teardown(self, estimator: Any, context: Any) -> None: ...

    def on_fit_task_begin(self, estimator: Any, context: Any) -> None: ...

    def on_fit_task_end(self, estimator: Any, context: Any) -> None:
        if context.task_name == "round" and context.task_id == self.rounds:
            raise Killed


@pytest.mark.parametrize("name", RUNS)
def test_a_killed_run_goes_on_to_the_same_model(name: str, tmp_path: Path) -> None:
    kind, parameters, (table, y) = RUNS[name]
    path = tmp_path / "run.vtree"
    model = kind(n_estimators=12, random_state=3, **parameters)
    whole = kind(**model.get_params()).fit(table, y)
    for rounds in (4, 6):  # the second run starts after three
        with pytest.raises(Killed):
            model.set_callbacks(_Killer(rounds)).fit(table, y, checkpoint=path, checkpoint_every=3)
        assert not hasattr(model, "grown_")
    halfway = vtree.load(path)
    assert halfway.n_estimators_ == 9
    model.set_callbacks().set_params(n_jobs=2).fit(table, y, checkpoint=path, checkpoint_every=5)
    assert vtree.digest(model) == vtree.digest(whole)
    for attribute in ("train_score_", "evals_result_", "best_iteration_", "best_score_"):
        found = vars(model).get(attribute), vars(whole).get(attribute)
        np.testing.assert_equal(*found)


def test_a_run_goes_on_with_a_generator_that_begins_alike(tmp_path: Path) -> None:
    def model() -> NewtonBoostingRegressor:
        random = np.random.RandomState(4)
        return NewtonBoostingRegressor(n_estimators=6, subsample=0.5, random_state=random)

    how: dict[str, Any] = {"checkpoint": tmp_path / "run.vtree", "checkpoint_every": 2}
    with pytest.raises(Killed):
        model().set_callbacks(_Killer(4)).fit(X, Y, **how)
    assert vtree.digest(model().fit(X, Y, **how)) == vtree.digest(model().fit(X, Y))
    other = model().set_params(random_state=np.random.RandomState(5))
    with pytest.raises(InputError, match="random_state"):
        other.fit(X, Y, **how)


def test_a_finished_run_is_read_and_can_be_longer(tmp_path: Path) -> None:
    path = tmp_path / "run.vtree"
    how = {"checkpoint": path, "checkpoint_every": 2}
    model = NewtonBoostingRegressor(n_estimators=4, subsample=0.5, random_state=0)
    first = vtree.digest(model.fit(X, Y, **how))
    assert vtree.digest(model.fit(X, Y, **how)) == first
    model.set_params(n_estimators=7).fit(X, Y, **how)
    parameters = model.get_params()
    assert vtree.digest(model) == vtree.digest(NewtonBoostingRegressor(**parameters).fit(X, Y))
    with pytest.raises(InputError, match="holds 6 rounds, more than n_estimators=5"):
        model.set_params(n_estimators=5).fit(X, Y, **how)


def test_a_process_that_is_killed_leaves_a_whole_file(tmp_path: Path) -> None:
    path = tmp_path / "run.vtree"
    script = (
        "import os, sys\nfrom sklearn.datasets import load_diabetes\n"
        "from vtree import NewtonBoostingRegressor as Model\n"
        "model = Model(n_estimators=6, max_depth=2)\n"
        "from vtree.ensembles import boosting\nround_, done = boosting._round, []\n"
        "def dying(*given):\n    done.append(0)\n"
        "    return os._exit(9) if len(done) == 6 else round_(*given)\n"
        "boosting._round = dying\n"
        "model.fit(*load_diabetes(return_X_y=True), checkpoint=sys.argv[1], checkpoint_every=2)\n"
    )
    roots = os.pathsep.join([".", "kernels"])
    done = subprocess.run(
        [sys.executable, "-c", script, str(path)], env={**os.environ, "PYTHONPATH": roots}
    )
    assert done.returncode == 9
    assert vtree.load(path).n_estimators_ == 4
    model = NewtonBoostingRegressor(n_estimators=6, max_depth=2)
    whole = vtree.digest(model.fit(X, Y))
    assert vtree.digest(model.fit(X, Y, checkpoint=path)) == whole


def test_a_checkpoint_knows_its_data_and_its_parameters(tmp_path: Path) -> None:
    path = tmp_path / "run.vtree"
    weight, held = np.ones(Y.size), [(X[:50], Y[:50])]
    weight[3] = 2.0
    how: dict[str, Any] = {"eval_set": held, "checkpoint": path, "checkpoint_every": 1}
    model = NewtonBoostingRegressor(n_estimators=2, max_depth=2).fit(X, Y, weight, **how)
    moved = X.copy()
    moved[0, 0] += 1.0
    for table, y, own, sets, what in (
        (moved, Y, weight, held, "X"),
        (X, Y + 1.0, weight, held, "y"),
        (X, Y, None, held, "sample_weight"),
        (X, Y, weight, [(X[:50], Y[1:51])], "eval_set"),
    ):
        with pytest.raises(InputError, match=f"is a checkpoint of other data: {what} changed"):
            model.fit(table, y, own, **{**how, "eval_set": sets})
    with pytest.raises(InputError, match="run with other parameters: max_depth, reg_lambda"):
        model.set_params(max_depth=3, reg_lambda=2.0).fit(X, Y, weight, **how)
    with pytest.raises(InputError, match="NewtonBoostingRegressor that is no checkpoint of a Grad"):
        GradientBoostingRegressor().fit(X, Y, checkpoint=path)
    vtree.save(model, path)
    with pytest.raises(InputError, match="that is no checkpoint"):
        model.fit(X, Y, weight, **how)
    path.write_bytes(b"no model")
    with pytest.raises(ModelFileError):
        model.fit(X, Y, weight, **how)


def test_what_a_checkpoint_cannot_be(tmp_path: Path) -> None:
    model = NewtonBoostingRegressor(n_estimators=2)
    with pytest.raises(InputTypeError, match="checkpoint=3 is no path"):
        model.fit(X, Y, checkpoint=3)
    with pytest.raises(InputError, match="checkpoint_every=0"):
        model.fit(X, Y, checkpoint=tmp_path / "run", checkpoint_every=0)
    own = NewtonBoostingRegressor(monotone_constraints={1j: 1})
    with pytest.raises(InputTypeError, match="monotone_constraints key 1j"):
        own.fit(X, Y, checkpoint=tmp_path / "run")
    with pytest.raises(InputError, match="no folder that is there"):
        model.fit(X, Y, checkpoint=tmp_path / "none" / "run")
    assert not hasattr(model, "grown_") and not list(tmp_path.iterdir())


@pytest.mark.parametrize("name", sorted(RUNS.keys() - {"own loss"}))
def test_a_model_read_from_a_file_goes_on(name: str, tmp_path: Path) -> None:
    kind, parameters, (table, y) = RUNS[name]
    if "n_iter_no_change" in parameters:
        parameters = {}
    model = kind(n_estimators=3, random_state=5, **parameters).fit(table, y)
    vtree.save(model, tmp_path / "model.vtree")
    read = vtree.load(tmp_path / "model.vtree")
    read.set_params(n_estimators=6, warm_start=True).fit(table, y)
    whole = kind(n_estimators=6, random_state=5, **parameters).fit(table, y)
    assert vtree.digest(read) == vtree.digest(whole)
    np.testing.assert_equal(vars(read).get("train_score_"), vars(whole).get("train_score_"))


def test_trees_go_on_with_the_columns_and_classes_they_know() -> None:
    table: dict[str, Any] = {
        "colour": ["red", "blue", "red", "green"] * 5,
        "size": [1.0, 2.0, 3.0, 4.0] * 5,
    }
    y = np.array([0, 1, 0, 1] * 5)
    model = NewtonBoostingClassifier(n_estimators=2, warm_start=True, min_child_weight=0.0)
    model.fit(table, y).set_params(n_estimators=4)
    fewer = {name: column[:2] * 10 for name, column in table.items()}  # no green: other levels
    model.fit(fewer, y)
    assert model.predict(table).tolist() == y.tolist()
    model.set_params(n_estimators=5)
    with pytest.raises(InputError, match="y holds the classes .0, 1, 2."):
        model.fit(table, np.arange(20) % 3)
    with pytest.raises(InputError, match="feature names should match"):
        model.fit({"size": table["size"], "colour": table["colour"]}, y)
    with pytest.raises(InputError, match="X has 9 features"):
        GradientBoostingRegressor(n_estimators=1, warm_start=True).fit(X, Y).fit(X[:, 1:], Y)


@pytest.mark.parametrize(
    "name", ["RandomForestClassifier", "BaggingClassifier", "ExtraTreesRegressor"]
)
def test_forests_go_on_with_the_tables_they_know(name: str) -> None:
    table = {"a": [1.0, 2.0, 3.0] * 4, "b": list("xyz") * 4}
    y = np.arange(12) % 3
    model = getattr(vtree, name)(n_estimators=2, warm_start=True, random_state=0).fit(table, y)
    digest = vtree.digest(model.set_params(n_estimators=4))
    others: list[tuple[Any, Any, str]] = [
        ({"a": table["a"]}, y, "X has the columns"),
        ({"a": table["a"], "c": table["b"]}, y, "X has the columns"),
        ({"a": table["a"], "b": list("xyw") * 4}, y, "column 'b' has other categories"),
        ({"a": table["a"], "b": table["a"]}, y, "column 'b' has other categories"),
    ]
    if name.endswith("Classifier"):
        others.append((table, y % 2, "y holds the classes"))
    else:
        others.append((table, np.stack([y, y], axis=1), "y has 2 columns"))
    for X, target, message in others:
        with pytest.raises(InputError, match=message):
            model.fit(X, target)
        assert vtree.digest(model) == digest
    assert len(model.fit(table, y).estimators_) == 4


@pytest.mark.parametrize(
    ("kind", "name", "losses"),
    [
        (NewtonBoostingRegressor, "objective", ("squared_error", "poisson")),
        (NewtonBoostingRegressor, "objective", ("poisson", "squared_error")),
        (vtree.LeafwiseBoostingRegressor, "objective", ("squared_error", "gamma")),
        (vtree.OrderedBoostingRegressor, "objective", ("squared_error", "poisson")),
        (GradientBoostingClassifier, "loss", ("log_loss", "exponential")),
    ],
)
def test_a_loss_of_another_link_cannot_go_on(
    kind: Any, name: str, losses: tuple[str, str], tmp_path: Path
) -> None:
    y = Y + 200.0 if name == "objective" else np.median(Y) < Y
    model = kind(n_estimators=3, warm_start=True, **{name: losses[0]}).fit(X, y)
    expected = model.predict(X)
    vtree.save(model, tmp_path / "model")
    for own in (model, vtree.load(tmp_path / "model")):
        own.set_params(n_estimators=4, **{name: losses[1]})
        with pytest.raises(InputError, match=rf"^{name}.* are of another loss"):
            own.fit(X, y)
        np.testing.assert_array_equal(own.predict(X), expected)
        own.set_params(**{name: losses[0]}).fit(X, y)
        assert own.n_estimators_ == 4


def test_losses_of_one_link_follow_each_other() -> None:
    model = NewtonBoostingRegressor(n_estimators=3, warm_start=True).fit(X, Y)
    model.set_params(objective="absolute_error", n_estimators=4).fit(X, Y)
    model.set_params(objective=lambda y, raw: (raw - y, np.ones_like(y)), n_estimators=5)
    assert model.fit(X, Y).n_estimators_ == 5


def test_of_functions_a_checkpoint_knows_the_names(tmp_path: Path) -> None:
    how: dict[str, Any] = {"checkpoint": tmp_path / "run.vtree", "checkpoint_every": 1}
    model = NewtonBoostingRegressor(n_estimators=2, objective=_squares).fit(X, Y, **how)
    read = vtree.load(how["checkpoint"])
    np.testing.assert_array_equal(read.predict(X), model.predict(X))
    for other in ("squared_error", _absolute):
        with pytest.raises(InputError, match=r"a run with other parameters: objective\."):
            model.set_params(n_estimators=3, objective=other).fit(X, Y, **how)
    model.set_params(objective=_squares).fit(X, Y, **how)
    assert model.n_estimators_ == 3

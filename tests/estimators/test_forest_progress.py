"""What fits of many trees tell: callbacks that watch, stop and break off, and `verbose`."""

from typing import Any

import numpy as np
import pytest

import vtree
from tests.samples import classes
from vtree import (
    AdaBoostClassifier,
    BaggingClassifier,
    C45Classifier,
    ExtraTreesClassifier,
    IsolationForest,
    RandomForestClassifier,
    RandomTreesEmbedding,
)

X, Y = classes(120)


class Listener:
    """Counts trees and asks them to predict; asks to stop, or breaks off, at one."""

    def __init__(self, stop: int = -1, interrupt: int = -1) -> None:
        self.stop, self.interrupt = stop, interrupt
        self.ended: list[int] = []
        self.answers: list[Any] = []
        self.open = 0

    def setup(self, estimator: Any, context: Any) -> None:
        self.open += 1

    def teardown(self, estimator: Any, context: Any) -> None:
        self.open -= 1

    def on_fit_task_begin(self, estimator: Any, context: Any) -> None:
        pass

    def on_fit_task_end(
        self, estimator: Any, context: Any, *, X: Any, y: Any, fitted_estimator: Any
    ) -> bool:
        if context.task_name not in ("tree", "round"):
            return False
        self.ended.append(context.task_id)
        method = "transform" if hasattr(fitted_estimator, "transform") else "predict"
        self.answers.append(getattr(fitted_estimator, method)(X))
        if context.task_id == self.interrupt:
            raise KeyboardInterrupt
        return bool(context.task_id == self.stop)


MANY: dict[str, Any] = {
    "random forest": RandomForestClassifier(oob_score=False, random_state=0),
    "extra trees": ExtraTreesClassifier(random_state=0),
    "bagging": BaggingClassifier(random_state=0),
    "bagging of C4.5": BaggingClassifier(C45Classifier(), random_state=0),
    "AdaBoost": AdaBoostClassifier(random_state=0),
    "isolation forest": IsolationForest(random_state=0),
    "embedding": RandomTreesEmbedding(max_depth=2, random_state=0),
}


@pytest.mark.parametrize("name", MANY)
def test_callbacks_hear_of_each_tree_and_stop_the_fit(name: str) -> None:
    model = MANY[name].set_params(n_estimators=6)
    listener = Listener()
    model.set_callbacks(listener).fit(X, Y)
    assert listener.ended == list(range(6))
    assert listener.open == 0
    digest = vtree.digest(model)
    assert vtree.digest(model.set_callbacks().fit(X, Y)) == digest
    stopping = Listener(stop=3)
    model.set_callbacks(stopping).fit(X, Y)
    assert stopping.ended == [0, 1, 2, 3]
    assert len(model.estimators_) == model.grown_.root.size == 4
    shorter = model.set_callbacks().set_params(n_estimators=4).fit(X, Y)
    if "transform" in dir(shorter):
        expected, last = shorter.transform(X).toarray(), stopping.answers[-1].toarray()
    else:
        expected, last = shorter.predict(X), stopping.answers[-1]
    np.testing.assert_array_equal(last, expected)


@pytest.mark.parametrize("name", MANY)
def test_an_interrupt_leaves_no_trace(name: str) -> None:
    model = type(MANY[name])(**MANY[name].get_params(deep=False)).set_params(n_estimators=5)
    listener = Listener(interrupt=2)
    model.set_callbacks(listener)
    before = dict(vars(model))
    with pytest.raises(KeyboardInterrupt):
        model.fit(X, Y)
    assert vars(model) == before and listener.open == 0
    assert len(model.set_callbacks().fit(X, Y).estimators_) == 5


def test_verbose_fits_tell_how_far_they_are(capsys: pytest.CaptureFixture[str]) -> None:
    quiet = RandomForestClassifier(40, random_state=0).fit(X, Y)
    assert capsys.readouterr().out == ""
    told = RandomForestClassifier(40, random_state=0, verbose=1).fit(X, Y)
    lines = capsys.readouterr().out.splitlines()
    assert lines[-1].startswith("RandomForestClassifier tree 40/40") and len(lines) >= 4
    assert vtree.digest(told) == vtree.digest(quiet)
    BaggingClassifier(n_estimators=3, verbose=2).fit(X, Y)
    assert len(capsys.readouterr().out.splitlines()) == 3


def test_steps_of_warm_start_tell_of_the_trees_to_come(
    capsys: pytest.CaptureFixture[str],
) -> None:
    model = RandomForestClassifier(3, random_state=0, warm_start=True).fit(X, Y)
    listener = Listener()
    model.set_params(n_estimators=5, verbose=2).set_callbacks(listener).fit(X, Y)
    assert listener.ended == [0, 1]
    assert "tree 4/5" in capsys.readouterr().out

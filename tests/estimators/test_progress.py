"""What a fit tells: scikit-learn's callbacks, its lines, and that nothing stays behind."""

import io
import signal
import threading
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from rich.console import Console
from sklearn.callback import ProgressBar, ScoringMonitor
from sklearn.datasets import load_diabetes
from sklearn.model_selection import GridSearchCV

import vtree
from vtree import LeafwiseBoostingRegressor, NewtonBoostingRegressor
from vtree.estimators import progress

X, Y = load_diabetes(return_X_y=True)


class Witness:
    """Writes down what it is told; asks to stop, or breaks off, after a round."""

    def __init__(self, stop: int = -1, interrupt: int = -1) -> None:
        self.stop, self.interrupt = stop, interrupt
        self.told: list[tuple[str, str, int]] = []
        self.scores: list[float] = []

    def _write(self, event: str, context: Any) -> None:
        self.told.append((event, context.task_name, context.task_id))

    def setup(self, estimator: Any, context: Any) -> None:
        self._write("setup", context)

    def on_fit_task_begin(self, estimator: Any, context: Any) -> None:
        self._write("begin", context)

    def on_fit_task_end(
        self, estimator: Any, context: Any, *, X: Any, y: Any, fitted_estimator: Any
    ) -> bool:
        self._write("end", context)
        self.scores.append(fitted_estimator.score(X, y))
        if context.task_name == "round" and context.task_id == self.interrupt:
            signal.raise_signal(signal.SIGINT)
        return context.task_name == "round" and bool(context.task_id == self.stop)

    def teardown(self, estimator: Any, context: Any) -> None:
        self._write("teardown", context)


@pytest.fixture
def interruptible() -> Iterator[None]:
    """Listen to SIGINT, which shells have their background processes ignore."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def _threads() -> set[threading.Thread]:
    """Return the threads there are, without the listener that scikit-learn keeps for all fits."""
    return {each for each in threading.enumerate() if "_accept" not in each.name}


def test_callbacks_are_told_of_each_round_with_an_estimator_that_predicts() -> None:
    witness = Witness()
    model = NewtonBoostingRegressor(n_estimators=3, max_depth=2).set_callbacks(witness)
    model.fit(X, Y)
    rounds = [(event, "round", n) for n in range(3) for event in ("begin", "end")]
    fit = [(event, "fit", 0) for event in ("setup", "begin", "end", "teardown")]
    assert witness.told == fit[:2] + rounds + fit[2:]
    for number, score in enumerate(witness.scores[:3]):
        shorter = NewtonBoostingRegressor(n_estimators=number + 1, max_depth=2).fit(X, Y)
        assert shorter.score(X, Y) == score
    assert witness.scores[3] == model.score(X, Y)
    assert "_callback_fit_ctx" not in vars(model)


def test_a_callback_stops_a_fit() -> None:
    model = NewtonBoostingRegressor(n_estimators=9).set_callbacks(Witness(stop=3)).fit(X, Y)
    assert vtree.digest(model) == vtree.digest(NewtonBoostingRegressor(n_estimators=4).fit(X, Y))


@pytest.mark.skipif(
    threading.current_thread() is not threading.main_thread(), reason="signals go elsewhere"
)
@pytest.mark.usefixtures("interruptible")
def test_an_interrupt_leaves_no_trace() -> None:
    model = LeafwiseBoostingRegressor(n_estimators=5, n_jobs=2, verbose=1)
    witness = Witness(interrupt=2)
    model.set_callbacks(witness, ProgressBar())
    before, running = dict(vars(model)), _threads()
    with pytest.raises(KeyboardInterrupt):
        model.fit(X, Y)
    assert vars(model) == before
    for ending in _threads() - running:  # rich's, which has been told to
        ending.join(5.0)
    assert _threads() <= running
    assert witness.told[-1] == ("teardown", "fit", 0)
    own = vtree.digest(model.set_callbacks().fit(X, Y))
    assert own == vtree.digest(LeafwiseBoostingRegressor(n_estimators=5).fit(X, Y))
    witness = Witness(interrupt=1)  # a fitted one stays what it was
    with pytest.raises(KeyboardInterrupt):
        model.set_params(n_estimators=7).set_callbacks(witness).fit(X, Y)
    assert vtree.digest(model) == own


def test_searches_hand_their_callbacks_down() -> None:
    monitor = ScoringMonitor(scoring="r2")
    search = GridSearchCV(NewtonBoostingRegressor(n_estimators=2), {"max_depth": [1, 2]}, cv=2)
    search.set_callbacks(ProgressBar(max_propagation_depth=None))
    search.estimator.set_callbacks(monitor)
    search.fit(X, Y)
    assert search.best_estimator_.n_estimators_ == 2
    logs = monitor.get_logs(select="all")
    assert sum(row["task_name"] == "round" for log in logs for row in log.data) == 10


def test_lines_of_text_are_few_but_with_metrics(capsys: pytest.CaptureFixture[str]) -> None:
    model = NewtonBoostingRegressor(n_estimators=23, max_depth=1, verbose=1, eval_metric="mae")
    model.fit(X, Y, eval_set=[(X, Y)])
    lines = capsys.readouterr().out.splitlines()
    told = [int(line.split()[2].split("/")[0]) for line in lines]
    assert told == [*range(1, 11), 20, 23]
    score = np.abs(model.predict(X) - Y).mean()
    assert f"validation_0 mae {score:.5g}" in lines[-1]
    model.set_params(verbose=2, n_estimators=12).fit(X, Y)
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 12
    loss = ((model.predict(X) - Y) ** 2).mean() / 2.0
    assert lines[-1].startswith(f"NewtonBoostingRegressor round 12/12  loss {loss:.5g}  ")
    model.set_params(verbose=0).fit(X, Y)
    assert capsys.readouterr().out == ""


def test_a_terminal_shows_one_live_line(monkeypatch: pytest.MonkeyPatch) -> None:
    seen = io.StringIO()
    terminal = Console(file=seen, force_terminal=True, width=120)
    monkeypatch.setattr("rich.console.Console", lambda: terminal)
    NewtonBoostingRegressor(n_estimators=3, verbose=1).fit(X, Y)
    last = seen.getvalue().splitlines()[-2]
    assert "NewtonBoostingRegressor round" in last and "3/3" in last and "loss" in last


def test_without_callbacks_of_scikit_learn_methods_stay_what_they_are(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(progress, "_decorated", None)
    assert progress.with_callbacks(len) is len


def test_tasks_that_are_done_together_are_told_one_by_one() -> None:
    witness = Witness()
    model = NewtonBoostingRegressor(n_estimators=1).fit(X, Y).set_callbacks(witness)

    @progress.with_callbacks
    def fit(estimator: Any) -> None:
        with progress.reported(estimator, "tree", 5, X=X, y=Y) as report:
            report.begin()
            assert not report.end(2, attributes=dict)
            report.begin()
            report.end(3, attributes=dict)

    fit(model)
    trees = [(event, "tree", n) for n in range(5) for event in ("begin", "end")]
    assert witness.told[2:-2] == trees

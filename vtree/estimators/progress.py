"""What a fit of many trees tells while it goes on: scikit-learn's callbacks, and `verbose`.

    with reported(self, "round", 100, X=X, y=y) as report:
        while ...:
            report.begin()
            grow a tree
            if report.end(metrics=..., attributes=...):    a callback asks to stop
                break

A fit is a task of scikit-learn's callback framework, each round (or tree) a subtask. The method
that has this inside is decorated with `with_callbacks`, and its class inherits
`CallbackSupportMixin`; scikit-learn before 1.9 has neither, and nobody is told then.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from types import TracebackType
from typing import Any, ParamSpec, Protocol, TypeVar, cast

try:
    from sklearn import callback as _scikit_learn
except ImportError:  # before 1.9

    class CallbackSupportMixin:
        """Stand in for scikit-learn's."""

    _decorated: Any = None
else:
    CallbackSupportMixin = _scikit_learn.CallbackSupportMixin  # type: ignore[misc]
    _decorated = _scikit_learn.with_callbacks

__all__ = ["CallbackSupportMixin", "Report", "reported", "with_callbacks"]

_STEPS = 20  # in which tasks are done that could be done all at once

Metrics = Mapping[str, float]
Given = ParamSpec("Given")
Found = TypeVar("Found")


def with_callbacks(method: Callable[Given, Found]) -> Callable[Given, Found]:
    """Return a method of an estimator that puts callbacks away when it ends, well or not."""
    return method if _decorated is None else cast(Callable[Given, Found], _decorated(method))


class _Voice(Protocol):
    """How `verbose` tells of a fit."""

    def __enter__(self) -> _Voice: ...

    def tell(self, done: int, metrics: Metrics) -> None: ...

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        where: TracebackType | None,
    ) -> None: ...


class Report:
    """Who is told of a fit: the callbacks of its estimator, and the reader of `verbose`."""

    def __init__(self, estimator: Any, task: str, given: dict[str, Any], context: Any) -> None:
        self.estimator = estimator
        self.task = task
        self.given = given  # X, y, metadata
        self.context = context  # of the whole fit, None without callbacks
        self.voice: _Voice | None = None
        self.done = 0
        self._open: Any = None

    def tasks_at_once(self, n_tasks: int) -> int | None:
        """Return how many of `n_tasks` to do together, so that who listens hears of progress.

        None: as many as one likes, for nobody listens.
        """
        if self.context is None and self.voice is None:
            return None
        return -(-n_tasks // _STEPS)

    def begin(self) -> None:
        """Tell that the next task begins."""
        if self.context is not None:
            self._open = self.context.subcontext(task_name=self.task)
            self._open.call_on_fit_task_begin(estimator=self.estimator, **self.given)

    def end(
        self,
        n_tasks: int = 1,
        *,
        metrics: Callable[[], Metrics] = dict,
        attributes: Callable[[], dict[str, Any]] | None = None,
    ) -> bool:
        """Tell that the task that has begun ends, and n_tasks − 1 more that were done with it.

        metrics: what there is to say of it by name, asked only if someone is there to read.
        attributes: what to set in a copy of the estimator so that it can predict as if the fit
        had ended here; asked only by callbacks that want to. Returns whether a callback asks to
        stop.
        """
        stop = False
        self.done += n_tasks
        if self.context is not None:
            for number in range(n_tasks):
                if number:
                    self.begin()
                stop |= self._open.call_on_fit_task_end(
                    estimator=self.estimator, **self.given, reconstruction_attributes=attributes
                )
        if self.voice is not None:
            self.voice.tell(self.done, metrics())
        return stop


@contextmanager
def reported(
    estimator: Any,
    task: str,
    n_tasks: int,
    *,
    X: Any,
    y: Any,
    sample_weight: Any = None,
    done: int = 0,
) -> Iterator[Report]:
    """Tell of a fit of `n_tasks` tasks, `done` of which earlier ones did (`warm_start`).

    It ends in all cases: an error or Ctrl-C inside leaves no line and no thread behind.
    """
    given = {
        "X": X,
        "y": y,
        "metadata": None if sample_weight is None else {"sample_weight": sample_weight},
    }
    context = None
    if vars(estimator).get("_skl_callbacks") or "_parent_callback_ctx" in vars(estimator):
        context = estimator._init_callback_context(max_subtasks=n_tasks - done)
        context.call_on_fit_task_begin(estimator=estimator, **given)
    report = Report(estimator, task, given, context)
    report.done = done
    verbose = int(getattr(estimator, "verbose", 0))
    if verbose > 0:
        report.voice = _voice(f"{type(estimator).__name__} {task}", n_tasks, verbose)
        with report.voice:
            yield report
    else:
        yield report
    if context is not None:
        # By now the estimator is fitted.
        fitted = {name: own for name, own in vars(estimator).items() if name.endswith("_")}
        context.call_on_fit_task_end(
            estimator=estimator, **given, reconstruction_attributes=lambda: fitted
        )


def _voice(title: str, n_tasks: int, verbose: int) -> _Voice:
    """Return a live line where one can be seen, lines of text elsewhere."""
    try:
        from rich.console import Console
    except ImportError:
        return _Lines(title, n_tasks, verbose)
    console = Console()
    if not console.is_terminal:
        return _Lines(title, n_tasks, verbose)
    return _LiveLine(console, title, n_tasks)


def _worded(metrics: Metrics) -> str:
    return "  ".join(f"{name} {value:.5g}" for name, value in metrics.items())


class _Lines:
    """Lines of text: of all tasks if verbose > 1, else of 1 … 10, 20 … 100, 200 … and the last."""

    def __init__(self, title: str, n_tasks: int, verbose: int) -> None:
        self.title = title
        self.n_tasks = n_tasks
        self.verbose = verbose
        self.said = 0

    def __enter__(self) -> _Lines:
        self.start = time.perf_counter()
        return self

    def tell(self, done: int, metrics: Metrics) -> None:
        """Print a line if it is time for one."""
        step = 1 if self.verbose > 1 else 10 ** (len(str(done)) - 1)
        if done // step > self.said // step or done == self.n_tasks:
            passed = time.perf_counter() - self.start
            line = f"{self.title} {done}/{self.n_tasks}  {_worded(metrics)}"
            print(f"{line.rstrip()}  {passed:.1f} s", flush=True)
            self.said = done

    def __exit__(self, *error: object) -> None:
        pass


class _LiveLine:
    """A line of rich that is drawn anew: a bar, the task, its metrics, and the time."""

    def __init__(self, console: Any, title: str, n_tasks: int) -> None:
        from rich import progress

        self.line = progress.Progress(
            progress.TextColumn("{task.description}"),
            progress.MofNCompleteColumn(),
            progress.BarColumn(bar_width=20),
            progress.TextColumn("{task.fields[metrics]}"),
            progress.TimeElapsedColumn(),
            progress.TimeRemainingColumn(),
            console=console,
        )
        self.task = self.line.add_task(title, total=n_tasks, metrics="")

    def __enter__(self) -> _LiveLine:
        self.line.start()
        return self

    def tell(self, done: int, metrics: Metrics) -> None:
        """Show how far it is."""
        self.line.update(self.task, completed=done, metrics=_worded(metrics))

    def __exit__(self, *error: object) -> None:
        self.line.stop()

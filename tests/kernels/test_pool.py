"""Threads that wait for work: they serve again and again, also after errors, and are limited."""

import gc
import os
import threading
import weakref
from collections.abc import Callable

import pytest

from vtree_kernels import _pool


@pytest.fixture
def no_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_pool, "_idle", [])
    monkeypatch.setattr(_pool, "_count", 0)


def _together(n_others: int, works: list[Callable[[], object]] | None = None) -> list[str]:
    """Call as many works at once as there are threads for; return the names of these."""
    names: list[str] = []

    def work() -> None:
        names.append(threading.current_thread().name)

    _pool.together(work, works or [work] * n_others, lambda: None)
    return names


@pytest.mark.usefixtures("no_threads")
def test_threads_serve_again() -> None:
    before = threading.active_count()
    for n_others in (3, 1, 3, 0):
        assert len(_together(n_others)) == n_others + 1
    assert threading.active_count() == before + 3
    assert len(_pool._idle) == 3


@pytest.mark.usefixtures("no_threads")
def test_there_are_no_more_threads_than_callers_may_have(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_pool, "MOST", 2)
    monkeypatch.setattr(os, "cpu_count", lambda: 1)
    assert [len(_together(9)) for _ in range(3)] == [3, 3, 3]
    assert _pool._count == len(_pool._idle) == 2


@pytest.mark.usefixtures("no_threads")
def test_without_a_thread_the_caller_works_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    def none(self: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(threading.Thread, "start", none)
    assert _together(2) == [threading.current_thread().name]
    assert _pool._count == 0


def test_errors_reach_the_caller_and_threads_stay() -> None:
    def fails() -> None:
        raise ArithmeticError("of another thread")

    for _ in range(3):
        with pytest.raises(ArithmeticError, match="of another thread"):
            _together(1, [fails])
    assert len(_together(1)) == 2


def test_after_an_error_here_the_others_are_told_and_waited_for() -> None:
    told, ended = threading.Event(), threading.Event()

    def waits() -> None:
        assert told.wait(30.0)
        ended.set()

    def fails() -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        _pool.together(fails, [waits], told.set)
    assert ended.is_set()


def test_nothing_of_the_work_is_held() -> None:
    class Held:
        def __call__(self) -> None:
            pass

    work = Held()
    known = weakref.ref(work)
    _pool.together(lambda: None, [work], lambda: None)
    del work
    gc.collect()
    assert known() is None

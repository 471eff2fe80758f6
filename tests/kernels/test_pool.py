"""Threads that wait for work: they serve again and again, also after errors, and are limited."""

import functools
import gc
import os
import threading
import time
import weakref
from collections.abc import Callable

import pytest

from vtree_kernels import _pool


@pytest.fixture
def no_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_pool, "_idle", [])
    monkeypatch.setattr(_pool, "_count", 0)


def _together(n_others: int) -> list[str]:
    """Call as many works at once as there are threads for; return the names of these."""
    names: list[str] = []

    def work() -> None:
        names.append(threading.current_thread().name)

    def wait_for_all() -> None:
        # Who has not begun when this one ends is not called.
        most = time.monotonic() + 30.0
        while len(names) < len(called) and time.monotonic() < most:
            time.sleep(0.001)
        work()

    called: list[object] = []
    helper = _pool.helper

    def counted() -> _pool.Helper | None:
        one = helper()
        if one is not None:
            called.append(one)
        return one

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_pool, "helper", counted)
        _pool.together(wait_for_all, [work] * n_others, lambda: None)
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
    begun = threading.Event()

    def fails() -> None:
        begun.set()
        raise ArithmeticError("of another thread")

    for _ in range(3):
        begun.clear()
        with pytest.raises(ArithmeticError, match="of another thread"):
            _pool.together(lambda: begun.wait(30.0), [fails], lambda: None)
    assert len(_together(1)) == 2


def test_a_thread_that_has_not_begun_is_not_waited_for() -> None:
    called: list[int] = []

    class Late(_pool.Helper):
        """One that gets no core until it is let go."""

        def __init__(self) -> None:
            self.let_go = threading.Event()
            super().__init__()

        def _serve(self) -> None:
            assert self.let_go.wait(30.0)
            super()._serve()

    late = Late()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_pool, "_idle", [late])
        _pool.together(lambda: None, [lambda: called.append(1)], lambda: None)
        assert _pool._idle == [late] and not called
        late.let_go.set()
        ended = threading.Event()
        _pool.together(lambda: ended.wait(30.0), [ended.set], lambda: None)
    assert ended.is_set() and not called


def test_after_an_error_here_the_others_are_told_and_waited_for() -> None:
    begun, told, ended = threading.Event(), threading.Event(), threading.Event()

    def waits() -> None:
        begun.set()
        assert told.wait(30.0)
        ended.set()

    def fails() -> None:
        assert begun.wait(30.0)
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        _pool.together(fails, [waits], told.set)
    assert ended.is_set()


def test_nothing_of_the_work_is_held() -> None:
    class Held:
        def __call__(self) -> None:
            pass

    for pause in (0.0, 0.05):  # taken back, most likely, and done
        work = Held()
        known = weakref.ref(work)
        _pool.together(functools.partial(time.sleep, pause), [work], lambda: None)
        del work
        gc.collect()
        assert known() is None


@pytest.mark.usefixtures("no_threads")
def test_an_interrupt_before_this_thread_begins_tells_the_others(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    begun, told, ended = threading.Event(), threading.Event(), threading.Event()
    start = _pool.Helper.start

    def interrupted(self: _pool.Helper, work: Callable[[], object]) -> None:
        start(self, work)
        assert begun.wait(30.0)
        raise KeyboardInterrupt

    def waits() -> None:
        begun.set()
        assert told.wait(30.0)
        ended.set()

    monkeypatch.setattr(_pool.Helper, "start", interrupted)
    with pytest.raises(KeyboardInterrupt):
        _pool.together(lambda: None, [waits], told.set)
    assert told.is_set() and ended.wait(30.0)


@pytest.mark.usefixtures("no_threads")
def test_threads_that_were_not_waited_for_end_and_others_take_their_place(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def interrupted(self: _pool.Helper) -> None:
        raise KeyboardInterrupt

    begun, told, ended = threading.Event(), threading.Event(), threading.Event()

    def waits() -> None:
        begun.set()
        assert told.wait(30.0)
        ended.set()

    before = set(threading.enumerate())
    with monkeypatch.context() as patch:
        patch.setattr(_pool.Helper, "join", interrupted)
        with pytest.raises(KeyboardInterrupt):
            _pool.together(lambda: begun.wait(30.0), [waits], lambda: None)
    assert _pool._count == 0 and not _pool._idle
    (thread,) = set(threading.enumerate()) - before
    told.set()
    thread.join(30.0)
    assert ended.is_set() and not thread.is_alive()
    assert len(_together(2)) == 3
    assert _pool._count == len(_pool._idle) == 2

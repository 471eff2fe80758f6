"""Threads that wait for work, each behind a lock of its own.

A level of a tree asks for threads several times within a millisecond. An executor makes a future
with its condition, puts work into a queue and wakes somebody there: 65 microseconds more than the
work takes on two cores, where two locks take 45. Whoever waits for a thread's end looks for a while
whether it is there before it sleeps, for 20 of these are to be woken.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Sequence

import numpy as np

MOST = 64  # threads that callers have at once, whatever the number of cores
_LOOKS = 200_000  # 0.14 ms; measured: as good as more


class Helper:
    """A thread that calls one function after another, and waits in between."""

    def __init__(self) -> None:
        self._work: Callable[[], object] | None = None
        self._error: BaseException | None = None
        self._dismissed = False
        self._begin, self._end = threading.Lock(), threading.Lock()
        self._ended, self._joined = np.zeros(1, np.int64), 0  # how often
        self._begin.acquire()
        self._end.acquire()
        threading.Thread(target=self._serve, name="vtree", daemon=True).start()

    def start(self, work: Callable[[], object]) -> None:
        """Begin to call `work`."""
        self._work = work
        self._begin.release()

    def recall(self) -> bool:
        """Take the work back if it has not begun; tell whether that was so."""
        if not self._begin.acquire(blocking=False):
            return False
        self._work = None
        return True

    def join(self) -> BaseException | None:
        """Wait until it has returned; return what it raised, if anything."""
        from vtree_kernels._spinning import spin  # not before, for it loads Numba

        self._joined += 1
        spin(self._ended, self._joined, _LOOKS)
        self._end.acquire()
        error, self._error = self._error, None
        return error

    def dismiss(self) -> None:
        """Let the thread end, after what it does now."""
        self._dismissed = True
        # A thread that is about to have the lock has it, though it does not look locked yet.
        if self._begin.acquire(blocking=False) or self._begin.locked():
            self._begin.release()

    def _serve(self) -> None:
        while not self._dismissed:
            self._begin.acquire()
            work, self._work = self._work, None
            if self._dismissed:
                return
            try:
                assert work is not None
                work()
            except BaseException as error:
                self._error = error
            del work  # and with it the caller's arrays
            self._ended[0] += 1
            self._end.release()


_idle: list[Helper] = []
_count = 0


def helper() -> Helper | None:
    """Return one that has nothing to do, None where all are busy and no more can be had."""
    global _count
    try:
        return _idle.pop()
    except IndexError:
        pass
    if _count >= max(MOST, os.cpu_count() or 1):
        return None
    try:
        found = Helper()
    except RuntimeError:  # no more threads from the system, or none as the interpreter ends
        return None
    _count += 1
    return found


def together(
    here: Callable[[], object],
    elsewhere: Sequence[Callable[[], object]],
    give_up: Callable[[], object],
) -> None:
    """Call `here` in this thread and the others in threads of their own; raise what one raised.

    Where threads wait for the work of each other some of the others, or all, are not called, nor
    are those that have not begun when `here` is done, for on a busy machine a thread may have to
    wait for a core: what they share has to be done without them. After an error or an interrupt
    `give_up` is called before they are waited for, so that no thread writes to the caller's arrays
    any more.
    """
    begun: list[Helper] = []
    try:
        for work in elsewhere:
            one = helper()
            if one is None:
                break
            one.start(work)
            begun.append(one)
        here()
    finally:
        errors = _joined(begun, give_up)
    for error in errors:
        if error is not None:
            raise error


def _joined(begun: list[Helper], give_up: Callable[[], object]) -> list[BaseException | None]:
    """Wait for threads, which have nothing to do then; return what they raised."""
    global _count
    try:
        give_up()
        errors = [one.join() for one in begun if not one.recall()]
    except BaseException:  # an interrupt: which ones have ended is not known
        give_up()
        for one in begun:
            one.dismiss()
        _count -= len(begun)
        raise
    _idle.extend(begun)
    return errors


def _forget() -> None:
    """Forget all: a forked child inherits the objects without their threads."""
    global _count
    _idle.clear()
    _count = 0


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget)

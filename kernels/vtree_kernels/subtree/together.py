"""One tree by several threads: one grows it, others do some features of its nodes meanwhile.

Threads that wait for each other, within compiled code or for Python's lock, lose more than they
gain where other programs keep the cores busy: a thread in the midst of its work is put aside for
milliseconds. Where the first one got much less of its core than there was time, a few trees on end,
those to come grow on one thread for a while. That changes nothing but the time they take.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np

from vtree_kernels import _pool, _threads
from vtree_kernels.scan.cpu import Shape
from vtree_kernels.subtree.holding import Kind
from vtree_kernels.subtree.jobs import desk_for
from vtree_kernels.subtree.sharing import END
from vtree_kernels.subtree.whole import whole_grower, whole_helper

# Codes of a node for each thread, so that a tree is long enough that to call it does not show.
LEAST_CODES = 10_000
MOST_THREADS = 8  # more wait longer for the one that parts rows than they have work
CHUNKS = 2  # of a job, for each thread; measured: 1 as good, 4 and 8 worse

LEAST_SHARE = 0.7  # of a core, that a thread has unless others keep it busy
FEW = 3  # trees on end with less; one has less while kernels are loaded, too
TREES = 64  # that grow on one thread then, twice as many each time that nothing has changed after
MOST_TREES = 1 << 12


class _Load:
    """What is known of how busy the machine is."""

    def __init__(self) -> None:
        self.trees_alone = 0  # to come
        self.pause = TREES  # the next time
        self.short = 0  # trees on end, up to the last one, with less than a thread has

    def allows_more(self) -> bool:
        """Tell whether a tree may have more than one thread."""
        if self.trees_alone:
            self.trees_alone -= 1
            return False
        return True

    def learn(self, own: float, wall: float) -> None:
        """Take note of the seconds that a thread had of a core, and of those that passed."""
        if own >= LEAST_SHARE * wall:
            self.short, self.pause = 0, TREES
            return
        self.short += 1
        if self.short == FEW:
            self.short, self.trees_alone = 0, self.pause
            self.pause = min(2 * self.pause, MOST_TREES)


load = _Load()


def useful_threads(n_rows: int, n_features: int, shape: Shape, kind: Kind, *, drawn: bool) -> int:
    """Return how many threads are of use for a node of so many rows and all below it.

    Draws of features (drawn), orders of levels and the numbers of few of many classes are kept for
    one node at a time, and so by one thread.
    """
    by_one = drawn or kind.some_features or kind.levels is not None or shape[0] < 0
    if by_one:
        return 1
    most = min(n_features // 2, n_rows * n_features // LEAST_CODES, MOST_THREADS)
    # More threads than cores would wait for each other.
    return max(1, min(_threads.allowed(), _threads.available(), most))


def grow_together(
    n_threads: int,
    compiled: tuple[Any, Shape, Kind],
    codes: Any,
    what: tuple[Any, ...],
    limits: tuple[int, int],
    more: tuple[Any, ...],
    n_rows: int,
    new_scratch: Callable[[], Any],
    out: tuple[Any, ...],
) -> int:
    """Grow node 0 of `out`, of `n_rows`, and all below it; return how many nodes there are then.

    compiled: the gain, and what else code is compiled for; codes: columns, and where each row is
    there; what: statistics, targets, whether they are real, the number of codes, and rules;
    limits: splits and rows of nodes without cells; more: the other arrays of `whole_grower`.
    """
    n_features, count = codes[0].shape[0], 0
    if n_threads > 1 and not load.allows_more():
        n_threads = 1
    desk = desk_for(min(n_features, CHUNKS * n_threads) if n_threads > 1 else 1)
    statistics, _, _, *rules = what

    def grow() -> None:
        nonlocal count
        line = np.empty(n_rows, np.uint32)
        given: Any = *codes, *what, *limits, *more, new_scratch(), line, desk, out
        count = whole_grower(*compiled)(*given)

    def lend_a_hand() -> None:
        line = np.empty(n_rows, np.uint32)
        given: Any = *codes, statistics, *rules, *more, new_scratch(), line, desk, out
        whole_helper(*compiled)(*given)

    def send_home() -> None:
        desk[0][END] = 1

    if n_threads == 1:
        grow()
        return count
    begin, before = time.perf_counter(), time.thread_time()
    _pool.together(grow, [lend_a_hand] * (n_threads - 1), send_home)
    load.learn(time.thread_time() - before, time.perf_counter() - begin)
    return count

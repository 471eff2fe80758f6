"""Cutting rows into tasks, and putting tasks together."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from vtree_kernels._tasks import batches, chunks

Integers = NDArray[np.int64]


def test_chunks_cover_each_node_once() -> None:
    start = np.array([0, 7, 7, 30])
    stop = np.array([7, 7, 30, 31])
    tasks = chunks(start, stop, 10)
    np.testing.assert_array_equal(tasks[:, 0], [0, 1, 2, 2, 2, 3])
    np.testing.assert_array_equal(tasks[:, 1], [0, 7, 7, 15, 23, 30])
    np.testing.assert_array_equal(tasks[:, 2], [7, 7, 15, 23, 30, 31])
    np.testing.assert_array_equal(tasks[:, 3], [-1, -1, -1, 0, 1, -1])


def _borders(tasks: Integers, size: int, each: int) -> list[int]:
    """A border at the first task that begins where so many batches are full, or after it."""
    before = np.concatenate([[0], np.cumsum(tasks[:, 2] - tasks[:, 1] + each)])
    full = np.arange(0, before[-1], size)
    return sorted({*np.searchsorted(before, full).tolist(), 0, len(tasks)})


@pytest.mark.parametrize("seed", range(40))
def test_tasks_and_batches_are_those_of_their_definition(seed: int) -> None:
    draw = np.random.default_rng(seed)
    rows = draw.integers(0, 60, draw.integers(0, 9))
    rows *= draw.integers(0, 2, rows.size)
    stop = np.cumsum(rows + 3)
    size = int(draw.integers(1, 70))
    tasks = chunks(stop - rows, stop, size)
    for node, length in enumerate(rows.tolist()):
        own = tasks[tasks[:, 0] == node]
        covered = [place for _, begin, end, _ in own.tolist() for place in range(begin, end)]
        assert covered == list(range(stop[node] - length, stop[node]))
        assert len(own) == max(1, -(-length // size))
        assert (own[:, 3] >= 0).tolist() == [False] + [True] * (len(own) - 1)
    copies = tasks[tasks[:, 3] >= 0, 3]
    np.testing.assert_array_equal(copies, np.arange(copies.size))
    for each in (0, 5):
        limit = int(draw.integers(1, 90))
        assert batches(tasks, limit, each).tolist() == _borders(tasks, limit, each)

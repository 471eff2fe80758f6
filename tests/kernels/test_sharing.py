"""Jobs that threads share: each chunk is done once, whoever comes, goes or never arrives."""

import threading

import numba
import numpy as np
import pytest
from numpy.typing import NDArray

from vtree_kernels.subtree.sharing import (
    MOST_CHUNKS,
    await_all,
    board,
    claim,
    close,
    finish,
    is_closed,
    post,
)


@numba.njit(nogil=True)
def _offer(place, n_jobs, n_chunks, done, wrong):  # type: ignore[no-untyped-def]
    """Post jobs, do what nobody else does; count what was not done once when all is done."""
    for _ in range(n_jobs):
        done[:] = 0
        post(place)
        chunk = claim(place, n_chunks)
        while chunk >= 0:
            done[chunk] += 1
            finish(place)
            chunk = claim(place, n_chunks)
        await_all(place, n_chunks)
        wrong[0] += np.any(done != 1)
    close(place)


@numba.njit(nogil=True)
def _help(place, n_chunks, done, mine):  # type: ignore[no-untyped-def]
    while not is_closed(place):
        chunk = claim(place, n_chunks)
        if chunk >= 0:
            done[chunk] += 1
            mine[0] += 1
            finish(place)


@pytest.mark.parametrize("n_helpers", [0, 1, 3])
@pytest.mark.parametrize("n_chunks", [1, 5, MOST_CHUNKS])
def test_every_chunk_is_done_once(n_helpers: int, n_chunks: int) -> None:
    place, done, wrong = board(), np.zeros(n_chunks, np.int64), np.zeros(1, np.int64)
    helped: list[NDArray[np.int64]] = [np.zeros(1, np.int64) for _ in range(n_helpers)]
    others = [threading.Thread(target=_help, args=(place, n_chunks, done, m)) for m in helped]
    for other in others:
        other.start()
    _offer(place, 300, n_chunks, done, wrong)
    for other in others:
        other.join(30.0)
        assert not other.is_alive()
    assert wrong[0] == 0
    assert sum(int(mine[0]) for mine in helped) <= 300 * n_chunks


def test_nothing_is_offered_before_the_first_job_or_after_the_last() -> None:
    place = board()

    @numba.njit
    def claimed(place):  # type: ignore[no-untyped-def]
        return claim(place, 3)

    assert claimed(place) == -1
    _offer(place, 1, 3, np.zeros(3, np.int64), np.zeros(1, np.int64))
    assert claimed(place) == -1

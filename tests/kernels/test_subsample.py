"""Rows drawn by the hash of their numbers: the same ones on any device, in any threads."""

import numpy as np
import pytest

from tests.bits import assert_same_bits
from tests.conftest import Namespace
from tests.cuda_host.emulation import on_device, to_host
from vtree import draws
from vtree_kernels._threads import threads
from vtree_kernels.subsample import cuda as on_cuda
from vtree_kernels.subsample import subsample
from vtree_kernels.subsample.cpu import CHUNK

HERE = np.zeros(1)
STATE = draws.mix(draws.SUBSAMPLE, 7, 3)
SHARES = (1.0, 0.8, 0.1, 1e-9)  # of the last, the least chance is above


@pytest.mark.parametrize("n_rows", [1, 100, 2 * CHUNK + 77])
@pytest.mark.parametrize("share", SHARES)
@pytest.mark.parametrize("count", [1, 2])
def test_twins_and_definition_agree(n_rows: int, share: float, count: int) -> None:
    chance = draws.uniform(draws.SUBSAMPLE, 7, 3, np.arange(n_rows))
    expected = chance <= max(share, chance.min())
    with threads(count):
        found = subsample.twin("cpu")(HERE, STATE, n_rows, share)
    for rows, inside in (found, subsample.reference(HERE, STATE, n_rows, share)):
        assert rows.dtype == np.int32
        assert_same_bits(rows, np.flatnonzero(expected))
        assert_same_bits(inside, expected)


def test_the_answer_is_where_the_example_is(xp: Namespace) -> None:
    rows, inside = subsample.reference(xp.asarray(HERE), STATE, 300, 0.5)
    expected = subsample(HERE, STATE, 300, 0.5)
    assert_same_bits(xp.to_numpy(rows), expected[0])
    assert_same_bits(xp.to_numpy(inside), expected[1])


@pytest.mark.parametrize("n_rows", [1, 31, 33, on_cuda.CHUNK, 9 * on_cuda.CHUNK + 77])
@pytest.mark.parametrize("share", SHARES)
def test_cuda_agrees(n_rows: int, share: float, cuda: str | int) -> None:
    found = subsample.twin("cuda")(on_device(HERE), STATE, n_rows, share)
    for own, other in zip(found, subsample.twin("cpu")(HERE, STATE, n_rows, share), strict=True):
        assert to_host(own).dtype == other.dtype
        assert_same_bits(to_host(own), other)

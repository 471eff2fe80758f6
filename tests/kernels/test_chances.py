"""Numbers drawn for rows: bits of the definition, in any threads."""

import numpy as np
import pytest

from tests.bits import assert_same_bits
from vtree import draws
from vtree_kernels._threads import BLOCK, threads
from vtree_kernels.chances import chances


@pytest.mark.parametrize("n_rows", [0, 1, 100, 2 * BLOCK + 77])
@pytest.mark.parametrize("count", [1, 2])
def test_twins_agree(n_rows: int, count: int) -> None:
    state = np.uint64(draws.mix(1, 2, 3))
    found, expected = np.empty((2, n_rows)), np.empty((2, n_rows))
    with threads(count):
        chances(found[0], found[1], state)
    chances.reference(expected[0], expected[1], state)
    assert_same_bits(found, expected)
    assert_same_bits(found[0], draws.uniform(1, 2, 3, np.arange(n_rows)))


def test_both_are_uniform_and_know_nothing_of_each_other() -> None:
    chance, rounding = np.empty((2, 100_000))
    chances(chance, rounding, np.uint64(5))
    for each in (chance, rounding):
        assert each.min() >= 0.0
        assert each.max() < 1.0
        assert abs(each.mean() - 0.5) < 0.005
    assert abs(np.corrcoef(chance, rounding)[0, 1]) < 0.02

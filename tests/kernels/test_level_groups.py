"""The native twin of `level_groups` equals its reference, and what a program of old did by hand."""

from typing import Any

import numpy as np
import pytest

from tests.bits import assert_same_bits
from vtree_kernels.level_groups import LevelGroups, level_groups


def _problem(seed: int) -> tuple[Any, Any, float]:
    random = np.random.default_rng(seed)
    n_levels, n_classes = int(random.choice([2, 3, 6, 12])), int(random.choice([2, 3]))
    share = random.dirichlet(np.full(n_classes, 0.6), n_levels)
    sizes = random.choice([0, 1, 2, 5, 9, 40], n_levels)
    counts = np.stack([random.multinomial(sizes, share) for _ in range(8)]).astype(float)
    if seed % 2:  # fractions of rows
        counts = np.rint(counts * random.random(counts.shape) * 64.0) / 64.0
    counts[0] = 0.0
    return counts, random.integers(0, 4, 8) / 4.0, float(random.choice([1.0, 2.0, 5.0]))


@pytest.mark.parametrize("by_ratio", [True, False])
@pytest.mark.parametrize("seed", range(16))
def test_native_equals_reference(seed: int, by_ratio: bool) -> None:
    problem = (*_problem(seed), by_ratio)
    expected, found = level_groups.reference(*problem), level_groups.twin("cpu")(*problem)
    for name in LevelGroups._fields:
        assert_same_bits(getattr(found, name), getattr(expected, name), name)


def test_pure_levels_join_and_empty_ones_are_a_branch_of_their_own() -> None:
    classes = np.array([[[4.0, 0.0], [0.0, 3.0], [0.0, 0.0], [5.0, 0.0], [2.0, 2.0]]])
    found = level_groups(classes, np.zeros(1), 2.0, True)
    # {0, 3} pure in the first class; whatever else joins, level 2 has no rows and stays apart.
    assert found.group[0, 0] == found.group[0, 3]
    assert (found.group[0, [0, 1, 3, 4]] != found.group[0, 2]).all()
    assert found.group[0, 2] == found.count[0] - 1
    known = classes[0].sum(axis=0)
    assert found.gain[0] > 0.0 and found.info[0] > 0.0
    assert found.gain[0] <= -(known / 16 * np.log2(known / 16)).sum()


def test_no_problem_and_no_level_but_one() -> None:
    for form in (level_groups.reference, level_groups.twin("cpu")):
        assert form(np.zeros((0, 3, 2)), np.zeros(0), 2.0, True).gain.size == 0
        lonely = form(np.array([[[3.0, 1.0], [0.0, 0.0]]]), np.zeros(1), 2.0, True)
        assert lonely.gain[0] == -np.inf

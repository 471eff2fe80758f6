import math

import numpy as np
import pytest
from numpy.typing import NDArray

from vtree.chaid import merging
from vtree.chaid.association import f_test, pearson
from vtree.chaid.merging import (
    Problems,
    Rules,
    absorb_small,
    merge_levels,
    place_missing,
    pooled,
)
from vtree_kernels.merging import Groups, reference

RULES = Rules(math.log(0.05))


def _one(
    rows: list[list[float]], *, ordinal: bool = False, floating: bool = False, least: float = 0.0
) -> Problems:
    stats = np.array([rows], dtype=np.float64)
    return Problems(
        stats, np.array([len(rows)]), np.array([ordinal]), np.array([floating]), np.array([least])
    )


def _labels(groups: Groups) -> list[int]:
    labels: list[int] = groups.label[0].tolist()
    return labels


def test_the_first_of_equally_similar_pairs_merges() -> None:
    alike = [[5.0, 5.0], [1.0, 9.0], [5.0, 5.0], [1.0, 9.0]]
    groups = merge_levels(_one(alike), pearson(1.0), RULES)
    assert _labels(groups) == [0, 1, 0, 1]


def test_only_neighbours_of_an_ordinal_predictor_merge() -> None:
    alike = [[50.0, 50.0], [10.0, 90.0], [50.0, 50.0], [10.0, 90.0]]
    groups = merge_levels(_one(alike, ordinal=True), pearson(1.0), RULES)
    assert _labels(groups) == [0, 1, 2, 3]


def test_a_floating_category_merges_once_and_binds_no_others() -> None:
    # 0 and 2 are like the missing category, which joins 0; they may not meet through it.
    rows = [[50.0, 50.0], [10.0, 90.0], [50.0, 50.0], [50.0, 50.0]]
    groups = merge_levels(_one(rows, ordinal=True, floating=True), pearson(1.0), RULES)
    assert _labels(groups) == [0, 1, 2, 0]
    late = RULES._replace(late=True)
    problem = _one(rows, ordinal=True, floating=True)
    apart = merge_levels(problem, pearson(1.0), late)
    assert _labels(apart) == [0, 1, 2, 3]
    assert apart.alive[0].tolist() == [True, True, True, False]
    alone, within = place_missing(problem, apart, pearson(1.0))
    assert (_labels(alone), _labels(within)) == ([0, 1, 2, 3], [0, 1, 2, 0])
    assert alone.alive[0].tolist() == [True] * 4


def test_merging_stops_at_two_groups() -> None:
    groups = merge_levels(_one([[5.0, 5.0]] * 5), pearson(1.0), RULES)
    assert groups.alive[0].sum() == 2


def test_small_groups() -> None:
    rows = [[90.0, 10.0], [50.0, 50.0], [10.0, 90.0], [3.0, 0.0]]
    apart = merge_levels(_one(rows), pearson(1.0), Rules(math.log(0.9)))
    assert _labels(apart) == [0, 1, 2, 3]
    small = _one(rows, least=10.0)
    assert _labels(absorb_small(small, apart, pearson(1.0))) == [0, 1, 2, 0]
    on_the_way = Rules(math.log(0.9), small_first=True)
    assert _labels(merge_levels(small, pearson(1.0), on_the_way)) == [0, 1, 2, 0]
    everything = absorb_small(_one(rows, least=1e9), apart, pearson(1.0))
    assert _labels(everything) == [0, 0, 0, 0]


def test_more_groups_than_a_node_has_children_merge_on(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(merging, "MOST_GROUPS", 3)
    rows = [[90.0 - 20.0 * k, 10.0 + 20.0 * k] for k in range(5)]
    for rules in (Rules(math.log(0.999)), Rules(math.log(0.05), exhaustive=True)):
        groups = merge_levels(_one(rows), pearson(1.0), rules)
        assert groups.alive[0].sum() <= 3


def test_chunks_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    random = np.random.default_rng(2)
    stats = random.integers(1, 40, (6, 9, 3)).astype(float)
    ordinal = np.array([False, True] * 3)
    problems = Problems(stats, np.full(6, 9), ordinal, ordinal, np.zeros(6))
    whole = merge_levels(problems, f_test(1.0), RULES)
    monkeypatch.setattr(reference, "CELLS", 1)
    for one, other in zip(whole, merge_levels(problems, f_test(1.0), RULES), strict=True):
        np.testing.assert_array_equal(one, other)


def test_merging_and_splitting_in_turns_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    def undo(stats: NDArray[np.float64], *_: object) -> tuple[float, NDArray[np.bool_]]:
        return -1e9, np.arange(len(stats)) == 0

    monkeypatch.setattr(merging, "best_halves", undo)
    rules = RULES._replace(log_alpha_resplit=math.log(0.01))
    groups = merge_levels(_one([[5.0, 5.0]] * 6), pearson(1.0), rules)
    assert groups.alive[0].sum() == 2


def test_pooled() -> None:
    problem = _one([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
    groups = Groups(np.array([[0, 1, 0]]), np.array([[True, True, False]]))
    assert pooled(problem, groups, pearson(1.0))[0].tolist() == [[6.0, 8.0], [3.0, 4.0], [0.0, 0.0]]

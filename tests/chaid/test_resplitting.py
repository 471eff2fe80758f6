from itertools import combinations

import numpy as np
import pytest
from numpy.typing import NDArray

from vtree.chaid import resplitting
from vtree.chaid.association import AssociationTest, f_test, pearson
from vtree.chaid.resplitting import best_halves


def _log_p(stats: NDArray[np.float64], left: tuple[int, ...], test: AssociationTest) -> float:
    mask = np.isin(np.arange(len(stats)), left)
    sides = np.concatenate([test.pool(stats[None], m[None]) for m in (mask, ~mask)])
    return float(test.log_p(sides[None], np.ones((1, 2), dtype=np.bool_))[0])


def test_ordinal_groups_are_cut_between_neighbours() -> None:
    stats = np.array([[9.0, 1.0], [1.0, 9.0], [8.0, 2.0], [7.0, 3.0]])
    log_p, mask = best_halves(stats, True, False, pearson(1.0))
    tried = [_log_p(stats, tuple(range(k)), pearson(1.0)) for k in (1, 2, 3)]
    assert log_p == min(tried)
    assert mask.tolist() == [k <= int(np.argmin(tried)) for k in range(4)]


def test_the_floating_level_goes_anywhere() -> None:
    stats = np.array([[9.0, 1.0], [8.0, 2.0], [2.0, 8.0], [9.0, 1.0]])
    _, mask = best_halves(stats, True, True, pearson(1.0))
    assert mask.tolist() == [True, True, False, True]  # the last level is floating
    alone = np.array([[9.0, 1.0], [8.0, 2.0], [9.0, 1.0], [0.0, 10.0]])
    _, mask = best_halves(alone, True, True, pearson(1.0))
    assert mask.tolist() == [True, True, True, False]


@pytest.mark.parametrize("classes", [2, 3])
def test_nominal_groups_are_cut_in_every_way(classes: int) -> None:
    random = np.random.default_rng(classes)
    stats = random.integers(1, 30, (6, classes)).astype(float)
    log_p, mask = best_halves(stats, False, False, pearson(1.0))
    every = [c for k in range(1, 6) for c in combinations(range(6), k)]
    assert log_p == pytest.approx(min(_log_p(stats, c, pearson(1.0)) for c in every), rel=1e-12)
    assert 0 < mask.sum() < 6


@pytest.mark.parametrize("target", ["two classes", "means"])
def test_beyond_twelve_levels_the_order_holds_the_best_cut(
    target: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    random = np.random.default_rng(11)
    stats = random.integers(1, 40, (10, 2)).astype(float)
    test = pearson(1.0)
    if target == "means":
        stats = np.stack([stats[:, 0], random.normal(size=10) * stats[:, 0], stats[:, 1]], axis=1)
        test = f_test(1.0)
    whole, _ = best_halves(stats, False, False, test)
    monkeypatch.setattr(resplitting, "ALL_SUBSETS_UP_TO", 2)
    ordered, _ = best_halves(stats, False, False, test)
    assert ordered == pytest.approx(whole, rel=1e-12)

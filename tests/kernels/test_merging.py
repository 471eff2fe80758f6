"""The native twin of `merging` equals its reference, on every kind of problem at once."""

import math
from typing import Any

import numpy as np
import pytest

from vtree.chaid.association import f_test, likelihood_ratio, pearson
from vtree_kernels.merging import Rule, merging

TESTS: dict[str, Any] = {"pearson": pearson(1.0), "ratio": likelihood_ratio(0.25), "f": f_test(1.0)}


def _problems(seed: int, n_levels: int) -> tuple[Any, ...]:
    """Return stats, alive, floating, ordinal and least of 12 problems, many levels alike."""
    random = np.random.default_rng(seed)
    n_classes = int(random.choice([2, 3, 5, 11]))
    kinds = random.dirichlet(np.full(n_classes, 0.5), 3)
    share = kinds[random.integers(0, 3, (12, n_levels))]
    size = random.choice([1, 2, 7, 60, 5000, 10**6], (12, n_levels))
    stats = random.multinomial(size, share).astype(np.float64)
    count = random.integers(1, n_levels + 1, 12)
    alive = np.arange(n_levels) < count[:, None]
    ordinal = random.random(12) < 0.5
    floats = ordinal & (random.random(12) < 0.6) & (count > 1)
    floating = np.where(floats, count - 1, -1)
    least = random.choice([0.0, 5.0, 100.0, 1e7], 12)
    return stats, alive, floating, ordinal, least


RULES = {
    "plain": Rule(math.log(0.05), 256),
    "lenient": Rule(math.log(1e-300), 256),
    "beyond float64": Rule(-1e5, 256),
    "small first": Rule(math.log(0.05), 256, small_first=True),
    "exhaustive": Rule(math.log(0.05), 256, exhaustive=True),
    "few groups": Rule(math.log(0.05), 3),
    "few groups, exhaustive": Rule(math.log(0.05), 3, exhaustive=True),
}


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("test", ["pearson", "ratio"])
def test_native_equals_reference(test: str, rule: str) -> None:
    for seed in range(6):
        problems = _problems(seed, [2, 3, 5, 12, 20, 1][seed])
        asked: Any = (*problems, RULES[rule], TESTS[test])
        expected, found = merging.reference(*asked), merging.twin("cpu")(*asked)
        np.testing.assert_array_equal(found.alive, expected.alive)
        np.testing.assert_array_equal(found.label, expected.label)


def test_other_tests_are_worked_out_by_arrays() -> None:
    stats, *others = _problems(3, 12)
    stats = np.abs(stats[..., :1]) + np.arange(1.0, 4.0)
    assert not merging.is_native(stats, TESTS["f"], None)
    assert merging.is_native(stats, TESTS["pearson"], None)
    asked: Any = (stats, *others, RULES["plain"], TESTS["f"])
    for own, expected in zip(merging(*asked), merging.reference(*asked), strict=True):
        np.testing.assert_array_equal(own, expected)


def test_input_stays_as_it_is_and_nothing_is_no_mistake() -> None:
    problems: Any = _problems(4, 20)
    before = [each.copy() for each in problems]
    asked: Any = [*problems, RULES["plain"], TESTS["pearson"]]
    merging(*asked)
    for own, expected in zip(problems, before, strict=True):
        np.testing.assert_array_equal(own, expected)
    asked[:5] = [each[:0] for each in problems]
    for form in (merging.reference, merging.twin("cpu")):
        assert form(*asked).label.shape == (0, 20)

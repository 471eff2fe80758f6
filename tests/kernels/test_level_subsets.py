"""`level_subsets`: the compiled twin has the bits of the definition, by every rule."""

from typing import Any

import numpy as np
import pytest

from tests.bits import assert_same_bits
from tests.criteria.contract import gain_of
from vtree.criteria import newton
from vtree_kernels.level_subsets import Prefixes, Sorted, level_subsets
from vtree_kernels.scan import Layout, Limits

# Plane 0 counts, plane 1 weighs, plane 2 sums.
REALS = Layout(1, 2, 1, 1, 2, 0.0, 0.25, (3.0, 1.0), shrink=3.0, clip=1.0)
LEANING = REALS._replace(unit=(3.0, 1.0, np.inf, 7.0))


def _hist(seed: int, n_codes: int, *, classes: int = 0, tied: bool = False) -> tuple[Any, Any]:
    """Draw histograms of 5 nodes and 3 features, some levels absent; (hist, total)."""
    random = np.random.default_rng(seed)
    shape = (5, 3, n_codes)
    counts = random.integers(1, 30, shape) * (random.random(shape) < 0.7)
    if classes:
        parts = random.integers(0, 3 if tied else 20, (*shape, classes)) * (counts > 0)[..., None]
        hist = np.concatenate([parts.sum(axis=3, keepdims=True), parts], axis=3)
    else:
        weight = counts * random.integers(0 if tied else 1, 4, shape)
        sums = weight * random.integers(-3, 4, shape) * (1 if tied else 37)
        hist = np.stack([counts, weight, sums], axis=3)
    return hist, hist[:, 0].sum(axis=1)


def _compare(hist: Any, total: Any, *rest: Any) -> int:
    """Compare both twins where a split is legal; return how many there are."""
    expected, ways = level_subsets.reference(hist, total, *rest)
    found, own_ways = level_subsets.twin("cpu")(hist, total, *rest)
    legal = expected.gain > -np.inf
    assert_same_bits(found.gain, expected.gain)
    assert_same_bits(own_ways[legal], ways[legal])
    for name, one, other in zip(found._fields, found, expected, strict=True):
        assert_same_bits(one[legal], other[legal].astype(one.dtype), name)
    return int(legal.sum())


@pytest.mark.parametrize("tied", [False, True])
@pytest.mark.parametrize("n_codes", [2, 3, 9, 40, 130])
@pytest.mark.parametrize("reach", [-1, 0, 1, 3, 200])
@pytest.mark.parametrize("light", [False, True])
def test_prefixes_of_reals(light: bool, reach: int, n_codes: int, tied: bool) -> None:
    hist, total = _hist(n_codes, n_codes, tied=tied)
    n_levels = np.array([n_codes - 1, max(1, n_codes // 2), n_codes - 1])
    hist[:, 1, n_levels[1] + 1 :] = 0  # a table wider than its feature
    if not light:
        reach = -1
    rule = Prefixes((2,), light, reach)
    legal = 0
    for least_rows, limits in ((1, Limits(1, 0.0)), (5, Limits(3, 12.0))):
        rest = (rule, least_rows, n_levels, limits, newton.newton, REALS)
        legal += _compare(hist, total, *rest)
    assert legal or reach == 0 or n_codes == 2


@pytest.mark.parametrize("tied", [False, True])
@pytest.mark.parametrize(("classes", "n_codes"), [(2, 9), (2, 70), (3, 20), (7, 33)])
def test_prefixes_of_classes(classes: int, n_codes: int, tied: bool) -> None:
    hist, total = _hist(classes, n_codes, classes=classes, tied=tied)
    layout = Layout(0, 1, 1, classes, 2, 0.0, 1.0, (1.0,))
    planes = (2,) if classes == 2 else tuple(range(1, classes + 1))
    n_levels = np.full(3, n_codes - 1)
    gain = gain_of("gini" if classes == 2 else "entropy")  # each is one more compilation
    assert _compare(hist, total, Prefixes(planes), 4, n_levels, Limits(2, 0.0), gain, layout)


@pytest.mark.parametrize("tied", [False, True])
@pytest.mark.parametrize("n_codes", [2, 3, 5, 9, 40, 130])
@pytest.mark.parametrize("most_levels", [1, 4, 64])
@pytest.mark.parametrize(("smooth", "group_rows", "alone"), [(0.0, 1, 0), (7.5, 30, 4)])
@pytest.mark.parametrize("leans", [False, True])
def test_sorted_levels(
    leans: bool, smooth: float, group_rows: int, alone: int, most_levels: int, n_codes: int,
    tied: bool,
) -> None:  # fmt: skip
    hist, total = _hist(n_codes, n_codes, tied=tied)
    n_levels = np.array([n_codes - 1, max(1, n_codes // 2), n_codes - 1])
    hist[:, 1, n_levels[1] + 1 :] = 0
    gain, lost = newton.newton, newton.lost
    layout = REALS
    if leans:
        gain, lost = newton.smoothed_newton, newton.lost_leaning
        layout = LEANING._replace(lower=np.linspace(-0.5, 0.5, 5)[:, None, None])
    rule = Sorted(smooth, smooth, 2.0, most_levels, group_rows, alone, lost)
    for least_rows, limits in ((1, Limits(1, 0.0)), (5, Limits(3, 12.0))):
        _compare(hist, total, rule, least_rows, n_levels, limits, gain, layout)


def test_missing_values_go_the_way_of_more_gain() -> None:
    hist = np.zeros((1, 1, 4, 3), np.int64)
    hist[0, 0, :, 0] = hist[0, 0, :, 1] = 10
    hist[0, 0, :, 2] = [90, -80, 5, 95]
    best, ways = level_subsets(
        hist, hist[:, 0].sum(axis=1), Prefixes((2,)), 1, np.array([3]), Limits(), newton.newton,
        REALS._replace(unit=(0.0, 0.0), shrink=0.0, clip=0.0),
    )  # fmt: skip
    assert ways.tolist() == [[[-1, 1, 1, 0]]]
    assert not best.missing_left[0, 0]
    assert best.left.tolist() == [[[20, 20, -75]]]

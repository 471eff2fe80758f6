from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from tests.fitting import Setting
from vtree.chaid.moments import with_squares
from vtree.histogram import rows_of


def _table(y: Any, level: Any, weight: Any = None) -> tuple[Any, float, float]:
    """Return (moments of each level, unit of the sums, unit of the weights)."""
    targets = Setting("squared_error").targets(np.asarray(y), weight)
    wide, statistics = with_squares(targets)
    rows = rows_of(wide, np.empty(0))
    table = np.zeros((level.max() + 1, wide.layout.n_statistics), dtype=np.int64)
    table[:, 0] = np.bincount(level)
    if rows.weight is not None:
        np.add.at(table[:, 1], level, rows.weight)
    np.add.at(table[:, wide.layout.first :], level, rows.sums)
    return statistics(table, wide.layout), float(targets.scale[0]), targets.weight_unit


def _exactly(y: Any, weight: Any) -> tuple[float, Fraction]:
    values = [Fraction(float(v)) for v in y]
    weights = [Fraction(float(w)) for w in weight]
    mean = sum(v * w for v, w in zip(values, weights, strict=True)) / sum(weights)
    within = sum(w * (v - mean) ** 2 for v, w in zip(values, weights, strict=True))
    return float(sum(weights)), Fraction(within)


@pytest.mark.parametrize("offset", [0.0, 1e6])
@pytest.mark.parametrize("spread", [1.0, 1e-7])
def test_a_small_spread_far_from_the_middle_keeps_its_digits(offset: float, spread: float) -> None:
    random = np.random.default_rng(3)
    level = np.repeat([0, 1, 2], 40)
    center = np.array([-1.0, 0.5, 1.0])[level]
    y = offset + center + spread * random.integers(-50, 50, 120) / 64.0
    moments, scale, _ = _table(y, level)
    for number in range(3):
        weight, within = _exactly(y[level == number], np.ones(40))
        assert moments[number, 0] == weight
        # What rounding the targets to the step of their sums costs, and no more.
        loss = 40 * scale * float(np.sqrt(float(within)))
        assert moments[number, 2] * scale**2 == pytest.approx(float(within), rel=1e-12, abs=loss)


def test_equal_targets_have_no_spread_at_all() -> None:
    y = np.repeat([0.1, 1e5 / 3.0], 1000)
    moments, _, _ = _table(y, np.repeat([0, 1], 1000))
    assert (moments[:, 2] == 0.0).all()


@pytest.mark.parametrize("kind", ["whole", "uneven"])
def test_weights(kind: str) -> None:
    random = np.random.default_rng(7)
    weight = random.integers(1, 9, 90).astype(float)
    if kind == "uneven":
        weight = 10.0 ** random.uniform(-3, 8, 90)
    level, y = random.integers(0, 2, 90), random.normal(size=90)
    moments, scale, unit = _table(y, level, weight)
    for number in range(2):
        own = level == number
        total, within = _exactly(y[own], weight[own])
        assert moments[number, 0] * unit == pytest.approx(total, rel=1e-9)
        assert moments[number, 2] * unit * scale**2 == pytest.approx(float(within), rel=1e-6)


def test_whole_weights_are_copies() -> None:
    random = np.random.default_rng(9)
    weight, y = random.integers(1, 5, 60), random.normal(size=60)
    level = random.integers(0, 3, 60)
    weighted, own_scale, _ = _table(y, level, weight.astype(float))
    copied, scale, _ = _table(np.repeat(y, weight), np.repeat(level, weight))
    assert own_scale == scale
    np.testing.assert_array_equal(weighted, copied)

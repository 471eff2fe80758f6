from typing import Any

import numpy as np
import pytest

from tests.bits import assert_same_bits
from tests.conftest import Namespace
from vtree.ensembles.derivatives import MANY_ROWS, Derivatives, Weights, derivative_targets
from vtree.histogram import rows_of
from vtree.losses import held
from vtree_kernels import kernels

DRAW = np.random.default_rng(0)
G, H = DRAW.normal(size=100), DRAW.random(100)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("curved", [False, True])
def test_units_turn_sums_back_into_numbers(weighted: bool, curved: bool) -> None:
    whole = DRAW.integers(1, 5, 100) if weighted else None
    each = np.ones(100) if whole is None else whole * 0.25
    weights = Weights.of(whole, 0.25 if weighted else 1.0, 100)
    found = derivative_targets(held(G, H if curved else None), weights, 0.0, 0.0)
    total = float(found.targets.sums.sum()) * found.gradient_unit
    assert total == pytest.approx(-(G * each).sum(), rel=1e-9)
    plane = found.targets.weight
    mass = 100.0 if plane is None else float(plane.sum())
    expected = ((H if curved else 1.0) * each).sum()
    assert mass * found.hessian_unit == pytest.approx(expected, rel=1e-9)
    assert (plane is None) == (not weighted and not curved)
    assert abs(int(found.targets.sums.sum())) < 1 << 53


def test_weights_are_repetitions() -> None:
    whole = DRAW.integers(1, 5, 100)
    own = derivative_targets(held(G, H), Weights.of(whole, 1.0, 100), 1.0, 0.0)
    plain = Weights.of(None, 1.0, int(whole.sum()))
    repeated = held(np.repeat(G, whole), np.repeat(H, whole))
    other = derivative_targets(repeated, plain, 1.0, 0.0)
    assert own.targets.layout == other.targets.layout
    assert own.targets.sums.sum() == other.targets.sums.sum()
    assert own.targets.weight is not None and other.targets.weight is not None
    assert own.targets.weight.sum() == other.targets.weight.sum()


def test_no_second_derivative_becomes_zero_and_rows_are_tiled() -> None:
    slopes = held(G, np.r_[1.0, np.full(99, 1e-300)])
    tiny = derivative_targets(slopes, Weights.of(None, 1.0, 100), 0, 0)
    assert tiny.targets.weight is not None
    assert tiny.targets.weight.min() == 1
    tiled = Weights.of(np.array([1, 2]), 1.0, 2).tiled(3)
    assert tiled.whole is not None
    np.testing.assert_array_equal(tiled.whole, [1, 2, 1, 2, 1, 2])
    assert tiled.total == 3


MANY = np.random.default_rng(1)
STEEP, CURVED = MANY.normal(size=MANY_ROWS), MANY.random(MANY_ROWS)


def _many(gradient: Any, hessian: Any, turn: float = 0.0) -> Derivatives:
    weights = Weights.of(None, 1.0, MANY_ROWS)
    return derivative_targets(held(gradient, hessian), weights, 1.0, 0.0, turn=turn)


def test_growth_has_few_digits_of_many_rows_and_leaves_have_all() -> None:
    found = _many(STEEP, CURVED)
    assert found.whole is not None
    assert found.targets.packed is not None
    weight, own = found.targets.numbers(slice(None))
    assert weight is not None
    assert np.unique(weight).size <= 1024
    assert np.unique(own).size <= 4096
    mass, sums = found.whole.sum(axis=0)
    assert mass * found.hessian_unit == pytest.approx(CURVED.sum(), rel=1e-9)
    assert sums * found.gradient_unit == pytest.approx(-STEEP.sum(), rel=1e-6)
    short = weight.sum() * found.hessian_unit
    assert short == pytest.approx(CURVED.sum(), rel=1e-3)


@pytest.mark.parametrize(
    ("gradient", "hessian"),
    [
        (np.r_[1e6, STEEP[1:]], CURVED),  # one row that leaves no digits for the others
        (STEEP, np.r_[1e4, CURVED[1:]]),
        (STEEP, None),
        (0.0 * STEEP, CURVED),
    ],
)
def test_all_digits_stay_where_few_would_be_noise(gradient: object, hessian: object) -> None:
    assert _many(gradient, hessian).whole is None


def test_few_digits_are_the_same_wherever_they_go(xp: Namespace) -> None:
    found = _many(STEEP, np.r_[-0.5, CURVED[1:]]).targets  # a curvature of one's own objective
    weight, sums = found.numbers(slice(None))
    assert weight is not None and weight[0] < 0
    with kernels("reference"):
        rows = rows_of(found, xp.asarray(np.zeros(1)))
    np.testing.assert_array_equal(xp.to_numpy(rows.weight), weight)
    np.testing.assert_array_equal(xp.to_numpy(rows.sums), sums)


def test_few_digits_do_not_depend_on_the_order_of_rows() -> None:
    order = MANY.permutation(MANY_ROWS)
    found, other = _many(STEEP, CURVED, 0.3), _many(STEEP[order], CURVED[order], 0.3)
    assert found.targets.packed is not None
    assert other.targets.packed is not None
    assert (found.targets.packed.words[order] == other.targets.packed.words).all()


def test_rows_that_weigh_one_have_the_numbers_of_rows_without_weights() -> None:
    found = _many(STEEP, CURVED, 0.3)
    weights = Weights.of(np.ones(MANY_ROWS, np.int64), 1.0, MANY_ROWS)
    own = derivative_targets(held(STEEP, CURVED), weights, 1.0, 0.0, turn=0.3)
    assert own.targets.packed is None
    assert own.targets.layout == found.targets.layout
    rows = np.array([5, 3, 70_000 % MANY_ROWS])
    for given in (slice(None), rows):
        for apart, packed in zip(
            own.targets.numbers(given), found.targets.numbers(given), strict=True
        ):
            assert_same_bits(np.ascontiguousarray(packed), apart)

import math
from typing import Any

import numpy as np
import pytest

from tests.bits import assert_same_bits
from tests.criteria.contract import compiled_gains, gain_of, layout_of, sides
from vtree.criteria import REGRESSION
from vtree.criteria.classification import shares
from vtree.criteria.regression import mean, means
from vtree.targets import class_targets, real_targets

every_criterion = pytest.mark.parametrize("name", REGRESSION)


def _gain(name: str, left: Any, right: Any, layout: Any) -> Any:
    return gain_of(name)(left, right, layout)


@every_criterion
@pytest.mark.parametrize("outputs", [1, 3])
def test_arrays_and_numbers_give_the_same_bits(name: str, outputs: int) -> None:
    left, right = sides(name, 300, 1, outputs)
    layout = layout_of(name, 1, outputs)
    assert_same_bits(_gain(name, left, right, layout), compiled_gains(name, left, right, layout))


@every_criterion
@pytest.mark.parametrize("outputs", [1, 3])
def test_never_negative_and_zero_for_equal_means(name: str, outputs: int) -> None:
    left, right = sides(name, 500, 1, outputs)
    left[2:], right[2:] = left[2:] + 1.0, right[2:] + 1.0  # Poisson refuses sums of zero
    layout = layout_of(name, 1, outputs)
    assert (_gain(name, left, right, layout) >= 0.0).all()
    for factor in (1.0, 3.0, 7.0):
        assert (_gain(name, left, factor * left, layout) == 0.0).all()


@every_criterion
def test_sides_do_not_matter_and_outputs_count_as_their_mean(name: str) -> None:
    left, right = (side + 1.0 for side in sides(name, 50, 1, outputs=2))
    both = layout_of(name, 1, outputs=2)._replace(unit=(1.0, 1.0))
    one = layout_of(name, 1)
    expected = _gain(name, left, right, both)
    np.testing.assert_allclose(_gain(name, right, left, both), expected, rtol=1e-11, atol=1e-11)
    other = one._replace(first=3)
    mean = (_gain(name, left, right, one) + _gain(name, left, right, other)) / 2.0
    np.testing.assert_allclose(expected, mean, rtol=1e-11, atol=1e-11)


@every_criterion
def test_a_gain_is_what_deviance_falls_by(name: str) -> None:
    random = np.random.default_rng(0)
    y = random.integers(0, 9, 40).astype(np.float64)
    sums = np.array([[len(part), len(part), part.sum()] for part in (y[:15], y[15:])])
    gain = _gain(name, sums[0][:, None], sums[1][:, None], layout_of(name, 1))[0]
    deviance = REGRESSION[name].deviance
    assert deviance is not None
    node, left, right = (
        deviance(part, np.full(part.size, part.mean())).sum() for part in (y, y[:15], y[15:])
    )
    assert gain == pytest.approx(node - left - right, rel=1e-10)


def test_worked_numbers() -> None:
    # mtcars, cyl < 5: 11 of 32 cars; rpart prints .643125226048 of the root's sum of squares.
    left, right = np.array([[11.0], [11.0], [293.3]]), np.array([[21.0], [21.0], [349.6]])
    gain = _gain("squared_error", left, right, layout_of("squared_error", 1))[0]
    assert gain / 1126.047188 == pytest.approx(0.643125226048, rel=1e-9)
    left, right = np.array([[2.0], [2.0], [2.0]]), np.array([[2.0], [2.0], [6.0]])
    gain = _gain("poisson", left, right, layout_of("poisson", 1))[0]
    assert gain == pytest.approx(2.0 * math.log(0.5) + 6.0 * math.log(1.5), rel=1e-14)


def test_poisson_refuses_a_side_without_events() -> None:
    left, right = np.array([[2.0], [2.0], [0.0]]), np.array([[2.0], [2.0], [6.0]])
    layout = layout_of("poisson", 1)
    assert _gain("poisson", left, right, layout)[0] == -np.inf
    assert_same_bits(compiled_gains("poisson", left, right, layout), [-np.inf])


def test_the_mean_of_the_ordered_plane_is_the_center_of_a_node() -> None:
    draw = np.random.default_rng(0)
    weight = draw.integers(1, 5, 40).astype(np.float64)
    codes = draw.integers(0, 2, (40, 1))
    for targets, center in (
        (real_targets(draw.normal(size=(40, 2)) + 3.0, weight), means),
        (class_targets(codes, [2], weight), shares),
    ):
        layout = targets.layout
        total = np.ones((3, layout.n_statistics), dtype=np.int64)
        total[:, 1:] = draw.integers(1, 99, (3, layout.n_statistics - 1))
        own = center(total, None, None, None, targets)[:, layout.ordered - layout.first]
        np.testing.assert_array_equal(mean(total.T, layout), own)


def test_deviances_are_zero_at_the_mean_and_take_zeros() -> None:
    y = np.array([0.0, 1.0, 2.0, 5e-324])
    for name in ("squared_error", "poisson"):
        deviance = REGRESSION[name].deviance
        assert deviance is not None
        np.testing.assert_array_equal(deviance(y[1:], y[1:]), np.zeros(3))
        assert (deviance(y, np.full(4, 0.7)) >= 0.0).all()
    poisson = REGRESSION["poisson"].deviance
    assert poisson is not None
    assert poisson(y[:1], np.array([0.7]))[0] == 0.7

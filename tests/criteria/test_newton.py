from typing import Any

import numpy as np
import pytest

from vtree.criteria.newton import (
    bounded_newton,
    bounded_step,
    lost,
    lost_leaning,
    newton,
    no_impurity,
    smoothed_newton,
    step,
    steps,
)
from vtree.ensembles.derivatives import Weights, derivative_targets
from vtree.losses import held
from vtree_kernels._translate import c_gain
from vtree_kernels.scan import Layout


def _plain(r: Any, h: Any, shrink: float, clip: float) -> Any:
    kept = np.sign(r) * np.maximum(np.abs(r) - clip, 0.0)
    return kept * kept / (h + shrink)


@pytest.mark.parametrize("shrink", [0.0, 1.0, 30.0])
@pytest.mark.parametrize("clip", [0.0, 2.0, 1e9])
def test_the_gain_is_that_of_the_paper(shrink: float, clip: float) -> None:
    draw = np.random.default_rng(0)
    layout = Layout(1, 2, 1, 1, 2, 0.0, 1.0, (shrink, clip))
    left = [np.ones(200), draw.random(200) * 9, draw.normal(size=200) * 5]
    right = [np.ones(200), draw.random(200) * 9, draw.normal(size=200) * 5]
    both = [a + b for a, b in zip(left, right, strict=True)]
    expected = sum(_plain(side[2], side[1], shrink, clip) for side in (left, right))
    expected = expected - _plain(both[2], both[1], shrink, clip)
    np.testing.assert_allclose(newton(left, right, layout), expected, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("lower", [-np.inf, -0.1])
@pytest.mark.parametrize("most", [0.05, 0.5, 1e9])
def test_the_gain_of_bounded_answers_is_what_they_lower(most: float, lower: float) -> None:
    draw = np.random.default_rng(0)
    layout = Layout(1, 2, 1, 1, 2, 0.0, 0.5, (2.0, 0.5, most), lower=lower, upper=0.3)
    left = [np.ones(200), draw.random(200) * 9, draw.normal(size=200) * 5]
    right = [np.ones(200), draw.random(200) * 9, draw.normal(size=200) * 5]
    both = [a + b for a, b in zip(left, right, strict=True)]

    def lowered(side: Any) -> Any:
        kept = np.sign(side[2]) * np.maximum(np.abs(side[2]) - 0.5, 0.0)
        step = np.clip(kept / (side[1] + 2.0), -most, most)
        step = np.clip(step, lower / 0.5, 0.3 / 0.5)  # bounds are in the units of answers
        return 2.0 * kept * step - (side[1] + 2.0) * step * step

    expected = lowered(left) + lowered(right) - lowered(both)
    found = bounded_newton(left, right, layout)
    np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-9)
    free = layout._replace(lower=-np.inf, upper=np.inf, unit=(2.0, 0.5, np.inf))
    found = bounded_newton(left, right, free)
    np.testing.assert_allclose(found, newton(left, right, layout), rtol=1e-6, atol=1e-9)


def test_what_a_node_is_worth_less_where_children_shrink_more() -> None:
    draw = np.random.default_rng(0)
    layout = Layout(1, 2, 1, 1, 2, 0.0, 0.5, (2.0, 0.5))
    more = layout._replace(unit=(7.0, 1.5))
    node = [np.ones(200), draw.random(200) * 9, draw.normal(size=200) * 5]
    expected = _plain(node[2], node[1], 2.0, 0.5) - _plain(node[2], node[1], 7.0, 1.5)
    np.testing.assert_allclose(lost(node, layout, more), expected, rtol=1e-9, atol=1e-12)


def test_the_gain_of_leaning_answers_is_what_they_lower() -> None:
    draw = np.random.default_rng(0)
    layout = Layout(1, 2, 1, 1, 2, 0.0, 0.5, (2.0, 0.5, np.inf, 30.0), lower=0.4)
    left, right = (
        [draw.integers(1, 50, 200), draw.random(200) * 9, draw.normal(size=200) * 5]
        for _ in range(2)
    )
    both = [a + b for a, b in zip(left, right, strict=True)]

    def lowered(side: Any) -> Any:
        kept = np.sign(side[2]) * np.maximum(np.abs(side[2]) - 0.5, 0.0)
        share = side[0] / (side[0] + 30.0)
        step = kept / (side[1] + 2.0) * share + 0.4 / 0.5 * (1.0 - share)
        return 2.0 * kept * step - (side[1] + 2.0) * step * step

    expected = lowered(left) + lowered(right) - lowered(both)
    found = smoothed_newton(left, right, layout)
    np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-9)
    kept = np.sign(left[2]) * np.maximum(np.abs(left[2]) - 0.5, 0.0)
    own = 0.8 * (2.0 * kept - (left[1] + 2.0) * 0.8) - lowered(left)
    np.testing.assert_allclose(lost_leaning(left, layout, layout), own, rtol=1e-9, atol=1e-9)
    upright = layout._replace(unit=(2.0, 0.5, np.inf, 0.0))
    found = smoothed_newton(left, right, upright)
    np.testing.assert_allclose(found, newton(left, right, layout), rtol=1e-6, atol=1e-9)


def test_equal_sides_gain_exactly_nothing() -> None:
    layout = Layout(0, 1, 1, 1, 1, 0.0, 1.0, (0.0, 0.0))
    third = np.array([1.0 / 3.0])
    gain = newton([np.array([7.0]), 7 * third], [np.array([21.0]), 21 * third], layout)
    assert abs(float(gain[0])) < 1e-30


def test_it_has_a_form_in_cuda() -> None:
    assert "layout.unit[1]" in c_gain(newton)
    assert "layout.lower" in c_gain(bounded_newton)
    assert "layout.lower" in c_gain(smoothed_newton)


def test_steps_and_impurities() -> None:
    slopes = held(np.array([-3.0, -1.0, 4.0]), np.array([1.0, 2.0, 0.5]))
    targets = derivative_targets(slopes, Weights.of(None, 1.0, 3), 1.0, 0.5).targets
    assert targets.weight is not None
    total = np.stack([np.ones(3), targets.weight, targets.sums[:, 0]], axis=1)
    found = steps(total, None, None, None, targets)
    np.testing.assert_allclose(found[:, 0], [2.5 / 2.0, 0.5 / 3.0, -3.5 / 1.5], rtol=1e-12)
    assert not no_impurity(total, targets.layout).any()


def test_the_step_of_one_node_is_that_of_all() -> None:
    draw = np.random.default_rng(1)
    slopes = held(draw.normal(size=50), draw.random(50) + 0.1)
    for most, one in ((None, step), (0.4, bounded_step)):
        targets = derivative_targets(slopes, Weights.of(None, 1.0, 50), 1.0, 0.2, most).targets
        assert targets.weight is not None
        total = np.stack([np.ones(50), targets.weight, targets.sums[:, 0]], axis=1).astype(np.int64)
        found = steps(total, None, None, None, targets)[:, 0]
        assert np.unique(found).size > 5
        assert most is None or np.abs(found).max() == most
        alone = [one(total[[node]].T, targets.layout)[0] for node in range(50)]
        np.testing.assert_array_equal(alone, found)

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from vtree.targets import (
    SUM_BITS,
    Targets,
    class_targets,
    quantise_weights,
    real_targets,
    repeated,
    roomy,
)

positive = st.floats(min_value=5e-324, max_value=1.7e308)
real = st.floats(min_value=-8e307, max_value=8e307)


def _means(targets: Targets) -> NDArray[np.float64]:
    """Return the weighted mean of each output over all rows."""
    total = len(targets.sums) if targets.weight is None else targets.weight.sum()
    means: NDArray[np.float64] = targets.center + targets.sums.sum(axis=0) / total * targets.scale
    return means


def test_planes_of_classes() -> None:
    codes = np.array([[0, 2], [1, 0]])
    targets = class_targets(codes, [2, 3], None)
    layout = targets.layout
    assert targets.label.tolist() == [[1, 6], [2, 4]]
    assert (layout.weight, layout.first, layout.n_statistics) == (0, 1, 7)
    weighted = class_targets(codes, [2, 3], np.array([1.0, 2.0]))
    assert weighted.label.tolist() == [[2, 7], [3, 5]]
    assert (weighted.layout.weight, weighted.layout.ordered) == (1, 3)
    assert weighted.sums.shape == (2, 0)


@given(st.lists(positive, min_size=1, max_size=30))
def test_sums_of_weights_fit_and_no_weight_vanishes(weights: list[float]) -> None:
    whole, unit = quantise_weights(np.array(weights), len(weights))
    if whole is None:
        assert set(weights) == {unit}
        return
    assert whole.min() >= 1
    assert sum(whole.tolist()) <= 2**SUM_BITS
    heavy = np.array(weights) >= max(weights) / 1e3
    np.testing.assert_allclose((whole * unit)[heavy], np.array(weights)[heavy], rtol=1e-6)


@pytest.mark.parametrize("unit", [1.0, 0.25, 2.0**60, 2.0**-1074])
def test_multiples_of_a_power_of_two_stay_exact(unit: float) -> None:
    weight = np.array([3.0, 1.0, 5.0, 1000.0])
    whole, own_unit = quantise_weights(weight * unit, 4)
    assert whole is not None
    np.testing.assert_array_equal(whole * own_unit, weight * unit)
    np.testing.assert_array_equal(whole, weight)


@pytest.mark.parametrize("constant", [1.0, 0.1, 1e-300, 1e300])
def test_equal_weights_are_no_weights(constant: float) -> None:
    assert quantise_weights(np.full(3, constant), 3) == (None, constant)


@given(st.lists(real, min_size=1, max_size=30), st.booleans())
def test_sums_of_targets_fit(y: list[float], centred: bool) -> None:
    targets = real_targets(np.array(y)[:, None], None, centred=centred)
    assert sum(map(abs, targets.sums[:, 0].tolist())) <= 2**SUM_BITS
    reach = max(map(abs, y)) + abs(float(targets.center[0])) / 2
    step = targets.scale[0]
    back = targets.center[0] + targets.sums[:, 0] * step
    # Half a step of the integers, and the roundings of a centre and a sum next to each other.
    np.testing.assert_array_less(np.abs(back - y) / 2, step + reach * 2.0**-51 + 5e-324)


def test_a_large_offset_costs_no_digits() -> None:
    y = np.array([0.0, 1.0, 2.0, 5.0])
    near, far = (real_targets((y + shift)[:, None], None) for shift in (0.0, 2.0**50))
    np.testing.assert_array_equal(near.sums, far.sums)
    assert _means(far)[0] == 2.0**50 + 2.0


@pytest.mark.parametrize("constant", [0.0, 0.1, -1e300, 5e-324])
def test_a_constant_is_its_own_mean(constant: float) -> None:
    targets = real_targets(np.full((3, 1), constant), np.array([1.0, 2.0, 0.3]))
    assert _means(targets)[0] == constant


def test_uncentred_sums_keep_sign_and_zero() -> None:
    targets = real_targets(np.array([[0.0], [1e-9], [3.0]]), None, centred=False)
    assert targets.center[0] == 0.0
    assert targets.sums[0, 0] == 0
    assert (targets.sums[1:, 0] > 0).all()


@pytest.mark.parametrize("centred", [True, False])
def test_a_weight_is_a_repetition(centred: bool) -> None:
    random = np.random.default_rng(0)
    y, weight = random.gamma(2.0, size=(50, 2)), random.integers(1, 9, 50)
    weighed = real_targets(y, weight.astype(np.float64), centred=centred)
    repeated = real_targets(np.repeat(y, weight, axis=0), None, centred=centred)
    np.testing.assert_array_equal(weighed.scale, repeated.scale)
    np.testing.assert_array_equal(weighed.sums.sum(axis=0), repeated.sums.sum(axis=0))
    assert weighed.layout.unit == repeated.layout.unit
    assert max(weighed.layout.unit) == 1.0


def test_weights_of_many_bits_leave_room_for_targets() -> None:
    random = np.random.default_rng(1)
    y, weight = random.normal(size=(1000, 1)), random.random(1000)
    targets = real_targets(y, weight)
    assert np.abs(targets.sums).sum() <= 2**SUM_BITS
    np.testing.assert_allclose(_means(targets), np.average(y, axis=0, weights=weight), rtol=1e-9)


def test_repeated_rows_have_the_statistics_of_a_weighted_fit() -> None:
    random = np.random.default_rng(0)
    rows, times = np.array([1, 3, 4]), np.array([2, 1, 5])
    codes = random.integers(0, 3, (6, 1))
    chosen = repeated(class_targets(codes, [3], None), rows, times)
    weighted = class_targets(codes[rows], [3], times.astype(np.float64))
    assert chosen.layout == weighted.layout
    np.testing.assert_array_equal(chosen.label, weighted.label)
    assert chosen.weight is not None
    np.testing.assert_array_equal(chosen.weight, weighted.weight)
    y = random.normal(size=(6, 2))
    own = repeated(real_targets(y, np.arange(1.0, 7.0), ranked=True), rows, times)
    assert own.weight is not None and own.ranks is not None
    np.testing.assert_array_equal(own.weight, times * (rows + 1))
    means = own.center + own.sums / own.weight[:, None] * own.scale
    np.testing.assert_allclose(means, y[rows], rtol=1e-9)
    np.testing.assert_array_equal(own.ranks.value[own.ranks.rank], y[rows])


@pytest.mark.parametrize("weight", [None, [1.0, 2.0, 1.0, 3.0]])
def test_classes_are_told_wherever_their_planes_are(weight: list[float] | None) -> None:
    codes = np.array([[0, 1], [2, 0], [1, 1], [2, 1]])
    own = class_targets(codes, [3, 2], None if weight is None else np.array(weight))
    for targets in (own, roomy(own), repeated(own, slice(None), np.ones(4, np.int32))):
        np.testing.assert_array_equal(targets.classes, codes)
    assert own.identity is own.label
    assert roomy(roomy(own)).layout == roomy(own).layout


def test_room_for_more_rows_than_the_table_has() -> None:
    y = np.array([[0.0], [1.0], [5.0]])
    own = real_targets(y, None, most_rows=3_000_000)
    largest = int(np.abs(own.sums).max())
    assert 2**50 < largest * 3_000_000 < 2**53
    assert int(np.abs(real_targets(y, None).sums).max()) > 2**50

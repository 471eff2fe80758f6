import numpy as np
import pytest

from vtree.ensembles.derivatives import Weights, derivative_targets

DRAW = np.random.default_rng(0)
G, H = DRAW.normal(size=100), DRAW.random(100)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("curved", [False, True])
def test_units_turn_sums_back_into_numbers(weighted: bool, curved: bool) -> None:
    whole = DRAW.integers(1, 5, 100) if weighted else None
    each = np.ones(100) if whole is None else whole * 0.25
    weights = Weights.of(whole, 0.25 if weighted else 1.0, 100)
    found = derivative_targets(G, H if curved else None, weights, 0.0, 0.0)
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
    own = derivative_targets(G, H, Weights.of(whole, 1.0, 100), 1.0, 0.0)
    plain = Weights.of(None, 1.0, int(whole.sum()))
    other = derivative_targets(np.repeat(G, whole), np.repeat(H, whole), plain, 1.0, 0.0)
    assert own.targets.layout == other.targets.layout
    assert own.targets.sums.sum() == other.targets.sums.sum()
    assert own.targets.weight is not None and other.targets.weight is not None
    assert own.targets.weight.sum() == other.targets.weight.sum()


def test_no_second_derivative_becomes_zero_and_rows_are_tiled() -> None:
    tiny = derivative_targets(G, np.r_[1.0, np.full(99, 1e-300)], Weights.of(None, 1.0, 100), 0, 0)
    assert tiny.targets.weight is not None
    assert tiny.targets.weight.min() == 1
    tiled = Weights.of(np.array([1, 2]), 1.0, 2).tiled(3)
    assert tiled.whole is not None
    np.testing.assert_array_equal(tiled.whole, [1, 2, 1, 2, 1, 2])
    assert tiled.total == 3

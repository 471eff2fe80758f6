from typing import Any

import numpy as np
import pytest

from vtree.ensembles.derivatives import Weights
from vtree.ensembles.row_draws import Chance, row_factors
from vtree.ensembles.structure import MANY_ROWS, structure_targets


def _sums(targets: Any) -> Any:
    """Return (Σ w, −Σ w g) in real numbers."""
    unit = float(targets.scale[0]) * targets.weight_unit
    weight = None if targets.weight is None else targets.weight.sum() * targets.weight_unit
    return weight, targets.sums.sum(axis=0) * unit


def test_without_chance_sums_are_those_of_the_gradients() -> None:
    gradient = np.random.default_rng(0).normal(size=(50, 2))
    plain = structure_targets(gradient, None, Weights.of(None, 1.0, 50))
    assert plain.weight is None
    assert plain.layout.weight == 0
    np.testing.assert_allclose(_sums(plain)[1], -gradient.sum(axis=0), rtol=1e-12)
    whole = np.arange(1, 51)
    weighted = structure_targets(gradient, None, Weights.of(whole, 0.5, 50))
    weight, sums = _sums(weighted)
    assert weight == whole.sum() * 0.5
    np.testing.assert_allclose(sums, -(gradient * whole[:, None]).sum(axis=0) * 0.5, rtol=1e-10)


@pytest.mark.parametrize("n_rows", [200, MANY_ROWS])
@pytest.mark.parametrize("weighted", [False, True])
def test_drawn_weights_multiply_gradients(n_rows: int, weighted: bool) -> None:
    gradient = np.random.default_rng(0).normal(size=(n_rows, 2)) + 0.5
    whole = np.arange(n_rows) % 5 + 1 if weighted else None
    weights = Weights.of(whole, 0.5 if weighted else 1.0, n_rows)
    chance = row_factors(1.0, 1.0, 1, 0, n_rows)
    assert chance is not None
    targets = structure_targets(gradient, chance, weights)
    own = chance.factor * (0.5 * whole if whole is not None else 1.0)
    weight, sums = _sums(targets)
    few = n_rows < MANY_ROWS
    assert weight == pytest.approx(own.sum(), rel=1e-12 if few else 1e-3)
    expected = -(own[:, None] * gradient).sum(axis=0)
    np.testing.assert_allclose(sums, expected, rtol=1e-9 if few else 5e-3)


def test_many_rows_have_short_numbers_that_are_right_on_the_average() -> None:
    """Gradients a thousandth of the largest: rounded to the nearest they would all vanish."""
    gradient = np.full((MANY_ROWS, 1), -1e-4)
    gradient[0] = 1.0
    rounding = np.random.default_rng(0).random(MANY_ROWS)
    chance = Chance(np.ones(MANY_ROWS), rounding)
    targets = structure_targets(gradient, chance, Weights.of(None, 1.0, MANY_ROWS))
    assert targets.weight is not None
    assert targets.weight.max() < 1 << 11
    assert np.abs(targets.sums).max() < 1 << 13
    assert _sums(targets)[1][0] == pytest.approx(1e-4 * MANY_ROWS - 1.0, rel=0.05)

"""What the splits of symmetric trees are found by: gradients and weights as integer statistics."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from vtree.ensembles.derivatives import Weights
from vtree.ensembles.row_draws import Chance
from vtree.losses import check_finite, whole_numbers
from vtree.targets import Targets
from vtree_kernels.drawn_digits import drawn_digits, unit_of
from vtree_kernels.scan import Layout

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

# Drawn weights and gradients of many rows need few digits: rounded up or down by chance, so that
# sums stay what they are on the average, their error is far below what the draw itself adds. So
# short, a row's weight and gradient fit one word of a histogram, which takes half the time.
MANY_ROWS = 1 << 16
_WEIGHT_BITS, _GRADIENT_BITS = 10, 11


def structure_targets(gradient: Floats, chance: Chance | None, weights: Weights) -> Targets:
    """Return the statistics of E rows: counts, weights where they differ, and −Σ w g.

    gradient (E, K); chance: what multiplies the weights, and how to round.
    """
    if chance is None:
        return _targets(gradient, None, weights, weights.unit)
    if weights.n_rows < MANY_ROWS:
        own = (weights.whole, weights.n_rows, weights.total)
        plane, unit = whole_numbers(chance.factor, *own)
        return _targets(gradient * chance.factor[:, None], plane, weights, unit * weights.unit)
    given = gradient, chance.factor, chance.rounding, weights.whole
    plane, sums, heaviest, steepest = drawn_digits(*given, (_WEIGHT_BITS, _GRADIENT_BITS))
    check_finite(steepest)
    unit, sums_unit = unit_of(heaviest, _WEIGHT_BITS), unit_of(steepest, _GRADIENT_BITS)
    return _assembled(sums, sums_unit * weights.unit, plane, unit * weights.unit)


def _targets(
    gradient: Floats, plane: Integers | None, weights: Weights, weight_unit: float
) -> Targets:
    """Return the statistics of rows with weights `plane`, those of the table where None."""
    n_rows, n_raw = gradient.shape
    tiled = None if weights.whole is None else np.tile(weights.whole, n_raw)
    flat = np.ascontiguousarray(-gradient.T).reshape(-1)
    sums, unit = whole_numbers(flat, tiled, weights.n_rows, weights.total)
    own = weights.whole if plane is None else plane
    columns = np.ascontiguousarray(sums.reshape(n_raw, n_rows).T)
    return _assembled(columns, unit * weights.unit, own, weight_unit)


def _assembled(sums: Integers, unit: float, weight: Integers | None, weight_unit: float) -> Targets:
    n_rows, n_raw = sums.shape
    first = 1 if weight is None else 2
    scale = unit / weight_unit
    return Targets(
        label=np.zeros((n_rows, 0), dtype=np.int32),
        weight=weight,
        sums=sums,
        identity=np.zeros((n_rows, 0)),
        layout=Layout(first - 1, first, n_raw, 1, first, 0.0, scale, (1.0,) * n_raw),
        center=np.zeros(n_raw),
        scale=np.full(n_raw, scale),
        weight_unit=weight_unit,
    )

"""What the splits of symmetric trees are found by: gradients and weights as integer statistics."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from vtree.ensembles.derivatives import Weights
from vtree.ensembles.row_draws import Chance
from vtree.losses import whole_numbers
from vtree.targets import Targets
from vtree_kernels.scan import Layout

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

# Drawn weights and gradients of many rows need few digits: rounded up or down by chance, so that
# sums stay what they are on the average, their error is far below what the draw itself adds. So
# short, a row's weight and gradient fit one word of a histogram, which takes half the time.
MANY_ROWS = 1 << 16
_WEIGHT_BITS, _GRADIENT_BITS = 10, 12


def structure_targets(gradient: Floats, chance: Chance | None, weights: Weights) -> Targets:
    """Return the statistics of E rows: counts, weights where they differ, and −Σ w g.

    gradient (E, K); chance: what multiplies the weights, and how to round.
    """
    n_rows, n_raw = gradient.shape
    if chance is None:
        return _targets(gradient, None, weights, weights.unit)
    factor, scaled = chance.factor, gradient * chance.factor[:, None]
    if weights.n_rows < MANY_ROWS:
        plane, unit = whole_numbers(factor, weights.whole, weights.n_rows, weights.total)
        return _targets(scaled, plane, weights, unit * weights.unit)
    if weights.whole is not None:
        factor = factor * weights.whole
        scaled = scaled * weights.whole[:, None]
    plane, unit = _short(factor, _WEIGHT_BITS, chance.rounding)
    sums = np.empty((n_rows, n_raw), dtype=np.int64)
    reach = np.abs(scaled).max(initial=0.0)
    sums_unit = _unit(float(reach), _GRADIENT_BITS)
    for k in range(n_raw):
        sums[:, k] = np.floor(-scaled[:, k] / sums_unit + chance.rounding)
    return _assembled(sums, sums_unit * weights.unit, plane, unit * weights.unit)


def _unit(reach: float, bits: int) -> float:
    """Return the power of two of which numbers up to `reach` are less than 2^bits."""
    return float(np.ldexp(1.0, int(np.frexp(reach)[1]) - bits)) if reach > 0.0 else 1.0


def _short(values: Floats, bits: int, rounding: Floats) -> tuple[Integers, float]:
    """Return (values that are not negative as whole numbers of few bits, what one stands for)."""
    unit = _unit(float(values.max(initial=0.0)), bits)
    whole = np.floor(values / unit + rounding)
    return whole.astype(np.int64), unit


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

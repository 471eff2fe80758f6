"""First and second derivatives of N rows as integer statistics, from which a tree can grow."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from vtree.losses import check_finite, whole_numbers
from vtree.losses.exact import SUM_BITS
from vtree.targets import Targets
from vtree_kernels.scan import Layout

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]


# Of a row among many, whose sums have more digits than its own: a gradient and a second derivative
# then take eight bytes, and their sums with a count the two words of a histogram's cell, which
# 65,536 rows cannot overflow. XGBoost's and LightGBM's are float32, of 24 bits.
MANY_ROWS = 1 << 16
_GRADIENT_BITS, _HESSIAN_BITS = 30, 26


class Weights(NamedTuple):
    """What the rows of a tree weigh."""

    whole: Integers | None  # (R,), None where all weigh one
    unit: float  # the weight that one unit stands for
    n_rows: int  # rows of a tree
    total: int  # weight of a tree

    @classmethod
    def of(cls, whole: Integers | None, unit: float, n_rows: int) -> Weights:
        """Return the weights of a table whose rows weigh `whole` (N,)."""
        return cls(whole, unit, n_rows, n_rows if whole is None else int(whole.sum()))

    def tiled(self, times: int) -> Weights:
        """Return the same for a table that is repeated for several trees."""
        return self._replace(whole=None if self.whole is None else np.tile(self.whole, times))

    def parted(self, n_entries: int) -> Weights:
        """Return the same for the first entries of such a table."""
        return self._replace(whole=None if self.whole is None else self.whole[:n_entries])


class Derivatives(NamedTuple):
    """Statistics for growth and the units that turn their sums into numbers."""

    targets: Targets
    gradient_unit: float
    hessian_unit: float

    @property
    def gain_unit(self) -> float:
        """What one unit of gain stands for."""
        return self.gradient_unit * (self.gradient_unit / self.hessian_unit)

    def shrunk(self, more: float) -> Targets:
        """Return the statistics of answers that shrink more, by `more` added to reg_lambda."""
        layout = self.targets.layout
        shrink, *rest = layout.unit
        unit = (shrink + more / self.hessian_unit, *rest)
        return self.targets._replace(layout=layout._replace(unit=unit))


def derivative_targets(
    gradient: Floats,
    hessian: Floats | None,
    weights: Weights,
    shrink: float,
    clip: float,
    most: float | None = None,
    *,
    smooth: float = 0.0,
    reach: tuple[float, float] | None = None,
) -> Derivatives:
    """Return the statistics of R rows: counts, Σ w h where it is not the count, and −Σ w g.

    gradient, hessian (R,), None where all second derivatives are one; shrink, clip: reg_lambda and
    reg_alpha; most: what a leaf may answer, None where answers have no bounds; smooth: rows by
    which they lean on their parents; reach: the largest sizes of both, where other trees have the
    same units. A positive second derivative is never rounded to zero. Raises InputError for
    gradients beyond what gains can hold.
    """
    of_table = (weights.whole, weights.n_rows, weights.total)
    bits = (_GRADIENT_BITS, _HESSIAN_BITS) if weights.n_rows >= MANY_ROWS else (SUM_BITS, SUM_BITS)
    steepest, most_curved = reach or (None, None)
    sums, unit = whole_numbers(gradient, *of_table, bits[0], negated=True, reach=steepest)
    plane, hessian_unit = weights.whole, weights.unit
    if hessian is not None:
        plane, own = whole_numbers(hessian, *of_table, bits[1], least=1, reach=most_curved)
        hessian_unit = own * weights.unit
    gradient_unit = unit * weights.unit
    first = 1 if plane is None else 2
    scale = gradient_unit / hessian_unit
    numbers = (shrink / hessian_unit, clip / gradient_unit)
    bound: tuple[float, ...] = () if most is None else (most / scale,)
    if smooth:
        bound = (np.inf, smooth)
    targets = Targets(
        label=np.zeros((gradient.size, 0), dtype=np.int32),
        weight=plane,
        sums=sums[:, None],
        # Rows of one slope gain nothing when they part, but for what rounding makes of them.
        identity=np.zeros((gradient.size, 0)) if hessian is not None else gradient[:, None] + 0.0,
        layout=Layout(
            first - 1, first, 1, 1, first, 0.0, scale, (*numbers, *bound), 0, *numbers, confined=1
        ),
        center=np.zeros(1),
        scale=np.asarray([scale]),
        weight_unit=hessian_unit,
    )
    derived = Derivatives(targets, gradient_unit, hessian_unit)
    check_finite(derived.gain_unit)
    return derived

"""First and second derivatives of N rows as integer statistics, from which a tree can grow."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from vtree import arrays
from vtree.arrays import Array
from vtree.losses import Slopes, check_finite, lowest_exponent, reach_of_slopes, whole_numbers
from vtree.losses.exact import SUM_BITS
from vtree.targets import Targets
from vtree_kernels import run_blocks
from vtree_kernels.few_digits import Few, Scale, few_digits
from vtree_kernels.histogram import Compact, packing
from vtree_kernels.scan import Layout

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]


# Of a row among many, whose sums have more digits than its own: a gradient and a second derivative
# then take eight bytes, and their sums with a count the two words of a histogram's cell, which
# 65,536 rows cannot overflow. XGBoost's and LightGBM's are float32, of 24 bits.
MANY_ROWS = 1 << 16
_BITS = (30, 26)  # gradients, second derivatives

# Histograms of so many rows need fewer digits than leaves do (Shi et al. 2022, "Quantized Training
# of Gradient Boosting Decision Trees"): with so few, both and a count are one word of a cell, which
# takes two thirds of the time. Numbers no larger than what rounding may change them by would be
# noise, so all digits stay where those of most rows are small beside the largest ones. Rows are
# counted, not weight, for many copies of few rows are no large table: whole weights are copies as
# long as both tables are large, or both small.
_SHORT_BITS = (11, 10)
_SHORT_FIELDS = (0, _SHORT_BITS[1], _SHORT_BITS[0] + 1)  # a count; one of them has a sign
_LEAST_MEAN = 4.0  # of |numbers|

# No second derivative becomes zero. The unit of those that are next to nothing, or nothing, is that
# of ones as large as this, so that their sums stay next to nothing, and quotients by it finite.
LEAST_CURVATURE = 2.0**-500


class Weights(NamedTuple):
    """What the rows of a tree weigh."""

    whole: Array | None  # (R,) int64, None where all weigh one
    unit: float  # the weight that one unit stands for
    n_rows: int  # rows of a tree
    total: int  # weight of a tree

    @classmethod
    def of(cls, whole: Integers | None, unit: float, n_rows: int) -> Weights:
        """Return the weights of a table whose rows weigh `whole` (N,)."""
        return cls(whole, unit, n_rows, n_rows if whole is None else int(whole.sum()))

    def tiled(self, times: int) -> Weights:
        """Return the same for a table that is repeated for several trees."""
        if self.whole is None or times == 1:
            return self
        return self._replace(whole=arrays.namespace(self.whole).concat([self.whole] * times))

    def parted(self, n_entries: int) -> Weights:
        """Return the same for the first entries of such a table."""
        return self._replace(whole=None if self.whole is None else self.whole[:n_entries])


class Derivatives(NamedTuple):
    """Statistics for growth and the units that turn their sums into numbers."""

    targets: Targets
    gradient_unit: float
    hessian_unit: float
    curved: bool  # whether the weights of `targets` are second derivatives, times the rows' own
    whole: Array | None = None  # (R, 2) weight and sums where growth has fewer digits

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
    slopes: Slopes,
    weights: Weights,
    shrink: float,
    clip: float,
    most: float | None = None,
    *,
    smooth: float = 0.0,
    reach: tuple[float, float] | None = None,
    turn: float = 0.0,
) -> Derivatives:
    """Return the statistics of R rows: counts, Σ w h where it is not the count, and −Σ w g.

    slopes: g and h of the rows; shrink, clip: reg_lambda and reg_alpha; most: what a leaf may
    answer, None where answers have no bounds; smooth: rows by which they lean on their parents;
    reach: the largest sizes of both, where other trees have the same units; turn: in [0, 1),
    changes which numbers of few digits are rounded up. A positive second derivative is never
    rounded to zero, but for those. Raises InputError for gradients beyond what gains can hold.
    """
    reach = reach or reach_of_slopes([slopes])
    found = _few_digits(slopes, weights, reach, turn) or _all_digits(slopes, weights, reach)
    hessian_unit = found.hessian_unit * weights.unit
    gradient_unit = found.gradient_unit * weights.unit
    first = 1 if found.weight is None and found.compact is None else 2
    scale = gradient_unit / hessian_unit
    numbers = (shrink / hessian_unit, clip / gradient_unit)
    bound: tuple[float, ...] = () if most is None else (most / scale,)
    if smooth:
        bound = (np.inf, smooth)
    targets = Targets(
        label=np.zeros((slopes.n_rows, 0), dtype=np.int32),
        weight=found.weight,
        sums=found.sums,
        identity=found.identity,
        layout=Layout(
            first - 1, first, 1, 1, first, 0.0, scale, (*numbers, *bound), 0, *numbers, confined=1
        ),
        center=np.zeros(1),
        scale=np.asarray([scale]),
        weight_unit=hessian_unit,
        compact=found.compact,
    )
    curved = found.identity.shape[1] == 0
    derived = Derivatives(targets, gradient_unit, hessian_unit, curved, found.whole)
    check_finite(derived.gain_unit)
    return derived


class _Numbers(NamedTuple):
    """Derivatives as whole numbers, and what one of them stands for."""

    weight: Array | None
    sums: Array  # (R, 1), (R, 0) where `compact` has words that hold all
    gradient_unit: float
    hessian_unit: float
    identity: Array  # (R, 1), (R, 0) where slopes differ
    whole: Array | None = None
    compact: Compact | None = None


def _all_digits(slopes: Slopes, weights: Weights, reach: tuple[float, float]) -> _Numbers:
    gradient, hessian = slopes.whole()
    table = (weights.whole, weights.n_rows, weights.total)
    bits = _BITS if weights.n_rows >= MANY_ROWS else (SUM_BITS, SUM_BITS)
    sums, unit = whole_numbers(gradient, *table, bits[0], negated=True, reach=reach[0])
    if hessian is None:
        # Rows of one slope gain nothing when they part, but for what rounding makes of them.
        return _Numbers(weights.whole, sums[:, None], unit, 1.0, gradient[:, None] + 0.0)
    mass, own = whole_numbers(
        hessian, *table, bits[1], least=1, reach=max(reach[1], LEAST_CURVATURE)
    )
    return _Numbers(mass, sums[:, None], unit, own, np.empty((slopes.n_rows, 0)))


def _few_digits(
    slopes: Slopes, weights: Weights, reach: tuple[float, float], turn: float
) -> _Numbers | None:
    """Return numbers of few digits, None where these do not do."""
    if reach[0] == 0.0 or reach[1] < LEAST_CURVATURE or weights.n_rows < MANY_ROWS:
        return None
    one = slopes.of(slice(0, 1))
    if one[1] is None:
        return None
    check_finite(np.asarray(reach))
    if weights.total.bit_length() > SUM_BITS // 2:
        return None
    scales, units = _scales(reach, weights.total)
    few = Few.empty(slopes.n_rows, weighted=weights.whole is not None, example=one[0])
    sizes: list[tuple[float, float]] = []

    def block(rows: slice) -> None:
        gradient, hessian = slopes.of(rows)
        assert hessian is not None
        own = None if weights.whole is None else weights.whole[rows]
        sizes.append(few_digits(gradient, hessian, own, scales, turn, few.of(rows)))

    if slopes.held or not arrays.is_numpy(one[0]):
        block(slice(0, slopes.n_rows))
    else:
        run_blocks(block, slopes.n_rows, each=10, times=2)
    if min(np.sum(sizes, axis=0)) < _LEAST_MEAN * slopes.n_rows:
        return None
    none = np.empty((slopes.n_rows, 0))
    if weights.whole is not None:
        return _Numbers(few.mass, few.sums[:, None], units[0], units[1], none, few.whole)
    lowest = np.asarray([scales[1].shift, scales[0].shift])
    bits = np.asarray(_SHORT_FIELDS[1:])
    compact = Compact(np.empty((0, 2), np.int32), bits, few.words, lowest, 1)
    nowhere = np.empty((slopes.n_rows, 0), np.int64)
    return _Numbers(None, nowhere, units[0], units[1], none, few.whole, compact)


def _scales(
    reach: tuple[float, float], total: int
) -> tuple[tuple[Scale, Scale], tuple[float, float]]:
    """Return (how gradients and second derivatives become numbers, what one of these stands for).

    reach: of both; total: what all rows weigh.
    """
    widths = packing(np.asarray(_SHORT_FIELDS))[0][:, 1]
    places = int(widths[:2].sum()), int(widths[0])
    scales: list[Scale] = []
    units: list[float] = []
    numbers = zip(reach, _BITS, _SHORT_BITS, (-1.0, 1.0), places, strict=True)
    for most, bits, short, sign, place in numbers:
        step = lowest_exponent(most, total, bits)
        units.append(float(np.ldexp(1.0, step)))
        shift = max(0, int(np.frexp(most)[1]) - step - short)
        scales.append(Scale(sign / units[-1], shift, float((1 << short) - 1), place))
    return (scales[0], scales[1]), (units[0], units[1])

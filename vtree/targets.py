"""Targets: y and weights → integer statistics of rows, whose sums are exact in any order.

Real numbers become integers by a power of two, rounded half to even, so that no sum can pass 2^53:
sums are then exact as int64 and again as float64. Targets are centred first, halfway between the
extremes, so that a large offset costs no digits. Whole or dyadic weights stay exact, so a weight
of 3 is the same model as three rows.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from vtree import arrays
from vtree.arrays import Array
from vtree_kernels.histogram import Compact, numbers_of
from vtree_kernels.medians import Ranks
from vtree_kernels.scan import Layout

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

SUM_BITS = 53  # what float64 holds exactly
PRODUCT_BITS = 26  # total weight up to which weight times target is formed from two integers


class Targets(NamedTuple):
    """Integer statistics of N rows, O outputs, and how to turn sums back into numbers."""

    label: NDArray[np.int32]  # (N, O) plane of each row's class, (N, 0) for regression
    weight: Array | None  # (N,) int64 or int32, None where all rows weigh one
    sums: Array  # (N, O) int64 centred, scaled, weighted targets, (N, 0) for classes
    # (N, O) equal exactly where targets are equal, of classes `label`; (N, 0): never known to be
    identity: Array
    layout: Layout
    center: Floats  # (O,) zeros for classes
    scale: Floats  # (O,) a mean is center + scale * sum / weight
    weight_unit: float  # the weight that one unit of integer weight stands for
    ranks: Ranks | None = None  # of real targets, for criteria that judge by medians
    # Weight and sums as histograms read them, where that is known. If words hold them, these may be
    # all there is: `weight` is None then, and `sums` (N, 0).
    compact: Compact | None = None

    @property
    def classes(self) -> Integers:
        """The class numbers of classes, (N, O), from 0."""
        layout = self.layout
        first = layout.first + np.arange(layout.outputs) * layout.classes
        numbers: Integers = self.label - first
        return numbers

    @property
    def on_host(self) -> bool:
        """Whether weight and sums are NumPy arrays; they may lie where the codes are instead."""
        return arrays.is_numpy(self.sums if self.packed is None else self.packed.words)

    @property
    def packed(self) -> Compact | None:
        """The words that hold weight and sums, where these are nowhere else."""
        found = self.compact
        return found if found is not None and found.packed and not self.sums.shape[1] else None

    def numbers(self, rows: Any) -> tuple[Integers | None, Integers]:
        """Return weight and sums of chosen rows, numbers or a slice."""
        found = self.packed
        if found is None:
            return None if self.weight is None else self.weight[rows], self.sums[rows]
        return numbers_of(found, rows)


def class_targets(
    codes: NDArray[np.int64],
    n_classes: list[int],
    weight: Floats | None,
    times: Integers | None = None,
) -> Targets:
    """Return the statistics of classes.

    codes (N, O): class numbers from 0; n_classes: of each output; weight (N,): positive, or None;
    times (N,): how many rows each one stands for, positive, or None for one: the sums are those of
    a table that repeats its rows.
    """
    whole, weight_unit = quantise_weights(weight, _n_cases(codes.shape[0], times))
    first = 1 if whole is None else 2
    outputs, classes = len(n_classes), max(n_classes)
    positive = first + min(1, classes - 1)  # of two classes, the second one is ordered
    unit = (1.0,) * outputs
    implied = int(whole is None)
    layout = Layout(first - 1, first, outputs, classes, positive, 0.0, 1.0, unit, implied)
    label = (first + np.arange(outputs) * classes + codes).astype(np.int32)
    once = Targets(
        label=label,
        weight=whole,
        sums=np.zeros((len(codes), 0), dtype=np.int64),
        identity=label,
        layout=layout,
        center=np.zeros(outputs),
        scale=np.ones(outputs),
        weight_unit=weight_unit,
    )
    return once if times is None else repeated(once, slice(None), times)


def _n_cases(n_rows: int, times: Integers | None) -> int:
    return n_rows if times is None else int(times.sum())


def real_targets(
    y: Floats,
    weight: Floats | None,
    *,
    centred: bool = True,
    ranked: bool = False,
    most_rows: int = 0,
    times: Integers | None = None,
) -> Targets:
    """Return the statistics of real targets.

    y (N, O): finite; weight (N,): positive, or None; centred: False where sums must keep their
    sign and zero (Poisson); ranked: True where medians will be asked for; most_rows: how many rows
    `repeated` may make of these; times (N,): as in `class_targets`.
    """
    n_rows = _n_cases(y.shape[0], times)
    whole, weight_unit = quantise_weights(weight, n_rows)
    total = n_rows
    if whole is not None:
        total = int(whole.sum() if times is None else (whole * times).sum())
    first = 1 if whole is None else 2
    outputs = y.shape[1]
    spare = max(0, -(-most_rows // n_rows) - 1).bit_length()
    columns = [_quantise(y[:, o], whole, centred, (n_rows, total, spare)) for o in range(outputs)]
    center = np.asarray([column[1] for column in columns])
    scale = np.asarray([column[2] for column in columns])
    unit = tuple((scale / scale.max()).tolist())
    layout = Layout(first - 1, first, outputs, 1, first, float(center[0]), float(scale[0]), unit)
    once = Targets(
        label=np.zeros((y.shape[0], 0), dtype=np.int32),
        weight=whole,
        sums=np.stack([column[0] for column in columns], axis=1),
        identity=y + 0.0,
        layout=layout,
        center=center,
        scale=scale,
        weight_unit=weight_unit,
        ranks=_ranks(y, center, scale, _has_products(whole, total)) if ranked else None,
    )
    return once if times is None else repeated(once, slice(None), times)


def roomy(targets: Targets) -> Targets:
    """Return the statistics with a plane for weights, which rows need not have yet."""
    layout = targets.layout
    if layout.weight:
        return targets
    layout = layout._replace(
        weight=1, first=layout.first + 1, ordered=layout.ordered + 1, implied=0
    )
    label = targets.label + np.int32(1)
    is_class = targets.identity is targets.label
    identity = label if is_class else targets.identity
    return targets._replace(label=label, identity=identity, layout=layout)


def repeated(targets: Targets, rows: Integers | slice, times: NDArray[Any] | None) -> Targets:
    """Return the statistics of chosen rows, row rows[i] counting times[i] times its weight.

    rows (R,): may name a row more than once; times (R,) int64 or int32: positive, or zero for rows
    that no tree will grow from; None for all ones. The sums of weights and weighted targets must
    stay below 2^53, see `most_rows` of `real_targets`.
    """
    if times is not None:
        targets = roomy(targets)
    chosen = targets._replace(
        label=targets.label[rows],
        weight=None if targets.weight is None else targets.weight[rows],
        sums=targets.sums[rows],
        identity=targets.identity[rows],
        compact=None,
        ranks=None
        if targets.ranks is None
        else targets.ranks._replace(rank=targets.ranks.rank[rows]),
    )
    if times is None:
        return chosen
    weight = times if chosen.weight is None else chosen.weight * times
    return chosen._replace(weight=weight, sums=chosen.sums * times[:, None])


def quantise_weights(weight: Floats | None, n_rows: int) -> tuple[Integers | None, float]:
    """Return (integers (N,), what one of them stands for); None where all weights are equal.

    Weights that are whole multiples of some power of two stay exact if their sum fits; others are
    rounded, a positive weight never to zero.
    """
    if weight is None:
        return None, 1.0
    largest = float(weight.max())
    if float(weight.min()) == largest:
        return None, largest
    mantissa, exponent = np.frexp(weight)
    digits = (mantissa * 2.0**53).astype(np.int64)
    lowest = int((exponent - 53 + _trailing_zeros(digits)).min())
    room = SUM_BITS - (n_rows - 1).bit_length()  # bits left for one weight
    highest = int(exponent.max())
    step = lowest if highest - lowest <= room else highest - room
    whole = np.maximum(np.rint(np.ldexp(weight, -step)), 1.0).astype(np.int64)
    return whole, float(np.ldexp(1.0, step))


def _trailing_zeros(digits: Integers) -> NDArray[np.int64]:
    lowest_bit = digits & -digits
    return np.frexp(lowest_bit.astype(np.float64))[1].astype(np.int64) - 1


def _quantise(
    y: Floats, whole: Integers | None, centred: bool, room: tuple[int, int, int]
) -> tuple[Integers, float, float]:
    """Return (sums (N,), center, scale) of one output.

    room: how many rows they stand for, the total of their integer weights, and bits to leave free.
    """
    n_rows, total, spare = room
    low, high = float(y.min()), float(y.max())
    center = low / 2.0 + high / 2.0 if centred and low != high else (low if centred else 0.0)
    distance = _distance(y, center)
    reach = float(np.abs(distance).max())
    if reach == 0.0:
        return np.zeros(y.size, dtype=np.int64), center, 1.0
    top = int(np.frexp(reach)[1])  # |distance| < 2^top
    if _has_products(whole, total):
        # weight × integer target: repeating a row and weighing it are the same numbers
        step = max(top - SUM_BITS + total.bit_length() + spare, -1074)
        sums = np.rint(np.ldexp(distance, -step)).astype(np.int64)
        return (sums if whole is None else sums * whole), center, float(np.ldexp(1.0, step))
    assert whole is not None
    heaviest = int(whole.max()).bit_length()
    step = max(top + heaviest - SUM_BITS + (n_rows - 1).bit_length() + spare, -1074)
    scaled = np.ldexp(distance, -step) * whole.astype(np.float64)
    return np.rint(scaled).astype(np.int64), center, float(np.ldexp(1.0, step))


def _has_products(whole: Integers | None, total: int) -> bool:
    """Tell whether weighted targets are products of integers; otherwise they are rounded ones."""
    return whole is None or total.bit_length() <= PRODUCT_BITS


def _distance(y: Floats, center: float) -> Floats:
    with np.errstate(over="ignore"):
        distance = y - center
    if np.isfinite(distance).all():
        return distance
    # the two ends of the range of float64
    return np.clip(distance, -np.finfo(np.float64).max, np.finfo(np.float64).max)


def _ranks(y: Floats, center: Floats, scale: Floats, whole: bool) -> Ranks:
    """Return the order of the targets (N, O), with positions in the units of their sums.

    whole: whether these are products of integers.
    """
    columns, positions, values = [], [], []
    before = 0
    for output in range(y.shape[1]):
        distinct, rank = np.unique(y[:, output] + 0.0, return_inverse=True)
        position = _distance(distinct, float(center[output])) / scale[output]
        columns.append(before + np.reshape(rank, -1))
        positions.append(np.rint(position) + 0.0 if whole else position)
        values.append(distinct)
        before += distinct.size
    return Ranks(
        rank=np.stack(columns, axis=1).astype(np.int32),
        position=np.concatenate(positions),
        value=np.concatenate(values),
    )

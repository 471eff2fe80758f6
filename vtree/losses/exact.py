"""Means and quantiles that do not depend on the order of the rows."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from vtree import arrays
from vtree.arrays import Array
from vtree.errors import InputError
from vtree_kernels.rounded import rounded
from vtree_kernels.whole_sum import largest_size, whole_sum

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

SUM_BITS = 53


class Terms(NamedTuple):
    """Losses and derivatives of N rows and K raw predictions."""

    gradient: Floats  # (N, K)
    hessian: Floats  # (N, K)
    loss: Floats  # (N,), empty where only derivatives were asked for


def exact_sum(values: Floats) -> float:
    """Return the sum of values (N,), as one of integers."""
    whole, unit = _whole_sum(values, None, values.size)
    return float(whole) * unit


def exact_mean(values: Array, weight: Array | None) -> float:
    """Return the weighted mean of values (N,), N at least 1.

    The sum is one of integers; weight (N,): whole numbers with a sum below 2^53, None for ones.
    Repeating a row and weighing it are the same while the weights sum to less than 2^26.
    """
    total = values.shape[0] if weight is None else int(arrays.namespace(weight).sum(weight))
    whole, unit = _whole_sum(values, weight, total)
    return float(whole) / total * unit


def _whole_sum(values: Array, weight: Array | None, total: int) -> tuple[int, float]:
    """Return (the sum of what `whole_numbers` makes of values (N,), what one of it stands for)."""
    step, products = rounding(reach_of(values), weight, values.shape[0], total)
    whole = whole_sum(values, float(np.ldexp(1.0, -step)), weight, products)
    return whole, float(np.ldexp(1.0, step))


def whole_numbers(
    values: Array,
    weight: Array | None,
    n_rows: int,
    total: int,
    bits: int = SUM_BITS,
    *,
    negated: bool = False,
    least: int | None = None,
    reach: float | None = None,
) -> tuple[Array, float]:
    """Return (weighted values as whole numbers (R,), what one of them stands for).

    No sum of `n_rows` of them, whose weights (R,) sum to `total` at most, reaches 2^53, and no
    value that weighs one reaches 2^bits. negated: of −values; least: what smaller ones become;
    reach: what no value is larger than, where that of others gives the unit. Raises InputError for
    values that are not finite.
    """
    reach = reach_of(values) if reach is None else reach
    sign = -1.0 if negated else 1.0
    step, products = rounding(reach, weight, n_rows, total, bits) if reach else (0, True)
    whole = rounded(values, sign * float(np.ldexp(1.0, -step)), weight, products, least)
    return whole, float(np.ldexp(1.0, step))


class Rounding(NamedTuple):
    """How numbers of weighted rows become whole."""

    step: int  # one of them stands for 2^step
    products: bool  # whether weights multiply whole numbers, or what is rounded


def rounding(
    reach: float, weight: Array | None, n_rows: int, total: int, bits: int = SUM_BITS
) -> Rounding:
    """Return how `whole_numbers` makes numbers up to `reach` whole.

    Raises InputError if it is not finite.
    """
    check_finite(reach)
    products = weight is None or total.bit_length() <= SUM_BITS // 2
    if reach == 0.0:
        return Rounding(0, products)
    if products:
        return Rounding(lowest_exponent(reach, total, bits), products)
    assert weight is not None
    heaviest = int(arrays.namespace(weight).max(weight)).bit_length()
    top = int(np.frexp(reach)[1])
    return Rounding(max(top + heaviest + n_rows.bit_length() - SUM_BITS, -1022), products)


def lowest_exponent(reach: float, total: int, bits: int) -> int:
    """Return k, the least for which numbers up to `reach` are below 2^bits units of 2^k.

    No sum of `total` of them reaches 2^53 units either. reach: positive and finite.
    """
    top = int(np.frexp(reach)[1])
    return max(top + total.bit_length() - SUM_BITS, top - bits, -1022)


def check_finite(values: float | Floats) -> None:
    """Raise InputError if a loss, or what follows from its derivatives, is no finite number."""
    if not np.isfinite(values).all():
        raise InputError(
            "the loss or its derivatives are no longer finite numbers, for the raw predictions "
            "have run away. Lower learning_rate, raise the penalties of leaves, or bring y or the "
            "objective to a smaller scale"
        )


def reach_of(values: Array) -> float:
    """Return the largest absolute value, NaN if there is one."""
    return largest_size(values)


def quantile(values: Floats, weight: Integers | None, level: float) -> float:
    """Return the weighted quantile of values (N,): the least value with `level` of the weight.

    Where that share is reached exactly, it is halfway to the next larger value.
    """
    sorting = np.argsort(values, kind="stable")
    ordered = values[sorting]
    reached = np.arange(1, values.size + 1) if weight is None else np.cumsum(weight[sorting])
    wanted = level * float(reached[-1])
    low = ordered[min(int(np.searchsorted(reached, wanted)), values.size - 1)]
    high = ordered[min(int(np.searchsorted(reached, wanted, side="right")), values.size - 1)]
    return float(low) if low == high else float(low / 2.0 + high / 2.0)

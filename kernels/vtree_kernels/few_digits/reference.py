"""The definition of `few_digits`, and the rounding that its twin compiles."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from array_api_compat import array_namespace, device
from numpy.typing import NDArray

from vtree_kernels.elementary import choose

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

TO_WHOLE = 1.5 * 2.0**52  # added and taken away again, it rounds what is smaller than 2^51
SPREAD = 1597.2360679774997  # turns between two whole numbers


class Scale(NamedTuple):
    """How values become whole numbers."""

    factor: float  # of all digits, a power of two, maybe with a sign
    shift: int  # digits fewer
    most: float  # of few digits, the largest number
    place: int = 0  # the bit of a row's word that the number of few digits begins with


class Few(NamedTuple):
    """Derivatives of N rows as whole numbers."""

    whole: NDArray[Any]  # (N, 2) hessian and gradient in all digits
    mass: Integers  # (N,) hessian in few, (0,) without weights
    sums: Integers  # (N,) gradient in few, (0,) without weights
    words: Integers  # (N,) a one and both numbers of few digits, (0,) with weights

    @classmethod
    def empty(cls, n_rows: int, *, weighted: bool, example: Any) -> Few:
        """Return room for those of rows, in the namespace and on the device of `example`."""
        xp, place = array_namespace(example), device(example)
        kind = xp.int64 if weighted else xp.int32
        whole = xp.empty((n_rows, 2), dtype=kind, device=place)
        apart, packed = (n_rows, 0) if weighted else (0, n_rows)
        rest = (xp.empty((size,), dtype=xp.int64, device=place) for size in (apart, apart, packed))
        return cls(whole, *rest)

    def of(self, rows: slice) -> Few:
        """Return the same arrays of some rows."""
        return Few(*(each[rows, ...] if each.shape[0] else each for each in self))


def nearest(value: Any) -> Any:
    """Return the nearest whole number, half to even, of what is smaller than 2^51."""
    return (value + TO_WHOLE) - TO_WHOLE


def short(scaled: Any, factor: Any, most: Any, turn: Any) -> Any:
    """Return scaled × factor rounded up or down, from −most to most."""
    few = scaled * factor
    angle = few * SPREAD + turn
    rounded = nearest(few + (angle - nearest(angle)))  # its own later digits, from −½ to ½
    return choose(rounded > most, most, choose(rounded < -most, -most, rounded))


def few_digits(
    gradient: Floats,
    hessian: Floats,
    weight: Integers | None,
    scales: tuple[Scale, Scale],
    turn: float,
    few: Few,
) -> tuple[float, float]:
    """Fill `few`; see the package for the contract."""
    steep, curved = scales
    g, h = gradient * steep.factor, hessian * curved.factor
    w = np.asarray(1) if weight is None else weight
    few_g = short(g, 2.0**-steep.shift, steep.most, turn)
    few_h = short(h, 2.0**-curved.shift, curved.most, turn)
    both = np.stack([np.maximum(nearest(h), 1.0), nearest(g)], axis=1).astype(np.int64)
    few.whole[...] = both * w[..., None]
    if weight is None:
        short_h, short_g = few_h.astype(np.int64), few_g.astype(np.int64)
        few.words[...] = 1 + (short_h << curved.place) + (short_g << steep.place)
    else:
        few.mass[...] = (few_h * 2.0**curved.shift).astype(np.int64) * w
        few.sums[...] = (few_g * 2.0**steep.shift).astype(np.int64) * w
    return float(abs(few_g).sum()), float(abs(few_h).sum())

"""The definition of `drawn_digits`; derivatives in training are NumPy arrays on every backend."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]


def unit_of(reach: float, bits: int) -> float:
    """Return the power of two of which numbers up to `reach` are less than 2^bits."""
    return float(np.ldexp(1.0, int(np.frexp(reach)[1]) - bits)) if reach > 0.0 else 1.0


def drawn_digits(
    gradient: Floats,
    factor: Floats,
    rounding: Floats,
    weight: Integers | None,
    bits: tuple[int, int],
) -> tuple[Integers, Integers, float, float]:
    """Return (plane, sums, heaviest, steepest); see the package for the contract."""
    own = factor if weight is None else factor * weight
    weighed = gradient * own[:, None]
    heaviest, steepest = float(own.max()), float(np.abs(weighed).max())
    if not np.isfinite(steepest):
        none = np.zeros(gradient.shape, dtype=np.int64)
        return none[:, 0], none, heaviest, steepest
    plane = np.floor(own / unit_of(heaviest, bits[0]) + rounding)
    sums = np.floor(-weighed / unit_of(steepest, bits[1]) + rounding[:, None])
    return plane.astype(np.int64), sums.astype(np.int64), heaviest, steepest

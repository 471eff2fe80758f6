"""The definitions of `whole_sum` and `largest_size`."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


def largest_size(values: Floats) -> float:
    """Return the largest size; see the package for the contract."""
    return float(np.max(np.abs(values), initial=0.0))


def whole_sum(
    values: Floats, factor: float, weight: NDArray[np.int64] | None, products: bool
) -> int:
    """Return the sum; see the package for the contract."""
    scaled = values * factor
    if weight is None:
        return int(np.rint(scaled).astype(np.int64).sum())
    if products:
        return int((np.rint(scaled).astype(np.int64) * weight).sum())
    return int(np.rint(scaled * weight).astype(np.int64).sum())

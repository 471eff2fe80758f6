"""The definition of `spread`; predictions in training are NumPy arrays on every backend."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray


def spread(
    sums: NDArray[np.float64],
    rows: NDArray[np.int32],
    start: NDArray[np.int64],
    stop: NDArray[np.int64],
    value: NDArray[np.float64],
    number: Any = None,
) -> None:
    """Change sums (N,); see the package for the contract."""
    for begin, end, own in zip(start.tolist(), stop.tolist(), value.tolist(), strict=True):
        sums[rows[begin:end]] += own

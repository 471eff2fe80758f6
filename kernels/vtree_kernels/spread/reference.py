"""The definition of `spread`; predictions in training are NumPy arrays on every backend."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def spread(
    sums: NDArray[np.float64],
    rows: NDArray[np.int32],
    start: NDArray[np.int64],
    stop: NDArray[np.int64],
    value: NDArray[np.float64],
) -> None:
    """Change sums (N, K); see the package for the contract."""
    n_rows = sums.shape[0]
    for begin, end, own in zip(start.tolist(), stop.tolist(), value.tolist(), strict=True):
        held = rows[begin:end]
        sums[held % n_rows, held // n_rows] += own

"""A table made by arithmetic, to which other programs were fitted (`boosting_options.json`)."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

N_LEVELS = {0: 40, 1: 3, 2: 12}  # the categorical columns; columns 3, 4, 5 are numbers


def table(n_rows: int = 1200) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return (X (N, 6), y (N,)), columns 0 to 2 level numbers."""
    row = np.arange(n_rows, dtype=np.uint64)
    words = [_mixed(row + np.uint64(1000003 * column)) for column in range(8)]
    sizes = [*N_LEVELS.values(), 50, 50, 50]
    X = np.stack([word % np.uint64(size) for word, size in zip(words, sizes, strict=False)], axis=1)
    X = X.astype(np.float64)
    effect = (X[:, 0] * 7 % 40) / 10.0 + (X[:, 2] * 5 % 12) / 6.0 * (X[:, 1] == 1)
    noise = (words[6] % np.uint64(1000)).astype(np.float64) / 1000.0
    return X, effect + X[:, 3] * X[:, 4] / 600.0 + np.abs(X[:, 5] - 20.0) / 15.0 + noise


def _mixed(word: Any) -> Any:
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
        word = (word ^ (word >> np.uint64(shift))) * np.uint64(factor)
    return word ^ (word >> np.uint64(31))

"""Tables with gaps whose columns tell of each other, binned for the engine."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from vtree.binning import Bins, bin_table


class Gappy(NamedTuple):
    X: NDArray[np.float64]  # (N, 5): three numbers, two categories
    levels: NDArray[np.int64]
    bins: Bins
    y: NDArray[np.int64]


def gappy(n_rows: int, seed: int, asarray: Any = np.asarray, max_bins: int | None = None) -> Gappy:
    draw = np.random.default_rng(seed)
    size = np.round(draw.normal(size=n_rows), 1)
    columns = [
        size,
        np.round(size + draw.normal(scale=0.4, size=n_rows), 1),
        np.round(-2.0 * size + draw.normal(scale=0.9, size=n_rows), 1),
        np.clip(np.rint(size + draw.normal(scale=0.5, size=n_rows)) + 2, 0, 4),
        draw.integers(0, 3, n_rows).astype(np.float64),
    ]
    X = np.stack(columns, axis=1)
    X[draw.random(X.shape) < 0.2] = np.nan
    levels = np.array([-1, -1, -1, 5, 3])
    y = (size + draw.normal(scale=0.5, size=n_rows) > 0.2).astype(np.int64)
    return Gappy(X, levels, bin_table(asarray(X), levels, max_bins=max_bins), y)

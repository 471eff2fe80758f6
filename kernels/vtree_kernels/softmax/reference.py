"""The definition of `softmax`."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from vtree_kernels.elementary import exp

Floats = NDArray[np.float64]


class Softmax(NamedTuple):
    """What rows need for their shares, and the largest derivatives of all."""

    largest: Floats  # (N,)
    total: Floats  # (N,)
    steep: float
    curved: float


def softmax(sums: Floats, start: Floats, y: Floats) -> Softmax:
    """Return `Softmax`; see the package for the contract."""
    raw = start + sums
    largest = np.max(raw, axis=1, initial=-np.inf)
    total = np.zeros(largest.shape)
    for k in range(raw.shape[1]):
        total = total + exp(raw[:, k] - largest)
    steep, curved = 0.0, 0.0
    for k in range(raw.shape[1]):
        share = exp(raw[:, k] - largest) / total
        steep = float(np.max(np.abs(share - (y == k)), initial=steep))
        curved = float(np.max(share * (1.0 - share), initial=curved))
    return Softmax(largest, total, steep, curved)

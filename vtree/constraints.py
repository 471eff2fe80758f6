"""Monotone constraints: legal splits are masked in the scan; here are the bounds they live in.

After a split on a constrained feature, everything below the lower child stays on its side of the
middle between both children (as scikit-learn and LightGBM's basic method do).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


def children_bounds(
    lower: Floats, upper: Floats, left: Floats, right: Floats, direction: NDArray[np.int8]
) -> tuple[Floats, Floats]:
    """Return (lower, upper) of both children, each (L, 2).

    lower, upper (L,): the node's own bounds; left, right (L,): the children's means; direction
    (L,): 1 where the node's feature must not decrease the prediction, −1 increase, 0 free.
    """
    middle = (left + right) / 2.0
    lowest = np.stack([lower, lower], axis=1)
    highest = np.stack([upper, upper], axis=1)
    rising, falling = direction > 0, direction < 0
    highest[rising, 0], lowest[rising, 1] = middle[rising], middle[rising]
    lowest[falling, 0], highest[falling, 1] = middle[falling], middle[falling]
    return lowest, highest

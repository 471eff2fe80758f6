"""Constraints of features: which may stand together on a path, and the bounds of monotone ones.

Splits against a monotone constraint are masked in the scan; here are the bounds they live in: after
a split on a constrained feature, everything below the lower child stays on its side of the middle
between both children (as scikit-learn, XGBoost and LightGBM's basic method do).
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from vtree_kernels.subtree import narrowed

Floats = NDArray[np.float64]


class Together(NamedTuple):
    """Interaction constraints: the features of a path stand together in one of the sets.

    A node may split by a feature that is above it, and by those of each set that holds all
    features above it.
    """

    sets: NDArray[np.bool_]  # (C, F)

    def __call__(self, nodes: Any, n_features: int) -> NDArray[np.bool_]:
        """Return the features that may split each of L nodes, (L, F); nodes: their `used` (L, F).

        >>> class nodes:
        ...     used = np.array([[False, False, False], [True, False, False]])
        >>> Together(np.array([[True, True, False], [False, True, True]]))(nodes, 3).astype(int)
        array([[1, 1, 1],
               [1, 1, 0]])
        """
        used: NDArray[np.bool_] = nodes.used
        holds = self.holding(used)
        reach: NDArray[np.bool_] = np.any(holds[:, :, None] & self.sets, axis=1)
        return reach | used

    def holding(self, used: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """Return which sets hold all features above each node, (L, C); used (L, F)."""
        holds: NDArray[np.bool_] = ~np.any(used[:, None, :] & ~self.sets, axis=2)
        return holds


def children_bounds(
    lower: Floats, upper: Floats, left: Floats, right: Floats, direction: NDArray[np.int8]
) -> tuple[Floats, Floats]:
    """Return (lower, upper) of both children, each (L, 2).

    lower, upper (L,): the node's own bounds; left, right (L,): what the children answer; direction
    (L,): 1 where the node's feature must not decrease the prediction, −1 increase, 0 free.
    """
    found = narrowed(lower, upper, left, right, direction)
    return np.stack(found[::2], axis=1), np.stack(found[1::2], axis=1)

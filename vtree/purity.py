"""Purity: which nodes hold rows of different targets, decided exactly."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from vtree.arrays import Array
from vtree_kernels.differ import differ
from vtree_kernels.scan import Layout

Integers = NDArray[np.int64]


def impure(
    total: Integers,
    start: Integers,
    stop: Integers,
    order: Array,
    layout: Layout,
    identity: Array | None,
) -> Array:
    """Return which of L nodes have at least two different targets, in any output.

    total (L, S); the rows of node l are order[start[l] : stop[l]]. Class totals tell by themselves;
    real targets are compared row by row, for a sum of squares cannot tell zero from rounding: then
    identity (N, O) is given, equal exactly where targets are. Without columns nothing is known of
    the rows, and all nodes count as impure. After a look at the rows the answer lies where they do,
    and nothing has waited for it.
    """
    if identity is not None and identity.shape[1] == 0:
        return np.ones(start.size, dtype=np.bool_)
    if identity is not None:
        return differ(order, start, stop, identity)
    classes = total[:, layout.first :].reshape(-1, layout.outputs, layout.classes)
    several: NDArray[np.bool_] = ((classes > 0).sum(axis=2) > 1).any(axis=1)
    return several

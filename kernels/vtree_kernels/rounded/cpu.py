"""`rounded` in NumPy, a block of rows at a time."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from vtree_kernels import _threads

Integers = NDArray[np.int64]


def rounded(
    values: NDArray[np.float64],
    factor: float,
    weight: Integers | None,
    products: bool,
    least: int | None,
) -> Integers:
    """Return whole (N,); see the package for the contract."""
    whole = np.empty(values.size, dtype=np.int64)

    def block(rows: slice) -> None:
        own, out = values[rows] * factor, whole[rows]
        if weight is not None and not products:
            own *= weight[rows]
        out[...] = np.rint(own, out=own)
        if weight is not None and products:
            out *= weight[rows]
        if least is not None:
            np.maximum(out, least, out=out)

    _threads.run_blocks(block, values.size, each=4)
    return whole

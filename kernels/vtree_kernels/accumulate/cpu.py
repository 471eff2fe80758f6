"""`accumulate` in Numba: a block of rows goes down all trees, then adds up its leaves' values."""

from __future__ import annotations

from typing import Any

import numba
import numpy as np
from numpy.typing import NDArray

from vtree_kernels import _threads
from vtree_kernels.traverse.cpu import descend, prepared


@numba.njit(cache=True, nogil=True)
def _add(total, leaf, value, column):  # type: ignore[no-untyped-def]
    n_values = value.shape[1]
    for t in range(column.size):
        first, own = column[t], leaf[t]
        if n_values == 1:
            for i in range(own.size):
                total[i, first] += value[np.uint64(own[i]), 0]
            continue
        for i in range(own.size):
            for v in range(n_values):
                total[i, first + v] += value[np.uint64(own[i]), v]


def accumulate(
    values: NDArray[Any],
    root: NDArray[np.int32],
    feature: NDArray[np.int32],
    kind: NDArray[np.int8],
    threshold: NDArray[np.float64],
    first_child: NDArray[np.int32],
    missing_child: NDArray[np.int32],
    map_offset: NDArray[np.int64],
    branch_map: NDArray[Any],
    value: NDArray[np.float64],
    column: NDArray[np.int64],
    n_columns: int,
) -> NDArray[np.float64]:
    """Return total (N, n_columns); see the package for the contract."""
    total = np.zeros((values.shape[0], n_columns))
    plain = (feature, kind, threshold, first_child, missing_child, map_offset, branch_map)
    forest = prepared(values, root, *plain)

    def block(index: int) -> None:
        rows = slice(index * forest.block, (index + 1) * forest.block)
        for trees, leaf in descend(np.ascontiguousarray(values[rows]), forest):
            _add(total[rows], leaf, value, column[trees])

    work = values.shape[0] * root.size * 16
    _threads.run(block, -(-values.shape[0] // forest.block), work=work)
    return total

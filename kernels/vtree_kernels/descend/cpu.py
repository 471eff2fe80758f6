"""`descend` in Numba: blocks of rows, each row walked to its end."""

from __future__ import annotations

from typing import Any

import numba
import numpy as np
from numpy.typing import NDArray

from vtree_kernels import _threads

_BLOCK = 1 << 13
_STEPS = 10  # about what a row takes, to tell how many threads are worth it


@numba.njit(cache=True, nogil=True)
def _walk(out, values, row, node, tree):  # type: ignore[no-untyped-def]
    feature, kind, threshold, first_child, map_offset, branch_map = tree
    for i in range(row.size):
        at, own = node[i], row[i]
        while first_child[at] >= 0:
            x = np.float64(values[own, feature[at]])
            if x != x:
                break
            if kind[at] > 0:
                child = np.int64(branch_map[map_offset[at] + np.int64(x) + 1])
            else:
                child = np.int64(x > threshold[at])
            at = first_child[at] + child
        out[i] = at


def descend(
    values: NDArray[Any],
    row: NDArray[np.int64],
    node: NDArray[np.int64],
    feature: NDArray[np.int32],
    kind: NDArray[np.int8],
    threshold: NDArray[np.float64],
    first_child: NDArray[np.int32],
    map_offset: NDArray[np.int64],
    branch_map: NDArray[Any],
) -> NDArray[np.int64]:
    """Return the nodes (E,) at rest; see the package for the contract."""
    out = np.empty(row.size, dtype=np.int64)
    tree = (feature, kind, threshold, first_child, map_offset, branch_map)

    def block(index: int) -> None:
        own = slice(index * _BLOCK, (index + 1) * _BLOCK)
        _walk(out[own], values, row[own], node[own], tree)

    _threads.run(block, -(-row.size // _BLOCK), work=row.size * _STEPS)
    return out

"""`traverse` in Numba: blocks of rows, one tree after another over a block."""

from __future__ import annotations

from typing import Any

import numba
import numpy as np
from numpy.typing import NDArray

from vtree_kernels import _threads

BLOCK = 2048  # rows


@numba.njit(cache=True, nogil=True)
def _walk(  # type: ignore[no-untyped-def]
    out,
    begin,
    end,
    values,
    root,
    feature,
    kind,
    threshold,
    first_child,
    missing_child,
    map_offset,
    branch_map,
):
    for t in range(root.size):
        for row in range(begin, end):
            node = np.int64(root[t])
            while feature[node] >= 0:
                x = np.float64(values[row, feature[node]])
                if x != x:
                    child = np.int64(missing_child[node])
                    if child < 0:
                        break
                elif kind[node] == 0:
                    child = np.int64(0 if x <= threshold[node] else 1)
                else:
                    child = np.int64(branch_map[map_offset[node] + np.int64(x) + 1])
                node = first_child[node] + child
            out[row, t] = node


def traverse(
    values: NDArray[Any],
    root: NDArray[np.int32],
    feature: NDArray[np.int32],
    kind: NDArray[np.int8],
    threshold: NDArray[np.float64],
    first_child: NDArray[np.int32],
    missing_child: NDArray[np.int32],
    map_offset: NDArray[np.int64],
    branch_map: NDArray[np.uint8],
) -> NDArray[np.int32]:
    """Return leaf (N, T) int32; see the package for the contract."""
    out = np.empty((values.shape[0], root.size), dtype=np.int32)
    nodes = (feature, kind, threshold, first_child, missing_child, map_offset, branch_map)

    def block(index: int) -> None:
        begin = index * BLOCK
        _walk(out, begin, min(begin + BLOCK, values.shape[0]), values, root, *nodes)

    _threads.run(block, -(-values.shape[0] // BLOCK), work=out.size * 32)
    return out

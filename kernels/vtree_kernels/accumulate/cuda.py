"""`accumulate` on CUDA: `traverse` for as many rows as fit, then a sum over their leaves."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from vtree_kernels._cuda import Program, blocks_for, device_of
from vtree_kernels.traverse.cuda import traverse

LEAVES = 1 << 24  # kept at a time, 64 MiB
BLOCKS_PER_PROCESSOR = 32
VARIANTS: tuple[dict[str, Any], ...] = ({},)

_program = Program("accumulate")


def accumulate(
    values: Any,
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
) -> Any:
    """Return total (N, n_columns); see the package for the contract."""
    here = device_of(values)
    n_rows = values.shape[0]
    if root.size == 0 or n_rows == 0:
        return here.zeros((n_rows, n_columns), np.float64)
    total = here.empty((n_rows, n_columns), np.float64)
    nodes = (feature, kind, threshold, first_child, missing_child, map_offset, branch_map)
    answers = here.upload(np.ascontiguousarray(value, dtype=np.float64))
    columns = here.upload(np.asarray(column, dtype=np.int64))
    add = _program.on(here)
    most = here.processors * BLOCKS_PER_PROCESSOR
    step = max(1, LEAVES // root.size)
    for first in range(0, n_rows, step):
        last = min(first + step, n_rows)
        leaf = traverse(values[first:last, ...], root, *nodes)
        add.launch(
            "add_up",
            blocks_for((last - first) * n_columns, 256, most=most),
            256,
            leaf,
            np.int64(last - first),
            np.int32(root.size),
            answers,
            np.int32(value.shape[1]),
            columns,
            np.int32(n_columns),
            total[first:last, ...],
        )
    return total

"""`spread` on CUDA: a warp for some rows of a leaf."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from vtree_kernels._cuda import Program, blocks_for, device_of
from vtree_kernels.histogram.cuda import chunks

CHUNK = 1024  # rows of a task
WARPS = 8  # of a block
VARIANTS: tuple[dict[str, Any], ...] = ({},)

_program = Program("spread")


def spread(
    sums: Any,
    rows: Any,
    start: NDArray[np.int64],
    stop: NDArray[np.int64],
    value: NDArray[np.float64],
    number: Any = None,
) -> None:
    """Change sums (N,), which lie in one piece; see the package for the contract."""
    here = device_of(sums)
    if here.address(here.contiguous(sums)) != here.address(sums):
        raise ValueError("spread: sums must lie in one piece, for they are changed where they are")
    tasks = chunks(np.arange(start.size), start, stop, CHUNK)
    _program.on(here).launch(
        "spread",
        blocks_for(len(tasks), WARPS),
        32 * WARPS,
        sums,
        here.contiguous(rows),
        here.upload(tasks),
        np.int64(len(tasks)),
        here.upload(np.ascontiguousarray(value)),
    )

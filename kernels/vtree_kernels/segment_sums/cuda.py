"""`segment_sums` on CUDA: a warp for some rows of a segment."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from vtree_kernels._cuda import Program, blocks_for, c_type, device_of
from vtree_kernels.histogram.cuda import chunks

CHUNK = 1024  # rows of a task
WARPS = 8  # of a block
VARIANTS: tuple[dict[str, Any], ...] = tuple(
    {"VALUE": value, "PLANES": planes} for value in ("int", "long long") for planes in (1, 2)
)

_program = Program("segment_sums")


def segment_sums(
    values: Any,
    rows: Any,
    start: NDArray[np.int64],
    stop: NDArray[np.int64],
    number: Any = None,
) -> Any:
    """Return sums (L, P) on the device; see the package for the contract."""
    here, planes = device_of(values), values.shape[1]
    sums = here.zeros((start.size, planes), np.int64)
    tasks = chunks(np.arange(start.size), start, stop, CHUNK)
    if planes and len(tasks):
        _program.on(here, VALUE=c_type(values.dtype), PLANES=planes).launch(
            "add_segments",
            blocks_for(len(tasks), WARPS),
            32 * WARPS,
            here.contiguous(values),
            here.contiguous(rows),
            here.upload(tasks),
            np.int64(len(tasks)),
            sums,
        )
    return sums

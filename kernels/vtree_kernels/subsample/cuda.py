"""`subsample` on CUDA, of which the number of rows in each chunk comes back."""

from __future__ import annotations

from typing import Any

import numpy as np

from vtree_kernels._cuda import Program, blocks_for, device_of

CHUNK = 1024  # rows of a warp
WARPS = 8  # of a block
VARIANTS: tuple[dict[str, Any], ...] = ({"CHUNK": CHUNK},)

_program = Program("subsample")


def subsample(example: Any, state: Any, n_rows: int, share: float) -> tuple[Any, Any]:
    """Return (rows, inside) on the device; see the package for the contract."""
    here, n_chunks = device_of(example), -(-n_rows // CHUNK)
    kernels = _program.on(here, **VARIANTS[0])
    grid = blocks_for(n_chunks, WARPS), 32 * WARPS
    inside, count = here.empty(n_rows, np.bool_), here.empty(n_chunks, np.int32)
    size = np.int64(n_rows)
    limit = share
    while True:
        farthest = here.zeros(1, np.uint64)
        own = np.uint64(state), np.float64(limit), size, inside, count, farthest
        kernels.launch("draw", *grid, *own)
        border = np.append(0, np.cumsum(here.download(count).astype(np.int64)))
        if border[-1]:
            break
        limit = (2**53 - int(here.download(farthest)[0])) * 2.0**-53  # the least chance
    rows = here.empty(int(border[-1]), np.int32)
    kernels.launch("write_rows", *grid, inside, here.upload(border[:-1]), size, rows)
    return rows, inside

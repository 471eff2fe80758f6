"""`differ` on CUDA: a warp a node."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from vtree_kernels._cuda import Program, blocks_for, device_of

WARPS = 8  # of a block
VARIANTS: tuple[dict[str, Any], ...] = ({},)

_program = Program("differ")


def differ(rows: Any, start: NDArray[np.int64], stop: NDArray[np.int64], identity: Any) -> Any:
    """Return (L,) bool; see the package for the contract."""
    here = device_of(rows)
    several = here.empty(start.size, np.bool_)
    _program.on(here).launch(
        "differ",
        blocks_for(start.size, WARPS),
        32 * WARPS,
        here.contiguous(rows),
        here.upload(np.concatenate([start, stop])),
        np.int32(start.size),
        here.contiguous(identity),
        np.int32(identity.shape[1]),
        several,
    )
    return several

"""`softmax` on CUDA: a thread a row."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from vtree_kernels._cuda import Program, blocks_for, device_of
from vtree_kernels.softmax.reference import Softmax

VARIANTS: tuple[dict[str, Any], ...] = ({},)

_THREADS, _BLOCKS_PER_PROCESSOR = 256, 16

_program = Program("softmax")


def softmax(sums: Any, start: NDArray[np.float64], y: Any) -> Softmax:
    """Return `Softmax`, its columns on the device; see the package for the contract."""
    here, (n_rows, n_classes) = device_of(sums), sums.shape
    largest, total = (here.empty(n_rows, np.float64) for _ in range(2))
    reach = here.zeros(2, np.uint64)
    _program.on(here).launch(
        "softmax",
        blocks_for(n_rows, _THREADS, most=here.processors * _BLOCKS_PER_PROCESSOR),
        _THREADS,
        here.contiguous(sums.T),
        here.upload(start),
        here.contiguous(y),
        np.int64(n_rows),
        np.int32(n_classes),
        largest,
        total,
        reach,
    )
    steep, curved = here.download(reach).view(np.float64).tolist()
    return Softmax(largest, total, steep, curved)

"""`whole_sum` and `largest_size` on CUDA, of which one number comes back."""

from __future__ import annotations

from typing import Any

import numpy as np

from vtree_kernels._cuda import Program, blocks_for, device_of

VARIANTS: tuple[dict[str, Any], ...] = tuple(
    {"WEIGHTED": weighted, "PRODUCTS": products} for weighted in (0, 1) for products in (0, 1)
)

_THREADS, _BLOCKS_PER_PROCESSOR = 256, 16

_program = Program("whole_sum")


def largest_size(values: Any) -> float:
    """Return the largest size; see the package for the contract."""
    here, n_rows = device_of(values), values.shape[0]
    most = here.zeros(1, np.uint64)
    _program.on(here, WEIGHTED=0, PRODUCTS=0).launch(
        "look",
        blocks_for(n_rows, _THREADS, most=here.processors * _BLOCKS_PER_PROCESSOR),
        _THREADS,
        here.contiguous(values),
        np.int64(n_rows),
        most,
    )
    return float(here.download(most).view(np.float64)[0])


def whole_sum(values: Any, factor: float, weight: Any | None, products: bool) -> int:
    """Return the sum; see the package for the contract."""
    here, n_rows = device_of(values), values.shape[0]
    total = here.zeros(1, np.uint64)
    weighted = weight is not None
    _program.on(here, WEIGHTED=int(weighted), PRODUCTS=int(weighted and products)).launch(
        "add_whole",
        blocks_for(n_rows, _THREADS, most=here.processors * _BLOCKS_PER_PROCESSOR),
        _THREADS,
        here.contiguous(values),
        np.float64(factor),
        here.contiguous(weight) if weighted else here.empty(0, np.int64),
        np.int64(n_rows),
        total,
    )
    return int(here.download(total).view(np.int64)[0])

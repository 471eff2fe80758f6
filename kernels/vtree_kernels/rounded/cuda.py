"""`rounded` on CUDA."""

from __future__ import annotations

from typing import Any

import numpy as np

from vtree_kernels._cuda import Program, blocks_for, device_of

VARIANTS: tuple[dict[str, Any], ...] = tuple(
    {"WEIGHTED": weighted, "PRODUCTS": products} for weighted in (0, 1) for products in (0, 1)
)

_THREADS, _BLOCKS_PER_PROCESSOR = 256, 16
_NO_LEAST = -(2**63)

_program = Program("rounded")


def rounded(
    values: Any, factor: float, weight: Any | None, products: bool, least: int | None
) -> Any:
    """Return whole (N,); see the package for the contract."""
    here, n_rows = device_of(values), values.shape[0]
    whole, weighted = here.empty(n_rows, np.int64), weight is not None
    _program.on(here, WEIGHTED=int(weighted), PRODUCTS=int(weighted and products)).launch(
        "round_all",
        blocks_for(n_rows, _THREADS, most=here.processors * _BLOCKS_PER_PROCESSOR),
        _THREADS,
        here.contiguous(values),
        np.float64(factor),
        here.contiguous(weight) if weighted else whole,
        np.int64(_NO_LEAST if least is None else least),
        np.int64(n_rows),
        whole,
    )
    return whole

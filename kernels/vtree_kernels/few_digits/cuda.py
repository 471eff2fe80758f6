"""`few_digits` on CUDA: one pass over the rows, of which two sums come back."""

from __future__ import annotations

from typing import Any

import numpy as np

from vtree_kernels._cuda import Program, blocks_for, device_of
from vtree_kernels.few_digits.reference import SPREAD, TO_WHOLE, Few, Scale

_ROUNDING = {"TO_WHOLE": repr(TO_WHOLE), "SPREAD": repr(SPREAD)}
VARIANTS: tuple[dict[str, Any], ...] = (
    {"WEIGHTED": 0, "WHOLE": "int", **_ROUNDING},
    {"WEIGHTED": 1, "WHOLE": "long long", **_ROUNDING},
)

_THREADS, _BLOCKS_PER_PROCESSOR = 256, 16

_program = Program("few_digits")


def few_digits(
    gradient: Any,
    hessian: Any,
    weight: Any | None,
    scales: tuple[Scale, Scale],
    turn: float,
    few: Few,
) -> tuple[float, float]:
    """Fill `few`, whose arrays are the device's; see the package for the contract."""
    here, n_rows, weighted = device_of(gradient), gradient.shape[0], weight is not None
    sizes = here.zeros(2, np.int64)
    numbers = [(each.factor, 2.0**-each.shift, 2.0**each.shift, each.most) for each in scales]
    _program.on(here, **VARIANTS[weighted]).launch(
        "fill",
        blocks_for(n_rows, _THREADS, most=here.processors * _BLOCKS_PER_PROCESSOR),
        _THREADS,
        here.contiguous(gradient),
        here.contiguous(hessian),
        here.upload(np.asarray(numbers).reshape(-1)),
        *(np.int32(each.place) for each in scales),
        np.float64(turn),
        here.contiguous(weight) if weighted else here.empty(0, np.int64),
        np.int64(n_rows),
        *few,
        sizes,
    )
    steep, curved = here.download(sizes).astype(np.float64).tolist()
    return steep, curved

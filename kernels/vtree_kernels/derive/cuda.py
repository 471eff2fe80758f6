"""`derive` on CUDA: a thread a cell, in one launch."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from vtree_kernels._cuda import Program, blocks_for, c_type, device_of
from vtree_kernels.derive.reference import Derived

VARIANTS: tuple[dict[str, object], ...] = ({"CELL": "int"}, {"CELL": "long long"})

_program = Program("derive")


def derive(hist: Any, derived: Derived) -> None:
    """Write the histograms of the last D nodes; see the package for the contract."""
    here = device_of(hist)
    number, cells = derived.slot.size, math.prod(hist.shape[1:])
    _program.on(here, CELL=c_type(hist.dtype)).launch(
        "derive",
        blocks_for(number * cells, 256, most=here.processors * 32),
        256,
        here.contiguous(derived.parent),
        here.contiguous(derived.built),
        here.upload(np.concatenate([derived.slot, derived.sibling])),
        np.int64(number),
        np.int64(hist.shape[0] - number),
        np.int64(cells),
        hist,
    )

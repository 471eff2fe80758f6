"""`log`, `log2` and `exp` over arrays on CUDA; other kernels include the scalar forms, cuda.cuh.

`vtree_kernels.elementary` does not choose these by itself: what it exports are plain functions,
which Numba has to know by identity.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from vtree_kernels._cuda import Program, blocks_for, device_of

VARIANTS = tuple({"FUNCTION": f"elementary_{name}"} for name in ("log", "log2", "exp"))

_program = Program("elementary")


def log(x: Any) -> Any:
    """Return the natural logarithm of positive finite float64 values, shape kept."""
    return _over_all("elementary_log", x)


def log2(x: Any) -> Any:
    """Return the logarithm to base 2 of positive finite float64 values, shape kept."""
    return _over_all("elementary_log2", x)


def exp(x: Any) -> Any:
    """Return the exponential of float64 values (no NaN), shape kept."""
    return _over_all("elementary_exp", x)


def _over_all(function: str, x: Any) -> Any:
    here = device_of(x)
    out = here.empty(x.shape, np.float64)
    n = math.prod(x.shape)
    blocks = blocks_for(n, 256, most=here.processors * 16)
    kernels = _program.on(here, FUNCTION=function)
    kernels.launch("over_all", blocks, 256, here.contiguous(x), np.int64(n), out)
    return out

"""Arrays on pages of their own, for what is large and short-lived.

The C library keeps what is freed for later, tens of megabytes a thread once a large array has been
freed anywhere in the process. These pages go back to the system with the last array on them, and
those that nothing was written to are never taken: room for the most there can be costs nothing.
"""

from __future__ import annotations

import math
import mmap
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

# Fewer bytes are not worth a system call and a page fault for each 4 KiB.
LEAST = 1 << 20

_ALIGNED = 64

Shapes = Mapping[str, tuple[tuple[int, ...], Any]]


def own_pages(shapes: Shapes) -> dict[str, NDArray[Any]]:
    """Return arrays by name, {name: (shape, dtype)}, whose contents are not set."""
    ends, end = {}, 0
    for name, (shape, dtype) in shapes.items():
        ends[name] = end
        end += math.prod(shape) * np.dtype(dtype).itemsize
        end += -end % _ALIGNED
    if end < LEAST:
        return {name: np.empty(shape, dtype) for name, (shape, dtype) in shapes.items()}
    pages = _anonymous(end)
    return {
        name: np.ndarray(shape, dtype, buffer=pages, offset=ends[name])
        for name, (shape, dtype) in shapes.items()
    }


def _anonymous(size: int) -> mmap.mmap:
    if hasattr(mmap, "MAP_PRIVATE"):  # shared otherwise: a forked child would write to ours
        return mmap.mmap(-1, size, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    return mmap.mmap(-1, size)

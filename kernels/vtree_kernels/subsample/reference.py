"""The definition of `subsample`, in NumPy, whose answer goes where the example is."""

from __future__ import annotations

from typing import Any

import numpy as np
from array_api_compat import array_namespace, device

from vtree_kernels import mixing


def subsample(example: Any, state: Any, n_rows: int, share: float) -> tuple[Any, Any]:
    """Return (rows, inside); see the package for the contract."""
    with np.errstate(over="ignore"):
        words = mixing.next_state(np.asarray([state]), np.arange(n_rows, dtype=np.uint64))
    chance = mixing.share(words)
    inside = chance <= max(share, float(chance.min()))
    xp, place = array_namespace(example), device(example)
    rows = np.flatnonzero(inside).astype(np.int32)
    return xp.asarray(rows, device=place), xp.asarray(inside, device=place)

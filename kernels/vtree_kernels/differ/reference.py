"""The definition of `differ` over the array API."""

from __future__ import annotations

from typing import Any

import numpy as np
from array_api_compat import array_namespace, device
from numpy.typing import NDArray


def differ(rows: Any, start: NDArray[np.int64], stop: NDArray[np.int64], identity: Any) -> Any:
    """Return (L,) bool; see the package for the contract."""
    xp = array_namespace(rows)
    place = device(rows)
    lengths = stop - start
    first = np.cumsum(lengths) - lengths
    node = np.repeat(np.arange(start.size), lengths)
    positions = np.arange(node.size) + (start - first)[node]

    def targets_at(each: NDArray[np.int64]) -> Any:
        return xp.take(identity, xp.take(rows, xp.asarray(each, device=place)), axis=0)

    unequal = xp.any(targets_at(positions) != targets_at(start[node]), axis=1)
    before = xp.concat(
        [
            xp.zeros((1,), dtype=xp.int64, device=place),
            xp.cumulative_sum(xp.astype(unequal, xp.int64), dtype=xp.int64),
        ]
    )
    borders = [xp.asarray(each, device=place) for each in (first, first + lengths)]
    return xp.take(before, borders[1]) > xp.take(before, borders[0])

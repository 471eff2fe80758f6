"""The definition of `best_first`: a heap of (−gain, when it came, node)."""

from __future__ import annotations

import heapq
from typing import Any

import numpy as np
from numpy.typing import NDArray

Integers = NDArray[np.int64]


def best_first(
    gain: NDArray[np.float64],
    feature: NDArray[Any],
    first_child: NDArray[Any],
    n_children: NDArray[Any],
    root: NDArray[Any],
    most: int,
) -> tuple[Integers, Integers]:
    """Return (split, wanted); see the package for the contract."""
    split: list[int] = []
    wanted: list[int] = []
    for first in root.tolist():
        line = [(-gain.item(first), 0, first)] if feature[first] >= 0 else []
        arrivals, turns = 1, 0
        while line and turns < most:
            _, _, node = heapq.heappop(line)
            turns += 1
            below = int(first_child[node])
            if below < 0:
                wanted.append(node)
                continue
            split.append(node)
            for child in range(below, below + int(n_children[node])):
                if feature[child] >= 0:
                    heapq.heappush(line, (-gain.item(child), arrivals, child))
                arrivals += 1
    return np.asarray(split, dtype=np.int64), np.asarray(wanted, dtype=np.int64)

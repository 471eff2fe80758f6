"""The definition of `best_first`: a heap of (−gain, when it came, node)."""

from __future__ import annotations

import heapq
from typing import Any

import numpy as np
from numpy.typing import NDArray

Integers = NDArray[np.int64]

SHARE, GENERATIONS = 0.4, 3


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
            loss, _, node = heapq.heappop(line)
            turns += 1
            if node < 0 or first_child[node] < 0:  # the children, a guess, have numbers below 0
                if node >= 0:
                    wanted.append(node)
                generation = -min(node, 0) + 1
                below = [(loss * SHARE, -generation)] * (2 if generation <= GENERATIONS else 0)
            else:
                split.append(node)
                children = range(first_child[node], first_child[node] + n_children[node])
                below = [(-gain.item(child), child) for child in children]
            for own, child in below:
                if child < 0 or feature[child] >= 0:
                    heapq.heappush(line, (own, arrivals, child))
                arrivals += 1
    return np.asarray(split, dtype=np.int64), np.asarray(wanted, dtype=np.int64)

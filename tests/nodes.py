"""What nodes of rows in any order hold, counted one row after another."""

import numpy as np
from numpy.typing import NDArray

from vtree.targets import Targets

Integers = NDArray[np.int64]


def totals(targets: Targets, rows: NDArray[np.int32], start: Integers, stop: Integers) -> Integers:
    """Return the statistics (L, S) of nodes with rows[start[l] : stop[l]]."""
    layout = targets.layout
    total = np.zeros((start.size, layout.n_statistics), dtype=np.int64)
    for node, (a, z) in enumerate(zip(start, stop, strict=True)):
        own = rows[a:z]
        heavy = np.ones(own.size, np.int64) if targets.weight is None else targets.weight[own]
        total[node, layout.weight], total[node, 0] = heavy.sum(), own.size
        for output in range(targets.label.shape[1]):
            np.add.at(total[node], targets.label[own, output], heavy)
        total[node, layout.n_statistics - targets.sums.shape[1] :] += targets.sums[own].sum(axis=0)
    return total

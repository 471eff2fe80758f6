"""Levels of symmetric trees, for the kernels that judge their candidates."""

import numpy as np
from numpy.typing import NDArray

from vtree_kernels.scan import Layout


def layout_of(weighted: bool, outputs: int) -> Layout:
    first = 2 if weighted else 1
    return Layout(first - 1, first, outputs, 1, first, 0.0, 1.0, (1.0,) * outputs)


def level(
    n_nodes: int, n_features: int, n_codes: int, weighted: bool, outputs: int, missing: float
) -> tuple[NDArray[np.int64], NDArray[np.int64], Layout]:
    """Return (hist, total, layout) of rows that are spread over nodes, some of them empty."""
    random = np.random.default_rng(n_nodes + n_codes + outputs)
    layout = layout_of(weighted, outputs)
    hist = np.zeros((n_nodes, n_features, n_codes, layout.n_statistics), dtype=np.int64)
    total = np.zeros((n_nodes, layout.n_statistics), dtype=np.int64)
    for _ in range(12 * n_nodes):
        node = int(random.integers(0, max(1, n_nodes - 1)))
        own = np.ones(layout.n_statistics, dtype=np.int64)
        own[1 : layout.first] = random.integers(0, 9)
        own[layout.first :] = random.integers(-90, 90, outputs)
        total[node] += own
        for g in range(n_features):
            code = 0 if random.random() < missing else int(random.integers(1, n_codes))
            hist[node, g, code] += own
    return hist, total, layout

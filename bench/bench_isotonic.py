"""The kernel `isotonic`: ns per candidate of a pair of nodes, in a level of a monotone tree.

python bench/bench_isotonic.py
"""

from __future__ import annotations

import functools

import numpy as np
from kernel_bench import Case, Work, bench, command_line, level

from vtree_kernels.histogram import histogram
from vtree_kernels.isotonic import isotonic
from vtree_kernels.scan import Layout

CODES, FEATURES = 64, 7
ON_GPU = (0, 1)  # histograms and totals


def _work(nodes: int, chains: int, direction: int, rows: int) -> Work:
    """Return the candidates of a level of as many nodes as have 50 rows each."""
    layout = Layout(0, 1, 1, 1, 1, 0.0, 1.0, (1.0,))
    draw = np.random.default_rng(nodes)
    codes = draw.integers(1, CODES, (rows, FEATURES), dtype=np.uint8)
    order, start, stop = level(rows, nodes)
    sums = draw.integers(-500, 500, (rows, 1))
    label = np.empty((rows, 0), dtype=np.int32)
    own = (codes, order, start, stop, label, None, sums)
    hist = histogram(*own, CODES, layout.n_statistics, True)
    total, every = hist[:, 0].sum(axis=1), np.arange(start.size)
    chain = every * chains // max(1, start.size)
    directions = np.full(FEATURES, direction, dtype=np.int8)
    given = (hist, total, every, every, chain, directions, 3.0, False, layout)
    return Work([given], start.size * FEATURES * CODES, hist.nbytes, start.size)


CASES = [
    Case(
        f"{nodes} nodes in {chains}, {'up' if direction else 'free'}",
        functools.partial(_work, nodes, chains, direction),
        {"nodes": nodes, "chains": chains, "direction": direction, "features": FEATURES},
    )
    for nodes, chains, direction in ((32, 32, 0), (32, 4, 0), (32, 4, 1), (1, 1, 1))
]

if __name__ == "__main__":
    bench(isotonic, "candidate", CASES, command_line(__doc__), ON_GPU)

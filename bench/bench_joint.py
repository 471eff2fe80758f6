"""The kernel `joint`: ns per candidate of a pair of nodes, in a level of a symmetric tree.

python bench/bench_joint.py
"""

from __future__ import annotations

import functools

import numpy as np
from kernel_bench import Case, Work, bench, command_line, level

from vtree_kernels.histogram import histogram
from vtree_kernels.joint import joint
from vtree_kernels.scan import Layout

CODES, FEATURES = 256, 28
ON_GPU = (0, 1)  # histograms and totals


def _work(nodes: int, outputs: int, rows: int) -> Work:
    """Return the candidates of a level of as many nodes as have 50 rows each."""
    layout = Layout(0, 1, outputs, 1, 1, 0.0, 1.0, (1.0,) * outputs)
    draw = np.random.default_rng(nodes)
    codes = draw.integers(1, CODES, (rows, FEATURES), dtype=np.uint8)
    order, start, stop = level(rows, nodes)
    sums = draw.integers(-500, 500, (rows, outputs))
    label = np.empty((rows, 0), dtype=np.int32)
    own = (codes, order, start, stop, label, None, sums)
    hist = histogram(*own, CODES, layout.n_statistics, True)
    total, every = hist[:, 0].sum(axis=1), np.arange(start.size)
    candidates = start.size * FEATURES * CODES
    return Work(
        [(hist, total, every, every, 3.0, False, layout)], candidates, hist.nbytes, start.size
    )


CASES = [
    Case(
        f"{nodes} nodes, {outputs} output{'s' if outputs > 1 else ''}",
        functools.partial(_work, nodes, outputs),
        {"nodes": nodes, "outputs": outputs, "features": FEATURES},
    )
    for nodes, outputs in ((64, 1), (64, 3), (1, 1))
]

if __name__ == "__main__":
    bench(joint, "candidate", CASES, command_line(__doc__), ON_GPU)

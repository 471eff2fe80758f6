"""The kernel `search`: ns per row and feature of nodes whose histograms nobody stores.

python bench/bench_search.py
"""

from __future__ import annotations

import functools

import numpy as np
from kernel_bench import Case, Work, bench, command_line, level

from vtree.criteria import CLASSIFICATION, REGRESSION
from vtree_kernels.scan import Layout, Limits
from vtree_kernels.search import search

CODES, FEATURES = 256, 28
ON_GPU = (0, 1, 4, 5, 6, 8, 10, 11)  # codes, rows, statistics, totals and bounds


def _work(classes: int, per_node: int, rows: int) -> Work:
    """Return the search in one level; classes = 0: a count and a sum."""
    implied = 1 if classes else 0
    layout = Layout(0, 1, 1, classes or 1, 1 + implied, 0.0, 1.0, (1.0,), implied)
    draw = np.random.default_rng(classes + per_node)
    codes = draw.integers(1, CODES, (rows, FEATURES), dtype=np.uint8)
    order, start, stop = level(rows, max(1, rows // per_node))
    label = draw.integers(0, max(1, classes), (rows, min(1, classes)), dtype=np.int32)
    sums = draw.integers(1, 1 << 30, (rows, 1 - label.shape[1]))
    total = np.zeros((start.size, layout.n_statistics), dtype=np.int64)
    total[:, 0] = stop - start
    node = np.repeat(np.arange(start.size), stop - start)
    if classes:
        np.add.at(total, (node, 1 + label[order, 0]), 1)
    else:
        np.add.at(total[:, 1], node, sums[order, 0])
    gain = CLASSIFICATION["gini"].gain if classes else REGRESSION["squared_error"].gain
    bounds = (np.full(start.size, -np.inf), np.full(start.size, np.inf))
    own = (codes, order, start, stop, label, None, sums, CODES, total, None, *bounds)
    # A sector of codes, a row's number and a label or a sum.
    return Work([(*own, Limits(), gain, layout)], rows * FEATURES, rows * (32 + 4 + 8), start.size)


CASES = [
    Case(
        f"{f'{classes} classes' if classes else 'a sum'}, {per_node:,} rows a node",
        functools.partial(_work, classes, per_node),
        {"classes": classes, "rows_a_node": per_node, "features": FEATURES},
    )
    for classes, per_node in ((2, 100), (2, 4000), (0, 100), (0, 4000), (7, 1000))
]

if __name__ == "__main__":
    bench(search, "row and feature", CASES, command_line(__doc__), ON_GPU)

"""The kernel `route`: ns per row that finds its child.

python bench/bench_route.py
"""

from __future__ import annotations

import functools

import numpy as np
from kernel_bench import Case, Work, bench, command_line, level

from vtree_kernels.route import route

FEATURES = 28
ON_GPU = (0, 3)  # arguments that lie there


def _work(nodes: int, kind: int, rows: int) -> Work:
    """Return the splits of one level; kind 1 sends a code by a table, 0 by a threshold."""
    draw = np.random.default_rng(nodes)
    codes = draw.integers(0, 256, (rows, FEATURES), dtype=np.uint8)
    order, start, stop = level(rows, nodes)
    n = start.size
    rules = (
        draw.integers(0, FEATURES, n),
        np.full(n, kind, dtype=np.int8),
        draw.integers(1, 256, n).astype(np.int32),
        draw.integers(0, 2, n).astype(np.int32),
        np.arange(n) * 256,
        draw.integers(0, 2, 256 * n).astype(np.uint8),
    )
    # A row's number is read and written, and a sector of its codes is read.
    return Work([(order, start, stop, codes, *rules, 2)], rows, rows * (4 + 4 + 32), start.size)


CASES = [
    Case(
        f"{nodes:,} node{'s' if nodes > 1 else ''}, {'table' if kind else 'threshold'}",
        functools.partial(_work, nodes, kind),
        {"nodes": nodes, "features": FEATURES, "kind": kind},
    )
    for nodes, kind in ((1, 0), (64, 0), (4096, 0), (1, 1), (4096, 1))
]

if __name__ == "__main__":
    bench(route, "row", CASES, command_line(__doc__), ON_GPU)

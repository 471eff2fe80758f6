"""The kernel `segment_sums`: ns per row that is added to its leaf.

python bench/bench_segment_sums.py
"""

from __future__ import annotations

import functools

import numpy as np
from kernel_bench import Case, Work, bench, command_line, level

from vtree_kernels.segment_sums import segment_sums

ON_GPU = (0, 1)  # numbers and rows
WIDTH = 2


def _work(leaves: int, rows: int) -> Work:
    """Return the sums of a tree's leaves: a gradient and a second derivative."""
    values = np.random.default_rng(leaves).integers(-(1 << 20), 1 << 20, (rows, WIDTH))
    order, start, stop = level(rows, leaves)
    # All numbers are read once at the least, and rows in their order.
    moved = rows * (4 + 4 * WIDTH)
    return Work([(values.astype(np.int32), order, start, stop)], rows, moved, start.size)


CASES = [
    Case(
        f"{leaves:,} lea{'f' if leaves == 1 else 'ves'}",
        functools.partial(_work, leaves),
        {"nodes": leaves, "statistics": WIDTH},
    )
    for leaves in (1, 64, 4096)
]

if __name__ == "__main__":
    bench(segment_sums, "row", CASES, command_line(__doc__), ON_GPU)

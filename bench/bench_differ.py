"""The kernel `differ`: ns per row of the nodes asked about.

    python bench/bench_differ.py
    python bench/bench_differ.py --only alike

Targets as regressions have them, where two rows tell, and equal ones, where all have to be read.
"""

from __future__ import annotations

import functools

import numpy as np
from kernel_bench import Case, Work, bench, command_line, level

from vtree_kernels.differ import differ

ON_GPU = (0, 3)  # rows and identity
BYTES = 12  # read for a row that has to be compared


def _work(nodes: int, alike: bool, rows: int) -> Work:
    """Return the purity of one level."""
    identity = np.random.default_rng(nodes).random((rows, 1))
    if alike:
        identity[:] = 0.5
    order, start, stop = level(rows, nodes)
    moved = rows * BYTES if alike else 2 * start.size * BYTES
    return Work([(order, start, stop, identity)], rows, moved, start.size)


def _case(nodes: int, alike: bool) -> Case:
    name = f"{nodes:,} node{'s' if nodes > 1 else ''}, {'alike' if alike else 'different'}"
    return Case(name, functools.partial(_work, nodes, alike), {"nodes": nodes, "alike": alike})


CASES = [_case(nodes, alike) for alike in (False, True) for nodes in (1, 4096, 65_536)]

if __name__ == "__main__":
    bench(differ, "row", CASES, command_line(__doc__), ON_GPU)

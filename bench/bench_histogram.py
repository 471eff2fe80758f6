"""The kernel `histogram`: ns per update, one update a (row, feature).

    python bench/bench_histogram.py
    python bench/bench_histogram.py --only "4,096 nodes"

255 bins and a code for missing values. Nodes are built in slices of 32 MiB, as growth does.
"""

from __future__ import annotations

import functools

import numpy as np
from kernel_bench import Case, Work, bench, command_line, level

from vtree_kernels.histogram import compacted, histogram

CODES = 257
ON_GPU = (0, 1, 4, 5, 6)  # arguments that lie there
SLICE = 32 * 2**20  # bytes of histograms a call
LAYOUTS = {"root": (1, 0.0), "64 nodes": (64, 0.0), "4,096 nodes": (4096, 0.0), "skew": (1, 0.9)}


def _work(classes: int, features: int, nodes: int, skew: float, rows: int) -> Work:
    """Return the histograms of one level.

    classes = 0: a count and a sum of gradients; −1: a count, second derivatives and gradients; −2:
    the same of few digits, as boosting has of many rows.
    """
    draw = np.random.default_rng(features)
    codes = draw.integers(1, 256, (rows, features), dtype=np.uint8)
    codes[draw.random((rows, features), dtype=np.float32) < skew] = 7
    outputs = 1 if classes > 0 else 0
    label = draw.integers(0, max(1, classes), (rows, outputs), dtype=np.int32)
    gradient_bits, hessian_bits = (11, 10) if classes == -2 else (30, 26)
    sums = draw.integers(-(1 << gradient_bits) + 1, 1 << gradient_bits, (rows, 1 - outputs))
    weight = draw.integers(1, 1 << hessian_bits, rows) if classes < 0 else None
    planes = classes if outputs else 3 if classes else 2
    order, start, stop = level(rows, nodes)
    step = max(1, SLICE // (features * CODES * planes * (4 if outputs else 8)))
    compact = compacted(sums, weight)  # growth asks for it once a tree
    calls = [
        (codes, order, start[a : a + step], stop[a : a + step], label, weight, sums)
        + (CODES, planes, not outputs, compact)
        for a in range(0, start.size, step)
    ]
    # Of a row: sectors of codes, its number, and its statistics.
    own = label.nbytes + sums.nbytes + (0 if weight is None else weight.nbytes)
    moved = rows * (-(-features // 32) * 32 + 4) + own
    return Work(calls, rows * features, moved, start.size)


def _case(classes: int, features: int, layout: str) -> Case:
    nodes, skew = LAYOUTS[layout]
    statistics = {0: "sums", -1: "pairs", -2: "short pairs"}.get(classes, f"{classes} classes")
    name = f"{statistics}, {features} features, {layout}"
    facts = {"classes": classes, "features": features, "nodes": nodes, "skew": skew}
    return Case(name, functools.partial(_work, classes, features, nodes, skew), facts)


CASES = [_case(k, f, layout) for k in (2, 0, -2, -1) for f in (28, 100) for layout in LAYOUTS]
CASES += [_case(k, 28, layout) for k in (7, 100) for layout in ("root", "skew")]

if __name__ == "__main__":
    bench(histogram, "(row, feature)", CASES, command_line(__doc__), ON_GPU)

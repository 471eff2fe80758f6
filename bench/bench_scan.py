"""The kernel `scan`: ns per candidate, one candidate a (node, feature, bin).

    python bench/bench_scan.py

28 features of 255 bins. Histograms of 2,000 rows a node have hardly an empty bin, those of 250
mostly empty ones.
"""

from __future__ import annotations

import functools

import numpy as np
from kernel_bench import Case, Work, bench, command_line, level

from vtree.criteria import CLASSIFICATION, REGRESSION, Criterion
from vtree_kernels.histogram import histogram
from vtree_kernels.scan import Layout, Limits, scan

BINS, CODES, FEATURES = 255, 257, 28
ON_GPU = range(6)  # arguments that lie there
MOST_BYTES = 32 * 2**20  # of histograms


def _layout(classes: int) -> Layout:
    implied = 1 if classes else 0
    return Layout(0, 1, 1, classes or 1, 1 + implied, 0.0, 1.0, (1.0,), implied)


def _work(criterion: Criterion, classes: int, per_node: int, missing: float, rows: int) -> Work:
    """Return the search in as many nodes as rows allow; classes = 0: a count and a sum."""
    layout = _layout(classes)
    most = MOST_BYTES // (FEATURES * CODES * layout.cell_bytes)
    nodes = max(1, min(rows // per_node, most))
    rows = min(rows, nodes * per_node)
    draw = np.random.default_rng(classes + per_node)
    codes = draw.integers(1, BINS + 1, (rows, FEATURES), dtype=np.uint8)
    codes[draw.random(codes.shape) < missing] = 0
    label = draw.integers(0, max(1, classes), (rows, min(1, classes)), dtype=np.int32)
    sums = draw.integers(1, 1 << 30, (rows, 1 - label.shape[1]))
    own = (codes, *level(rows, nodes), label, None, sums)
    hist = histogram(*own, CODES, layout.n_stored, classes == 0)
    total = hist[:, 0].sum(axis=1, dtype=np.int64)
    if classes:
        total = np.concatenate([total.sum(axis=1, keepdims=True), total], axis=1)
    any_bin = np.zeros((nodes, FEATURES), dtype=np.int32)
    bounds = (np.full(nodes, -np.inf), np.full(nodes, np.inf))
    call = (hist, total, any_bin, None, *bounds, Limits(), criterion.gain, layout)
    return Work([call], nodes * FEATURES * BINS, hist.nbytes, nodes)


def _case(name: str, classes: int, per_node: int, missing: float = 0.0) -> Case:
    criterion = (CLASSIFICATION if classes else REGRESSION)[name]
    title = name + (f", {classes} classes" if classes else "") + f", {per_node:,} rows a node"
    facts = {"criterion": name, "classes": classes, "rows_a_node": per_node, "missing": missing}
    make = functools.partial(_work, criterion, classes, per_node, missing)
    return Case(f"{title}, {missing:.0%} missing" if missing else title, make, facts)


CASES = [
    _case("gini", 2, 2000),
    _case("gini", 2, 250),
    _case("gini", 2, 2000, 0.1),
    _case("gini", 7, 2000),
    _case("gini", 100, 2000),
    _case("entropy", 2, 2000),
    _case("squared_error", 0, 2000),
    _case("squared_error", 0, 250),
    _case("poisson", 0, 2000),
]

if __name__ == "__main__":
    bench(scan, "candidate", CASES, command_line(__doc__), ON_GPU)

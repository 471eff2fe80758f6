"""The kernel `elementwise`: ns per row whose loss is derived.

python bench/bench_elementwise.py
"""

from __future__ import annotations

import functools

import numpy as np
from kernel_bench import Case, Work, bench, command_line

from vtree.losses import CLASSIFICATION, REGRESSION, Loss
from vtree_kernels.elementwise import elementwise

ON_GPU = (0, 1)  # the raw predictions and what else has a number a row
LOSSES: dict[str, Loss] = {
    name: {**REGRESSION, **CLASSIFICATION}[name]
    for name in ("squared_error", "logistic", "poisson", "tweedie")
}


def _work(name: str, rows: int) -> Work:
    """Return the derivatives of one round."""
    draw, loss = np.random.default_rng(0), LOSSES[name]
    raw, y = draw.normal(size=rows), draw.integers(0, 2, rows).astype(np.float64)
    results = 1 + loss.curved
    assert loss.terms is not None
    return Work([(raw, (y,), loss.numbers, loss.terms, results)], rows, rows * 8 * (2 + results))


CASES = [Case(name, functools.partial(_work, name), {"loss": name}) for name in LOSSES]

if __name__ == "__main__":
    bench(elementwise, "row", CASES, command_line(__doc__), ON_GPU)

"""The kernel `entropy_cuts`: ns per row and feature of C4.5's search for cuts in one level.

python bench/bench_entropy_cuts.py
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np
from kernel_bench import Case, Work, bench, command_line, level

from vtree_kernels.entropy_cuts import Cuts, Rule, cuts, reach_of
from vtree_kernels.entropy_cuts.reference import Reach
from vtree_kernels.scan import Layout

FEATURES = 8
ON_GPU = (0, 1, 2, 3)  # codes, rows, labels, steps


class Flat:
    """The kernel with arrays alone as arguments; the steps of all features are the same."""

    __name__ = "entropy_cuts"

    def reference(self, *arguments: Any) -> tuple[Any, ...]:
        """Return what the definition finds."""
        return _called(cuts.reference, *arguments)

    def twin(self, name: str) -> Callable[..., Any]:
        """Return a twin."""
        return functools.partial(_called, cuts.twin(name))


def _called(find: Callable[..., Cuts], *arguments: Any) -> tuple[Any, ...]:
    codes, rows, label, step, start, stop, layout = arguments
    reach = [Reach(step, 1)] * FEATURES
    return tuple(find(codes, rows, start, stop, label, None, reach, layout, 1.0, Rule()))


def _work(values: int, nodes: int, classes: int, rows: int) -> Work:
    """Return the search in one level, of labels that follow from a feature."""
    draw = np.random.default_rng(values + nodes)
    codes = draw.integers(1, values + 1, (rows, FEATURES)).astype(np.uint16)
    label = codes[:, :1].astype(np.int64) * classes // (values + 1)
    label = np.where(draw.random((rows, 1)) < 0.3, draw.integers(0, classes, (rows, 1)), label)
    order, start, stop = level(rows, nodes)
    step = reach_of(np.arange(float(values)), 1e-5).step
    layout = Layout(0, 1, 1, classes, 2, 0.0, 1.0, (1.0,), 1)
    own = (codes, order, label.astype(np.int32), step, start, stop, layout)
    return Work([own], rows * FEATURES, rows * (32 + 4 + 4), start.size)


CASES = [
    Case(
        f"{values:,} values, {nodes:,} node{'s' if nodes > 1 else ''}, {classes} classes",
        functools.partial(_work, values, nodes, classes),
        {"values": values, "nodes": nodes, "classes": classes, "features": FEATURES},
    )
    for values, nodes, classes in ((250, 1, 2), (20_000, 1, 2), (20_000, 4096, 2), (250, 4096, 5))
]

entropy_cuts: Any = Flat()

if __name__ == "__main__":
    bench(entropy_cuts, "row and feature", CASES, command_line(__doc__), ON_GPU)

"""The kernel `subtree`: ns per row of nodes that grow all that is below them.

python bench/bench_subtree.py
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np
from kernel_bench import Case, Work, bench, command_line, level

from vtree.criteria import CLASSIFICATION
from vtree_kernels.scan import Layout, Limits
from vtree_kernels.subtree import Rule, Starts, Statistics, Subtrees, Table, places
from vtree_kernels.subtree import subtree as nested

CODES, FEATURES = 256, 28
ON_GPU = (0, 1, 2, 3)  # rows, codes, labels, and no sums
LAYOUT = Layout(0, 1, 1, 2, 2, 0.0, 1.0, (1.0,), 1)  # two classes, all rows weigh one


class Flat:
    """The kernel with arrays alone as arguments, and nodes in one order whoever made them."""

    __name__ = "subtree"

    def reference(self, *arguments: Any) -> tuple[Any, ...]:
        """Return what the definition makes."""
        return _called(nested.reference, *arguments)

    def twin(self, name: str) -> Callable[..., Any]:
        """Return a twin."""
        return functools.partial(_called, nested.twin(name))


def _called(
    grow: Callable[..., Subtrees], rows: Any, codes: Any, label: Any, sums: Any, *rest: Any
) -> tuple[Any, ...]:
    nodes, rule = rest
    every = np.arange(codes.shape[1])
    table = Table((codes,), (every,), np.full(every.size, CODES))
    found = grow(rows, nodes, table, Statistics(label, None, sums, None), rule)
    own = places(found, nodes.key.size)
    order = own[np.lexsort((found.depth[own], found.stop[own], found.start[own]))]
    return tuple(field[order] for field in (found.start, found.feature, found.gain, found.total))


def _work(max_features: int, per_node: int, rows: int) -> Work:
    """Return all that is below the nodes of a level, labels that follow from two features."""
    draw = np.random.default_rng(per_node)
    codes = draw.integers(1, CODES, (rows, FEATURES), dtype=np.uint8)
    order, start, stop = level(rows, max(1, rows // per_node))
    noisy = codes[:, :2].sum(axis=1, dtype=np.int64) + draw.integers(0, 200, rows)
    label = (noisy > np.median(noisy)).astype(np.int32)[:, None]
    total = np.zeros((start.size, LAYOUT.n_statistics), dtype=np.int64)
    total[:, 0] = stop - start
    np.add.at(total, (np.repeat(np.arange(start.size), stop - start), 1 + label[order, 0]), 1)
    key = draw.integers(0, 1 << 63, start.size).astype(np.uint64)
    nodes = Starts(start, stop, np.zeros(start.size, dtype=np.int64), key, total)
    limits, words = Limits(), (np.uint64(1), np.uint64(2))
    gain = CLASSIFICATION["gini"].gain
    rule = Rule(gain, LAYOUT, limits, -1, 2, -np.inf, None, max_features, *words, raw=False)
    sums = np.empty((rows, 0), dtype=np.int64)
    return Work([(order, codes, label, sums, nodes, rule)], rows, rows * (32 + 4 + 4), start.size)


CASES = [
    Case(
        f"{per_node:,} rows a node, {max_features} of {FEATURES} features",
        functools.partial(_work, max_features, per_node),
        {"rows_a_node": per_node, "max_features": max_features, "features": FEATURES},
    )
    for per_node, max_features in ((1000, 28), (1000, 5), (200, 28))
]

subtree: Any = Flat()

if __name__ == "__main__":
    bench(subtree, "row", CASES, command_line(__doc__), ON_GPU)

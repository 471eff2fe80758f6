"""The kernel `traverse`: ns per row, tree and level, on full trees with balanced splits.

python bench/bench_traverse.py
"""

from __future__ import annotations

import functools

import numpy as np
from kernel_bench import Case, Work, bench, command_line
from numpy.typing import DTypeLike

from vtree_kernels.traverse import traverse

FEATURES = 28
ON_GPU = (0,)  # arguments that lie there


def _work(trees: int, depth: int, dtype: DTypeLike, missing: float, rows: int) -> Work:
    draw = np.random.default_rng(depth)
    rows = max(1, rows // trees)
    values = draw.standard_normal((rows, FEATURES)).astype(dtype)
    values[draw.random(values.shape) < missing] = np.nan
    size = 2 ** (depth + 1) - 1  # nodes of one tree, breadth first
    inner = np.arange(size) < 2**depth - 1
    tree = np.repeat(np.arange(trees), size)
    place = np.tile(np.arange(size), trees)
    internal = np.tile(inner, trees)
    nodes = (
        np.where(internal, draw.integers(0, FEATURES, tree.size), -1).astype(np.int32),
        np.zeros(tree.size, dtype=np.int8),
        draw.normal(0.0, 0.5, tree.size),
        np.where(internal, tree * size + 2 * place + 1, -1).astype(np.int32),
        np.where(internal, draw.integers(0, 2, tree.size), -1).astype(np.int32),
        np.full(tree.size, -1),
        np.empty(0, dtype=np.uint8),
    )
    root = (np.arange(trees) * size).astype(np.int32)
    return Work([(values, root, *nodes)], rows * trees * depth, values.nbytes + rows * trees * 4)


def _case(trees: int, depth: int, dtype: str, missing: float) -> Case:
    name = f"{trees} tree{'s' if trees > 1 else ''}, depth {depth}, {dtype}"
    facts = {"trees": trees, "depth": depth, "dtype": dtype, "missing": missing}
    make = functools.partial(_work, trees, depth, dtype, missing)
    return Case(f"{name}, {missing:.0%} missing" if missing else name, make, facts)


CASES = [
    _case(1, 6, "float32", 0.0),
    _case(1, 10, "float32", 0.0),
    _case(1, 10, "float64", 0.0),
    _case(1, 10, "float32", 0.1),
    _case(1, 16, "float32", 0.0),
    _case(100, 8, "float32", 0.0),
]

if __name__ == "__main__":
    bench(traverse, "row, tree and level", CASES, command_line(__doc__), ON_GPU)

"""Out-of-bag answers: each row's, from the trees whose samples it is not in (Breiman 1996)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vtree import arrays
from vtree.arrays import Array
from vtree.predict import leaves
from vtree.tree import Tree, one_tree

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]


def out_of_bag_sums(
    tree: Tree, values: Array, out_of_bag: Callable[[int], Integers]
) -> tuple[Floats, Integers]:
    """Return (sum of leaves' values (N, K), trees (N,)) over the trees that did not see a row.

    values (N, F) as in `vtree.predict`; out_of_bag: tree number → its rows left out, ascending.
    """
    n_rows = int(values.shape[0])
    total = np.zeros((n_rows, tree.value.shape[1]))
    count = np.zeros(n_rows, dtype=np.int64)
    for number in range(tree.root.size):
        rows = out_of_bag(number)
        if rows.size == 0:
            continue
        own = one_tree(tree, number)
        part = arrays.namespace(values).take(values, arrays.like(rows, values), axis=0)
        total[rows] += own.value[leaves(own, part)[:, 0]]
        count[rows] += 1
    return total, count


def score_of_answered(
    score: Callable[[Any, Any], float], truth: NDArray[Any], answers: NDArray[Any]
) -> float:
    """Return the score of the rows that have an answer, NaN if each row is in every sample."""
    return score(truth, answers) if len(truth) else float("nan")

"""Which rounds of boosting a prediction asks, `iteration_range`."""

from __future__ import annotations

from typing import Any

import numpy as np

from vtree.errors import InputError, InputTypeError
from vtree.tree import Tree, some_trees


def trees_of_rounds(trees: Tree, n_trees: int, iteration_range: Any) -> Tree:
    """Return the trees of rounds begin … end − 1, of n_trees each; all for (0, 0) or None.

    Raises
    ------
    InputError, InputTypeError
        What is no pair of whole numbers, and rounds that are not there.
    """
    if iteration_range is None:
        return trees
    given = np.asarray(iteration_range)
    if given.shape != (2,) or given.dtype.kind not in "iu":
        raise InputTypeError(
            f"iteration_range={iteration_range!r} must be a pair of rounds (begin, end)"
        )
    begin, end = given.tolist()
    if (begin, end) == (0, 0):
        return trees
    rounds = trees.root.size // n_trees
    if not 0 <= begin < end <= rounds:
        raise InputError(
            f"iteration_range={iteration_range!r} must lie within the {rounds} rounds there are, "
            f"0 <= begin < end <= {rounds}; (0, 0) stands for all of them"
        )
    return some_trees(trees, begin * n_trees, end * n_trees)

"""Importance by shuffling: what a tree loses on its out-of-bag rows when a feature is of others.

Breiman, Random forests, Machine Learning 45, 2001, section 10.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from vtree import arrays, draws
from vtree.arrays import Array
from vtree.predict import leaves
from vtree.tree import Tree, one_tree

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

# loss(what a tree answers (R, K), rows (R,)) → the loss of each, (R,)
Loss = Callable[[Floats, Integers], Floats]


def shuffled(n_rows: int, *words: int) -> Integers:
    """Return the numbers 0 … n_rows − 1 in an order that `words` alone decide."""
    order: Integers = np.argsort(draws.mix(draws.SHUFFLE, *words, np.arange(n_rows)), kind="stable")
    return order


def losses_by_shuffling(
    tree: Tree, values: Array, seeds: Integers, out_of_bag: Callable[[int], Integers], loss: Loss
) -> Floats:
    """Return how much larger each tree's mean loss is with each feature shuffled, (F, T).

    values (N, F) as in `vtree.predict`; seeds (T,), from which the orders follow; out_of_bag: tree
    number → its rows left out, ascending. A feature that a tree does not split by costs it nothing;
    a tree that saw every row tells nothing, NaN.
    """
    xp = arrays.namespace(values)
    lost = np.zeros((int(values.shape[1]), tree.root.size))
    for number, seed in enumerate(seeds.tolist()):
        rows = out_of_bag(number)
        if rows.size == 0:
            lost[:, number] = np.nan
            continue
        own = one_tree(tree, number)
        part = xp.take(values, arrays.like(rows, values), axis=0)
        before = loss(own.value[leaves(own, part)[:, 0]], rows).mean()
        for feature in np.unique(own.feature[own.feature >= 0]).tolist():
            order = shuffled(rows.size, seed, feature)
            changed = xp.asarray(part, copy=True)
            changed[:, feature] = xp.take(part[:, feature], arrays.like(order, values), axis=0)
            lost[feature, number] = (
                loss(own.value[leaves(own, changed)[:, 0]], rows).mean() - before
            )
    return lost

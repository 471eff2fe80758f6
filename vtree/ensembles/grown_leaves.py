"""Leaves of grown trees of boosting: which stay, which rows they hold, what these add up to."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from vtree import arrays
from vtree.arrays import Array
from vtree.ensembles.derivatives import Derivatives
from vtree.grown import Grown
from vtree.tree import levels
from vtree_kernels.breadth_first import breadth_first
from vtree_kernels.segment_sums import segment_sums

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]


def leaves_by_rows(grown: Grown) -> Integers:
    """Return the leaves of all trees by the rows they hold, ascending."""
    below = grown.parent >= 0
    leaf = np.flatnonzero(grown.first_child < 0)
    if (grown.first_child[grown.parent[below]] < 0).any():  # splits were taken back
        reached = breadth_first(grown.first_child, grown.n_children, np.flatnonzero(~below))
        leaf = reached[grown.first_child[reached] < 0]
    by_rows: Integers = leaf[np.argsort(grown.start[leaf])]
    return by_rows


def with_all_digits(
    grown: Grown, leaf: Integers, rows: Array, derived: Derivatives, place: Array | None
) -> Grown:
    """Return `grown` with the statistics of leaves, and of all above them, in all their digits.

    leaf: as `leaves_by_rows` returns them; place: that there of each row's leaf, or None.
    """
    assert derived.whole is not None
    layout, total = derived.targets.layout, grown.total.copy()
    begin, end = (ends[leaf].astype(np.int64) for ends in (grown.start, grown.stop))
    sums = arrays.to_numpy(segment_sums(derived.whole, rows, begin, end, place))
    # What leaves up to one have together; the leaves of a node follow each other, and none begins
    # inside a node that was taken back.
    reached = np.concatenate([np.zeros((1, 2), dtype=np.int64), np.cumsum(sums, axis=0)])
    first, last = np.searchsorted(begin, grown.start), np.searchsorted(begin, grown.stop)
    own = np.flatnonzero(last > first)
    total[own[:, None], [layout.weight, layout.first]] = reached[last[own]] - reached[first[own]]
    return grown._replace(total=total)


def _levels(grown: Grown) -> list[Integers]:
    root = np.flatnonzero(grown.parent < 0).astype(np.int32)
    return levels(grown.first_child.astype(np.int32), grown.n_children, root)


def pruned(grown: Grown, gamma: float) -> Grown:
    """Return `grown` without splits that gain at most `gamma`, from the leaves up.

    A weak split stays if one below it is strong (XGBoost's rule). gamma: in units of the gains.
    """
    if gamma <= 0.0:
        return grown
    first_child = grown.first_child.copy()
    for nodes in reversed(_levels(grown)):
        own = nodes[first_child[nodes] >= 0]
        stumps = (first_child[first_child[own]] < 0) & (first_child[first_child[own] + 1] < 0)
        first_child[own[stumps & (grown.gain[own] <= gamma)]] = -1
    return grown._replace(first_child=first_child)


def without_weak_links(grown: Grown, least: Floats) -> Grown:
    """Return the smallest subtrees that minimise their loss plus `least` (T,) a leaf.

    Minimal cost-complexity pruning (Breiman et al. 1984, §3.3): the loss of a node is its leaves'
    and the gains of the splits between, so that losses themselves are not asked for. least: of each
    tree, in units of the gains.
    """
    if not (least > 0.0).any():
        return grown
    first_child, worth = grown.first_child.copy(), np.zeros(grown.gain.size)
    for nodes in reversed(_levels(grown)):
        own = nodes[first_child[nodes] >= 0]
        first = first_child[own]
        kept = grown.gain[own] - least[grown.tree[own]] + worth[first] + worth[first + 1]
        first_child[own[kept <= 0.0]] = -1
        worth[own] = np.maximum(kept, 0.0)
    return grown._replace(first_child=first_child)

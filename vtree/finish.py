"""From grown nodes to a `Tree`: values, impurities, and the canonical numbering."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from vtree import arrays
from vtree.arrays import Array
from vtree.criteria import Criterion
from vtree.grown import Grown, breadth_first_of
from vtree.targets import Targets
from vtree.tree import Tree, children, levels, narrow, repacked
from vtree_kernels import own_pages

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

_BLOCK = 1 << 16  # statistics, which a near cache holds

_AT_LEAVES = {
    **{"feature": -1, "kind": 0, "bin": 0, "threshold": 0.0, "n_children": 0, "missing_child": -1}
}


def finish(
    grown: Grown,
    rows: Array,
    branch_map: NDArray[Any],
    targets: Targets,
    criterion: Criterion,
    *,
    gains_add_up: bool = True,
) -> Tree:
    """Return the trees of `grown`, whose segments refer to `rows`.

    gains_add_up: whether a node's impurity is its children's and the gain of its split; not so
    where rows without a value take no part in the gain.
    """
    map_offset, rows = grown.map_offset, arrays.to_numpy(rows)
    grown, order, root = breadth_first_of(grown, int(grown.tree.max()) + 1)
    weight = grown.total[:, targets.layout.weight].astype(np.float64)
    center, impurity = _by_sums(grown, rows, targets, criterion)
    tree = assembled(
        grown,
        branch_map,
        value=bounded(center, grown, targets),
        weight=weight * targets.weight_unit,
        gain_unit=gain_unit(
            weight[root] if root.size == 1 else weight[root][grown.tree], targets, criterion
        ),
    )
    offset, branch_map = repacked(map_offset, branch_map, order, tree.first_child >= 0)
    tree = tree._replace(root=root.astype(np.int32), map_offset=offset, branch_map=branch_map)
    if impurity is None:
        impurity_of = _impurity_around if gains_add_up else _own_impurity
        impurity = impurity_of(center, tree, grown, rows, targets, criterion) / weight
    return narrow(tree._replace(impurity=impurity))


def _by_sums(
    grown: Grown, rows: NDArray[np.int32], targets: Targets, criterion: Criterion
) -> tuple[Floats, Floats | None]:
    """Return (centers (M, K), impurities (M,) where statistics tell them).

    A block of nodes after another: its statistics are read once, and what is worked out on the way
    is small.
    """
    layout, (n_nodes, n_statistics) = targets.layout, grown.total.shape
    if criterion.impurity is None:
        return criterion.center(grown.total, grown.start, grown.stop, rows, targets), None
    width = layout.outputs * layout.classes
    found = own_pages(
        {"center": ((n_nodes, width), np.float64), "impurity": ((n_nodes,), np.float64)}
    )
    size = max(1, _BLOCK // n_statistics)
    for begin in range(0, n_nodes, size):
        block = slice(begin, begin + size)
        own = grown.total[block]
        segments = grown.start[block], grown.stop[block]
        found["center"][block] = criterion.center(own, *segments, rows, targets)
        found["impurity"][block] = criterion.impurity(own, layout)
    return found["center"], found["impurity"]


def assembled(
    grown: Grown,
    branch_map: NDArray[Any],
    *,
    value: Floats,
    weight: Floats,
    gain_unit: Floats | float,
) -> Tree:
    """Return the trees of `grown` with its numbers, impurities zero; not canonical yet."""
    leaf = grown.first_child < 0
    own: dict[str, Any] = {
        name: _of_splits(getattr(grown, name), leaf, at_leaf)
        for name, at_leaf in _AT_LEAVES.items()
    }
    gain = np.where(leaf, 0.0, grown.gain)
    gain *= gain_unit
    return Tree(
        **own,
        first_child=grown.first_child.astype(np.int32, copy=False),
        map_offset=grown.map_offset,
        branch_map=branch_map,
        value=value,
        weight=weight,
        n_rows=grown.total[:, 0],
        impurity=np.zeros(leaf.size),
        gain=gain,
        root=np.arange(int(grown.tree.max()) + 1, dtype=np.int32),
    )


def _of_splits(own: NDArray[Any], leaf: NDArray[np.bool_], at_leaf: float) -> NDArray[Any]:
    """Return a field with what leaves have, itself where they have that already.

    A copy of what is part of a larger array, which would be kept with the tree.
    """
    apart = bool(own.strides[0]) and not isinstance(own.base, np.ndarray)
    if apart and not ((own != at_leaf) & leaf).any():
        return own
    found: NDArray[Any] = np.where(leaf, own.dtype.type(at_leaf), own)
    return found


def gain_unit(root_weight: Floats, targets: Targets, criterion: Criterion) -> Floats:
    """Return what turns a total decrease into a reported one, (M,), in the units of the targets.

    root_weight (M,): the weight of each node's root, or (1,) of the only one.
    """
    factor: Floats = targets.scale.max() ** criterion.degree / root_weight
    return factor


def bounded(center: Floats, grown: Grown, targets: Targets) -> Floats:
    """Return class shares, means or medians, (M, K), within the bounds of monotone constraints."""
    layout = targets.layout
    if (grown.lower == -np.inf).all() and (grown.upper == np.inf).all():
        return center
    if targets.sums.shape[1]:
        return np.clip(center, grown.lower[:, None], grown.upper[:, None])
    share = center.copy()
    if layout.outputs == 1 and layout.classes == 2:
        second = np.clip(share[:, 1], grown.lower, grown.upper)
        bounded = second != share[:, 1]
        share[bounded] = np.stack([1.0 - second, second], axis=1)[bounded]
    return share


def _impurity_around(
    center: Floats,
    tree: Tree,
    grown: Grown,
    rows: NDArray[np.int32],
    targets: Targets,
    criterion: Criterion,
) -> Floats:
    """Return each node's total loss around its center (M, O), (M,), in units of integer weight.

    Leaves sum the losses of their rows as integers; a parent's loss is its children's plus the
    gain of its split. Nothing is subtracted, so no impurity is negative and none loses its digits.
    """
    assert criterion.deviance is not None
    by_level = levels(tree.first_child, tree.n_children, tree.root)
    reached = np.concatenate(by_level)  # an order may have tried splits that it did not keep
    leaf = reached[tree.first_child[reached] < 0]
    leaf = leaf[np.argsort(grown.start[leaf])]
    owner = np.repeat(leaf, grown.stop[leaf] - grown.start[leaf])
    weight = 1.0 if targets.weight is None else targets.weight[rows]
    loss = np.zeros(tree.feature.size)
    outputs = targets.layout.outputs
    lengths = (grown.stop - grown.start)[leaf], (grown.stop - grown.start)[tree.root]
    for output in range(outputs):
        own = criterion.deviance(targets.identity[rows, output], center[owner, output]) * weight
        loss[leaf] += _exact_sums(own, *lengths) / outputs
    total = loss
    unit = targets.scale.max() ** criterion.degree
    for nodes in reversed(by_level):
        internal = nodes[tree.first_child[nodes] >= 0]
        counts = tree.n_children[internal].astype(np.int64)
        below = np.add.reduceat(
            total[children(tree.first_child, tree.n_children, internal)], np.cumsum(counts) - counts
        )
        total[internal] = below + grown.gain[internal] * unit
    return total


def _own_impurity(
    center: Floats,
    tree: Tree,
    grown: Grown,
    rows: NDArray[np.int32],
    targets: Targets,
    criterion: Criterion,
) -> Floats:
    """Return each node's total loss around its center (M, O), (M,), from its own rows."""
    assert criterion.deviance is not None
    loss = np.zeros(tree.feature.size)
    for nodes in levels(tree.first_child, tree.n_children, tree.root):
        lengths = grown.stop[nodes] - grown.start[nodes]
        begin = np.cumsum(lengths) - lengths
        owner = np.repeat(nodes, lengths)
        own = rows[np.arange(owner.size) + np.repeat(grown.start[nodes] - begin, lengths)]
        weight = 1.0 if targets.weight is None else targets.weight[own]
        for output in range(targets.layout.outputs):
            each = criterion.deviance(targets.identity[own, output], center[owner, output])
            loss[nodes] += _exact_sums(each * weight, lengths, lengths) / targets.layout.outputs
    return loss


def _exact_sums(loss: Floats, lengths: Integers, root_lengths: Integers) -> Floats:
    """Return the sums of consecutive stretches, added as integers so that no order matters.

    The step is a power of two from a tree's largest loss and its number of rows, both the same for
    any order of the rows; losses far below the largest, those of equal targets, round to zero.
    """
    largest = np.maximum.reduceat(loss, np.cumsum(root_lengths) - root_lengths)
    room = 62 - np.frexp(root_lengths.astype(np.float64))[1]
    step = np.repeat(np.maximum(np.frexp(largest)[1] - room, -1074), root_lengths)
    whole = np.rint(np.ldexp(loss, -step)).astype(np.int64)
    begin = np.cumsum(lengths) - lengths
    sums: Floats = np.ldexp(np.add.reduceat(whole, begin).astype(np.float64), step[begin])
    return sums

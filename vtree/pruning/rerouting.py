"""Training rows sent down a finished tree again, those without a value as fractions.

A cell is a node together with whose rows it is asked about; entries are rows with weights in
cells. Weights are integers, so sums over them do not depend on any order.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from vtree.tree import THRESHOLD
from vtree_kernels.descend import descend

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]


class Rows(NamedTuple):
    """N training rows."""

    values: NDArray[Any]  # (N, F) floats, levels by number, NaN for missing
    label: Integers  # (N,) class numbers
    weight: Integers  # (N,)
    whole: Integers  # (N,) fractions of a row are multiples of this
    unit: float  # the weight of one
    n_classes: int


class Shape(NamedTuple):
    """The splits of M nodes, changed in place while a tree is pruned."""

    feature: NDArray[np.int32]
    kind: NDArray[np.int8]
    bin: NDArray[np.int32]
    threshold: Floats
    first_child: NDArray[np.int32]
    n_children: NDArray[np.int32]
    map_offset: Integers
    branch_map: NDArray[Any]


class Entries(NamedTuple):
    """Rows in cells, E of them; cell c is node[c]."""

    row: Integers  # (E,)
    weight: Integers
    cell: Integers
    node: Integers  # (C,)
    owner: Integers  # (C,) whose rows they are


def distributions(entries: Entries, rows: Rows) -> Integers:
    """Return the class weights of each cell, (C, K)."""
    return class_weights(entries.cell, entries, rows, entries.node.size)


def class_weights(place: Integers, entries: Entries, rows: Rows, size: int) -> Integers:
    """Return the class weights (size, K) of entries by their `place` (E,)."""
    key = place * rows.n_classes + rows.label[entries.row]
    # Sums are exact, as all are.
    sums = np.bincount(key, entries.weight.astype(np.float64), size * rows.n_classes)
    return sums.astype(np.int64).reshape(-1, rows.n_classes)


def at_rest(entries: Entries, shape: Shape, rows: Rows) -> Integers:
    """Return the leaf of each entry (E,), or the node below its own whose value it lacks."""
    names = ("feature", "kind", "threshold", "first_child", "map_offset", "branch_map")
    tree = [getattr(shape, name) for name in names]
    rest: Integers = descend(rows.values, entries.row, entries.node[entries.cell], *tree)
    return rest


def cells_of(entries: Entries, chosen: NDArray[np.bool_]) -> Entries:
    """Return the entries of the chosen cells (C,)."""
    inside = chosen[entries.cell]
    number = np.cumsum(chosen) - 1
    return Entries(
        entries.row[inside],
        entries.weight[inside],
        number[entries.cell[inside]],
        entries.node[chosen],
        entries.owner[chosen],
    )


def step(entries: Entries, shape: Shape, rows: Rows) -> Entries:
    """Return the entries of all children of split cells; what is in leaves stays behind."""
    n_children = np.where(shape.first_child[entries.node] >= 0, shape.n_children[entries.node], 0)
    before = np.cumsum(n_children) - n_children
    cell = np.repeat(np.arange(entries.node.size), n_children)
    number = np.arange(cell.size) - np.repeat(before, n_children)
    inside = n_children[entries.cell] > 0
    row, weight, at = entries.row[inside], entries.weight[inside], entries.cell[inside]
    child = _children(row, entries.node[at], shape, rows)
    seen = child >= 0
    place = before[at] + child
    weights = weight.astype(np.float64)
    branch: Floats = np.bincount(place[seen], weights[seen], cell.size).astype(np.float64)
    known: Floats = np.bincount(at[seen], weights[seen], entries.node.size).astype(np.float64)
    parts = _fractions(
        row[~seen], weight[~seen], at[~seen], n_children, before, branch, known, rows
    )
    return Entries(
        np.concatenate([row[seen], parts[0]]),
        np.concatenate([weight[seen], parts[1]]),
        np.concatenate([place[seen], parts[2]]),
        shape.first_child[entries.node][cell].astype(np.int64) + number,
        entries.owner[cell],
    )


def _children(row: Integers, node: Integers, shape: Shape, rows: Rows) -> Integers:
    """Return the child that each row's own value says, −1 where it has none."""
    x = rows.values[row, shape.feature[node]]
    missing = np.isnan(x)
    child = (x > shape.threshold[node]).astype(np.int64)
    by_map = shape.kind[node] != THRESHOLD
    if by_map.any():
        known = by_map & ~missing
        level = shape.map_offset[node[known]] + x[known].astype(np.int64) + 1
        child[known] = shape.branch_map[level]
    child[missing] = -1
    return child


def _fractions(
    row: Integers,
    weight: Integers,
    cell: Integers,
    n_children: Integers,
    before: Integers,
    branch: Floats,
    known: Floats,
    rows: Rows,
) -> tuple[Integers, Integers, Integers]:
    """Return (row, weight, place) of the parts of rows without a value."""
    counts = n_children[cell]
    source = np.repeat(np.arange(row.size), counts)
    number = np.arange(source.size) - np.repeat(np.cumsum(counts) - counts, counts)
    place = before[cell[source]] + number
    total = known[cell[source]]
    share = branch[place] / np.where(total > 0.0, total, 1.0)
    whole = rows.whole[row[source]]
    fraction = (weight[source] // whole).astype(np.float64)
    part = np.rint(fraction * share).astype(np.int64) * whole
    some = part > 0
    return row[source][some], part[some], place[some]

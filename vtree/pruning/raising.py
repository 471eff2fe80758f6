"""The procedure of error-based pruning: a work list of nodes whose branches are all judged."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from vtree.pruning.error_based import AddedErrors
from vtree.pruning.rerouting import (
    Entries,
    Rows,
    Shape,
    at_rest,
    cells_of,
    class_weights,
    distributions,
    step,
)
from vtree.tree import THRESHOLD, Tree, canonical, children, levels

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
Mask = NDArray[np.bool_]

TOLERANCE = 0.1  # errors by which a smaller tree may promise to be worse


class Pruned(NamedTuple):
    """What is left of a tree, in the numbers of its nodes."""

    shape: Shape
    weights: Integers  # (M, K) class weights of each node
    n_rows: Integers  # (M,)
    estimate: Floats  # (M,) predicted errors


class _Work:
    """A tree while it is pruned."""

    def __init__(self, tree: Tree, rows: Rows, added: AddedErrors) -> None:
        self.rows, self.added = rows, added
        self.shape = Shape._make(getattr(tree, name).copy() for name in Shape._fields)
        size = tree.feature.size
        self.weights = np.zeros((size, rows.n_classes), dtype=np.int64)
        self.n_rows = np.zeros(size, dtype=np.int64)
        self.estimate = np.zeros(size)
        self.done = np.ones(size, dtype=np.bool_)  # until rows come to a node that splits
        # Whether all rows of a node come to leaves undivided, and stand by child in `entries`.
        self.settled = np.zeros(size, dtype=np.bool_)
        self.entries: dict[int, tuple[Integers, Integers]] = {}

    def leaf_estimate(self, weights: Integers) -> Floats:
        """Return the predicted errors of nodes as leaves, from class weights (C, K)."""
        own = weights.astype(np.float64) * self.rows.unit
        total = own.sum(axis=1)
        errors = total - own.max(axis=1)
        found: Floats = errors + self.added(total, errors)
        return found

    def fill(self, entries: Entries) -> None:
        """Take in rows at some nodes and send them to everything below."""
        rest = at_rest(entries, self.shape, self.rows)
        stays = self.cells_that_divide(entries, rest)
        if stays.any():
            self._fill_by_level(cells_of(entries, stays))
            inside = ~stays[entries.cell]
            entries, rest = cells_of(entries, ~stays), rest[inside]
        if entries.node.size:
            self._fill_by_leaf(entries, rest)

    def cells_that_divide(self, entries: Entries, rest: Integers) -> Mask:
        """Return which cells (C,) hold rows that lack a value on their way, where they divide."""
        stays = np.zeros(entries.node.size, dtype=np.bool_)
        stays[entries.cell[self.shape.first_child[rest] >= 0]] = True
        return stays

    def _fill_by_level(self, entries: Entries) -> None:
        while entries.node.size:
            self.weights[entries.node] = distributions(entries, self.rows)
            order = np.argsort(entries.cell, kind="stable")
            counts = np.bincount(entries.cell, minlength=entries.node.size)
            self.n_rows[entries.node] = counts
            row, weight = entries.row[order], entries.weight[order]
            stop = np.cumsum(counts)
            inner = np.flatnonzero(self.shape.first_child[entries.node] >= 0)
            own = entries.node[inner], (stop - counts)[inner], stop[inner]
            for node, begin, end in zip(*(each.tolist() for each in own), strict=True):
                self.entries[node] = (row[begin:end], weight[begin:end])
            self.settled[entries.node] = False
            self._note(entries.node)
            entries = step(entries, self.shape, self.rows)

    def _fill_by_leaf(self, entries: Entries, rest: Integers) -> None:
        """Do it where each row has one leaf, `rest`: rows sorted by leaf serve all nodes above."""
        shape, rows = self.shape, self.rows
        by_level = levels(shape.first_child, shape.n_children, entries.node.astype(np.int32))
        nodes = np.concatenate(by_level)
        self.n_rows[nodes], self.weights[nodes] = 0, 0
        leaf = nodes[shape.first_child[nodes] < 0]
        self.n_rows[leaf] = np.bincount(rest, minlength=self.done.size)[leaf]
        self.weights[leaf] = class_weights(rest, entries, rows, self.done.size)[leaf]
        inner = [own[shape.first_child[own] >= 0] for own in by_level]
        for own in reversed(inner[:-1]):
            below = children(shape.first_child, shape.n_children, own)
            begin = np.cumsum(shape.n_children[own]) - shape.n_children[own]
            self.n_rows[own] = np.add.reduceat(self.n_rows[below], begin)
            self.weights[own] = np.add.reduceat(self.weights[below], begin)
        start = np.zeros(self.done.size, dtype=np.int64)
        start[entries.node] = np.cumsum(self.n_rows[entries.node]) - self.n_rows[entries.node]
        for own in inner[:-1]:
            below = children(shape.first_child, shape.n_children, own)
            begin = np.cumsum(shape.n_children[own]) - shape.n_children[own]
            before = np.cumsum(self.n_rows[below]) - self.n_rows[below]
            start[below] = before + np.repeat(start[own] - before[begin], shape.n_children[own])
        order = np.argsort(start[rest], kind="stable")
        row, weight = entries.row[order], entries.weight[order]
        for node in np.concatenate(inner).tolist():
            rows_of_node = slice(start[node], start[node] + self.n_rows[node])
            self.entries[node] = (row[rows_of_node], weight[rows_of_node])
        self.settled[nodes] = True
        self._note(nodes)

    def _note(self, nodes: Integers) -> None:
        """Take `nodes` for not judged yet, but leaves for judged."""
        inner = self.shape.first_child[nodes] >= 0
        self.done[nodes] = ~inner
        leaves = nodes[~inner]
        self.estimate[leaves] = self.leaf_estimate(self.weights[leaves])

    def at(self, nodes: Integers, into: Integers) -> Entries:
        """Return the entries of `nodes`, placed in the nodes `into`."""
        own = [self.entries[node] for node in nodes.tolist()]
        return _side_by_side(own, np.array([row.size for row, _ in own]), into)

    def strangers(self, nodes: Integers, branch: Integers) -> Entries:
        """Return the entries of settled `nodes` that are not in `branch`, placed there."""
        shape = self.shape
        first = shape.first_child[nodes].astype(np.int64)
        counts = branch - first
        before = np.concatenate([[0], np.cumsum(self.n_rows)])
        begin = before[first + counts] - before[first]
        end = begin + self.n_rows[branch]
        own = []
        for node, a, z in zip(nodes.tolist(), begin.tolist(), end.tolist(), strict=True):
            row, weight = self.entries[node]
            own += [(row[:a], weight[:a]), (row[z:], weight[z:])]
        return _side_by_side(own, self.n_rows[nodes] - self.n_rows[branch], branch)

    def ready(self) -> Integers:
        """Return the nodes not judged yet whose children all are."""
        shape = self.shape
        open_nodes = np.flatnonzero(~self.done)
        counts = shape.n_children[open_nodes].astype(np.int64)
        below = children(shape.first_child, shape.n_children, open_nodes)
        finished = self.done[below].astype(np.int64)
        all_done = np.add.reduceat(finished, np.cumsum(counts) - counts) == counts
        found: Integers = open_nodes[all_done]
        return found

    def branch_estimates(self, nodes: Integers, branch: Integers) -> Floats:
        """Return the predicted errors of `branch` if all rows of `nodes` went there."""
        total = np.zeros(nodes.size)
        settled = self.settled[nodes]
        own = np.flatnonzero(settled)
        total[own], settled[own] = self._estimates_with_strangers(nodes[own], branch[own])
        own = np.flatnonzero(~settled)
        if own.size:
            total[own] = self._estimates_of_all(nodes[own], branch[own])
        return total

    def _estimates_with_strangers(self, nodes: Integers, branch: Integers) -> tuple[Floats, Mask]:
        """Return (the same for settled nodes, whether the other branches' rows do not divide).

        Rows of `branch` stay in their leaves; only leaves that get more rows are judged anew.
        """
        entries = self.strangers(nodes, branch)
        rest = at_rest(entries, self.shape, self.rows)
        more = class_weights(rest, entries, self.rows, self.done.size)
        owner = np.zeros(self.done.size, dtype=np.int64)
        owner[rest] = entries.cell
        leaves = np.flatnonzero(more.any(axis=1))
        change = self.leaf_estimate(self.weights[leaves] + more[leaves]) - self.estimate[leaves]
        total = self.estimate[branch].copy()
        np.add.at(total, owner[leaves], change)
        return total, ~self.cells_that_divide(entries, rest)

    def _estimates_of_all(self, nodes: Integers, branch: Integers) -> Floats:
        """Return the same by way of all rows, some of which may divide."""
        total = np.zeros(nodes.size)
        entries = self.at(nodes, branch)
        rest = at_rest(entries, self.shape, self.rows)
        stays = self.cells_that_divide(entries, rest)
        alone = ~stays[entries.cell]
        ends = class_weights(np.where(alone, rest, 0), entries, self.rows, self.done.size)
        owner = np.zeros(self.done.size, dtype=np.int64)
        owner[rest[alone]] = entries.owner[entries.cell[alone]]
        leaves = np.unique(rest[alone])
        np.add.at(total, owner[leaves], self.leaf_estimate(ends[leaves]))
        entries = cells_of(entries, stays)
        while entries.node.size:
            leaf = self.shape.first_child[entries.node] < 0
            own = self.leaf_estimate(distributions(entries, self.rows))
            np.add.at(total, entries.owner[leaf], own[leaf])
            entries = step(entries, self.shape, self.rows)
        return total


def _side_by_side(
    parts: list[tuple[Integers, Integers]], sizes: Integers, into: Integers
) -> Entries:
    """Return (rows, weights), part by part, as the entries of cells of these sizes (C,)."""
    none = np.empty(0, dtype=np.int64)
    cell = np.arange(into.size)
    return Entries(
        np.concatenate([none, *(row for row, _ in parts)]),
        np.concatenate([none, *(weight for _, weight in parts)]),
        np.repeat(cell, sizes),
        into,
        cell,
    )


def prune_by_errors(
    tree: Tree, rows: Rows, added: AddedErrors, *, raising: bool = True, prunes: bool = True
) -> Pruned:
    """Prune one tree bottom up.

    Parameters
    ----------
    tree : one tree
    rows : the training rows
    added : the errors to add to a leaf's own, see `added_errors`
    raising : whether a node may be replaced by its largest branch
    prunes : False only counts rows and estimates errors
    """
    work = _Work(tree, rows, added)
    n_rows = rows.label.size
    everything = np.arange(n_rows)
    root = tree.root[:1].astype(np.int64)
    work.fill(Entries(everything, rows.weight, np.zeros(n_rows, dtype=np.int64), root, root))
    while (nodes := work.ready()).size:
        _judge(work, nodes, raising, prunes)
    return Pruned(work.shape, work.weights, work.n_rows, work.estimate)


def _judge(work: _Work, nodes: Integers, raising: bool, prunes: bool) -> None:
    """Decide what becomes of `nodes`, whose children are judged."""
    shape = work.shape
    counts = shape.n_children[nodes].astype(np.int64)
    below = children(shape.first_child, shape.n_children, nodes)
    begin = np.cumsum(counts) - counts
    as_tree = np.zeros(nodes.size)
    owner = np.repeat(np.arange(nodes.size), counts)
    np.add.at(as_tree, owner, work.estimate[below])
    work.done[nodes] = True
    work.estimate[nodes] = as_tree
    work.settled[nodes] &= np.logical_and.reduceat(work.settled[below], begin)
    if not prunes:
        return
    as_leaf = work.leaf_estimate(work.weights[nodes])
    branch = below[_last_largest(work.weights[below].sum(axis=1), begin, owner)]
    as_branch = np.full(nodes.size, np.inf)
    if raising:
        as_branch = work.branch_estimates(nodes, branch)
    leaf = (as_leaf <= as_branch + TOLERANCE) & (as_leaf <= as_tree + TOLERANCE)
    raised = ~leaf & (as_branch <= as_tree + TOLERANCE)
    shape.first_child[nodes[leaf]] = -1
    work.estimate[nodes[leaf]], work.settled[nodes[leaf]] = as_leaf[leaf], True
    if raised.any():
        _raise(work, nodes[raised], branch[raised])
    for node in nodes[~raised].tolist():
        work.entries.pop(node)


def _last_largest(weight: Integers, begin: Integers, owner: Integers) -> Integers:
    """Return the place of the largest of consecutive stretches of weights, the last on ties."""
    largest = np.maximum.reduceat(weight, begin)
    place = np.where(weight == largest[owner], np.arange(weight.size), -1)
    found: Integers = np.maximum.reduceat(place, begin)
    return found


def _raise(work: _Work, nodes: Integers, branch: Integers) -> None:
    """Put `branch` in the place of `nodes`, with all their rows, to be judged again."""
    shape = work.shape
    for name in Shape._fields[:-1]:
        array = getattr(shape, name)
        array[nodes] = array[branch]
    work.fill(work.at(nodes, nodes))
    for node in nodes[shape.first_child[nodes] < 0].tolist():
        work.entries.pop(node)


def as_tree(tree: Tree, pruned: Pruned, rows: Rows) -> tuple[Tree, Floats]:
    """Return (the pruned tree, in canonical order, predicted errors of its nodes (M,))."""
    weight = pruned.weights.sum(axis=1).astype(np.float64)
    value = pruned.weights / np.where(weight > 0.0, weight, 1.0)[:, None]
    split = pruned.shape.first_child >= 0
    offset, branch_map = _packed(tree, pruned.shape, split)
    whole = tree._replace(
        **{name: getattr(pruned.shape, name) for name in Shape._fields},
    )._replace(
        map_offset=offset,
        branch_map=branch_map,
        value=value,
        weight=weight * rows.unit,
        n_rows=pruned.n_rows,
    )
    return canonical(whole), canonical(whole._replace(weight=pruned.estimate)).weight


def _packed(tree: Tree, shape: Shape, split: NDArray[np.bool_]) -> tuple[Integers, NDArray[Any]]:
    """Return (offsets (M,), branch maps) with the maps of all splits back to back.

    A raised branch shares its map with the node that it now is; `Tree` has one map a node.
    """
    starts = np.unique(tree.map_offset[tree.map_offset >= 0])
    ends = np.append(starts[1:], tree.branch_map.size)
    mapped = split & (shape.kind != THRESHOLD)
    old = shape.map_offset[mapped]
    length = ends[np.searchsorted(starts, old)] - old
    begin = np.cumsum(length) - length
    offset = np.full(split.size, -1, dtype=np.int64)
    offset[mapped] = begin
    within = np.arange(length.sum()) - np.repeat(begin, length)
    return offset, tree.branch_map[np.repeat(old, length) + within]

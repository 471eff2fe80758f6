"""Forests: many trees grown as one frontier, a batch of them at a time.

A batch has as many trees as few rows take: all of them on small data, one on large. Batches are
grown side by side, each by its share of the threads, so that what is not worth a thread in one of
them fills the gaps of another. Draws follow from each tree's own key, and sums over rows are exact,
so no tree depends on which others it grows beside.

Trees with samples of their own that share a batch grow from a table of theirs, the samples' rows
copied side by side: then each (tree, row) has its weight. A tree alone grows from the table itself.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from vtree import arrays
from vtree.best_first import BestFirst
from vtree.binning import Bins
from vtree.criteria import Criterion
from vtree.ensembles.samples import Sample
from vtree.finish import finish
from vtree.growth import grow
from vtree.histogram import node_bytes
from vtree.plan import Plan, level_order
from vtree.targets import Targets, repeated, roomy
from vtree.tree import Tree
from vtree_kernels import ahead, allowed_threads, give_back

Integers = NDArray[np.int64]

_ROW_BYTES = 96  # what a row costs a tree besides its codes: order, statistics, scratch
# Nodes that a row may be worth, times how often what is told of each class in them is held.
_A_ROWS_NODES = 2 * 3

# Rows of all trees of a batch. More gain nothing on the host: a batch's kernels are long enough by
# then, and what is held for it is small beside the trees. Elsewhere launches cost more.
_MOST_ROWS = 1 << 16
_MOST_ROWS_ELSEWHERE = 1 << 21
# Fewer do not pay for a batch of their own.
_LEAST_ROWS = 1 << 14


class Forest(NamedTuple):
    """What all trees of a forest share."""

    bins: Bins
    targets: Targets
    plan: Plan
    criterion: Criterion
    max_leaves: int | None = None
    sample: Callable[[int], Sample] | None = None  # tree number → its rows; None: all rows


def grow_forest(
    forest: Forest, keys: NDArray[np.uint64], most_trees: int | None = None
) -> Iterator[Tree]:
    """Grow a tree a key (T,), in batches; yields `Tree`s of one or more roots, in order.

    most_trees: an upper bound for the trees of a batch.

    Raises
    ------
    MemoryBudgetError
        If the histogram of a single node in a single feature exceeds the budget.
    """
    if forest.sample is not None:  # once for all trees
        room = roomy(forest.targets)
        forest = forest._replace(targets=room, plan=_plan_for(forest.plan, forest.targets, room))
    size, workers = _batch_size(forest, keys.size)
    size = size if most_trees is None else min(size, most_trees)

    def grown(index: int) -> Tree:
        numbers = np.arange(index * size, min((index + 1) * size, keys.size))
        samples = [] if forest.sample is None else [forest.sample(n) for n in numbers.tolist()]
        trees = _grow_batch(forest, keys[numbers], samples, workers)
        if large:
            give_back()
        return trees

    large = forest.bins.n_rows * size >= _LEAST_ROWS
    if large:  # what binning has freed
        give_back()
    yield from ahead(grown, -(-keys.size // size), workers=workers)


def _batch_size(forest: Forest, n_trees: int) -> tuple[int, int]:
    """Return (trees of a batch, batches to grow side by side)."""
    bins = forest.bins
    width = sum(int(group.codes.shape[1]) * 2 for group in bins.groups)
    if bins.values is not None:
        width += int(bins.values.shape[1]) * 8
    width += _A_ROWS_NODES * 8 * forest.targets.layout.n_statistics
    rows = bins.n_rows if forest.sample is None else max(1, forest.sample(0).rows.size)
    here = arrays.is_numpy(bins.groups[0].codes)
    most = _MOST_ROWS if here else _MOST_ROWS_ELSEWHERE
    most = min(most, forest.plan.budget // (_ROW_BYTES + width))
    workers = allowed_threads() if here else 1
    own = max(-(-n_trees // workers), _LEAST_ROWS // rows)
    return max(1, min(own, most // rows)), workers


def _grow_batch(
    forest: Forest, keys: NDArray[np.uint64], samples: list[Sample], workers: int
) -> Tree:
    bins, targets = forest.bins, forest.targets
    unit = samples[0].unit if samples else 1.0
    if len(samples) == 1 and samples[0].features is None:
        roots, times = _of_whole_table(samples, bins.n_rows)
        targets = repeated(targets, slice(None), times)
    elif not samples:
        roots = [np.arange(bins.n_rows, dtype=np.int32)] * keys.size
    else:
        rows = np.concatenate([each.rows for each in samples])
        times = np.concatenate([each.times for each in samples])
        bins = _without_undrawn(_rows_of_bins(bins, rows), samples)
        targets = repeated(targets, rows, times)
        ends = np.cumsum([each.rows.size for each in samples])
        roots = np.split(np.arange(rows.size), ends[:-1])
    targets = targets._replace(weight_unit=targets.weight_unit * unit)
    samples.clear()  # as large as what grows, and the caller holds them
    plan = _plan_for(forest.plan, forest.targets, targets)
    share = max(plan.budget // workers, node_bytes(bins.groups, targets.layout))
    plan = plan._replace(budget=min(plan.budget, share))
    order = level_order if forest.max_leaves is None else BestFirst(forest.max_leaves)
    grown, placed, branch_map = grow(bins, targets, plan, order, roots, keys)
    if isinstance(order, BestFirst):
        grown = order.trim(grown)
    return finish(grown, placed, branch_map, targets, forest.criterion)


def _of_whole_table(samples: list[Sample], n_rows: int) -> tuple[list[NDArray[Any]], NDArray[Any]]:
    """Take the only sample; return (its rows, as roots are, how often each row counts (N,))."""
    own = samples.pop()  # as large as what is made of it, and the caller holds the list
    times = np.zeros(n_rows, dtype=own.times.dtype)
    times[own.rows] = own.times
    return [own.rows.astype(np.int32)], times


def _plan_for(plan: Plan, before: Targets, after: Targets) -> Plan:
    """Return a plan made for the targets `before`, for those of samples."""
    units = before.weight_unit / after.weight_unit
    search: Any = plan.search
    limits = search.limits._replace(min_weight=search.limits.min_weight * units)
    search = search._replace(layout=after.layout, limits=limits)
    stops = plan.stops._replace(min_gain=plan.stops.min_gain * units)
    return plan._replace(search=search, stops=stops)


def _rows_of_bins(bins: Bins, rows: Integers) -> Bins:
    """Return the table of chosen rows."""
    groups = []
    for group in bins.groups:
        codes = group.codes
        taken = arrays.namespace(codes).take(codes, arrays.like(rows, codes), axis=0)
        groups.append(group.of(taken))
    values = bins.values
    if values is not None:
        values = arrays.namespace(values).take(values, arrays.like(rows, values), axis=0)
    return bins._replace(groups=tuple(groups), values=values)


def _without_undrawn(bins: Bins, samples: list[Sample]) -> Bins:
    """Return the joined table of samples in which features that a tree has not drawn are missing.

    What is missing in all rows of a tree splits none of its nodes.
    """
    if all(each.features is None for each in samples):
        return bins
    n_features = bins.n_bins.size
    drawn = np.ones((len(samples), n_features), dtype=np.bool_)
    for own, each in zip(drawn, samples, strict=True):
        if each.features is not None:
            own[:] = False
            own[each.features] = True
    kept = np.repeat(drawn, [each.rows.size for each in samples], axis=0)  # (R, F)
    groups = []
    for group in bins.groups:
        xp, own_kept = arrays.namespace(group.codes), kept[:, group.features]
        nothing = xp.zeros_like(group.codes)
        codes = xp.where(arrays.like(own_kept, group.codes), group.codes, nothing)
        groups.append(group.of(codes))
    values = bins.values
    if values is not None:
        xp = arrays.namespace(values)
        nothing = xp.full_like(values, xp.nan)
        values = xp.where(arrays.like(kept, values), values, nothing)
    return bins._replace(groups=tuple(groups), values=values)

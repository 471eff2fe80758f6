"""Forests: many trees grown as one frontier, a batch of them at a time.

A batch has as many trees as its rows fit into the budget: all of them on small data, a few on
large. Draws follow from each tree's own key, and sums over rows are exact, so no tree depends on
which others it grows beside.

Trees with samples of their own grow from a table of their own, the sample's rows copied side by
side: then each (tree, row) has its weight, and a tree's rows lie close together.
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
from vtree.growth import Plan, grow, level_order
from vtree.targets import Targets, repeated
from vtree.tree import Tree

Integers = NDArray[np.int64]

_ROW_BYTES = 96  # what a row costs a tree besides its codes: order, statistics, scratch

# Rows of all trees of a batch. More gain nothing: a level's kernels are long enough by then, and
# what is looked at level after level would leave the cache.
_MOST_ROWS = 1 << 21


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
        If the histogram of a single node exceeds the budget.
    """
    done = 0
    while done < keys.size:
        numbers, samples = _batch(forest, done, keys.size, most_trees)
        yield _grow_batch(forest, keys[numbers], samples)
        done += numbers.size


def _batch(
    forest: Forest, first: int, stop: int, most_trees: int | None
) -> tuple[Integers, list[Sample]]:
    """Return the numbers of the next trees to grow together, and their samples, if any."""
    width = sum(int(group.codes.shape[1]) * 2 for group in forest.bins.groups)
    if forest.bins.values is not None:
        width += int(forest.bins.values.shape[1]) * 8
    room = min(_MOST_ROWS, forest.plan.budget // (_ROW_BYTES + width))
    most = stop - first if most_trees is None else most_trees
    samples: list[Sample] = []
    number = first
    while number < min(stop, first + most) and (number == first or room > 0):
        if forest.sample is not None:
            samples.append(forest.sample(number))
        room -= samples[-1].rows.size if samples else forest.bins.n_rows
        number += 1
    return np.arange(first, number), samples


def _grow_batch(forest: Forest, keys: NDArray[np.uint64], samples: list[Sample]) -> Tree:
    bins, targets = forest.bins, forest.targets
    roots = [np.arange(bins.n_rows)] * keys.size
    if samples:
        rows = np.concatenate([each.rows for each in samples])
        times = np.concatenate([each.times for each in samples])
        bins = _without_undrawn(_rows_of_bins(bins, rows), samples)
        targets = repeated(targets, rows, times)
        targets = targets._replace(weight_unit=targets.weight_unit * samples[0].unit)
        ends = np.cumsum([each.rows.size for each in samples])
        roots = np.split(np.arange(rows.size), ends[:-1])
    plan = _plan_for(forest.plan, forest.targets, targets)
    order = level_order if forest.max_leaves is None else BestFirst(forest.max_leaves)
    grown, placed, branch_map = grow(bins, targets, plan, order, roots, keys)
    if isinstance(order, BestFirst):
        grown = order.trim(grown)
    return finish(grown, placed, branch_map, targets, forest.criterion)


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
        groups.append(group._replace(codes=taken))
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
        groups.append(group._replace(codes=codes))
    values = bins.values
    if values is not None:
        xp = arrays.namespace(values)
        nothing = xp.full_like(values, xp.nan)
        values = xp.where(arrays.like(kept, values), values, nothing)
    return bins._replace(groups=tuple(groups), values=values)

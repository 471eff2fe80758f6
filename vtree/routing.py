"""Routing: sort the rows of split nodes by the child they go to."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from vtree.arrays import Array
from vtree.binning import Bins, Group
from vtree.grown import Grown
from vtree.histogram import Rows
from vtree.targets import Targets
from vtree_kernels.cuts import sides
from vtree_kernels.partition import partition
from vtree_kernels.route import route

Integers = NDArray[np.int64]


class Data(NamedTuple):
    """The rows that trees grow from, and where each node has its own."""

    bins: Bins
    targets: Targets
    rows: Rows  # the statistics of `targets`, where the codes are
    order: Array  # row numbers (R,), sorted by node


# router(grown, chosen, total, branch_map, data) → (data, total): sorts the rows of the `chosen`
# nodes, ascending by start, by child. total (C, S) are the children's statistics by the search,
# node after node; a router that sends rows other ways than the search had in mind returns its own.
# The order of rows that comes in is no one's any more: a router may change it in place.
Router = Callable[
    [Grown, Integers, Integers, NDArray[Any], Data],
    tuple[Data, Integers],
]


def by_branch(
    grown: Grown, chosen: Integers, total: Integers, branch_map: NDArray[Any], data: Data
) -> tuple[Data, Integers]:
    """Send each row where its own value, or the learnt branch of missing ones, says."""
    order = data.order
    for group in data.bins.groups:
        order = _by_code(group, grown, chosen, branch_map, order)
    return data._replace(order=order), total


def by_value(
    grown: Grown, chosen: Integers, total: Integers, branch_map: NDArray[Any], data: Data
) -> tuple[Data, Integers]:
    """Send each row by its value, for thresholds that may lie inside a bin; categories by code."""
    order = data.order
    for group in data.bins.groups:
        if group.categorical:
            order = _by_code(group, grown, chosen, branch_map, order)
    own = chosen[~data.bins.is_categorical[grown.feature[chosen]]]
    if own.size:
        start, stop = grown.start[own], grown.stop[own]
        rule = grown.feature[own].astype(np.int64), grown.threshold[own], grown.missing_child[own]
        child = sides(data.bins.values, order, start, stop, *rule)
        order = partition(order, start, stop, child, 2)
    return data._replace(order=order), total


def _by_code(
    group: Group, grown: Grown, chosen: Integers, branch_map: NDArray[Any], order: Array
) -> Array:
    feature = grown.feature[chosen]
    column = np.minimum(np.searchsorted(group.features, feature), group.features.size - 1)
    inside = group.features[column] == feature
    own = chosen[inside]
    if own.size == 0:
        return order
    return route(
        order,
        grown.start[own],
        grown.stop[own],
        group.codes if group.by_column is None else group.by_column,
        column[inside],
        grown.kind[own],
        grown.bin[own],
        grown.missing_child[own],
        grown.map_offset[own],
        branch_map,
        int(grown.n_children[own].max()),
        overwrite=True,
    )


def unmoved(
    grown: Grown, chosen: Integers, total: Integers, branch_map: NDArray[Any], data: Data
) -> tuple[Data, Integers]:
    """Leave the rows where they are: for trees whose last splits nobody asks the rows of.

    A stump judged by sums needs no more, for its leaves' statistics come from the search.
    """
    return data, total

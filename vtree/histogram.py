"""A level's histograms: build the smaller sibling, subtract for the larger, within a byte budget.

A node's histogram is its parent's less its sibling's, so of two children only the one with fewer
rows is built. Integers make that exact.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from vtree import arrays
from vtree.arrays import Array
from vtree.binning import Bins, Group
from vtree.errors import MemoryBudgetError
from vtree.targets import Targets
from vtree_kernels.histogram import histogram
from vtree_kernels.medians import Ranks

Integers = NDArray[np.int64]

DEFAULT_BUDGET = 256 * 2**20  # bytes


class Rows(NamedTuple):
    """The rows' statistics where the codes are, for the kernels."""

    label: Array  # (N, O)
    weight: Array | None  # (N,)
    sums: Array  # (N, O)
    n_statistics: int
    ranks: Ranks | None = None


def rows_of(targets: Targets, example: Array) -> Rows:
    """Bring the statistics of `targets` to the namespace and device of `example`."""
    weight = None if targets.weight is None else arrays.like(targets.weight, example)
    ranks = targets.ranks
    if ranks is not None:
        ranks = Ranks(*(arrays.like(field, example) for field in ranks))
    return Rows(
        arrays.like(targets.label, example),
        weight,
        arrays.like(targets.sums, example),
        targets.layout.n_statistics,
        ranks,
    )


class Segments(NamedTuple):
    """Nodes whose histograms are wanted, and how to come by them.

    Built nodes come first, then derived ones; derived node d is parent_slot[d]'s histogram less
    that of its sibling, segment sibling[d] of the built list.
    """

    start: Integers  # (built,) rows of the nodes to build, wanted or only needed by a sibling
    stop: Integers
    sibling: Integers  # (derived,) index into the built list
    parent_slot: Integers  # (derived,) index into the previous histograms

    @property
    def size(self) -> int:
        """Nodes with a histogram."""
        return self.start.size + self.sibling.size


def node_bytes(bins: Bins, n_statistics: int) -> int:
    """Return the bytes of one node's histograms."""
    return sum(8 * g.features.size * g.n_codes * n_statistics for g in bins.groups)


def check_budget(bins: Bins, n_statistics: int, budget: int) -> None:
    """Raise MemoryBudgetError if one node of one group of features does not fit into `budget`."""
    for group in bins.groups:
        needed = 8 * group.features.size * group.n_codes * n_statistics
        if needed > budget:
            raise MemoryBudgetError(
                f"the histogram of one node needs {needed:,} bytes ({group.features.size:,} "
                f"features × {group.n_codes:,} codes × {n_statistics:,} statistics × 8), more "
                f"than the budget of {budget:,}. Lower max_bins, use fewer classes or outputs or "
                "features, or raise histogram_budget."
            )


def build(group: Group, rows: Rows, order: Array, start: Integers, stop: Integers) -> Array:
    """Return the histograms (L, G, B, S) of nodes with rows order[start[l] : stop[l]]."""
    return histogram(
        group.codes,
        order,
        start,
        stop,
        rows.label,
        rows.weight,
        rows.sums,
        group.n_codes,
        rows.n_statistics,
    )


def build_level(
    group: Group, rows: Rows, order: Array, segments: Segments, previous: Array | None
) -> Array:
    """Return the histograms (L, G, B, S) of `segments`, derived ones by subtraction."""
    built = build(group, rows, order, segments.start, segments.stop)
    if previous is None or segments.sibling.size == 0:
        return built
    xp = arrays.namespace(built)
    parent = xp.take(previous, arrays.like(segments.parent_slot, built), axis=0)
    derived = parent - xp.take(built, arrays.like(segments.sibling, built), axis=0)
    return xp.concat([built, derived], axis=0)

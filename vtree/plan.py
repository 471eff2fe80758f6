"""Plans: what a caller decides about growth, besides the data."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from vtree.grown import Grown
from vtree.histogram import DEFAULT_BUDGET
from vtree.routing import Data, Router, by_branch
from vtree.splits import Searcher

Integers = NDArray[np.int64]

# Measured from 64 to 512: below, histograms of 257 codes cost more than all else in a node.
FEW_ROWS = 256


class Stops(NamedTuple):
    """When a node stays a leaf, besides being pure or without a legal split."""

    max_depth: int | None = None
    min_rows_split: int = 2
    min_gain: float = -np.inf  # the least total decrease of a split


class Order(Protocol):
    """Which nodes to split next."""

    @property
    def max_leaves(self) -> int | None:
        """How many leaves a tree is asked for at most; None for all that there are."""

    def __call__(self, grown: Grown) -> Integers:
        """Return the nodes to split now, none when the trees are done.

        Others may have been split ahead of their turn.
        """


class Plan(NamedTuple):
    """All that growth needs to know besides the data."""

    search: Searcher
    stops: Stops = Stops()
    budget: int = DEFAULT_BUDGET
    router: Router = by_branch
    few_rows: int = FEW_ROWS  # up to so many, a node is searched without its histograms
    alone: bool = True  # nodes with few rows may grow all that is below them by themselves
    many: bool = False  # trees will be grown by it, one after another
    # (grown, nodes (L,)) → (L,) what bounds of nodes hold for the search: what they answer, where
    # splits are judged by what children answer that lean on it, or their places in chains.
    answers: Callable[[Grown, Integers], NDArray[np.float64]] | None = None


class _LevelOrder:
    """Split every node that has a split."""

    max_leaves = None

    def __call__(self, grown: Grown) -> Integers:
        return np.flatnonzero((grown.feature >= 0) & (grown.first_child < 0))


level_order = _LevelOrder()


def may_split(grown: Grown, frontier: Integers, data: Data, plan: Plan) -> Integers:
    """Return the nodes of the frontier that are not too small or too deep for a split."""
    stops, limits, weight = plan.stops, plan.search.limits, data.targets.layout.weight
    n_rows, weights = grown.total[frontier, 0], grown.total[frontier, weight]
    may = n_rows >= max(stops.min_rows_split, 2 * limits.min_rows)
    may &= weights >= 2.0 * limits.min_weight
    if stops.max_depth is not None:
        may &= grown.depth[frontier] < stops.max_depth
    worth: Integers = frontier[may]
    return worth

"""Trees straight from the engine, without the estimators' checks."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vtree.best_first import BestFirst
from vtree.binning import Bins, bin_table
from vtree.criteria import CLASSIFICATION, RANKED, REGRESSION, Criterion
from vtree.finish import finish
from vtree.growth import grow
from vtree.histogram import DEFAULT_BUDGET
from vtree.plan import FEW_ROWS, Plan, Stops
from vtree.routing import by_branch, by_value
from vtree.sampling import Draw
from vtree.splits import Search
from vtree.targets import Targets, class_targets, real_targets
from vtree.tree import Tree
from vtree_kernels import kernels, threads
from vtree_kernels.scan import Limits


@dataclass(frozen=True)
class Setting:
    """What to grow, besides the data."""

    criterion: str = "gini"
    levels: tuple[int, ...] | None = None  # of each feature, −1 for numbers; None: all numbers
    max_bins: int | None = None
    max_depth: int | None = None
    min_rows_split: int = 2
    min_rows: int = 1
    min_weight: float = 0.0
    min_gain: float = -np.inf
    max_leaves: int | None = None
    monotone: tuple[int, ...] | None = None
    seed: int = 0
    max_features: int | None = None
    random_threshold: bool = False
    budget: int | None = DEFAULT_BUDGET  # bytes; None: the least that growth accepts
    few_rows: int = FEW_ROWS
    alone: bool = False  # nodes with few rows grow by themselves, not level by level
    raw: bool = False  # random thresholds among raw values

    @property
    def rule(self) -> Criterion:
        return {**CLASSIFICATION, **REGRESSION, **RANKED}[self.criterion]

    def targets(self, y: NDArray[Any], weight: NDArray[Any] | None = None) -> Targets:
        columns = y.reshape(len(y), -1)
        weights = None if weight is None else np.asarray(weight, dtype=np.float64)
        if self.criterion in CLASSIFICATION:
            return class_targets(columns, [int(c.max()) + 1 for c in columns.T], weights)
        centred = self.criterion != "poisson"
        ranked = self.criterion in RANKED
        return real_targets(columns.astype(np.float64), weights, centred=centred, ranked=ranked)

    def bins(self, X: Any, weight: NDArray[Any] | None = None) -> Bins:
        levels = np.asarray(self.levels or [-1] * X.shape[1], dtype=np.int64)
        weights = None if weight is None else np.asarray(weight).astype(np.int64)
        bins = bin_table(X, levels, max_bins=self.max_bins, weight=weights)
        return bins._replace(values=X) if self.raw else bins

    def plan(self, bins: Bins, targets: Targets) -> Plan:
        limits = Limits(self.min_rows, self.min_weight / targets.weight_unit)
        draw = Draw(self.seed, self.max_features, self.random_threshold, self.raw)
        monotone = None if self.monotone is None else np.array(self.monotone, dtype=np.int8)
        search = Search(self.rule, targets.layout, limits, draw, monotone)
        stops = Stops(self.max_depth, self.min_rows_split, self.min_gain)
        widest = max(group.n_codes for group in bins.groups)
        least = 8 * widest * targets.layout.n_statistics
        budget = least if self.budget is None else self.budget
        router = by_value if self.raw else by_branch
        return Plan(search, stops, budget, router, few_rows=self.few_rows, alone=self.alone)


def fit(
    X: Any,
    y: NDArray[Any],
    setting: Setting,
    weight: NDArray[Any] | None = None,
    *,
    asarray: Callable[[Any], Any] = np.asarray,
    mode: str = "native",
    n_threads: int = 1,
    roots: Sequence[NDArray[np.int64]] | None = None,
) -> Tree:
    """Grow a tree (one a root, if given) on X (N, F) and y, class numbers or reals (N,), (N, O)."""
    with kernels(mode), threads(n_threads):
        targets = setting.targets(y, weight)
        bins = setting.bins(asarray(X), weight if setting.max_bins else None)
        plan = setting.plan(bins, targets)
        if setting.max_leaves is None:
            grown, rows, branch_map = grow(bins, targets, plan, roots=roots)
        else:
            order = BestFirst(setting.max_leaves)
            grown, rows, branch_map = grow(bins, targets, plan, order, roots)
            grown = order.trim(grown)
        return finish(grown, rows, branch_map, targets, setting.rule)

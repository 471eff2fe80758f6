"""What ID3 and C4.5 share: nominal attributes branch by level, rows without a value divide."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from vtree import arrays
from vtree.arrays import Array
from vtree.binning import Bins, bin_table
from vtree.criteria import Criterion
from vtree.criteria.classification import entropy, entropy_impurity
from vtree.criteria.information import Worth, x_log_x
from vtree.estimators.base import thread_count
from vtree.estimators.bins import Bins as TableBins
from vtree.estimators.devices import working
from vtree.estimators.multiway import MultiwayClassifier
from vtree.estimators.prepared import Prepared
from vtree.finish import finish
from vtree.fractions import ByWeight, divisible
from vtree.gain_ratio import InformationSearch, reaches
from vtree.growth import grow
from vtree.plan import Plan, Stops
from vtree.predict import Parts, parts_in_leaves, shares_of_leaves
from vtree.routing import Router, by_branch
from vtree.sorted_rows import SortedRows, suits
from vtree.tables import Schema, Table, read_table
from vtree.targets import Targets, repeated
from vtree.tree import Tree, children, joined, levels, parents
from vtree_kernels import threads
from vtree_kernels.scan import Limits

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

_MOST_CODES = 2**31 - 1  # numeric attributes need no histograms
_MANY_LEVELS = 0.3  # levels a row above which an attribute does not count in the average gain


def _shares(total: Any, start: Any, stop: Any, order: Any, targets: Any) -> Any:
    weight = total[:, targets.layout.weight, None]
    return total[:, targets.layout.first :] / np.where(weight > 0, weight, 1)


def _impurity(stats: Any, layout: Any) -> Any:
    safe = stats.copy()
    safe[safe[:, layout.weight] == 0.0, layout.weight] = 1.0
    return entropy_impurity(safe, layout)


ENTROPY = Criterion(entropy, _shares, impurity=_impurity)  # of nodes that may be empty


class InformationTree(MultiwayClassifier):
    """Base of ID3 and C4.5; use a derived class."""

    min_objects: float = 1.0

    def _worth(self, n_features: int) -> Worth:
        """Return how attributes are compared."""
        raise NotImplementedError

    def _table(self, X: Any) -> Table:
        if isinstance(X, TableBins):
            return super()._table(X)
        chosen = self.categorical_features
        return read_table(X, categorical_features=chosen, nominal_booleans=True)

    def _bin(self, data: Prepared) -> Bins:
        n_levels = [-1 if each is None else each.size for each in data.schema.levels]
        return bin_table(
            data.values,
            np.asarray(n_levels, dtype=np.int64),
            max_bins=getattr(self, "max_bins", None),
            weight=data.targets.weight,
            names=data.schema.names,
            most_codes=_MOST_CODES,
        )

    def _search(
        self, targets: Targets, averaged: NDArray[np.bool_], bins: Bins
    ) -> InformationSearch:
        return InformationSearch(
            criterion=ENTROPY,
            layout=targets.layout,
            unit=targets.weight_unit,
            worth=self._worth(averaged.size),
            averaged=averaged,
            reach=reaches(bins),
            min_weight=float(self.min_objects),
            corrected=False,
        )

    def _grow(self, data: Prepared, roots: list[Integers] | None = None) -> Tree:
        """Bin, grow, finish and prune a tree, or one after another for each root's rows."""
        if roots is None:
            return self._grow_one(data)
        return joined([self._grow_one(part_of(data, rows)) for rows in roots])

    def _grow_one(self, data: Prepared) -> Tree:
        bins = self._bin(data)
        xp = arrays.namespace(data.values)
        targets, whole, sorted_rows = data.targets, None, None
        router: Router = by_branch
        if bool(xp.any(xp.isnan(data.values))):
            targets, whole = divisible(data.targets)
            router = ByWeight(whole)
        elif suits(bins, targets):
            router = sorted_rows = SortedRows(bins, targets)
        many = bins.is_categorical & (bins.n_bins >= _MANY_LEVELS * data.n_rows)
        search = self._search(targets, ~many | many.all(), bins)
        least = search.min_weight / targets.weight_unit * (1.0 - 1e-9)
        plan = Plan(
            search._replace(limits=Limits(0, least), sorted_rows=sorted_rows),
            Stops(self._most_levels(), min_rows_split=0),
            self.histogram_budget,
            router,
        )
        grown, rows, branch_map = grow(bins, targets, plan)
        tree = finish(grown, rows, branch_map, targets, ENTROPY)
        return described(self._pruned(tree, data, targets, whole))

    def _most_levels(self) -> int | None:
        return None

    def _pruned(self, tree: Tree, data: Prepared, targets: Targets, whole: Integers | None) -> Tree:
        """Return what is left of a grown tree; whole: units of each row, if rows divide."""
        return tree

    def _parts(self, tree: Tree, rules: Any, values: Array) -> Parts:
        return parts_in_leaves(tree, values)

    def _class_shares(self, X: Any) -> Floats:
        with threads(thread_count(self.n_jobs)), working(self.device, X):
            values = self._encode(X)
            return shares_of_leaves(self.grown_, values)


def part_of(data: Prepared, rows: Integers) -> Prepared:
    """Return some rows of a training set, which keep their weight."""
    xp = arrays.namespace(data.values)
    values = xp.take(data.values, arrays.like(rows, data.values), axis=0)
    own = repeated(data.targets, rows, None)
    weight = float(rows.size) if own.weight is None else float(own.weight.sum() * own.weight_unit)
    return data._replace(values=values, targets=own, n_rows=rows.size, total_weight=weight)


def column_name(schema: Schema, feature: int) -> str:
    """Return what to call a column in a message."""
    return f"column {feature}" if schema.names is None else f"column {schema.names[feature]!r}"


def described(tree: Tree) -> Tree:
    """Return the tree with impurities, gains, and the parent's shares at nodes without rows."""
    weights = np.concatenate([tree.weight[:, None], tree.value * tree.weight[:, None]], axis=1)
    impurity = _entropies(tree.value)
    value = tree.value.copy()
    parent = parents(tree)
    for nodes in levels(tree.first_child, tree.n_children, tree.root)[1:]:
        empty = nodes[weights[nodes, 0] == 0.0]
        value[empty], impurity[empty] = value[parent[empty]], impurity[parent[empty]]
    split = np.flatnonzero(tree.first_child >= 0)
    below = children(tree.first_child, tree.n_children, split)
    after = np.zeros(tree.weight.size)
    np.add.at(after, parent[below], tree.weight[below] * impurity[below])
    decrease = (tree.weight[split] * impurity[split] - after[split]) / tree.weight[tree.root[0]]
    gain = np.zeros(tree.weight.size)
    gain[split] = np.where(decrease > 0.0, decrease, 0.0)
    return tree._replace(value=value, impurity=impurity, gain=gain)


def _entropies(value: Floats) -> Floats:
    total = np.zeros(value.shape[0])
    for k in range(value.shape[1]):
        total = total - x_log_x(value[:, k])
    return np.where(total > 0.0, total, 0.0)

"""What both estimators of ordered boosting share: statistics of categories, folds, files."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from numbers import Integral, Real
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import is_classifier
from sklearn.utils._param_validation import Interval, StrOptions

from vtree import arrays
from vtree.arrays import Array
from vtree.binning import Bins, bin_table, spread
from vtree.ensembles.folds import Folds, Ordering, planted
from vtree.ensembles.ordered import Ordered, boost_ordered
from vtree.ensembles.symmetric_leaves import LeafRule
from vtree.ensembles.system import System
from vtree.ensembles.target_statistics import Column, Kind, Rows, Statistics, columns_of, learnt
from vtree.ensembles.training import Training
from vtree.errors import InputError, MemoryBudgetError
from vtree.estimators.automatic_rate import automatic_rate
from vtree.estimators.base import n_levels_of
from vtree.estimators.boosting import FROM_ZERO, NEWTON_CONSTRAINTS, SHARE, BoostingEstimator
from vtree.estimators.category_statistics import (
    as_arrays,
    from_arrays,
    sources_of,
    statistic_rows,
    widened,
)
from vtree.estimators.continuing import Rounds
from vtree.estimators.feature_constraints import monotone_directions
from vtree.estimators.objectives import objective_of
from vtree.estimators.simple_ctr import kinds_of
from vtree.estimators.view import split_shares
from vtree.histogram import node_bytes
from vtree.sampling import Columns
from vtree.tables import Schema, Unknown
from vtree.tree import Tree, one_tree
from vtree_kernels.scan import Layout

Floats = NDArray[np.float64]

# A level's histograms, its parents', and what is made of them, in units of the first.
_HELD_AT_ONCE = 2
_BUDGETS = 4
SUBSAMPLE = 0.8  # the default

_NOT_HERE = (
    *("reg_lambda", "reg_alpha", "min_child_weight", "colsample_bytree", "colsample_bynode"),
    *("interaction_constraints", "min_samples_category"),
)
ORDERED_CONSTRAINTS: dict[str, list[Any]] = {
    **{name: rule for name, rule in NEWTON_CONSTRAINTS.items() if name not in _NOT_HERE},
    "learning_rate": [*FROM_ZERO, None],
    "depth": [Interval(Integral, 1, 16, closed="both")],
    "l2_leaf_reg": FROM_ZERO,
    "boosting_type": [StrOptions({"Ordered", "Plain"})],
    "score_function": [StrOptions({"Cosine", "L2"})],
    "leaf_estimation_method": [StrOptions({"Newton", "Gradient"})],
    "leaf_estimation_iterations": [Interval(Integral, 1, None, closed="left")],
    "random_strength": FROM_ZERO,
    "bootstrap_type": [StrOptions({"Bayesian", "Bernoulli", "MVS", "No"})],
    "bagging_temperature": [Interval(Real, 0.0, 100.0, closed="both")],
    "mvs_reg": [*FROM_ZERO, None],
    "rsm": SHARE,
    "one_hot_max_size": [Interval(Integral, 0, None, closed="left")],
    "max_ctr_complexity": [Interval(Integral, 1, 8, closed="both")],
    "simple_ctr": ["array-like", str, None],
    "permutation_count": [Interval(Integral, 1, None, closed="left")],
    "has_time": ["boolean"],
    "boost_from_average": ["boolean", None],
    "importance_type": [StrOptions({"gain", "cover", "weight", "total_gain", "total_cover"})],
}


class OrderedBoosting(BoostingEstimator):
    """Base of both; use a derived class."""

    statistics_: Statistics | None = None
    learning_rate_: float
    _averages: bool  # whether `boost_from_average` is on where nothing is said

    @property
    def _values_per_node(self) -> int:  # type: ignore[override]
        return self._n_raw()

    def _own_terms(self) -> Callable[..., Any] | None:
        objective = getattr(self, "objective", None)
        return objective if callable(objective) else None

    def _system(self, n_features: int, n_rows: int, total_weight: float) -> System:
        return System(learning_rate=self.learning_rate_, budget=self.histogram_budget)

    def _rate(self, n_rows: int) -> float:
        """Return `learning_rate`, or CatBoost's for this loss and table where it is None."""
        if self.learning_rate is not None:
            return float(self.learning_rate)
        objective = objective_of(getattr(self, "objective", None))
        kind = "logistic" if self._n_raw() == 1 else "multinomial"
        loss = kind if objective is None else objective
        usual = (self.l2_leaf_reg, self.leaf_estimation_iterations, self.leaf_estimation_method)
        if not isinstance(loss, str) or usual != (3.0, 1, "Newton"):
            return automatic_rate("", n_rows, 1, keeps_best=False)
        best = self._patience() is not None
        return automatic_rate(loss, n_rows, self._rounds_wanted(), keeps_best=best)

    def _rounds(self, run: Rounds, done: int) -> Iterator[Tree]:
        training = run.training
        sources = None if self.statistics_ is None else self._statistic_rows(training)
        ordering = Ordering(self.boosting_type == "Ordered", self.permutation_count, self.has_time)
        run.sums[:] = 0.0
        table = training.bins, training.values
        asked = run.before is not None
        folds = planted(*table, ordering, sources, self._seed, run.sums, asked=asked)
        self._check_budget(folds)
        before = [] if run.before is None else [one_tree(run.before, n) for n in range(done)]
        return boost_ordered(training, self._ordered(), self.start_, folds, before)

    def _ordered(self) -> Ordered:
        newton = self.leaf_estimation_method == "Newton"
        bayesian = self.bootstrap_type == "Bayesian"
        drawn = self.bootstrap_type in ("Bernoulli", "MVS")
        return Ordered(
            learning_rate=self.learning_rate_,
            depth=int(self.depth),
            leaves=LeafRule(float(self.l2_leaf_reg), newton, int(self.leaf_estimation_iterations)),
            cosine=self.score_function == "Cosine",
            random_strength=float(self.random_strength),
            temperature=float(self.bagging_temperature) if bayesian else 0.0,
            subsample=float(self.subsample) if drawn else 1.0,
            by_variance=self.bootstrap_type == "MVS",
            reg_variance=None if self.mvs_reg is None else float(self.mvs_reg),
            columns=Columns(by_level=float(self.rsm)),
            directions=self._directions(),
            seed=self._seed,
        )

    def _check_subsample(self) -> None:
        """Raise InputError for a `subsample` that was asked for and has no part in anything."""
        unused = self.bootstrap_type in ("Bayesian", "No")
        if unused and self.subsample not in (SUBSAMPLE, 1.0):  # of 1.0 all rows are drawn, as here
            raise InputError(
                f"subsample={self.subsample} has no effect with "
                f"bootstrap_type={self.bootstrap_type!r}, which draws no rows; take 'Bernoulli' or "
                f"'MVS', or leave subsample at {SUBSAMPLE}"
            )

    def _directions(self) -> NDArray[np.int8] | None:
        directions = monotone_directions(self.monotone_constraints, self)
        if directions is not None and self._n_raw() > 1:
            raise InputError(
                "monotone_constraints are for one output, one quantile or two classes here, and "
                f"there are {self._n_raw()}; NewtonBoosting… takes them for any number"
            )
        return directions

    def _start(self, training: Training, before: Tree | None) -> None:
        super()._start(training, before)
        if before is not None:
            return
        averages = self._averages if self.boost_from_average is None else self.boost_from_average
        if not averages:
            self.start_ = np.zeros(self._n_raw())
        self.learning_rate_ = self._rate(training.weights.n_rows)

    def _trained_on(self, X: Any, y: Any, sample_weight: Any, before: Tree | None) -> Training:
        self._kinds()  # complains before any work, as the next does
        self._check_subsample()
        # Prefixes of the rows have raw predictions of their own, which NumPy holds.
        training = super()._trained_on(X, y, sample_weight, before)._replace(in_turn=None)
        if before is not None:
            return training  # with the statistics that its trees know
        sources, n_levels = self._sources(self.schema_), n_levels_of(self.schema_)
        self.statistics_ = None
        if not sources:
            return training
        self.statistics_ = learnt(self._statistic_rows(training), sources)
        return training._replace(values=widened(training.values, self.statistics_, n_levels))

    def _sources(self, schema: Schema) -> tuple[tuple[int, ...], ...]:
        return sources_of(n_levels_of(schema), self.one_hot_max_size, self.max_ctr_complexity)

    def _binned(
        self, X: Any, kept: Any, values: Array, schema: Schema, weight: NDArray[np.int64] | None
    ) -> Bins:
        """Return the columns that split by themselves: numbers, and categories of few levels."""
        n_levels = n_levels_of(schema)
        own = np.flatnonzero(n_levels <= self.one_hot_max_size)
        if own.size == n_levels.size:
            return super()._binned(X, kept, values, schema, weight)
        part = arrays.namespace(values).take(values, arrays.like(own, values), axis=1)
        names = None if schema.names is None else tuple(schema.names[place] for place in own)
        given = {"max_bins": self.max_bins, "weight": weight, "names": names}
        return spread(bin_table(part, n_levels[own], **given), own, n_levels.size)

    def _statistic_rows(self, training: Training) -> Rows:
        targets = self._statistic_targets(training.y)
        sources, n_levels = self._sources(self.schema_), n_levels_of(self.schema_)
        given = training.values, sources, n_levels, targets, training.weights
        return statistic_rows(*given, self._kinds())

    def _kinds(self) -> tuple[Kind, ...]:
        return kinds_of(self.simple_ctr, classes=is_classifier(self))

    def _columns(self) -> tuple[Column, ...]:
        """Return what the statistics of each source are."""
        return columns_of(self._kinds(), self._n_means())

    def _statistic_targets(self, y: Floats) -> Floats:
        """Return the targets that statistics are means of, (N, V)."""
        if self._n_means() == 1 or y.ndim == 2:
            return y.reshape(y.shape[0], -1)
        targets: Floats = (y[:, None] == np.arange(self._n_means())).astype(np.float64)
        return targets

    def _n_means(self) -> int:
        """Return how many means a category has: of outputs, or shares of more than two classes."""
        return self._n_raw() if "classes_" in vars(self) else self.n_outputs_

    def _encode_known(self, X: Any, unknown: Unknown | None = None) -> Array:
        values = super()._encode_known(X, unknown)
        if self.statistics_ is None:
            return values
        return widened(values, self.statistics_, n_levels_of(self.schema_))

    def _check_budget(self, folds: Folds) -> None:
        """Raise MemoryBudgetError unless the widest level's histograms fit at once."""
        layout = Layout(1, 2, self._n_raw(), 1, 2, 0.0, 1.0, ())
        fold = folds.shaping[0]
        first = _HELD_AT_ONCE * len(fold.roots()) * node_bytes(fold.bins.groups, layout)
        wanted = first << (self.depth - 1)
        allowed = _BUDGETS * self.histogram_budget
        if wanted > allowed:
            raise MemoryBudgetError(
                f"depth={self.depth} needs about {wanted:,} bytes of histograms at once, for all "
                f"nodes of a level share one split; allowed are {_BUDGETS} times histogram_budget, "
                f"{allowed:,}. {_cheaper(allowed // first, self.boosting_type)}, or raise "
                f"histogram_budget to {-(-wanted // _BUDGETS):,}."
            )

    @property
    def derived_names_(self) -> list[str]:
        """What the target statistics are called, which trees see as further features."""
        if self.statistics_ is None:
            return []
        names = getattr(self, "feature_names_in_", None)
        known = [f"feature {f}" if names is None else names[f] for f in range(self.n_features_in_)]
        sources = [" and ".join(known[f] for f in own) for own in self.statistics_.columns]
        columns = self._columns()
        return [self._name(column, source) for source in sources for column in columns]

    def _name(self, column: Column, source: str) -> str:
        """Return what a statistic is called."""
        kind, prior, target = column
        classes = getattr(self, "classes_", None)
        if kind.counts:
            what = "rows"
        elif classes is None:
            what = "mean target" if self._n_means() == 1 else f"mean target {target}"
        elif len(classes) == 2:
            what = f"share of {classes[1]}"
        else:
            what = f"share {'above' if kind.above else 'of'} {classes[target]}"
        told = "" if prior.mean is None or kind.counts else f", prior {prior.mean:g}"
        return f"{what} by {source}{told}"

    @property
    def feature_importances_(self) -> Floats:
        """Each feature's share of what splits gain, (F,); a combination's is its columns'."""
        n_features, derived = self.n_features_in_, len(self.derived_names_)
        shares = split_shares(self.grown_, n_features + derived, self._importance_type())
        own: Floats = shares[:n_features].copy()
        if self.statistics_ is not None:
            sources = self.statistics_.columns
            whole = shares[n_features:].reshape(len(sources), -1).sum(axis=1)
            for source, share in zip(sources, whole, strict=True):
                own[list(source)] += share / len(source)
        return own

    def _more_to_save(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        header, extra = super()._more_to_save()
        header["own"]["rate"] = self.learning_rate_
        if self.statistics_ is not None:
            header["n_derived"] = len(self.derived_names_)
            extra = as_arrays(self.statistics_)
        return header, extra

    def _take_saved(self, header: dict[str, Any], extra: dict[str, NDArray[Any]]) -> None:
        super()._take_saved(header, {})
        rate = header["own"]["rate"]
        if not isinstance(rate, float) or not 0.0 <= rate < np.inf:
            raise ValueError("its learning rate is no number")
        self.learning_rate_ = rate
        self.statistics_ = None
        if extra:
            self.statistics_ = from_arrays(extra, n_levels_of(self.schema_), len(self._columns()))
        if len(self.derived_names_) != header.get("n_derived", 0):
            raise ValueError("its trees do not fit its statistics")


def _cheaper(nodes: int, boosting_type: str) -> str:
    """Return how to get by where so many nodes of a level fit."""
    depth = "Lower max_bins" if nodes < 1 else f"Lower depth to {nodes.bit_length()} or max_bins"
    return f"{depth}, take boosting_type='Plain'" if boosting_type == "Ordered" else depth

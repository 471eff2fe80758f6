"""What boosting estimators share: training, early stopping, staged predictions, files."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from numbers import Integral, Real
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import Interval
from sklearn.utils.validation import check_is_fitted

from vtree.arrays import Array
from vtree.binning import bin_table
from vtree.ensembles.boosting import Training, boost, round_totals
from vtree.ensembles.derivatives import Weights
from vtree.ensembles.steps import Leaves
from vtree.ensembles.system import System
from vtree.errors import InputError, InputTypeError
from vtree.estimators.base import (
    TableEstimator,
    kept_rows,
    n_levels_of,
    thread_count,
    unchanged_on_error,
)
from vtree.estimators.devices import answer, working
from vtree.estimators.early_stopping import EvalSet, Watch
from vtree.estimators.limits import CONSTRAINTS
from vtree.estimators.monotone import monotone_directions
from vtree.estimators.progress import CallbackSupportMixin, Report, reported, with_callbacks
from vtree.estimators.view import split_shares
from vtree.losses import Loss, Terms, exact_mean
from vtree.losses.own import own_terms
from vtree.predict import leaves
from vtree.tables import Schema
from vtree.targets import quantise_weights
from vtree.tree import Tree, depth, joined
from vtree_kernels import threads

Floats = NDArray[np.float64]

SHARE = [Interval(Real, 0.0, 1.0, closed="right")]
FROM_ZERO = [Interval(Real, 0.0, None, closed="left")]

BOOSTING_CONSTRAINTS: dict[str, list[Any]] = {
    **{
        name: CONSTRAINTS[name]
        for name in (
            "random_state",
            "max_bins",
            "categorical_features",
            "unknown_categories",
            "min_samples_category",
            "device",
            "n_jobs",
            "histogram_budget",
        )
    },
    "n_estimators": [Interval(Integral, 1, None, closed="left")],
    "learning_rate": FROM_ZERO,
    "subsample": SHARE,
    "warm_start": ["boolean"],
    "verbose": ["verbose"],
}
# Of the systems that grow by second derivatives.
NEWTON_CONSTRAINTS: dict[str, list[Any]] = {
    **BOOSTING_CONSTRAINTS,
    "reg_lambda": FROM_ZERO,
    "reg_alpha": FROM_ZERO,
    "min_child_weight": FROM_ZERO,
    "colsample_bytree": SHARE,
    "colsample_bynode": SHARE,
    "monotone_constraints": ["array-like", dict, None],
    "early_stopping_rounds": [Interval(Integral, 1, None, closed="left"), None],
    "eval_metric": [str, callable, None],
}

_MOST_SEED = np.iinfo(np.int32).max


class Rounds(NamedTuple):
    """What rounds of boosting start from."""

    training: Training
    system: System
    sums: Floats  # (N, K) what `before` says of the training rows; the rounds to come add to it
    watch: Watch
    before: Tree | None  # trees of earlier rounds


class BoostingEstimator(CallbackSupportMixin, TableEstimator):
    """Base of boosting; use a derived class."""

    max_features = None  # `_remember` asks; boosting draws columns by other parameters
    _values_per_node = 1
    _keeps_scores = False

    def _target_of(self, y: Any, sample_weight: Any, n_rows: int) -> tuple[Floats, Floats | None]:
        """Return (targets (N,), weights (N,) or None), checked; learns the classes."""
        raise NotImplementedError

    def _known_target(self, y: Any) -> Floats:
        """Return the targets (N,) of an evaluation set."""
        raise NotImplementedError

    def _loss(self) -> Loss:
        """Return the loss with its numbers."""
        raise NotImplementedError

    def _own_terms(self) -> Callable[..., Any] | None:
        """Return the user's own (gradient, hessian) function, if there is one."""
        return None

    def _system(self, n_features: int, n_rows: int, total_weight: float) -> System:
        raise NotImplementedError

    def _terms(
        self, loss: Loss, weight: NDArray[np.int64] | None
    ) -> Callable[[Floats, Floats], Terms]:
        """Return what derives the loss at (raw, y), for rows with whole weights (N,)."""
        return loss.derivatives

    def _leaf_rule(self, loss: Loss) -> Leaves:
        return Leaves(level=None if loss.level is None else loss.level(loss.numbers))

    def _n_raw(self) -> int:
        return 1

    def _patience(self) -> int | None:
        """Return after how many rounds without progress to stop."""
        rounds: int | None = getattr(self, "early_stopping_rounds", None)
        return rounds

    def _rounds_wanted(self) -> int:
        return int(self.n_estimators)

    def fit(
        self,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        *,
        eval_set: Any = None,
        sample_weight_eval_set: Any = None,
    ) -> Any:
        """Grow trees round after round.

        Parameters
        ----------
        X : (N, F) table
            As for `DecisionTreeClassifier.fit`; NaN marks missing values.
        y : (N,)
            Labels, or real targets.
        sample_weight : (N,), optional
            Weights, not negative. A weight of 0 is an absent row; a whole weight acts like that
            many copies of the row.
        eval_set : list of (X, y), optional
            Tables to judge each round on; with `early_stopping_rounds` the last one decides.
        sample_weight_eval_set : list of (N,), optional
            Weights of their rows.

        Returns
        -------
        self

        Raises
        ------
        InputError, InputTypeError
            Whatever cannot be used, see `vtree.errors`. The estimator then stays what it was.
        """
        with (
            unchanged_on_error(self),
            threads(thread_count(self.n_jobs)),
            working(self.device, X, release=True),
        ):
            before: Tree | None = vars(self).get("grown_") if self.warm_start else None
            training, schema = self._trained_on(X, y, sample_weight)
            sets = self._eval_sets(eval_set, sample_weight_eval_set)
            self._start(training, before)
            sums = self._sums_so_far(training.values, before)
            for number, each in enumerate(sets):
                sets[number] = each._replace(sums=self._sums_so_far(each.values, before))
            weights = training.weights
            total = weights.total * weights.unit
            system = self._system(len(schema.levels), weights.n_rows, total)
            rounds = Rounds(training, system, sums, Watch(self, sets), before)
            self._train(rounds, X, y, sample_weight)
        return self

    def _trained_on(self, X: Any, y: Any, sample_weight: Any) -> tuple[Training, Schema]:
        values, schema = self._read(X)
        target, weight = self._target_of(y, sample_weight, values.shape[0])
        values, kept = kept_rows(values, weight)
        target = target[kept]
        whole, unit = quantise_weights(None if weight is None else weight[kept], target.size)
        self._remember(X, schema)
        bins = bin_table(
            values,
            n_levels_of(schema),
            max_bins=self.max_bins,
            weight=whole,
            names=schema.names,
        )
        loss = self._loss()
        own = self._own_terms()
        terms = self._terms(loss, whole) if own is None else functools.partial(own_terms, own)
        weights = Weights.of(whole, unit, target.size)
        curved = loss.curved or own is not None
        leaf_rule = self._leaf_rule(loss) if own is None else Leaves()
        return Training(bins, values, target, weights, terms, curved, leaf_rule), schema

    def _start(self, training: Training, before: Tree | None) -> None:
        """Set the raw predictions before all trees, `start_` (K,), and the seed of all draws."""
        if before is not None:
            if before.root.size > self._rounds_wanted() * self._n_raw():
                raise InputError(
                    f"n_estimators={self.n_estimators} must be larger or equal to the "
                    f"{before.root.size // self._n_raw()} rounds there are when warm_start==True"
                )
            return
        self._seed = int(check_random_state(self.random_state).randint(_MOST_SEED))
        loss, given = self._loss(), getattr(self, "base_score", None)
        if given is not None:
            self.start_ = np.full(self._n_raw(), loss.unlink(float(given)))
        elif self._own_terms() is not None:
            self.start_ = np.zeros(self._n_raw())
        else:
            self.start_ = loss.starts(training.y, training.weights.whole, self._n_raw())

    def _sums_so_far(self, values: Array, before: Tree | None) -> Floats:
        if before is None:
            return np.zeros((values.shape[0], self._n_raw()))
        return round_totals(before, values, self._n_raw())

    def _eval_sets(self, eval_set: Any, weights: Any) -> list[EvalSet]:
        if eval_set is None:
            if self._patience() is not None:
                raise InputError(
                    "early_stopping_rounds needs rows to judge by: pass eval_set=[(X, y)] to fit"
                )
            return []
        if not isinstance(eval_set, list | tuple) or not all(
            isinstance(each, list | tuple) and len(each) == 2 for each in eval_set
        ):
            raise InputTypeError("eval_set must be a list of pairs (X, y)")
        if not len(eval_set):
            raise InputError("eval_set is empty; pass at least one pair (X, y), or None")
        own = [None] * len(eval_set) if weights is None else list(weights)
        if len(own) != len(eval_set):
            raise InputError(
                f"sample_weight_eval_set has {len(own)} entries, but eval_set has {len(eval_set)}"
            )
        return [
            self._eval_set(table, y, weight)
            for (table, y), weight in zip(eval_set, own, strict=True)
        ]

    def _eval_set(self, X: Any, y: Any, weight: Any) -> EvalSet:
        values = self._encode_known(X)
        target = self._known_target(y)
        if target.size != values.shape[0]:
            raise InputError(
                f"a table of eval_set has {values.shape[0]} rows, but its y has {target.size}"
            )
        own = None if weight is None else np.asarray(weight, dtype=np.float64)
        if own is not None and own.shape != target.shape:
            raise InputError(
                f"sample_weight_eval_set has the shape {own.shape} where {target.shape} belongs"
            )
        return EvalSet(values, target, own, np.zeros((0, 0)))

    @with_callbacks
    def _train(self, run: Rounds, X: Any, y: Any, sample_weight: Any) -> None:
        """Grow all rounds, and tell of them."""
        trees = [] if run.before is None else [run.before]
        done = sum(tree.root.size for tree in trees) // self._n_raw()
        wanted = self._rounds_wanted()
        given = {"X": X, "y": y, "sample_weight": sample_weight}
        with reported(self, "round", wanted, done=done, **given) as report:
            scores = self._grow(run, trees, range(done, wanted), report)
            self.grown_ = joined(trees)
            if self._keeps_scores:
                earlier = vars(self).get("train_score_", np.empty(0)) if done else np.empty(0)
                factor = self._score_factor()
                self.train_score_ = np.append(earlier, np.asarray(scores) * factor)
            run.watch.tell(self)

    def _grow(self, run: Rounds, trees: list[Tree], numbers: range, report: Report) -> list[float]:
        """Append the trees of the rounds `numbers`; return the mean loss after each, if kept."""
        scores: list[float] = []
        system = run.system._replace(seed=self._seed)
        rounds = boost(run.training, system, self.start_, run.sums, numbers.start)

        def loss() -> float:
            loss = self._losses(self.start_ + run.sums, run.training)
            return exact_mean(loss, run.training.weights.whole)

        for number in numbers:
            report.begin()
            tree = next(rounds)
            trees.append(tree)
            if self._keeps_scores:
                scores.append(loss())
            stop = run.watch.should_stop(tree, number)
            asked = report.end(
                metrics=lambda: run.watch.latest() or {"loss": loss()},
                attributes=lambda: {"grown_": joined(trees)},
            )
            if stop or asked:
                break
        return scores

    def _losses(self, raw: Floats, training: Training) -> Floats:
        """Return the loss of each row, (N,)."""
        return self._loss().of(raw, training.y).loss

    def _score_factor(self) -> float:
        return 1.0

    def _raw(self, X: Any) -> Floats:
        """Return the raw predictions, (N, K)."""
        check_is_fitted(self)
        with threads(thread_count(self.n_jobs)), working(self.device, X):
            values = self._encode(X)
            return self.start_ + round_totals(self.grown_, values, self._n_raw())

    def _staged_raw(self, X: Any) -> Iterator[Floats]:
        """Yield the raw predictions after each round, (N, K)."""
        check_is_fitted(self)
        n_raw = self._n_raw()
        with threads(thread_count(self.n_jobs)), working(self.device, X):
            values = self._encode(X)
        sums = np.zeros((values.shape[0], n_raw))
        for first in range(0, self.grown_.root.size, n_raw):
            one = self.grown_._replace(root=self.grown_.root[first : first + n_raw])
            with threads(thread_count(self.n_jobs)), working(self.device, X):
                sums = sums + round_totals(one, values, n_raw)
            yield self.start_ + sums

    def apply(self, X: Any) -> Array:
        """Return the number of the leaf that each row comes to in each tree, (N, T) int64."""
        check_is_fitted(self)
        with threads(thread_count(self.n_jobs)), working(self.device, X):
            leaf = leaves(self.grown_, self._encode(X)).astype(np.int64)
        return answer(leaf - self.grown_.root, X)

    def get_depth(self) -> int:
        """Return the distance from a root to the farthest leaf of all trees."""
        check_is_fitted(self)
        return int(depth(self.grown_).max())

    def get_n_leaves(self) -> int:
        """Return the number of leaves of all trees together."""
        check_is_fitted(self)
        return int((self.grown_.first_child < 0).sum())

    @property
    def n_estimators_(self) -> int:
        """How many rounds there are."""
        check_is_fitted(self)
        return int(self.grown_.root.size) // self._n_raw()

    @property
    def feature_importances_(self) -> Floats:
        """Each feature's share of what splits gain, (F,), summing to one (or all zero)."""
        check_is_fitted(self)
        return split_shares(self.grown_, self.n_features_in_, self._importance_type())

    def _importance_type(self) -> str:
        return str(getattr(self, "importance_type", "total_gain"))

    def _directions(self, cst: Any) -> NDArray[np.int8] | None:
        return monotone_directions(cst, self)

    def _more_to_save(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        """Return what a model file holds of this estimator besides: header entries, and arrays."""
        return {"own": {"start": self.start_, "seed": self._seed}}, {}

    def _take_saved(self, header: dict[str, Any], extra: dict[str, NDArray[Any]]) -> None:
        """Set what `_more_to_save` returned; raise ValueError, KeyError or TypeError for less."""
        if "edges" in header or extra:
            raise ValueError("its kind of estimator has neither edges nor surrogates")
        saved = header["own"]
        start = np.asarray(saved["start"], dtype=np.float64)
        if start.shape != (self._n_raw(),) or self.grown_.root.size % start.size:
            raise ValueError("its trees do not fit its start values")
        if not np.isfinite(start).all() or not isinstance(saved["seed"], int):
            raise ValueError("its start values are no numbers")
        self.start_, self._seed = start, saved["seed"]

"""What boosting estimators share: training, early stopping, staged predictions, files."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from numbers import Integral, Real
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import Interval
from sklearn.utils.validation import check_is_fitted

from vtree.arrays import Array
from vtree.binning import Bins, bin_table
from vtree.ensembles.boosting import boost, round_totals
from vtree.ensembles.derivatives import Weights
from vtree.ensembles.steps import Leaves
from vtree.ensembles.system import System
from vtree.ensembles.training import Training, added, beside_codes
from vtree.errors import InputError
from vtree.estimators.base import TableEstimator, n_levels_of, thread_count, unchanged_on_error
from vtree.estimators.bins import ready_codes
from vtree.estimators.continuing import Checkpoint, Rounds, check_same_classes, set_loss
from vtree.estimators.devices import answer, working
from vtree.estimators.early_stopping import Watch, as_told, eval_sets, forget, held_out, told_by
from vtree.estimators.feature_constraints import refuse_other_numbers
from vtree.estimators.fitted_loss import FittedLoss
from vtree.estimators.limits import CONSTRAINTS
from vtree.estimators.prepared import kept_rows, known_levels
from vtree.estimators.progress import CallbackSupportMixin, Report, reported, with_callbacks
from vtree.estimators.some_rounds import trees_of_rounds
from vtree.estimators.view import split_shares
from vtree.losses import Loss, Terms, exact_mean
from vtree.losses.own import own_terms
from vtree.predict import leaves
from vtree.tables import Schema
from vtree.targets import quantise_weights
from vtree.tree import Tree, depth, joined, some_trees
from vtree_kernels import freed_memory_kept, threads

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
    "interaction_constraints": ["array-like", None],
    "early_stopping_rounds": [Interval(Integral, 1, None, closed="left"), None],
    "validation_fraction": [Interval(Real, 0.0, 1.0, closed="neither"), None],
    "eval_metric": [str, callable, list, tuple, None],
}

_MOST_SEED = np.iinfo(np.int32).max
_LEAST_WEIGHT = 2.0**-900


class BoostingEstimator(CallbackSupportMixin, FittedLoss, TableEstimator):
    """Base of boosting; use a derived class."""

    max_features = None  # `_remember` asks; boosting draws columns by other parameters
    _values_per_node = 1
    _keeps_scores = False
    start_: Floats

    def _target_of(self, y: Any, sample_weight: Any, n_rows: int) -> tuple[Floats, Floats | None]:
        """Return (targets (N,) or (N, K), weights (N,) or None), checked; learns what y is of."""
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
        return Leaves(levels=loss.levels(self._n_raw()))

    def _n_raw(self) -> int:
        return 1

    def _trees_a_round(self) -> int:
        """Return how many trees a round has: one a class, or one whose leaves answer for all."""
        return self._n_raw() // self._values_per_node

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
        checkpoint: Any = None,
        checkpoint_every: int = 10,
    ) -> Any:
        """Grow trees round after round.

        Parameters
        ----------
        X : (N, F) table
            As for `DecisionTreeClassifier.fit`; NaN marks missing values.
        y : (N,)
            Labels, or real targets, (N, K) of K outputs.
        sample_weight : (N,), optional
            Weights, not negative. A weight of 0 is an absent row; a whole weight acts like that
            many copies of the row.
        eval_set : list of (X, y), or one such pair, optional
            Tables to judge each round on, those that `warm_start` goes on from, too; where the
            estimator stops early the last one decides, and nothing of X is held out.
        sample_weight_eval_set : list of (N,), optional
            Weights of their rows.
        checkpoint : path, optional
            A file to write after every `checkpoint_every` rounds. If it is there, the run goes on
            from it, to the same model as if it had never ended. `vtree.load` reads it, too. A
            held-out share needs a `random_state` to be the same again. Of functions among the
            parameters it knows the names.
        checkpoint_every : int

        Returns
        -------
        self

        Raises
        ------
        InputError, InputTypeError
            Whatever cannot be used, see `vtree.errors`. The estimator then stays what it was.
        """
        share = getattr(self, "validation_fraction", None)
        with (
            unchanged_on_error(self),
            threads(thread_count(self.n_jobs)),
            working(self.device, X, release=True),
        ):
            before: Tree | None = vars(self).get("grown_") if self.warm_start else None
            set_loss(self, before)
            if before is None:
                self._seed = int(check_random_state(self.random_state).randint(_MOST_SEED))
            if self._patience() is not None and eval_set is None and share is not None:
                X, y, sample_weight, eval_set, sample_weight_eval_set = held_out(
                    self, share, X, y, sample_weight
                )
            training = self._trained_on(X, y, sample_weight, before)
            forget(self)
            watch = Watch(self, eval_sets(self, eval_set, sample_weight_eval_set))
            scores = self._scores_so_far(before)
            keeper = None
            if checkpoint is not None:
                keeper = Checkpoint(self, checkpoint, checkpoint_every)
                before, scores = keeper.resume(self, training, watch, before, scores)
            self._start(training, before)
            start = self._start_of_rows(X, training, before)
            sums = self._sums_so_far(training.values, before)
            watch.follow(before)
            run = Rounds(training, start, sums, watch, before, scores, keeper)
            self._train(run, X, y, sample_weight)
        return self

    def _trained_on(self, X: Any, y: Any, sample_weight: Any, before: Tree | None) -> Training:
        known = vars(self).get("classes_")
        # Trees that there are know their columns, and no others can come.
        values, schema = self._read(X) if before is None else (self._encode_known(X), self.schema_)
        target, weight = self._target_of(y, sample_weight, values.shape[0])
        if weight is not None and np.sum(weight) < _LEAST_WEIGHT:
            raise InputError(
                f"sample_weight adds up to {np.sum(weight):.3g}, too little to be multiplied by "
                "derivatives; multiply all weights by one number"
            )
        if before is None:
            values, schema = known_levels(X, values, schema, weight)
        values, kept = kept_rows(values, weight)
        target = target[kept]
        whole, unit = quantise_weights(None if weight is None else weight[kept], target.shape[0])
        if before is None:
            self._remember(X, schema)
        else:
            check_same_classes(self, known)
            refuse_other_numbers(self, X)
        bins = self._binned(X, kept, values, schema, whole)
        loss, own = self._loss(), self._own_terms()
        terms = self._terms(loss, whole) if own is None else functools.partial(own_terms, own, X)
        weights = Weights.of(whole, unit, target.shape[0])
        curved = loss.curved or own is not None
        leaf_rule = self._leaf_rule(loss) if own is None else Leaves()
        # Only of the loss itself is it known how to derive it by one raw prediction.
        in_turn = loss.slopes if own is None and terms == loss.derivatives else None
        how = (weights, terms, curved, leaf_rule)
        return Training(bins, values, target, *how, in_turn=in_turn, rows=kept)

    def _binned(
        self, X: Any, kept: Any, values: Array, schema: Schema, weight: NDArray[np.int64] | None
    ) -> Bins:
        """Return the table as trees see it; weight (N,): whole numbers."""
        return ready_codes(X, kept, self.max_bins, self.device) or bin_table(
            values,
            n_levels_of(schema),
            max_bins=self.max_bins,
            weight=weight,
            names=schema.names,
        )

    def _start(self, training: Training, before: Tree | None) -> None:
        """Set the raw predictions before all trees, `start_` (K,)."""
        if before is not None:
            if self.start_.size != self._n_raw():
                raise InputError(
                    f"warm_start goes on with a model of {self.start_.size} outputs or quantiles, "
                    f"and y and the parameters are of {self._n_raw()} now; fit it anew"
                )
            done = before.root.size // self._trees_a_round()
            if done > self._rounds_wanted():
                raise InputError(
                    f"n_estimators={self.n_estimators} must be larger or equal to the {done} "
                    "rounds there are when warm_start==True"
                )
            return
        loss, given = self._loss(), getattr(self, "base_score", None)
        if given is not None:
            self.start_ = np.full(self._n_raw(), _raw_of(loss, float(given)))
        elif self._own_terms() is not None:
            self.start_ = np.zeros(self._n_raw())
        else:
            self.start_ = self._starts(loss, training)

    def _starts(self, loss: Loss, training: Training) -> Floats:
        """Return the raw predictions to start from, (K,)."""
        return loss.starts(training.y, training.weights.whole, self._n_raw())

    def _start_of_rows(self, X: Any, training: Training, before: Tree | None) -> Floats:
        """Return the raw predictions before all trees for the training rows, as `_start_of`."""
        return self.start_

    def _start_of(self, X: Any, n_rows: int) -> Floats:
        """Return the raw predictions before all trees, (K,), or (N, K) where they differ."""
        return self.start_

    def _sums_so_far(self, values: Array, before: Tree | None) -> Floats:
        if before is None:
            return np.zeros((values.shape[0], self._n_raw()), order="F")
        return np.asfortranarray(round_totals(before, values, self._n_raw()))

    def _scores_so_far(self, before: Tree | None) -> list[float]:
        """Return the mean losses after earlier rounds, where they are kept."""
        if before is None or not self._keeps_scores:
            return []
        own: Floats = vars(self).get("train_score_", np.empty(0)) / self._score_factor()
        return [float(score) for score in own]

    @with_callbacks
    def _train(self, run: Rounds, X: Any, y: Any, sample_weight: Any) -> None:
        """Grow all rounds, and tell of them."""
        trees = [] if run.before is None else [run.before]
        done = sum(tree.root.size for tree in trees) // self._trees_a_round()
        wanted = done if run.watch.over else self._rounds_wanted()
        given = {"X": X, "y": y, "sample_weight": sample_weight}
        # Rounds need the same memory, one after another.
        with freed_memory_kept(), reported(self, "round", wanted, done=done, **given) as report:
            self._grow(run, trees, range(done, wanted), report)
            self.grown_ = joined(trees)
            run.watch.tell()
            self._fitted_loss = self._loss_parameters()
            if self._keeps_scores:
                scores = np.asarray(run.scores[: self.n_estimators_])
                self.train_score_ = scores * self._score_factor()

    def _grow(self, run: Rounds, trees: list[Tree], numbers: range, report: Report) -> None:
        """Append the trees of the rounds `numbers`, and the mean loss after each if it is kept."""
        training = run.training
        there, sums = beside_codes(training, run.start, run.sums)
        rounds = self._rounds(run._replace(training=there, sums=sums), numbers.start)

        def mean(loss: Loss) -> float:
            return exact_mean(loss.losses(run.start, sums, there.y), there.weights.whole)

        for number in numbers:
            report.begin()
            before = functools.partial(added, run.start, sums)
            judge = self._judge(before, training) if self._keeps_scores else None
            trees.append(next(rounds))
            if judge is not None:
                run.scores.append(mean(judge))
            stop = run.watch.should_stop(trees[-1], number)
            asked = report.end(
                metrics=lambda: run.watch.latest() or {"loss": mean(self._loss())},
                attributes=lambda: {"grown_": joined(trees)},
            )
            if stop or asked:
                break
            if run.checkpoint is not None:
                run.checkpoint.keep(self, trees, number + 1, run.watch, run.scores)

    def _rounds(self, run: Rounds, done: int) -> Iterator[Tree]:
        """Return what grows the trees of round after round, `done` rounds being there."""
        weights = run.training.weights
        total = weights.total * weights.unit
        system = self._system(len(self.schema_.levels), weights.n_rows, total)
        system = system._replace(seed=self._seed)
        return boost(run.training, system, run.start, run.sums, done)

    def _judge(self, raw: Callable[[], Floats], training: Training) -> Loss:
        """Return the loss that judges a round, which starts from raw predictions raw() (N, K)."""
        return self._loss()

    def _score_factor(self) -> float:
        return 1.0

    def _raw(self, X: Any, iteration_range: Any = None) -> Floats:
        """Return the raw predictions by some rounds, or all of them, (N, K)."""
        check_is_fitted(self)
        trees = trees_of_rounds(self.grown_, self._trees_a_round(), iteration_range)
        with threads(thread_count(self.n_jobs)), working(self.device, X):
            values = self._encode(X)
            found = round_totals(trees, values, self._n_raw())
            return self._start_of(X, found.shape[0]) + found

    def _staged_raw(self, X: Any) -> Iterator[Floats]:
        """Yield the raw predictions after each round, (N, K)."""
        check_is_fitted(self)
        n_raw, n_trees = self._n_raw(), self._trees_a_round()
        with threads(thread_count(self.n_jobs)), working(self.device, X):
            values = self._encode(X)
            start = self._start_of(X, values.shape[0])
        sums = np.zeros((values.shape[0], n_raw))
        for first in range(0, self.grown_.root.size, n_trees):
            one = some_trees(self.grown_, first, first + n_trees)
            with threads(thread_count(self.n_jobs)), working(self.device, X):
                sums = sums + round_totals(one, values, n_raw)
            yield start + sums

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
        return int(self.grown_.root.size) // self._trees_a_round()

    @property
    def feature_importances_(self) -> Floats:
        """Each feature's share of what splits gain, (F,), summing to one (or all zero)."""
        check_is_fitted(self)
        return split_shares(self.grown_, self.n_features_in_, self._importance_type())

    def _importance_type(self) -> str:
        return str(getattr(self, "importance_type", "total_gain"))

    def _more_to_save(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        """Return what a model file holds of this estimator besides: header entries, and arrays."""
        own = {"start": self.start_, "seed": self._seed, "loss": self._loss_parameters()}
        own["told"] = told_by(self)
        scores = vars(self).get("train_score_")
        return {"own": own if scores is None else {**own, "train_score": scores}}, {}

    def _take_saved(self, header: dict[str, Any], extra: dict[str, NDArray[Any]]) -> None:
        """Set what `_more_to_save` returned; raise ValueError, KeyError or TypeError for less."""
        if "edges" in header or extra:
            raise ValueError("its kind of estimator has neither edges nor surrogates")
        saved = header["own"]
        start = np.asarray(saved["start"], dtype=np.float64)
        scores = np.asarray(saved.get("train_score", []), dtype=np.float64)
        if (
            start.shape != (self._n_raw(),)
            or self.grown_.root.size % self._trees_a_round()
            or scores.ndim != 1
        ):
            raise ValueError("its trees do not fit its start values")
        if not np.isfinite(start).all() or not isinstance(saved["seed"], int):
            raise ValueError("its start values are no numbers")
        self.start_, self._seed = start, saved["seed"]
        self.__dict__.update(as_told(saved.get("told", {})))
        if "train_score" in saved:
            self.train_score_ = scores


def _raw_of(loss: Loss, base_score: float) -> float:
    """Return the raw prediction of `base_score`, checked."""
    allowed, most = ("between 0 and 1", 1.0) if loss.domain == "class" else ("above 0", np.inf)
    if loss.domain != "real" and not 0.0 < base_score < most:
        raise InputError(
            f"base_score={base_score} is no prediction of this loss, which are {allowed}"
        )
    return loss.unlink(base_score)

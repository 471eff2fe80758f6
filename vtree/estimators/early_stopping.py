"""Evaluation sets: what metrics say of them round after round, and when to stop."""

from __future__ import annotations

from collections.abc import Mapping
from numbers import Integral, Real
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse
from sklearn.base import is_classifier
from sklearn.model_selection import train_test_split
from sklearn.utils import _safe_indexing, check_consistent_length
from sklearn.utils.validation import _num_samples

from vtree import arrays
from vtree.arrays import Array
from vtree.ensembles.boosting import round_totals
from vtree.errors import InputError, InputTypeError, VTreeError, own_errors
from vtree.estimators.boosting_metrics import metrics_of
from vtree.estimators.targets import as_columns, plain_weights
from vtree.tree import Tree, first_trees, some_trees

Floats = NDArray[np.float64]


class EvalSet(NamedTuple):
    """Rows that trees are judged on while they grow."""

    values: Array  # (N, F) encoded
    y: Floats
    weight: Floats | None
    sums: Floats  # (N, K) what the trees say of them so far
    given: Any = None  # the table as it came
    start: Any = None  # (K,) or (N, K) the raw predictions before all trees


class Held(NamedTuple):
    """Rows of X and y that nobody passed as `eval_set`."""

    X: Any
    y: Any


def held_out(model: Any, share: float, X: Any, y: Any, sample_weight: Any) -> tuple[Any, ...]:
    """Return the arguments of fit, X to `sample_weight_eval_set`, with a share as `eval_set`.

    The share is drawn, of classes from each alike; where rows come in the order of time it is the
    last ones.
    """
    columns = as_columns(y, numeric=not is_classifier(model))
    target = columns[:, 0] if columns.shape[1] == 1 else columns
    n_rows = target.shape[0]
    with own_errors("y"):
        check_consistent_length(target, np.empty(row_count(X)))
    weight = None if sample_weight is None else plain_weights(sample_weight, n_rows)
    drawn = not getattr(model, "has_time", False)
    # What trees were judged by once they must not train on when they go on.
    seed = model.random_state if isinstance(model.random_state, Integral) else model._seed
    # Rows without weight are absent, and what they are labelled stays known.
    counted = np.arange(n_rows) if weight is None else np.flatnonzero(weight > 0.0)
    with own_errors("validation_fraction"):
        rows, held = train_test_split(
            counted,
            test_size=share,
            shuffle=drawn,
            random_state=seed,
            stratify=target[counted] if drawn and is_classifier(model) else None,
        )
    rows = np.concatenate([rows, np.setdiff1d(np.arange(n_rows), counted)])
    own, kept = (None, None) if weight is None else (weight[rows], [weight[held]])
    return some_rows(X, rows), target[rows], own, [Held(some_rows(X, held), target[held])], kept


def row_count(X: Any) -> int:
    """Count the rows of a table of any kind."""
    if isinstance(X, Mapping) and not issparse(X):
        return len(next(iter(X.values()), ()))
    with own_errors("X"):
        return int(_num_samples(X))


def some_rows(X: Any, rows: NDArray[np.int64]) -> Any:
    """Return some rows of a table of any kind."""
    if isinstance(X, Mapping) and not issparse(X):
        return {name: _safe_indexing(column, rows) for name, column in X.items()}
    if arrays.is_array(X):
        return arrays.namespace(X).take(X, arrays.like(rows, X), axis=0)
    if hasattr(X, "__arrow_c_array__") and hasattr(X, "take"):  # an Arrow batch
        return X.take(rows)
    return _safe_indexing(X, rows)


def eval_sets(model: Any, sets: Any, weights: Any) -> list[EvalSet]:
    """Read `eval_set` and `sample_weight_eval_set` of fit by the columns that `model` knows.

    Raises
    ------
    InputError, InputTypeError
        No pairs, none where early stopping needs one, other lengths, or tables and targets that
        the model cannot be judged by.
    """
    if sets is None:
        if weights is not None:
            raise InputError("sample_weight_eval_set weighs the rows of eval_set, which is None")
        if model._patience() is not None:
            raise InputError(
                "early_stopping_rounds needs rows to judge by: pass eval_set=[(X, y)] to fit, or "
                "set validation_fraction"
            )
        return []
    sets = _pairs(sets)
    if weights is not None and not hasattr(weights, "__len__"):
        raise InputTypeError("sample_weight_eval_set must list the weights of each table's rows")
    own = [None] * len(sets) if weights is None else list(weights)
    if len(own) != len(sets):
        raise InputError(
            f"sample_weight_eval_set has {len(own)} entries, but eval_set has {len(sets)}; pass a "
            "list with the weights of each table's rows"
        )
    return [_eval_set(model, pair, weight) for pair, weight in zip(sets, own, strict=True)]


def _pairs(sets: Any) -> Any:
    """Return `eval_set` as pairs (X, y); one pair needs no list around it."""
    if isinstance(sets, tuple) and len(sets) == 2 and not all(map(_is_pair, sets)):
        return [sets]
    if not isinstance(sets, list | tuple) or not all(map(_is_pair, sets)):
        raise InputTypeError("eval_set must be a list of pairs (X, y), or one such pair")
    if not len(sets):
        raise InputError("eval_set is empty; pass at least one pair (X, y), or None")
    return sets


def _is_pair(each: Any) -> bool:
    return isinstance(each, list | tuple) and len(each) == 2


def _eval_set(model: Any, pair: Any, weight: Any) -> EvalSet:
    X, y = pair
    # A level all of whose rows are held out came by chance, and is no mistake of the user's.
    unknown = "missing" if isinstance(pair, Held) else None
    try:
        values, target = model._encode_known(X, unknown), model._known_target(y)
    except VTreeError as error:
        raise type(error)(f"a table of eval_set cannot be used: {error}") from error
    if target.shape[0] != values.shape[0]:
        raise InputError(
            f"a table of eval_set has {values.shape[0]} rows, but its y has {target.shape[0]}"
        )
    own = None
    if weight is not None:
        own = plain_weights(weight, target.shape[0], "sample_weight_eval_set")
    return EvalSet(values, target, own, np.zeros((0, 0)), X)


class Watch:
    """What a model's metrics say of its evaluation sets, round after round."""

    def __init__(self, model: Any, sets: list[EvalSet]) -> None:
        self.model = model
        self.sets = sets
        self.patience: int | None = model._patience()
        self.least = float(getattr(model, "tol", 0.0))  # what counts as better
        # Of several metrics the last one decides.
        self.metrics = metrics_of(getattr(model, "eval_metric", None), model._loss())
        self.history: list[list[list[float]]] = [[[] for _ in self.metrics] for _ in sets]
        self.best: float | None = None
        self.best_round = 0
        self.over = False  # whether earlier rounds are enough

    def follow(self, before: Tree | None) -> None:
        """Stand where the trees `before` end, and judge their rounds if nobody did."""
        model = self.model
        n_trees = model._trees_a_round()
        done = 0 if before is None else before.root.size // n_trees
        judged = len(self.history[0][0]) if self.sets else done
        for number, each in enumerate(self.sets):
            sums = model._sums_so_far(each.values, before if judged else None)
            start = model._start_of(each.given, each.y.shape[0])
            self.sets[number] = each._replace(sums=sums, start=start)
        if before is None:
            return
        for number in range(judged, done):
            trees = some_trees(before, number * n_trees, (number + 1) * n_trees)
            self.over = self.should_stop(trees, number)
            if self.over:
                return

    def should_stop(self, tree: Tree, number: int) -> bool:
        """Judge a round; tell whether it is the last one."""
        model = self.model
        for number_of_set, each in enumerate(self.sets):
            sums = each.sums + round_totals(tree, each.values, model._n_raw())
            self.sets[number_of_set] = each._replace(sums=sums)
            raw = each.start + sums
            for place, own in enumerate(self.history[number_of_set]):
                metric = self.metrics[place]
                score, larger = metric.score(raw, each.y, each.weight, model._loss())
                self.metrics[place] = metric._replace(larger=larger)
                own.append(score)
        if not self.sets or self.patience is None:
            return False
        last = self.history[-1][-1][-1]
        sign = -1.0 if self.metrics[-1].larger else 1.0
        if self.best is None or sign * last < sign * self.best - self.least:
            self.best, self.best_round = last, number
        return number - self.best_round >= self.patience

    def so_far(self) -> dict[str, Any]:
        """Return what a checkpoint keeps of the rounds so far."""
        return {"history": self.history, "best": self.best, "best_round": self.best_round}

    def go_on(self, saved: dict[str, Any]) -> None:
        """Take over what `so_far` returned."""
        self.history = [[list(own) for own in of_set] for of_set in saved["history"]]
        self.best, self.best_round = saved["best"], saved["best_round"]

    def latest(self) -> dict[str, float]:
        """Return what the metrics said of each set last."""
        return {
            f"validation_{number} {metric.name}": own[-1]
            for number, of_set in enumerate(self.history)
            for metric, own in zip(self.metrics, of_set, strict=True)
        }

    def tell(self) -> None:
        """Leave the history with the model, and the rounds up to the best one alone."""
        model = self.model
        if not self.sets:
            return
        model.evals_result_ = {
            f"validation_{number}": {
                metric.name: own for metric, own in zip(self.metrics, of_set, strict=True)
            }
            for number, of_set in enumerate(self.history)
        }
        if self.best is not None:
            model.best_iteration_, model.best_score_ = self.best_round, self.best
            kept = (self.best_round + 1) * model._trees_a_round()
            model.grown_ = first_trees(model.grown_, kept)


_TOLD = ("evals_result_", "best_iteration_", "best_score_")


def forget(model: Any) -> None:
    """Take from a model what `Watch.tell` left with it in an earlier fit."""
    for name in _TOLD:
        vars(model).pop(name, None)


def told_by(model: Any) -> dict[str, Any]:
    """Return what `Watch.tell` left with a model, for its file."""
    return {name: vars(model)[name] for name in _TOLD if name in vars(model)}


def as_told(saved: dict[str, Any]) -> dict[str, Any]:
    """Return what `told_by` returned, from a file; raise ValueError for anything else."""
    try:
        numbers = [saved.get("best_score_", 0.0)]
        for metrics in saved.get("evals_result_", {}).values():
            numbers += [score for scores in metrics.values() for score in scores]
        best = saved.get("best_iteration_", 0)
    except AttributeError as error:
        raise ValueError("what it tells of its evaluation sets is no mapping") from error
    if not isinstance(best, int) or not all(isinstance(score, Real) for score in numbers):
        raise ValueError("what it tells of its evaluation sets are no numbers")
    return {name: saved[name] for name in _TOLD if name in saved}

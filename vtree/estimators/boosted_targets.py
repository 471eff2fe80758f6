"""Classes and real targets for boosting, mixed into its estimators."""

from __future__ import annotations

from collections.abc import Iterator
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClassifierMixin, RegressorMixin
from sklearn.utils.validation import column_or_1d

from vtree.arrays import Array
from vtree.errors import InputError, own_errors
from vtree.estimators.boosting import BoostingEstimator
from vtree.estimators.devices import answer
from vtree.estimators.targets import as_columns, check_span, class_codes, codes_of, row_weights
from vtree.losses import CLASSIFICATION, REGRESSION, Loss, quantiles

Floats = NDArray[np.float64]

_DOMAINS = {"not negative": "from 0 up", "positive": "above 0"}


def _single(columns: NDArray[Any], y: Any) -> NDArray[Any]:
    """Return columns (N, 1) of y as (N,), with scikit-learn's warning for a column vector."""
    if columns.shape[1] > 1:
        raise InputError(
            f"y has {columns.shape[1]} columns, but this estimator takes one output, y of shape "
            "(N,). Boosting of real targets takes several, and so does scikit-learn's "
            "MultiOutputClassifier around this one."
        )
    if len(getattr(y, "shape", ())) == 2:
        column_or_1d(columns, warn=True)
    return columns[:, 0]


class BoostingRegressor(RegressorMixin, BoostingEstimator):
    """Base of boosting for real targets; use a derived class."""

    n_outputs_ = 1
    _levels: tuple[str, str] = ("objective", "quantile_alpha")  # what names the loss, its levels

    def _target_of(self, y: Any, sample_weight: Any, n_rows: int) -> tuple[Floats, Floats | None]:
        columns = as_columns(y, numeric=True)
        weight = row_weights(sample_weight, None, columns, n_rows)
        several = columns.shape[1] > 1
        self.n_outputs_ = columns.shape[1] if several else 1
        target = self._checked(columns if several else _single(columns, y), "y")
        counted = target if weight is None else target[weight > 0.0]
        if self._loss().domain in _DOMAINS and not np.all(counted.sum(axis=0) > 0.0):
            raise InputError(
                "y is zero in every row that has a weight, and zero has no logarithm to start from"
            )
        return target, weight

    def _known_target(self, y: Any) -> Floats:
        columns = as_columns(y, numeric=True)
        if self.n_outputs_ > 1 and columns.shape[1] != self.n_outputs_:
            raise InputError(
                f"y of eval_set has {columns.shape[1]} columns, but y has {self.n_outputs_}"
            )
        own = columns if self.n_outputs_ > 1 else _single(columns, y)
        return self._checked(own, "y of eval_set")

    def _n_raw(self) -> int:
        loss, name = self._levels
        given = self._loss_parameter(name)
        several = self._loss_parameter(loss) == "quantile"
        n_levels = len(quantile_levels(given, name)) if several else 1
        if n_levels > 1 and self.n_outputs_ > 1:
            raise InputError(
                f"{name}={given!r} asks for {n_levels} quantiles, and y has {self.n_outputs_} "
                "columns; fit one model a column, or ask for one quantile"
            )
        return max(n_levels, self.n_outputs_)

    def _checked(self, y: Floats, argument: str) -> Floats:
        domain = self._loss().domain
        wrong = (y < 0.0) if domain == "not negative" else (y <= 0.0)
        if domain in _DOMAINS and wrong.any():
            row = int(np.argwhere(wrong)[0][0])
            raise InputError(
                f"{argument} holds {y[row]} in row {row}, but this loss takes numbers "
                f"{_DOMAINS[domain]}"
            )
        with own_errors(argument):
            check_span(y)
        return y + 0.0

    def predict(self, X: Any, *, iteration_range: Any = None) -> Array:
        """Return the predictions, (N,), or (N, K) of several outputs or quantiles.

        iteration_range: a pair (begin, end) to ask the trees of these rounds alone, begin … end − 1
        counted from 0.
        """
        return answer(self._linked(self._raw(X, iteration_range)), X)

    def staged_predict(self, X: Any) -> Iterator[Array]:
        """Yield the predictions after each round, (N,), or (N, K)."""
        for raw in self._staged_raw(X):
            yield answer(self._linked(raw), X)

    def _linked(self, raw: Floats) -> Floats:
        found = self._loss().link(raw)
        return found[:, 0] if found.shape[1] == 1 else found

    def __sklearn_tags__(self) -> Any:  # noqa: D105
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        return tags


class BoostingClassifier(ClassifierMixin, BoostingEstimator):
    """Base of boosting for classes; use a derived class."""

    n_outputs_ = 1
    classes_: NDArray[Any]

    def _target_of(self, y: Any, sample_weight: Any, n_rows: int) -> tuple[Floats, Floats | None]:
        labels = as_columns(y, numeric=False)
        weight = row_weights(sample_weight, getattr(self, "class_weight", None), labels, n_rows)
        single = _single(labels, y)
        classes, codes = class_codes(single[:, None])
        if classes[0].size < 2:
            raise InputError(
                f"y holds one class, {classes[0].tolist()[0]!r}; boosting needs two or more"
            )
        if weight is not None and np.unique(codes[weight > 0.0, 0]).size < 2:
            raise InputError(
                "y holds one class among the rows that weigh more than zero; boosting needs two or "
                "more"
            )
        self.classes_ = classes[0]
        self.n_classes_ = int(classes[0].size)
        return codes[:, 0].astype(np.float64), self._scaled(weight, codes[:, 0])

    def _scaled(self, weight: Floats | None, codes: NDArray[np.int64]) -> Floats | None:
        """Return the weights with `scale_pos_weight`."""
        factor = float(getattr(self, "scale_pos_weight", 1.0))
        if factor == 1.0:
            return weight
        if self.n_classes_ > 2:
            raise InputError(
                f"scale_pos_weight={factor} weighs the second of two classes, and y has "
                f"{self.n_classes_}; use class_weight"
            )
        own = np.ones(codes.size) if weight is None else weight
        return np.where(codes == 1, own * factor, own)

    def _known_target(self, y: Any) -> Floats:
        labels = _single(as_columns(y, numeric=False), y)[:, None]
        return codes_of(labels, [self.classes_], "y of eval_set")[:, 0].astype(np.float64)

    def _n_raw(self) -> int:
        return 1 if self.classes_.size <= 2 else int(self.classes_.size)

    def _loss(self) -> Loss:
        return CLASSIFICATION["logistic" if self._n_raw() == 1 else "multinomial"]

    def decision_function(self, X: Any, *, iteration_range: Any = None) -> Array:
        """Return the raw predictions: log-odds of the second class (N,), or (N, K).

        iteration_range: a pair (begin, end) to ask the trees of these rounds alone, begin … end − 1
        counted from 0.
        """
        raw = self._raw(X, iteration_range)
        return answer(raw[:, 0] if raw.shape[1] == 1 else raw, X)

    def predict_proba(self, X: Any, *, iteration_range: Any = None) -> Array:
        """Return the probability of each class, (N, K); iteration_range as `decision_function`."""
        raw = self._raw(X, iteration_range)
        return answer(self._loss().link(raw), X)

    def predict_log_proba(self, X: Any, *, iteration_range: Any = None) -> Array:
        """Return the natural logarithm of `predict_proba`, −∞ where that is no more than 0."""
        raw = self._raw(X, iteration_range)
        with np.errstate(divide="ignore"):
            return answer(np.log(self._loss().link(raw)), X)

    def predict(self, X: Any, *, iteration_range: Any = None) -> Array:
        """Return the most probable class, (N,); iteration_range as `decision_function` takes it."""
        return self._labels(self._raw(X, iteration_range), X)

    def _labels(self, raw: Floats, X: Any) -> Array:
        chosen = (raw[:, 0] > 0.0).astype(np.int64) if raw.shape[1] == 1 else raw.argmax(axis=1)
        return answer(self.classes_[chosen], X)

    def staged_predict(self, X: Any) -> Iterator[Array]:
        """Yield the most probable class after each round, (N,)."""
        for raw in self._staged_raw(X):
            yield self._labels(raw, X)

    def staged_predict_proba(self, X: Any) -> Iterator[Array]:
        """Yield the probabilities after each round, (N, K)."""
        for raw in self._staged_raw(X):
            yield answer(self._loss().link(raw), X)

    def staged_decision_function(self, X: Any) -> Iterator[Array]:
        """Yield the raw predictions after each round, (N,) or (N, K)."""
        for raw in self._staged_raw(X):
            yield answer(raw[:, 0] if raw.shape[1] == 1 else raw, X)


def regression_loss(
    objective: Any, levels: Any, slope: float, power: float, name: str = "quantile_alpha"
) -> Loss:
    """Return the loss that `objective` names, with its own of the numbers.

    levels: of quantiles, one or several, the parameter `name`; slope: the residual from which
    Huber's loss goes straight; power: of Tweedie's variance. A function of the user's own counts as
    squares.
    """
    if callable(objective):
        return REGRESSION["squared_error"]
    loss = REGRESSION[objective]
    if objective == "quantile":
        several = quantile_levels(levels, name)
        return quantiles(several) if len(several) > 1 else loss._replace(numbers=(several[0], 1.0))
    numbers = {"huber": slope, "tweedie": power}
    return loss._replace(numbers=(float(numbers[objective]),)) if objective in numbers else loss


def quantile_levels(alpha: Any, name: str = "quantile_alpha") -> tuple[float, ...]:
    """Return the parameter `name`, one level or an ascending sequence of them, as a tuple.

    Raises
    ------
    InputError
        Levels that are not between 0 and 1, or that do not ascend.
    """
    with own_errors(name, f"{name} is a number or a list of numbers"):
        levels = np.atleast_1d(np.asarray(alpha, dtype=np.float64))
    inside = levels.ndim == 1 and levels.size > 0 and bool(((levels > 0) & (levels < 1)).all())
    if not inside or not (np.diff(levels) > 0).all():
        raise InputError(
            f"{name}={alpha!r} must be a level between 0 and 1, or a list of such levels in "
            "ascending order, such as [0.1, 0.5, 0.9]"
        )
    return tuple(levels.tolist())


def one_number(alpha: Any, what: str) -> float:
    """Return the parameter `alpha`, where it is no level of several.

    Raises
    ------
    InputError
        A list.
    """
    if isinstance(alpha, Real):
        return float(alpha)
    raise InputError(f"alpha={alpha!r} must be one number for {what}; lists are quantiles' levels")

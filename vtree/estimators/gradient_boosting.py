"""`GradientBoostingClassifier` and `GradientBoostingRegressor`: Friedman's machine."""

from __future__ import annotations

import functools
from collections.abc import Callable
from numbers import Integral, Real
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import _fit_context, is_classifier
from sklearn.utils._param_validation import HasMethods, Interval, StrOptions

from vtree.ensembles.steps import Leaves
from vtree.ensembles.system import System
from vtree.ensembles.training import Training
from vtree.errors import InputError, InputTypeError
from vtree.estimators.base import keep
from vtree.estimators.boosted_targets import (
    BoostingClassifier,
    BoostingRegressor,
    one_number,
    quantile_levels,
)
from vtree.estimators.boosting import BOOSTING_CONSTRAINTS, BoostingEstimator
from vtree.estimators.feature_constraints import monotone_directions
from vtree.estimators.limits import CONSTRAINTS, feature_count, most
from vtree.estimators.starting_model import counted, fitted, raw_predictions
from vtree.histogram import DEFAULT_BUDGET
from vtree.losses import CLASSIFICATION, REGRESSION, Loss, Terms, quantile, quantiles
from vtree.losses.classes import centered
from vtree.tree import Tree

Floats = NDArray[np.float64]

_COMMON: dict[str, list[Any]] = {
    **BOOSTING_CONSTRAINTS,
    **{
        name: CONSTRAINTS[name]
        for name in (
            "max_depth",
            "min_samples_split",
            "min_samples_leaf",
            "min_weight_fraction_leaf",
            "min_impurity_decrease",
            "max_features",
            "max_leaf_nodes",
            "monotonic_cst",
        )
    },
    "ccp_alpha": [Interval(Real, 0.0, None, closed="left")],
    "validation_fraction": [Interval(Real, 0.0, 1.0, closed="neither")],
    "n_iter_no_change": [Interval(Integral, 1, None, closed="left"), None],
    "tol": [Interval(Real, 0.0, None, closed="left")],
    "eval_metric": [str, callable, list, tuple, None],
    "importance_type": [StrOptions({"gain", "cover", "split"})],
}


class GradientBoosting(BoostingEstimator):
    """Base of both; use a derived class."""

    _keeps_scores = True
    init_: Any = None

    def _patience(self) -> int | None:
        rounds: int | None = self.n_iter_no_change
        return rounds

    def _start(self, training: Training, before: Tree | None) -> None:
        super()._start(training, before)
        if before is None:
            self.init_ = None

    def _starts(self, loss: Loss, training: Training) -> Floats:
        if self.init is not None:
            return np.zeros(self._n_raw())
        start = super()._starts(loss, training)
        return centered(start) if start.size > 1 and is_classifier(self) else start

    def _start_of_rows(self, X: Any, training: Training, before: Tree | None) -> Floats:
        own = before is None and self.init is not None and self.init != "zero"
        if not own and self.init_ is None:
            return self.start_
        X, weight = counted(X, training)
        if own:
            y = training.y.astype(np.int64) if is_classifier(self) else training.y
            self.init_ = fitted(self.init, X, y, weight)
        return self._start_of(X, training.y.shape[0])

    def _start_of(self, X: Any, n_rows: int) -> Floats:
        if self.init_ is None:
            return self.start_
        return raw_predictions(self.init_, X, n_rows, self._n_raw(), self._loss())

    def _more_to_save(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        if self.init_ is not None:
            raise InputTypeError(
                f"model starts from init={type(self.init_).__name__}(), which neither a model file "
                "nor a checkpoint can hold; pickle the model, or use init=None or 'zero'"
            )
        return super()._more_to_save()

    def _importance_type(self) -> str:
        kinds = {"gain": "total_gain", "cover": "total_cover", "split": "weight"}
        return kinds[vars(self).get("importance_type", "gain")]  # older pickles have none

    def _directions(self) -> NDArray[np.int8] | None:
        directions = monotone_directions(self.monotonic_cst, self, "monotonic_cst")
        if directions is not None and is_classifier(self) and self._n_raw() > 1:
            raise InputError(
                f"monotonic_cst is for two classes, and y has {self._n_raw()}: of more, raw "
                "predictions that rise make no share rise. Pass None, or fit one class against "
                "the others"
            )
        return directions

    def _system(self, n_features: int, n_rows: int, total_weight: float) -> System:
        leaf, split = self.min_samples_leaf, self.min_samples_split
        min_leaf = most(leaf if isinstance(leaf, Integral) else np.ceil(leaf * n_rows))
        min_split = most(split if isinstance(split, Integral) else np.ceil(split * n_rows))
        n_raw = self._n_raw()
        count = feature_count(self.max_features, n_features)
        return System(
            learning_rate=float(self.learning_rate),
            ccp_alpha=float(self.ccp_alpha),
            min_weight=float(self.min_weight_fraction_leaf) * total_weight,
            min_gain=float(self.min_impurity_decrease) * total_weight,
            min_rows=min_leaf,
            min_rows_split=max(min_split, 2),
            max_depth=None if self.max_depth is None else most(self.max_depth),
            max_leaves=self.max_leaf_nodes,
            first_order=True,
            curvature=n_raw / (n_raw - 1.0) if n_raw > 1 and is_classifier(self) else 1.0,
            subsample=float(self.subsample),
            max_features=None if count >= n_features else count,
            monotone=self._directions(),
            min_level_rows=self.min_samples_category,
            budget=self.histogram_budget,
        )


class GradientBoostingRegressor(BoostingRegressor, GradientBoosting):
    """Gradient boosting of regression trees (Friedman's GBM) for real targets.

    Each round fits a tree to the residuals, minus the loss's gradient, by least squares; then each
    leaf is estimated anew from its rows. Of targets (N, K) a round grows K trees together, and of K
    quantiles.

    Parameters
    ----------
    loss : "squared_error", "absolute_error", "huber" or "quantile"
    learning_rate : float
        What each tree's answers are multiplied by.
    n_estimators : int
        Rounds.
    subsample : float
        The share of the rows that a round draws (stochastic gradient boosting).
    alpha : float or ascending list of K floats
        The quantile of loss="quantile", or several, whose predictions (N, K) are sorted so that
        none crosses another; the quantile of |residuals| beyond which loss="huber" goes straight.
    max_depth, min_samples_split, min_samples_leaf, min_weight_fraction_leaf, max_features,
    max_leaf_nodes, min_impurity_decrease, random_state
        As in scikit-learn.
    init : estimator, "zero" or None
        Where to start: from what another model predicts (`predict`, of classes `predict_proba`),
        which is fitted to the same table, targets and weights first; from 0; or from the best
        constant. With an estimator the model can be pickled, but not saved to a file.
    ccp_alpha : float
        What a leaf of a tree costs, as in `DecisionTreeRegressor`.
    monotonic_cst : sequence of −1, 0, 1, or dict from names, optional
    warm_start : bool
        Go on from the trees there are; the result is that of one uninterrupted fit.
    verbose : int
        1: show the round, what the metric says and the time; 2: a line of text for each round
        where nothing can be drawn.
    n_iter_no_change : int, optional
        Stop after so many rounds in which the loss of a held-out share of the rows,
        `validation_fraction`, fell by no more than `tol`; the trees up to the best one are kept.
    eval_metric : str, function (y, prediction) -> number, a list of these, or None for the loss
        What judges these rows, and those of `eval_set`, instead; as in `NewtonBoostingRegressor`.
    importance_type : "gain", "cover" or "split"
        By what features are important: the decrease of impurity, as in scikit-learn; the weight of
        the rows that their splits part; how often they split.
    max_bins, categorical_features, unknown_categories, min_samples_category, device, n_jobs,
    histogram_budget
        As in `DecisionTreeRegressor`.

    Attributes
    ----------
    grown_ : `vtree.tree.Tree`, all trees
    start_ : (K,) the raw predictions before all trees, one an output or quantile, of those that do
        not start from `init`
    init_ : the fitted `init` where it is an estimator, None where not
    train_score_ : (T,) the mean loss of the training rows after each round
    evals_result_, best_iteration_, best_score_ : what `eval_set` told
    feature_importances_ : (F,) by `importance_type`, adding up to 1
    n_estimators_, n_features_in_ : int

    References
    ----------
    Friedman, Greedy function approximation: a gradient boosting machine, 2001; Stochastic gradient
    boosting, 2002.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from vtree import GradientBoostingRegressor
    >>> X, y = load_diabetes(return_X_y=True)
    >>> model = GradientBoostingRegressor(n_estimators=50).fit(X, y)
    >>> round(model.score(X, y), 2)
    0.72
    """

    _levels = ("loss", "alpha")
    _parameter_constraints: dict[str, list[Any]] = {
        **_COMMON,
        "loss": [StrOptions({"squared_error", "absolute_error", "huber", "quantile"})],
        "alpha": [Interval(Real, 0.0, 1.0, closed="neither"), "array-like"],
        "init": [StrOptions({"zero"}), HasMethods(["fit", "predict"]), None],
    }

    def __init__(
        self,
        *,
        loss: str = "squared_error",
        learning_rate: float = 0.1,
        n_estimators: int = 100,
        subsample: float = 1.0,
        min_samples_split: int | float = 2,
        min_samples_leaf: int | float = 1,
        min_weight_fraction_leaf: float = 0.0,
        max_depth: int | None = 3,
        min_impurity_decrease: float = 0.0,
        init: Any = None,
        random_state: Any = None,
        max_features: int | float | str | None = None,
        alpha: Any = 0.9,
        max_leaf_nodes: int | None = None,
        monotonic_cst: Any = None,
        warm_start: bool = False,
        verbose: int = 0,
        validation_fraction: float = 0.1,
        n_iter_no_change: int | None = None,
        tol: float = 1e-4,
        ccp_alpha: float = 0.0,
        eval_metric: Any = None,
        importance_type: str = "gain",
        max_bins: int | None = 255,
        categorical_features: Any = "from_dtype",
        unknown_categories: str = "missing",
        min_samples_category: int = 1,
        device: str = "auto",
        n_jobs: int | None = None,
        histogram_budget: int = DEFAULT_BUDGET,
    ) -> None:
        keep(self, locals())

    fit = _fit_context(prefer_skip_nested_validation=True)(BoostingEstimator.fit)

    _of_loss = ("loss", "alpha")

    def _loss(self) -> Loss:
        name, alpha = self._loss_parameters().values()
        loss = REGRESSION[name]
        # As in scikit-learn, a target that is met lies above the prediction.
        if name == "quantile":
            levels = quantile_levels(alpha, "alpha")
            if len(levels) > 1:
                return quantiles(levels, met=0.0)
            return loss._replace(numbers=(levels[0], 0.0))
        return loss._replace(numbers=(0.5, 0.0)) if name == "absolute_error" else loss

    def _terms(
        self, loss: Loss, weight: NDArray[np.int64] | None
    ) -> Callable[[Floats, Floats], Terms]:
        if self.loss != "huber":
            return loss.derivatives
        return functools.partial(_huber_terms, loss, self._share(), weight)

    def _judge(self, raw: Callable[[], Floats], training: Training) -> Loss:
        if self.loss != "huber":
            return super()._judge(raw, training)
        return _bounded(self._loss(), self._share(), training.weights.whole, raw(), training.y)

    def _share(self) -> float:
        return one_number(self.alpha, "loss='huber'")

    def _leaf_rule(self, loss: Loss) -> Leaves:
        if self.loss == "huber":
            return Leaves(huber=self._share())
        return super()._leaf_rule(loss)

    def _score_factor(self) -> float:
        # scikit-learn reports squares, and absolute errors; a pinball loss of ½ is half of one.
        return 2.0 if self.loss in ("squared_error", "absolute_error") else 1.0


def _huber_terms(
    loss: Loss, alpha: float, weight: NDArray[np.int64] | None, raw: Floats, y: Floats
) -> Terms:
    """Derive Huber's loss with the round's own bound."""
    return _bounded(loss, alpha, weight, raw, y).of(raw, y)


def _bounded(
    loss: Loss, alpha: float, weight: NDArray[np.int64] | None, raw: Floats, y: Floats
) -> Loss:
    """Return Huber's loss of a round, whose bounds are quantiles of |residuals| before it."""
    residuals = np.abs((y[:, None] if y.ndim == 1 else y) - raw)
    bounds = tuple((quantile(own, weight, alpha),) for own in residuals.T)
    return loss._replace(of_columns=bounds)


class GradientBoostingClassifier(BoostingClassifier, GradientBoosting):
    """Gradient boosting of regression trees (Friedman's GBM) for classes.

    Two classes have one tree a round, K > 2 classes K trees, grown together. See
    `GradientBoostingRegressor` for parameters that are not listed.

    Parameters
    ----------
    loss : "log_loss" or "exponential" (AdaBoost's, of two classes)
    class_weight : dict, "balanced" or None
        As in `DecisionTreeClassifier`.

    Attributes
    ----------
    classes_ : (K,) labels, sorted
    train_score_ : (T,) the mean loss after each round, of two classes twice the log-loss

    References
    ----------
    Friedman, Greedy function approximation: a gradient boosting machine, 2001, algorithms 5 and 6.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from vtree import GradientBoostingClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> model = GradientBoostingClassifier(n_estimators=10).fit(X, y)
    >>> model.predict(X[:3]), round(model.score(X, y), 3)
    (array([0, 0, 0]), 0.993)
    """

    _parameter_constraints: dict[str, list[Any]] = {
        **_COMMON,
        "loss": [StrOptions({"log_loss", "exponential"})],
        "class_weight": [dict, StrOptions({"balanced"}), None],
        "init": [StrOptions({"zero"}), HasMethods(["fit", "predict_proba"]), None],
    }

    def __init__(
        self,
        *,
        loss: str = "log_loss",
        learning_rate: float = 0.1,
        n_estimators: int = 100,
        subsample: float = 1.0,
        min_samples_split: int | float = 2,
        min_samples_leaf: int | float = 1,
        min_weight_fraction_leaf: float = 0.0,
        max_depth: int | None = 3,
        min_impurity_decrease: float = 0.0,
        init: Any = None,
        random_state: Any = None,
        max_features: int | float | str | None = None,
        max_leaf_nodes: int | None = None,
        monotonic_cst: Any = None,
        warm_start: bool = False,
        verbose: int = 0,
        validation_fraction: float = 0.1,
        n_iter_no_change: int | None = None,
        tol: float = 1e-4,
        ccp_alpha: float = 0.0,
        class_weight: Any = None,
        eval_metric: Any = None,
        importance_type: str = "gain",
        max_bins: int | None = 255,
        categorical_features: Any = "from_dtype",
        unknown_categories: str = "missing",
        min_samples_category: int = 1,
        device: str = "auto",
        n_jobs: int | None = None,
        histogram_budget: int = DEFAULT_BUDGET,
    ) -> None:
        keep(self, locals())

    fit = _fit_context(prefer_skip_nested_validation=True)(BoostingEstimator.fit)

    def _leaf_rule(self, loss: Loss) -> Leaves:
        return Leaves(by_curvature=True)

    _of_loss = ("loss",)

    def _loss(self) -> Loss:
        if self._loss_parameter("loss") == "log_loss":
            return super()._loss()
        if self._n_raw() > 1:
            raise InputError(
                f"loss='exponential' is of two classes, and y holds {self.classes_.size}; use "
                "loss='log_loss'"
            )
        return CLASSIFICATION["exponential"]

    def _score_factor(self) -> float:
        return 2.0 if self._n_raw() == 1 and self.loss == "log_loss" else 1.0

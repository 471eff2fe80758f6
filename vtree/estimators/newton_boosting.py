"""`NewtonBoostingClassifier` and `NewtonBoostingRegressor`: the mechanism of XGBoost."""

from __future__ import annotations

from collections.abc import Callable
from numbers import Integral, Real
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import _fit_context
from sklearn.utils._param_validation import Interval, StrOptions

from vtree.elementary import exp
from vtree.ensembles.system import System
from vtree.ensembles.training import Training
from vtree.errors import InputError
from vtree.estimators.base import keep
from vtree.estimators.bins import Bins
from vtree.estimators.boosted_targets import (
    BoostingClassifier,
    BoostingRegressor,
    regression_loss,
)
from vtree.estimators.boosting import FROM_ZERO, NEWTON_CONSTRAINTS, SHARE, BoostingEstimator
from vtree.estimators.feature_constraints import monotone_directions, together
from vtree.estimators.limits import Names, most
from vtree.estimators.objectives import CLASS_OBJECTIVES, REAL_OBJECTIVES, objective_of
from vtree.histogram import DEFAULT_BUDGET
from vtree.losses import Loss, exact_mean
from vtree.sampling import Columns
from vtree.tables import Schema
from vtree.tree import Tree

Floats = NDArray[np.float64]

_COMMON: dict[str, list[Any]] = {
    **NEWTON_CONSTRAINTS,
    "max_depth": [Interval(Integral, 0, None, closed="left"), None],
    "tree_method": [StrOptions({"hist", "approx"})],
    "max_leaves": [Interval(Integral, 0, None, closed="left")],
    "grow_policy": [StrOptions({"depthwise", "lossguide"})],
    "gamma": FROM_ZERO,
    "max_cat_threshold": [Interval(Integral, 2, None, closed="left")],
    "max_delta_step": [*FROM_ZERO, None],
    "colsample_bylevel": SHARE,
    "base_score": [Interval(Real, None, None, closed="neither"), None],
    "importance_type": [StrOptions({"gain", "cover", "weight", "total_gain", "total_cover"})],
}


_POISSON_STEP = 0.7  # XGBoost's, for exp raw must not run away


class NewtonBoosting(BoostingEstimator):
    """Base of both; use a derived class."""

    def _system(self, n_features: int, n_rows: int, total_weight: float) -> System:
        best_first = self.grow_policy == "lossguide"
        if self.max_leaves == 1 or (self.max_leaves and not best_first):
            raise InputError(
                f'max_leaves={self.max_leaves} goes with grow_policy="lossguide", where it is 0 '
                "(no limit) or at least 2"
            )
        return System(
            learning_rate=float(self.learning_rate),
            reg_lambda=float(self.reg_lambda),
            reg_alpha=float(self.reg_alpha),
            gamma=float(self.gamma),
            min_weight=float(self.min_child_weight),
            least_alone=float(self.min_child_weight),
            max_depth=most(self.max_depth) if self.max_depth else None,
            max_leaves=self.max_leaves or None,
            max_step=self._max_step(),
            curvature=self._curvature(),
            subsample=float(self.subsample),
            columns=Columns(
                float(self.colsample_bytree),
                float(self.colsample_bylevel),
                float(self.colsample_bynode),
            ),
            monotone=monotone_directions(self.monotone_constraints, self),
            together=together(self.interaction_constraints, self, others_alone=True),
            min_level_rows=self.min_samples_category,
            most_levels=int(self.max_cat_threshold),
            budget=self.histogram_budget,
        )

    def _trained_on(self, X: Any, y: Any, sample_weight: Any, before: Tree | None) -> Training:
        training = super()._trained_on(X, y, sample_weight, before)
        if self.tree_method == "hist" or not training.curved:
            return training
        if isinstance(X, Bins):
            raise InputError(
                'tree_method="approx" bins X anew each round, and cannot use vtree.Bins; pass the '
                'table itself, or tree_method="hist"'
            )
        table = training.bins
        by_value = [own is not None for own in table.distinct]
        if np.all(table.is_categorical | by_value):
            return training  # a bin a value, whatever the weights
        schema: Schema = self.schema_

        def rebin(weight: NDArray[np.int64]) -> Any:
            return self._binned(None, slice(None), training.values, schema, weight)

        return training._replace(rebin=rebin)

    def _max_step(self) -> float:
        if self.max_delta_step is not None:
            return float(self.max_delta_step)
        return _POISSON_STEP if objective_of(self.objective) == "poisson" else 0.0

    def _curvature(self) -> float:
        """Return what XGBoost multiplies second derivatives by."""
        objective = objective_of(self.objective)
        if objective == "poisson":
            return float(exp(np.asarray([self._max_step()]))[0])
        return 2.0 if self._n_raw() > 1 and objective is None else 1.0

    def _own_terms(self) -> Callable[..., Any] | None:
        return self.objective if callable(self.objective) else None


class NewtonBoostingRegressor(BoostingRegressor, NewtonBoosting):
    """Boosting by second derivatives (XGBoost's mechanism) for real targets, one or several.

    Of targets (N, K) a round grows K trees together.

    Parameters
    ----------
    n_estimators : int
        Rounds.
    learning_rate : float
        What each tree's answers are multiplied by.
    max_depth : int or None
        0 and None: no limit.
    max_leaves : int
        The most leaves of a tree, with grow_policy="lossguide"; 0: no limit.
    grow_policy : "depthwise" or "lossguide" (the leaf with the largest gain first)
    tree_method : "hist" or "approx"
        Cut features at quantiles of the rows once, or for each round anew at quantiles weighted by
        second derivatives, which takes longer (the paper's weighted quantile sketch, but exact).
    objective : str or function
        "squared_error", "absolute_error", "huber" (`huber_slope`), "quantile" (`quantile_alpha`),
        "poisson", "gamma", "tweedie" (`tweedie_variance_power`), what XGBoost, LightGBM and
        CatBoost call these ("reg:squarederror", "l1", "RMSE"), or objective(y, raw) ->
        (gradient, hessian), each of the shape of raw, as float64 arrays of the library that X is an
        array of, else of NumPy's.
    reg_lambda, reg_alpha : float
        Penalties of leaves by their squares and by their sizes.
    gamma : float
        What a split must gain more than, once the tree is grown: pruned from the leaves up, as in
        the paper and XGBoost's exact method. Its "hist" and "approx" also end there as they grow.
    min_child_weight : float
        The least sum of second derivatives of a leaf. Tables of 65,536 rows and more are searched
        with ten bits of each, so that a leaf may have a few hundredths less.
    max_delta_step : float, optional
        The most a leaf may answer before `learning_rate`, but for leaves that answer quantiles; 0:
        no limit. None: 0.7 for counts (objective="poisson"), 0 for all else.
    subsample : float
        The share of the rows that a round draws.
    colsample_bytree, colsample_bylevel, colsample_bynode : float
        The shares of the features that a tree, a level of it and a node draw, one from another.
    base_score : float, optional
        The prediction to start from. None: the best constant.
    max_cat_threshold : int
        One side of a split by categories has fewer levels than that.
    monotone_constraints : sequence of −1, 0, 1, or dict from names, optional
        Missing values that split off alone count as above all others, in XGBoost as either.
    interaction_constraints : list of lists of names or numbers of features, optional
        Features that may stand on one path together; those in no list split alone.
    quantile_alpha : float or ascending list of K floats
        Several levels are one model with K trees a round, which predicts (N, K), sorted so that no
        quantile crosses another.
    huber_slope : float
        The residual from which objective="huber" goes straight.
    tweedie_variance_power : float
    early_stopping_rounds : int, optional
        Stop when the last table of `eval_set` got no better for so many rounds, and keep the trees
        up to the best one.
    validation_fraction : float, optional
        The share of X to hold out for early stopping where there is no `eval_set`.
    eval_metric : "rmse", "mae", "mse", function (y, prediction) -> number, or None for the loss
        Or a list of these, the last of which decides. An objective of one's own says no loss: of
        numbers half the squared error is told then, of classes the log-loss.
    importance_type : "gain", "cover", "weight", "total_gain" or "total_cover"
    warm_start : bool
        Go on from the trees there are; the result is that of one uninterrupted fit.
    verbose : int
        1: show the round, what the metric says and the time; 2: a line of text for each round
        where nothing can be drawn.
    random_state, max_bins, categorical_features, unknown_categories, min_samples_category, device,
    n_jobs, histogram_budget
        As in `DecisionTreeRegressor`.

    Attributes
    ----------
    grown_ : `vtree.tree.Tree`, all trees
    start_ : (K,) the raw predictions before all trees, one an output or quantile
    evals_result_, best_iteration_, best_score_ : what `eval_set` told
    feature_importances_ : (F,) by `importance_type`, adding up to 1
    n_estimators_, n_features_in_ : int

    References
    ----------
    Chen and Guestrin, XGBoost: a scalable tree boosting system, KDD 2016.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from vtree import NewtonBoostingRegressor
    >>> X, y = load_diabetes(return_X_y=True)
    >>> model = NewtonBoostingRegressor(n_estimators=20, max_depth=3).fit(X, y)
    >>> round(model.score(X, y), 2)
    0.74
    """

    _parameter_constraints: dict[str, list[Any]] = {
        **_COMMON,
        "objective": [Names(set(REAL_OBJECTIVES)), callable],
        "quantile_alpha": [Interval(Real, 0.0, 1.0, closed="neither"), "array-like"],
        "huber_slope": [Interval(Real, 0.0, None, closed="neither")],
        "tweedie_variance_power": [Interval(Real, 1.0, 2.0, closed="neither")],
    }

    def __init__(
        self,
        *,
        n_estimators: int = 100,
        learning_rate: float = 0.3,
        max_depth: int | None = 6,
        max_leaves: int = 0,
        grow_policy: str = "depthwise",
        tree_method: str = "hist",
        objective: Any = "squared_error",
        reg_lambda: float = 1.0,
        reg_alpha: float = 0.0,
        gamma: float = 0.0,
        min_child_weight: float = 1.0,
        max_delta_step: float | None = None,
        subsample: float = 1.0,
        colsample_bytree: float = 1.0,
        colsample_bylevel: float = 1.0,
        colsample_bynode: float = 1.0,
        base_score: float | None = None,
        max_cat_threshold: int = 64,
        monotone_constraints: Any = None,
        interaction_constraints: Any = None,
        quantile_alpha: Any = 0.5,
        huber_slope: float = 1.0,
        tweedie_variance_power: float = 1.5,
        early_stopping_rounds: int | None = None,
        validation_fraction: float | None = None,
        eval_metric: Any = None,
        importance_type: str = "gain",
        warm_start: bool = False,
        verbose: int = 0,
        random_state: Any = None,
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

    _of_loss = ("objective", "quantile_alpha", "huber_slope", "tweedie_variance_power")

    def _loss(self) -> Loss:
        return regression_loss(*self._loss_parameters().values())


class NewtonBoostingClassifier(BoostingClassifier, NewtonBoosting):
    """Boosting by second derivatives (XGBoost's mechanism) for classes.

    Two classes have one tree a round, K > 2 classes K trees, grown together. See
    `NewtonBoostingRegressor` for parameters that are not listed.

    Parameters
    ----------
    objective : None, str or function
        None, or a name of the peers ("binary:logistic", "multiclass", "Logloss"): the log-loss of
        as many classes as there are. objective(y, raw) -> (gradient, hessian), y being class
        numbers.
    class_weight : dict, "balanced" or None
        As in `DecisionTreeClassifier`.
    scale_pos_weight : float
        What rows of the second of two classes weigh. The start is then XGBoost's, too: one step
        from a half.
    base_score : float, optional
        Of two classes, the share of the second one to start from. None: the classes' shares.
    eval_metric : "logloss", "error", "auc", "aucpr", function (y, shares) -> number, or None
        Or a list of these, the last of which decides. Of two classes shares (N,) of the second;
        a function that takes `sample_weight`, or a third argument, is given the rows' weights.
    monotone_constraints : sequence of −1, 0, 1, or dict from names, optional
        Of several classes, as XGBoost has it, each one's raw predictions keep to them, and shares
        need not.

    Attributes
    ----------
    classes_ : (K,) labels, sorted
    n_classes_ : int
    others : those of `NewtonBoostingRegressor`; of two classes `start_` is (1,)

    References
    ----------
    Chen and Guestrin, XGBoost: a scalable tree boosting system, KDD 2016.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from vtree import NewtonBoostingClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> model = NewtonBoostingClassifier(n_estimators=10, max_depth=2).fit(X, y)
    >>> model.predict(X[:3]), round(model.score(X, y), 3)
    (array([0, 0, 0]), 0.967)
    """

    _parameter_constraints: dict[str, list[Any]] = {
        **_COMMON,
        "objective": [Names(set(CLASS_OBJECTIVES)), callable, None],
        "class_weight": [dict, StrOptions({"balanced"}), None],
        "scale_pos_weight": [Interval(Real, 0.0, None, closed="neither")],
    }

    def __init__(
        self,
        *,
        n_estimators: int = 100,
        learning_rate: float = 0.3,
        max_depth: int | None = 6,
        max_leaves: int = 0,
        grow_policy: str = "depthwise",
        tree_method: str = "hist",
        objective: Any = None,
        reg_lambda: float = 1.0,
        reg_alpha: float = 0.0,
        gamma: float = 0.0,
        min_child_weight: float = 1.0,
        max_delta_step: float | None = None,
        subsample: float = 1.0,
        colsample_bytree: float = 1.0,
        colsample_bylevel: float = 1.0,
        colsample_bynode: float = 1.0,
        class_weight: Any = None,
        scale_pos_weight: float = 1.0,
        base_score: float | None = None,
        max_cat_threshold: int = 64,
        monotone_constraints: Any = None,
        interaction_constraints: Any = None,
        early_stopping_rounds: int | None = None,
        validation_fraction: float | None = None,
        eval_metric: Any = None,
        importance_type: str = "gain",
        warm_start: bool = False,
        verbose: int = 0,
        random_state: Any = None,
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

    def _starts(self, loss: Loss, training: Training) -> Floats:
        starts = super()._starts(loss, training)
        if self._n_raw() > 1 or self.scale_pos_weight == 1.0:
            return starts
        # XGBoost starts weighted classes by one step from a half, not by their mean.
        mean = exact_mean(training.y, training.weights.whole)
        return np.full(1, 4.0 * (mean - 0.5))

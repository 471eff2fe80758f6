"""`LeafwiseBoostingClassifier` and `LeafwiseBoostingRegressor`: the mechanism of LightGBM."""

from __future__ import annotations

import math
from collections.abc import Callable
from numbers import Integral, Real
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import _fit_context
from sklearn.utils._param_validation import Interval, StrOptions

from vtree.binning import Bins
from vtree.bundles import bundled
from vtree.elementary import exp, log
from vtree.ensembles.system import Categories, Goss, System
from vtree.ensembles.training import Training
from vtree.errors import InputError
from vtree.estimators.base import keep
from vtree.estimators.boosted_targets import (
    BoostingClassifier,
    BoostingRegressor,
    one_number,
    regression_loss,
)
from vtree.estimators.boosting import FROM_ZERO, NEWTON_CONSTRAINTS, BoostingEstimator
from vtree.estimators.feature_constraints import monotone_directions, together
from vtree.estimators.limits import Names, most
from vtree.estimators.objectives import CLASS_OBJECTIVES, REAL_OBJECTIVES, objective_of
from vtree.histogram import DEFAULT_BUDGET
from vtree.losses import Loss
from vtree.sampling import Columns

_COMMON: dict[str, list[Any]] = {
    **NEWTON_CONSTRAINTS,
    "num_leaves": [Interval(Integral, 2, None, closed="left")],
    "max_depth": [Interval(Integral, -1, None, closed="left"), None],
    "data_sample_strategy": [StrOptions({"bagging", "goss"})],
    "top_rate": [Interval(Real, 0.0, 1.0, closed="neither")],
    "other_rate": [Interval(Real, 0.0, 1.0, closed="neither")],
    "min_split_gain": FROM_ZERO,
    "min_child_samples": [Interval(Integral, 0, None, closed="left")],
    "subsample_freq": [Interval(Integral, 0, None, closed="left")],
    "extra_trees": ["boolean"],
    "enable_bundle": ["boolean"],
    "path_smooth": FROM_ZERO,
    "cat_smooth": FROM_ZERO,
    "cat_l2": FROM_ZERO,
    "max_cat_threshold": [Interval(Integral, 1, None, closed="left")],
    "min_data_per_group": [Interval(Integral, 1, None, closed="left")],
    "max_cat_to_onehot": [Interval(Integral, 1, None, closed="left")],
    "importance_type": [StrOptions({"split", "gain", "cover"})],
    "verbose": ["boolean", Integral],  # LightGBM's users are used to -1
}


class LeafwiseBoosting(BoostingEstimator):
    """Base of both; use a derived class."""

    def _system(self, n_features: int, n_rows: int, total_weight: float) -> System:
        goss = self._goss()
        bagged = goss is None and self.subsample_freq > 0
        depth = self.max_depth
        return System(
            learning_rate=float(self.learning_rate),
            reg_lambda=float(self.reg_lambda),
            reg_alpha=float(self.reg_alpha),
            min_gain=float(self.min_split_gain),
            min_weight=float(self.min_child_weight),
            least_alone=math.inf,
            min_rows=max(1, most(self.min_child_samples)),
            max_depth=most(depth) if depth is not None and depth > 0 else None,
            max_leaves=int(self.num_leaves),
            curvature=self._curvature(),
            subsample=float(self.subsample) if bagged else 1.0,
            subsample_every=max(1, int(self.subsample_freq)),
            goss=goss,
            columns=Columns(float(self.colsample_bytree), 1.0, float(self.colsample_bynode)),
            random_threshold=bool(self.extra_trees),
            path_smooth=float(self.path_smooth),
            categories=Categories(
                float(self.cat_smooth),
                float(self.cat_l2),
                int(self.max_cat_threshold),
                int(self.min_data_per_group),
                int(self.max_cat_to_onehot),
            ),
            monotone=monotone_directions(self.monotone_constraints, self),
            together=together(self.interaction_constraints, self, others_alone=False),
            min_level_rows=self.min_samples_category,
            budget=self.histogram_budget,
        )

    def _binned(self, *table: Any) -> Bins:
        bins = super()._binned(*table)
        return bundled(bins) if self.enable_bundle else bins

    def _goss(self) -> Goss | None:
        if self.data_sample_strategy != "goss":
            return None
        if self.top_rate + self.other_rate > 1.0:
            raise InputError(
                f"top_rate={self.top_rate} and other_rate={self.other_rate} are shares of the same "
                "rows; their sum may be 1 at most"
            )
        rate = float(self.learning_rate)
        warm_up = int(1.0 / rate) if rate > 0.0 else 0
        return Goss(float(self.top_rate), float(self.other_rate), warm_up)

    def _importance_type(self) -> str:
        kinds = {"split": "weight", "gain": "total_gain", "cover": "total_cover"}
        return kinds[self.importance_type]

    def _own_terms(self) -> Callable[..., Any] | None:
        return self.objective if callable(self.objective) else None

    def _curvature(self) -> float:
        """Return what LightGBM multiplies second derivatives by."""
        n_raw, asked = self._n_raw(), objective_of(self.objective)
        return n_raw / (n_raw - 1.0) if n_raw > 1 and asked is None else 1.0


class LeafwiseBoostingRegressor(BoostingRegressor, LeafwiseBoosting):
    """Boosting of trees grown best leaf first (LightGBM's mechanism) for real targets.

    Of targets (N, K) a round grows K trees together, as it does for K quantiles.

    Parameters
    ----------
    num_leaves : int
        The most leaves of a tree: the leaf with the largest gain is split until there are so many.
    max_depth : int or None
        −1, 0 and None: no limit.
    learning_rate : float
        What each tree's answers are multiplied by.
    n_estimators : int
        Rounds.
    objective : str or function
        "squared_error", "absolute_error", "huber" (`alpha` is where it goes straight), "quantile"
        (`alpha` is its level, or an ascending list of levels: predictions (N, K) are sorted then,
        so that no quantile crosses another), "poisson", "gamma", "tweedie"
        (`tweedie_variance_power`), what XGBoost, LightGBM and CatBoost call these
        ("reg:squarederror", "l1", "RMSE"), or objective(y, raw) -> (gradient, hessian), each of the
        shape of raw, as float64 arrays of the library that X is an array of, else of NumPy's.
    poisson_max_delta_step : float
        Second derivatives of objective="poisson" are multiplied by exp of it, so that answers do
        not run away.
    data_sample_strategy : "bagging" or "goss"
        "goss": after 1 / `learning_rate` rounds, the `top_rate` of the rows with the largest
        derivatives are kept, and of the others `other_rate` are drawn and count for all of them.
    top_rate, other_rate : float
    min_split_gain, min_child_weight : float
        What a split must gain, and the least sum of second derivatives of a leaf. Tables of 65,536
        rows and more are searched with ten bits of each, so that a leaf may have a little less.
    min_child_samples : int
        The fewest rows of a leaf, which are counted here; LightGBM estimates them from second
        derivatives, and asks no feature below a node where it had no split, where this does.
    subsample : float
        The share of the rows that are drawn every `subsample_freq` rounds.
    subsample_freq : int
        0: `subsample` is not used.
    colsample_bytree, colsample_bynode : float
        The shares of the features that a tree and a node draw.
    reg_alpha, reg_lambda : float
        Penalties of leaves by their sizes and by their squares.
    extra_trees : bool
        One random threshold a feature instead of the best.
    enable_bundle : bool
        Build the histograms of features that are never off their most frequent value in the same
        row from one column. It takes less time and changes no bit of the model.
    path_smooth : float
        A node of n rows, whatever they weigh, keeps n / (n + `path_smooth`) of its answer and
        leans on its parent's, by which splits are judged, too (with `monotone_constraints`, by
        answers that do not lean).
    cat_smooth, cat_l2, max_cat_threshold, min_data_per_group, max_cat_to_onehot
        Categories: a level needs `cat_smooth` rows, and its sum of second derivatives is taken to
        be so much larger, when levels are sorted; `cat_l2` is added to `reg_lambda`; so many levels
        go left at most; so many rows there must be between two candidates and right of each. Up to
        `max_cat_to_onehot` levels one is split from the rest, without all that.
    monotone_constraints : sequence of −1, 0, 1, or dict from names, optional
    interaction_constraints : list of lists of names or numbers of features, optional
        Features that may stand on one path together; those in no list do not split.
    early_stopping_rounds : int, optional
        Stop when the last table of `eval_set` got no better for so many rounds, and keep the trees
        up to the best one.
    validation_fraction : float, optional
        The share of X to hold out for early stopping where there is no `eval_set`.
    eval_metric : "rmse", "mae", "mse", function (y, prediction) -> number, or None for the loss
        Or a list of these, the last of which decides.
    importance_type : "split", "gain" or "cover"
        How often a feature splits; what its splits gain; the weight of the rows that they part, by
        second derivatives where the loss has some that differ, which LightGBM does not tell.
    warm_start : bool
        Go on from the trees there are; the result is that of one uninterrupted fit.
    verbose : int
        1: show the round, what the metric says and the time; 2: a line of text for each round
        where nothing can be drawn. 0 and below: nothing.
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
    Ke et al., LightGBM: a highly efficient gradient boosting decision tree, NeurIPS 2017.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from vtree import LeafwiseBoostingRegressor
    >>> X, y = load_diabetes(return_X_y=True)
    >>> model = LeafwiseBoostingRegressor(n_estimators=50, num_leaves=8).fit(X, y)
    >>> round(model.score(X, y), 2)
    0.73
    """

    _levels = ("objective", "alpha")
    _parameter_constraints: dict[str, list[Any]] = {
        **_COMMON,
        "objective": [Names(set(REAL_OBJECTIVES)), callable],
        "alpha": [Interval(Real, 0.0, None, closed="neither"), "array-like"],
        "tweedie_variance_power": [Interval(Real, 1.0, 2.0, closed="neither")],
        "poisson_max_delta_step": [Interval(Real, 0.0, 100.0, closed="both")],
    }

    def __init__(
        self,
        *,
        num_leaves: int = 31,
        max_depth: int | None = -1,
        learning_rate: float = 0.1,
        n_estimators: int = 100,
        objective: Any = "squared_error",
        data_sample_strategy: str = "bagging",
        top_rate: float = 0.2,
        other_rate: float = 0.1,
        min_split_gain: float = 0.0,
        min_child_weight: float = 1e-3,
        min_child_samples: int = 20,
        subsample: float = 1.0,
        subsample_freq: int = 0,
        colsample_bytree: float = 1.0,
        colsample_bynode: float = 1.0,
        reg_alpha: float = 0.0,
        reg_lambda: float = 0.0,
        extra_trees: bool = False,
        enable_bundle: bool = True,
        path_smooth: float = 0.0,
        cat_smooth: float = 10.0,
        cat_l2: float = 10.0,
        max_cat_threshold: int = 32,
        min_data_per_group: int = 100,
        max_cat_to_onehot: int = 4,
        alpha: Any = 0.9,
        tweedie_variance_power: float = 1.5,
        poisson_max_delta_step: float = 0.7,
        monotone_constraints: Any = None,
        interaction_constraints: Any = None,
        early_stopping_rounds: int | None = None,
        validation_fraction: float | None = None,
        eval_metric: Any = None,
        importance_type: str = "split",
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

    _of_loss = ("objective", "alpha", "tweedie_variance_power")

    def _loss(self) -> Loss:
        objective, alpha, power = self._loss_parameters().values()
        slope = one_number(alpha, "objective='huber'") if objective == "huber" else 1.0
        return regression_loss(objective, alpha, slope, power, name="alpha")

    def _curvature(self) -> float:
        if objective_of(self.objective) != "poisson":
            return super()._curvature()
        return float(exp(np.asarray([float(self.poisson_max_delta_step)]))[0])


class LeafwiseBoostingClassifier(BoostingClassifier, LeafwiseBoosting):
    """Boosting of trees grown best leaf first (LightGBM's mechanism) for classes.

    Two classes have one tree a round, K > 2 classes K trees, grown together. See
    `LeafwiseBoostingRegressor` for parameters that are not listed.

    Parameters
    ----------
    objective : None, str or function
        None, or a name of the peers ("binary:logistic", "multiclass", "Logloss"): the log-loss of
        as many classes as there are. objective(y, raw) -> (gradient, hessian), y being class
        numbers.
    class_weight : dict, "balanced" or None
    scale_pos_weight : float
        What rows of the second of two classes weigh, but for where to start.
    eval_metric : "logloss", "error", "auc", "aucpr", function (y, shares) -> number, or None
        Or a list of these, the last of which decides. Of two classes shares (N,) of the second;
        a function that takes `sample_weight`, or a third argument, is given the rows' weights.
    monotone_constraints : sequence of −1, 0, 1, or dict from names, optional
        Of several classes, as LightGBM has it, each one's raw predictions keep to them, and shares
        need not.

    Attributes
    ----------
    classes_ : (K,) labels, sorted
    n_classes_ : int
    others : those of `LeafwiseBoostingRegressor`; of two classes `start_` is (1,)

    References
    ----------
    Ke et al., LightGBM: a highly efficient gradient boosting decision tree, NeurIPS 2017.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from vtree import LeafwiseBoostingClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> model = LeafwiseBoostingClassifier(n_estimators=10, num_leaves=4).fit(X, y)
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
        num_leaves: int = 31,
        max_depth: int | None = -1,
        learning_rate: float = 0.1,
        n_estimators: int = 100,
        objective: Any = None,
        class_weight: Any = None,
        scale_pos_weight: float = 1.0,
        data_sample_strategy: str = "bagging",
        top_rate: float = 0.2,
        other_rate: float = 0.1,
        min_split_gain: float = 0.0,
        min_child_weight: float = 1e-3,
        min_child_samples: int = 20,
        subsample: float = 1.0,
        subsample_freq: int = 0,
        colsample_bytree: float = 1.0,
        colsample_bynode: float = 1.0,
        reg_alpha: float = 0.0,
        reg_lambda: float = 0.0,
        extra_trees: bool = False,
        enable_bundle: bool = True,
        path_smooth: float = 0.0,
        cat_smooth: float = 10.0,
        cat_l2: float = 10.0,
        max_cat_threshold: int = 32,
        min_data_per_group: int = 100,
        max_cat_to_onehot: int = 4,
        monotone_constraints: Any = None,
        interaction_constraints: Any = None,
        early_stopping_rounds: int | None = None,
        validation_fraction: float | None = None,
        eval_metric: Any = None,
        importance_type: str = "split",
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

    def _starts(self, loss: Loss, training: Training) -> NDArray[np.float64]:
        starts = super()._starts(loss, training)
        if self._n_raw() > 1 or self.scale_pos_weight == 1.0 or callable(self.objective):
            return starts
        # LightGBM starts from the odds of the classes without this weight, which multiplies odds.
        return np.asarray(starts - log(np.full(1, float(self.scale_pos_weight))))

"""`OrderedBoostingClassifier` and `OrderedBoostingRegressor`: the mechanisms of CatBoost."""

from __future__ import annotations

from numbers import Real
from typing import Any

from sklearn.base import _fit_context
from sklearn.utils._param_validation import Interval, StrOptions

from vtree.estimators.base import keep
from vtree.estimators.boosted_targets import (
    BoostingClassifier,
    BoostingRegressor,
    regression_loss,
)
from vtree.estimators.boosting import BoostingEstimator
from vtree.estimators.limits import Names
from vtree.estimators.objectives import CLASS_OBJECTIVES, REAL_OBJECTIVES
from vtree.estimators.ordered_boosting_base import ORDERED_CONSTRAINTS, SUBSAMPLE, OrderedBoosting
from vtree.histogram import DEFAULT_BUDGET
from vtree.losses import Loss


class OrderedBoostingRegressor(BoostingRegressor, OrderedBoosting):
    """Boosting of symmetric trees, categories by target statistics (CatBoost), for real targets.

    All nodes of a level share one split. A category stands for the mean target of its rows and for
    how many there are: of all training rows where new rows are predicted; where a training row
    itself is meant, the mean is of those before it in a random order, so that no row sees its own
    target. Of targets (N, K), or of K quantiles, a round has one tree, whose leaves hold K values.

    Parameters
    ----------
    n_estimators : int
        Rounds, CatBoost's `iterations`.
    learning_rate : float, optional
        What each tree's answers are multiplied by. None: as CatBoost takes it, which for squared
        errors and log-losses depends on the rows, `n_estimators` and early stopping as long as
        leaves have its defaults; 0.03 else.
    depth : int
        Levels of each tree, up to 16.
    l2_leaf_reg : float
        Penalty of leaves by their squares. CatBoost multiplies it by the mean weight; here a row
        of weight two is two rows.
    objective : str or function
        "squared_error", "absolute_error", "huber" (`huber_slope`), "quantile" (`quantile_alpha`),
        "poisson", "gamma", "tweedie" (`tweedie_variance_power`), what XGBoost, LightGBM and
        CatBoost call these ("reg:squarederror", "l1", "RMSE"), or objective(y, raw) ->
        (gradient, hessian), each of the shape of raw, as float64 arrays of the library that X is an
        array of, else of NumPy's.
    boosting_type : "Plain" or "Ordered"
        "Ordered": what shapes a tree are, for each row, derivatives at a model of the rows before
        it in a random order, and steps that such models would take. It takes several times as long,
        and pays on small tables.
    score_function : "Cosine" or "L2"
        What a split is judged by: how well the steps point along the gradients, or the decrease of
        the squares.
    leaf_estimation_method : "Newton" or "Gradient"
        Whether second derivatives or weights divide the sums in a leaf. Of K > 2 classes each has
        its own second derivative, so that steps are longer than CatBoost's, which takes those of
        pairs into account.
    leaf_estimation_iterations : int
        Steps of each leaf, one after another.
    random_strength : float
        How much chance is added to the scores, of a feature's candidates and of the best ones of
        all features; it fades as the model grows.
    bootstrap_type : "Bayesian", "Bernoulli", "MVS" or "No"
        What weighs the rows where trees are shaped: (−log u)^`bagging_temperature` with u uniform,
        a share `subsample` drawn, the same share with large derivatives drawn rather than others
        and weighed by 1 over their odds (minimal variance sampling), or nothing. Leaves answer for
        all rows.
    bagging_temperature : float
    subsample : float
        Of "Bernoulli" and "MVS"; with the others it is refused, as CatBoost does.
    mvs_reg : float, optional
        What "MVS" adds to squared derivatives; the more, the more alike are the odds. None: the
        square of the mean length of what the last tree's leaves answer, before it of derivatives.
    rsm : float
        The share of the features that each level draws.
    one_hot_max_size : int
        Columns of at most so many categories split one category from all others; those of more
        split by target statistics.
    max_ctr_complexity : int
        Up to so many columns of categories are also combined, all tuples; 1: none are.
    simple_ctr : str or sequence of str, optional
        The target statistics of a category and of a combination, in CatBoost's words.
        "FloatTargetMeanValue": the mean target. "Counter": its rows in training over those of the
        most frequent category. "FloatTargetMeanValue:Prior=0:Prior=2/3:CtrBorderCount=15": two
        means, (Σ y + 0) / (rows + 1) and (Σ y + 2) / (rows + 3), cut by 15 borders. Without a
        prior it is the mean of all targets, of counts 0. None: both. CatBoost itself knows here
        only whether targets are above a border.
    permutation_count : int
        Random orders of the rows, one of them for the answers of the leaves.
    has_time : bool
        The rows' own order instead.
    boost_from_average : bool, optional
        Whether the best constant is where to start, or 0. None: it is for real targets.
    monotone_constraints : sequence of −1, 0, 1, or dict from names, optional
        Of columns of numbers. As in CatBoost, leaves that only splits by such columns part answer
        by isotonic regression, and splits are judged by these answers. There the model also
        shrinks a little each round, unless `model_shrink_rate=0`; here it does not.
    quantile_alpha : float or ascending list of K floats
        Several levels are predicted together, (N, K), sorted so that no quantile crosses another.
    tweedie_variance_power : float
    huber_slope : float
        The residual from which objective="huber" goes straight.
    early_stopping_rounds : int, optional
        Stop when the last table of `eval_set` got no better for so many rounds, and keep the trees
        up to the best one.
    validation_fraction : float, optional
        The share of X to hold out for early stopping where there is no `eval_set`; with `has_time`
        its last rows.
    eval_metric : "RMSE", "MAE", function (y, prediction) -> number, or None for the loss
        Or a list of these, the last of which decides.
    importance_type : "gain", "cover", "weight", "total_gain" or "total_cover"
    warm_start : bool
        Go on from the trees there are; the result is that of one uninterrupted fit.
    verbose : int
        1 tells of the rounds as they go, 2 of every one of them.
    random_state, max_bins, categorical_features, unknown_categories, device, n_jobs,
    histogram_budget
        As in `DecisionTreeRegressor`. An unknown category counts as missing, and what counts as
        missing is a category of its own; never seen in training, it gets the priors.

    Attributes
    ----------
    grown_ : `vtree.tree.Tree`, all trees; features from n_features_in_ on are target statistics
    derived_names_ : list of str, what these are called
    start_ : (K,) the raw predictions before all trees, one an output or quantile
    learning_rate_ : float
    evals_result_, best_iteration_, best_score_ : what `eval_set` told
    feature_importances_ : (F,) by `importance_type`, adding up to 1
    n_estimators_, n_features_in_ : int

    References
    ----------
    Prokhorenkova et al., CatBoost: unbiased boosting with categorical features, NeurIPS 2018.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from vtree import OrderedBoostingRegressor
    >>> X, y = load_diabetes(return_X_y=True)
    >>> model = OrderedBoostingRegressor(n_estimators=50, learning_rate=0.1, depth=4).fit(X, y)
    >>> model.score(X, y) > 0.5
    True
    """

    _averages = True
    _parameter_constraints: dict[str, list[Any]] = {
        **ORDERED_CONSTRAINTS,
        "objective": [Names(set(REAL_OBJECTIVES)), callable],
        "quantile_alpha": [Interval(Real, 0.0, 1.0, closed="neither"), "array-like"],
        "huber_slope": [Interval(Real, 0.0, None, closed="neither")],
        "tweedie_variance_power": [Interval(Real, 1.0, 2.0, closed="neither")],
    }

    def __init__(
        self,
        *,
        n_estimators: int = 1000,
        learning_rate: float | None = None,
        depth: int = 6,
        l2_leaf_reg: float = 3.0,
        objective: Any = "squared_error",
        boosting_type: str = "Plain",
        score_function: str = "Cosine",
        leaf_estimation_method: str = "Newton",
        leaf_estimation_iterations: int = 1,
        random_strength: float = 1.0,
        bootstrap_type: str = "Bayesian",
        bagging_temperature: float = 1.0,
        subsample: float = SUBSAMPLE,
        mvs_reg: float | None = None,
        rsm: float = 1.0,
        one_hot_max_size: int = 2,
        max_ctr_complexity: int = 1,
        simple_ctr: Any = None,
        permutation_count: int = 4,
        has_time: bool = False,
        boost_from_average: bool | None = None,
        monotone_constraints: Any = None,
        quantile_alpha: Any = 0.5,
        huber_slope: float = 1.0,
        tweedie_variance_power: float = 1.5,
        early_stopping_rounds: int | None = None,
        validation_fraction: float | None = None,
        eval_metric: Any = None,
        importance_type: str = "total_gain",
        warm_start: bool = False,
        verbose: int = 0,
        random_state: Any = None,
        max_bins: int | None = 255,
        categorical_features: Any = "from_dtype",
        unknown_categories: str = "missing",
        device: str = "auto",
        n_jobs: int | None = None,
        histogram_budget: int = DEFAULT_BUDGET,
    ) -> None:
        keep(self, locals())

    fit = _fit_context(prefer_skip_nested_validation=True)(BoostingEstimator.fit)

    _of_loss = ("objective", "quantile_alpha", "huber_slope", "tweedie_variance_power")

    def _loss(self) -> Loss:
        return regression_loss(*self._loss_parameters().values())


class OrderedBoostingClassifier(BoostingClassifier, OrderedBoosting):
    """Boosting of symmetric trees, categories by target statistics (CatBoost), for classes.

    A round has one tree; of K > 2 classes its leaves hold K values. A category stands for shares of
    classes among its rows, with three priors, and for how many there are. See
    `OrderedBoostingRegressor` for parameters that are not listed.

    Parameters
    ----------
    simple_ctr : str or sequence of str, optional
        "Borders": the share of the rows above each class but the last, of two that of the second;
        "Buckets": of each class; "Counter". None: "Borders:Prior=0:Prior=0.5:Prior=1" and
        "Counter:Prior=0", as in CatBoost.
    objective : None, str or function
        None, or a name of the peers ("binary:logistic", "multiclass", "Logloss"): the log-loss of
        as many classes as there are. objective(y, raw) -> (gradient, hessian), y being class
        numbers.
    class_weight : dict, "balanced" or None
        As in `DecisionTreeClassifier`.
    scale_pos_weight : float
        What rows of the second of two classes weigh.
    boost_from_average : bool, optional
        Whether the classes' shares are where to start, or equal ones. None: equal ones.
    eval_metric : "Logloss", "Accuracy", "AUC", "error", function (y, shares) -> number, or None
        Or a list of these, the last of which decides. Of two classes shares (N,) of the second;
        a function that takes `sample_weight`, or a third argument, is given the rows' weights.

    Attributes
    ----------
    classes_ : (K,) labels, sorted
    n_classes_ : int
    others : those of `OrderedBoostingRegressor`; of two classes `start_` is (1,)

    References
    ----------
    Prokhorenkova et al., CatBoost: unbiased boosting with categorical features, NeurIPS 2018.

    Examples
    --------
    >>> from vtree import OrderedBoostingClassifier
    >>> table = {"colour": ["red", "blue", "green", "red", "blue", "green"] * 20}
    >>> y = [1, 0, 0] * 40
    >>> model = OrderedBoostingClassifier(n_estimators=20, learning_rate=0.3).fit(table, y)
    >>> model.predict({"colour": ["red", "green"]}), model.derived_names_[2:]
    (array([1, 0]), ['share of 1 by colour, prior 1', 'rows by colour'])
    """

    _averages = False
    _parameter_constraints: dict[str, list[Any]] = {
        **ORDERED_CONSTRAINTS,
        "objective": [Names(set(CLASS_OBJECTIVES)), callable, None],
        "class_weight": [dict, StrOptions({"balanced"}), None],
        "scale_pos_weight": [Interval(Real, 0.0, None, closed="neither")],
    }

    def __init__(
        self,
        *,
        n_estimators: int = 1000,
        learning_rate: float | None = None,
        depth: int = 6,
        l2_leaf_reg: float = 3.0,
        objective: Any = None,
        boosting_type: str = "Plain",
        score_function: str = "Cosine",
        leaf_estimation_method: str = "Newton",
        leaf_estimation_iterations: int = 1,
        random_strength: float = 1.0,
        bootstrap_type: str = "Bayesian",
        bagging_temperature: float = 1.0,
        subsample: float = SUBSAMPLE,
        mvs_reg: float | None = None,
        rsm: float = 1.0,
        one_hot_max_size: int = 2,
        max_ctr_complexity: int = 1,
        simple_ctr: Any = None,
        permutation_count: int = 4,
        has_time: bool = False,
        boost_from_average: bool | None = None,
        monotone_constraints: Any = None,
        class_weight: Any = None,
        scale_pos_weight: float = 1.0,
        early_stopping_rounds: int | None = None,
        validation_fraction: float | None = None,
        eval_metric: Any = None,
        importance_type: str = "total_gain",
        warm_start: bool = False,
        verbose: int = 0,
        random_state: Any = None,
        max_bins: int | None = 255,
        categorical_features: Any = "from_dtype",
        unknown_categories: str = "missing",
        device: str = "auto",
        n_jobs: int | None = None,
        histogram_budget: int = DEFAULT_BUDGET,
    ) -> None:
        keep(self, locals())

    fit = _fit_context(prefer_skip_nested_validation=True)(BoostingEstimator.fit)

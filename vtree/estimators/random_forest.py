"""`RandomForestClassifier`, `RandomForestRegressor`: Breiman's, with scikit-learn's parameters."""

from __future__ import annotations

from typing import Any

from sklearn.base import _fit_context
from sklearn.utils._param_validation import Hidden, StrOptions

from vtree.criteria import CLASSIFICATION
from vtree.estimators.base import keep
from vtree.estimators.forest import FOREST_CONSTRAINTS, ForestEstimator
from vtree.estimators.forest_classifier import VOTING, ForestClassifier
from vtree.estimators.forest_regressor import ForestRegressor, warn_of_friedman
from vtree.histogram import DEFAULT_BUDGET


class RandomForestClassifier(ForestClassifier):
    """Trees on bootstrap samples, with a fresh random subset of the features at every node.

    All trees grow as one frontier. Missing values and categories need no preparation.

    Parameters
    ----------
    n_estimators : int
        Trees.
    criterion, max_depth, min_samples_split, min_samples_leaf, min_weight_fraction_leaf,
    max_features, max_leaf_nodes, min_impurity_decrease, bootstrap, oob_score, random_state,
    verbose, warm_start, class_weight, ccp_alpha, max_samples, monotonic_cst
        As in scikit-learn. The same `random_state` draws the same samples as there.
    voting : "soft" or "hard"
        Whether trees vote with the class shares of their leaves, or with one class (Breiman's).
    max_bins : int or None
        As in `DecisionTreeClassifier`, but more of them, close together near both ends: in most
        nodes no drawn feature tells much, and a split that cuts off few rows leaves the others to
        features that do. 255 even bins cost some of a thousand cases on large tables.
    categorical_features, unknown_categories, min_samples_category, device, n_jobs,
    histogram_budget
        As in `DecisionTreeClassifier`. None of the last three changes the model.

    Attributes
    ----------
    estimators_ : list of T fitted `DecisionTreeClassifier`; they answer class numbers
    estimators_samples_ : list of T row numbers
    classes_, n_classes_, n_outputs_, n_features_in_, feature_names_in_, max_features_
        As in `DecisionTreeClassifier`.
    grown_ : `vtree.tree.Tree`, all trees in one
    feature_importances_ : (F,) shares of the decrease of impurity
    oob_score_ : float, oob_decision_function_ : (N, K), if `oob_score`

    References
    ----------
    Breiman, Random Forests, Machine Learning 45, 2001.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from vtree import RandomForestClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> model = RandomForestClassifier(30, oob_score=True, random_state=0).fit(X, y)
    >>> len(model), model.oob_score_ > 0.9
    (30, True)
    """

    _parameter_constraints: dict[str, list[Any]] = {
        **FOREST_CONSTRAINTS,
        **VOTING,
        "criterion": [StrOptions(set(CLASSIFICATION))],
    }

    def __init__(
        self,
        n_estimators: int = 100,
        *,
        criterion: str = "gini",
        max_depth: int | None = None,
        min_samples_split: int | float = 2,
        min_samples_leaf: int | float = 1,
        min_weight_fraction_leaf: float = 0.0,
        max_features: int | float | str | None = "sqrt",
        max_leaf_nodes: int | None = None,
        min_impurity_decrease: float = 0.0,
        bootstrap: bool = True,
        oob_score: Any = False,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
        warm_start: bool = False,
        class_weight: Any = None,
        ccp_alpha: float = 0.0,
        max_samples: int | float | None = None,
        monotonic_cst: Any = None,
        voting: str = "soft",
        max_bins: int | None = 1_023,
        categorical_features: Any = "from_dtype",
        unknown_categories: str = "missing",
        min_samples_category: int = 1,
        device: str = "auto",
        histogram_budget: int = DEFAULT_BUDGET,
    ) -> None:
        keep(self, locals())

    fit = _fit_context(prefer_skip_nested_validation=True)(ForestEstimator.fit)


class RandomForestRegressor(ForestRegressor):
    """Regression trees on bootstrap samples, whose mean is the prediction.

    See `RandomForestClassifier` for all parameters but the criterion. As in scikit-learn all
    features are looked at in every node by default; Breiman's choice is `max_features=1/3`.

    Parameters
    ----------
    criterion : "squared_error", "friedman_mse" (the same), "poisson" or "absolute_error"

    Attributes
    ----------
    oob_score_ : float, oob_prediction_ : (N,) or (N, outputs), if `oob_score`

    References
    ----------
    Breiman, Random Forests, Machine Learning 45, 2001.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from vtree import RandomForestRegressor
    >>> X, y = load_diabetes(return_X_y=True)
    >>> model = RandomForestRegressor(30, max_depth=5, random_state=0).fit(X, y)
    >>> model.predict(X).shape, model.score(X, y) > 0.6
    ((442,), True)
    """

    _parameter_constraints: dict[str, list[Any]] = {
        **FOREST_CONSTRAINTS,
        "criterion": [
            StrOptions({"squared_error", "absolute_error", "poisson"}),
            Hidden(StrOptions({"friedman_mse"})),
        ],
    }

    def __init__(
        self,
        n_estimators: int = 100,
        *,
        criterion: str = "squared_error",
        max_depth: int | None = None,
        min_samples_split: int | float = 2,
        min_samples_leaf: int | float = 1,
        min_weight_fraction_leaf: float = 0.0,
        max_features: int | float | str | None = 1.0,
        max_leaf_nodes: int | None = None,
        min_impurity_decrease: float = 0.0,
        bootstrap: bool = True,
        oob_score: Any = False,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
        warm_start: bool = False,
        ccp_alpha: float = 0.0,
        max_samples: int | float | None = None,
        monotonic_cst: Any = None,
        max_bins: int | None = 255,
        categorical_features: Any = "from_dtype",
        unknown_categories: str = "missing",
        min_samples_category: int = 1,
        device: str = "auto",
        histogram_budget: int = DEFAULT_BUDGET,
    ) -> None:
        warn_of_friedman(criterion)
        keep(self, locals())

    fit = _fit_context(prefer_skip_nested_validation=True)(ForestEstimator.fit)

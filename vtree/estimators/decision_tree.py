"""`DecisionTreeClassifier` and `DecisionTreeRegressor`: CART with scikit-learn's parameters."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClassifierMixin, MultiOutputMixin, RegressorMixin, _fit_context
from sklearn.utils._param_validation import Hidden, StrOptions

from vtree.arrays import Array
from vtree.costs import cheapest_class, without_costs
from vtree.criteria import CLASSIFICATION, RANKED, REGRESSION
from vtree.errors import InputError
from vtree.estimators.absent import HasSurrogates
from vtree.estimators.base import TreeEstimator
from vtree.estimators.class_costs import (
    altered_weights,
    check_single_output,
    cost_matrix,
    prior_vector,
)
from vtree.estimators.devices import answer
from vtree.estimators.feature_constraints import monotone_directions
from vtree.estimators.limits import CONSTRAINTS
from vtree.estimators.prepared import Prepared, kept_rows
from vtree.estimators.targets import (
    as_columns,
    check_counts,
    check_span,
    class_codes,
    row_weights,
)
from vtree.histogram import DEFAULT_BUDGET
from vtree.targets import class_targets, real_targets
from vtree.tree import Tree


def _directions(cst: Any, estimator: TreeEstimator, data: Prepared) -> NDArray[np.int8] | None:
    """Return `monotonic_cst` as (F,) int8, checked, None where it is or says nothing."""
    if cst is None:
        return None
    if data.targets.layout.outputs > 1:
        raise InputError("Monotonicity constraints are not supported with multiple outputs")
    directions = monotone_directions(cst, estimator, "monotonic_cst")
    if data.targets.layout.classes > 2:
        raise InputError(
            "Monotonicity constraints are not supported with multiclass classification"
        )
    return directions


class DecisionTreeClassifier(HasSurrogates, ClassifierMixin, MultiOutputMixin, TreeEstimator):
    """A classification tree (CART), grown level by level from histograms.

    Up to `max_bins` distinct values a feature the search is exact; beyond, features are cut at
    quantiles. Missing values and categories need no preparation: both sides are tried for missing
    values, and subsets of levels for categories.

    Parameters
    ----------
    criterion : "gini", "entropy", "log_loss" or "twoing"
    splitter : "best" or "random" (one random threshold a feature)
    max_depth, min_samples_split, min_samples_leaf, min_weight_fraction_leaf, max_features,
    random_state, max_leaf_nodes, min_impurity_decrease, class_weight, ccp_alpha, monotonic_cst
        As in scikit-learn; `monotonic_cst` may be a dict from names or numbers of columns, too.
    priors : None, "equal", (K,) numbers or dict, default None
        The classes' shares among the cases to come, where those of y are not to be believed. They
        sum to one, in the order of `classes_`.
    costs : (K, K) numbers, optional
        costs[i, j] is lost where class i is taken for class j; zeros on the diagonal. Growth sees
        them as altered priors, and `predict` answers the class of least expected cost.
    feature_costs : (F,) positive numbers, optional
        What it costs to know each feature: gains are divided by it where the best is chosen.
    surrogates : int
        The most surrogate splits of a node (rpart: 5). With them, rows that miss a feature take no
        part in judging its splits and are sent on by the best surrogate they have an answer to. 0:
        both sides are tried for missing values, and the better one is learnt.
    use_surrogates : 0, 1 or 2
        What becomes of rows that miss a feature. 0: they stay at the node and are answered by it.
        1: surrogates send them, those that none can send stay. 2: such ones go with the larger
        side (nowhere if both are equal).
    surrogate_counts : "sides" or "rpart"
        What a surrogate by categories has two rows of: "sides", that it sends to either side, as
        rpart documents it; "rpart", that it sends right and that it sends wrong, as rpart 4.1
        counts, which has no surrogate where a copy of the feature is at hand.
    max_bins : int or None
        The most bins of a numeric feature, 2 … 65,535. None: one bin a distinct value. Up to 255
        hold equal shares of the rows; of more, those near both ends hold less.
    categorical_features : "from_dtype", None, mask, indices or names
        "from_dtype" takes the columns of strings and categories of a data frame.
    unknown_categories : "missing" or "error"
        What a level that training did not see is at predict time.
    min_samples_category : int
        A level with fewer rows in a node is not told apart there; it goes the way of missing
        values. 1 is CART as published; raise it where a column has thousands of levels, for
        a subset of them chosen by a few rows each fits noise.
    device : "auto", "cpu", "cuda" or "cuda:N"
        Where to work; it never changes the model.
    n_jobs : int or None
        The most threads to use; None and −1 stand for all cores, −2 for all but one. It never
        changes the model.
    histogram_budget : int
        Bytes that the histograms of a level may take.

    Attributes
    ----------
    classes_ : (K,) labels, sorted; a list of them for several outputs
    n_classes_ : int, or (outputs,) ints
    n_outputs_, n_features_in_, max_features_ : int
    feature_names_in_ : (F,) str, if X had names
    grown_ : `vtree.tree.Tree`, the tree itself
    tree_ : the tree as scikit-learn shows it
    feature_importances_ : (F,) shares of the decrease of impurity
    surrogate_importances_ : (F,) the same with what features are worth as surrogates

    References
    ----------
    Breiman, Friedman, Olshen and Stone, Classification and Regression Trees, 1984.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from vtree import DecisionTreeClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> model = DecisionTreeClassifier(max_depth=2).fit(X, y)
    >>> model.predict(X[:3]), round(model.score(X, y), 3)
    (array([0, 0, 0]), 0.96)
    """

    _criteria = CLASSIFICATION
    costs_: NDArray[np.float64] | None = None  # of models pickled before there were any
    priors_: NDArray[np.float64] | None = None
    _parameter_constraints: dict[str, list[Any]] = {
        **CONSTRAINTS,
        "criterion": [StrOptions(set(CLASSIFICATION))],
        "class_weight": [dict, list, StrOptions({"balanced"}), None],
        "priors": [StrOptions({"equal"}), "array-like", dict, None],
        "costs": ["array-like", None],
    }

    def __init__(
        self,
        *,
        criterion: str = "gini",
        splitter: str = "best",
        max_depth: int | None = None,
        min_samples_split: int | float = 2,
        min_samples_leaf: int | float = 1,
        min_weight_fraction_leaf: float = 0.0,
        max_features: int | float | str | None = None,
        random_state: Any = None,
        max_leaf_nodes: int | None = None,
        min_impurity_decrease: float = 0.0,
        class_weight: Any = None,
        ccp_alpha: float = 0.0,
        monotonic_cst: Any = None,
        priors: Any = None,
        costs: Any = None,
        feature_costs: Any = None,
        surrogates: int = 0,
        use_surrogates: int = 2,
        surrogate_counts: str = "sides",
        max_bins: int | None = 255,
        categorical_features: Any = "from_dtype",
        unknown_categories: str = "missing",
        min_samples_category: int = 1,
        device: str = "auto",
        n_jobs: int | None = None,
        histogram_budget: int = DEFAULT_BUDGET,
    ) -> None:
        self.criterion = criterion
        self.splitter = splitter
        self.max_depth = max_depth
        self.min_samples_split = min_samples_split
        self.min_samples_leaf = min_samples_leaf
        self.min_weight_fraction_leaf = min_weight_fraction_leaf
        self.max_features = max_features
        self.random_state = random_state
        self.max_leaf_nodes = max_leaf_nodes
        self.min_impurity_decrease = min_impurity_decrease
        self.class_weight = class_weight
        self.ccp_alpha = ccp_alpha
        self.monotonic_cst = monotonic_cst
        self.priors = priors
        self.costs = costs
        self.feature_costs = feature_costs
        self.surrogates = surrogates
        self.use_surrogates = use_surrogates
        self.surrogate_counts = surrogate_counts
        self.max_bins = max_bins
        self.categorical_features = categorical_features
        self.unknown_categories = unknown_categories
        self.min_samples_category = min_samples_category
        self.device = device
        self.n_jobs = n_jobs
        self.histogram_budget = histogram_budget

    fit = _fit_context(prefer_skip_nested_validation=True)(TreeEstimator.fit)

    def _prepare(self, X: Any, y: Any, sample_weight: Any) -> Prepared:
        values, schema = self._read(X)
        labels = as_columns(y, numeric=False)
        weight = row_weights(sample_weight, self.class_weight, labels, values.shape[0])
        classes, codes = class_codes(labels)
        n_classes = [own.size for own in classes]
        several = labels.shape[1] > 1
        self.classes_ = classes if several else classes[0]
        self.n_classes_ = np.asarray(n_classes) if several else n_classes[0]
        self.n_outputs_ = len(classes)
        self._learn_costs()
        weight = altered_weights(weight, codes[:, 0], self.priors_, self.costs_)
        values, kept = kept_rows(values, weight)
        total = float(labels.shape[0]) if weight is None else float(np.sum(weight))
        targets = class_targets(codes[kept], n_classes, None if weight is None else weight[kept])
        return Prepared(values, schema, targets, labels.shape[0], total, kept, X)

    def _monotone(self, data: Prepared) -> NDArray[np.int8] | None:
        return _directions(self.monotonic_cst, self, data)

    def _learn_costs(self) -> None:
        """Set `priors_` (K,) and `costs_` (K, K), each None if not given."""
        check_single_output(self, self.n_outputs_)
        self.priors_ = self.costs_ = None
        if not isinstance(self.classes_, list):
            self.priors_ = prior_vector(self.priors, self.classes_)
            self.costs_ = cost_matrix(self.costs, self.classes_)

    def _finished(self, tree: Tree) -> Tree:
        if self.costs_ is None:
            return tree
        return tree._replace(value=without_costs(tree.value, self.costs_))

    def _class_counts(self) -> NDArray[np.int64]:
        return np.atleast_1d(np.asarray(self.n_classes_, dtype=np.int64))

    def _shares(self, X: Any) -> list[NDArray[np.float64]]:
        leaf = self._leaves(X)
        return self._split(self.grown_.value[leaf])

    def _split(self, value: NDArray[np.float64]) -> list[NDArray[np.float64]]:
        """Return the shares of each output's classes in values of nodes."""
        counts = self._class_counts()
        whole = np.reshape(value, (-1, counts.size, int(counts.max())))
        return [whole[:, output, :count] for output, count in enumerate(counts.tolist())]

    def _labels(self, value: NDArray[np.float64]) -> NDArray[Any]:
        shares = self._split(value)
        if not isinstance(self.classes_, list):
            return self.classes_[cheapest_class(shares[0], self.costs_)]
        chosen = [
            own[np.argmax(share, axis=1)] for own, share in zip(self.classes_, shares, strict=True)
        ]
        return np.stack(chosen, axis=1)

    def predict_proba(self, X: Any, check_input: bool = True) -> Any:
        """Return the share of each class in the row's leaf, (N, K); a list for several outputs."""
        shares = [answer(share, X) for share in self._shares(X)]
        return shares if isinstance(self.classes_, list) else shares[0]

    def predict_log_proba(self, X: Any) -> Any:
        """Return the natural logarithm of `predict_proba`, −∞ for impossible classes."""
        with np.errstate(divide="ignore"):
            logs = [answer(np.log(share), X) for share in self._shares(X)]
        return logs if isinstance(self.classes_, list) else logs[0]

    def predict(self, X: Any, check_input: bool = True) -> Array:
        """Return the class that is most frequent in the row's leaf, (N,) or (N, outputs).

        With `costs`, the one whose expected cost is least.
        """
        leaf = self._leaves(X)
        value = self.grown_.value
        if leaf.size < value.shape[0]:
            return answer(self._labels(value[leaf]), X)
        return answer(self._labels(value)[leaf], X)

    def __sklearn_tags__(self) -> Any:  # noqa: D105
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_label = True
        return tags


class DecisionTreeRegressor(HasSurrogates, RegressorMixin, MultiOutputMixin, TreeEstimator):
    """A regression tree (CART), grown level by level from histograms.

    See `DecisionTreeClassifier` for all parameters but the criterion.

    Parameters
    ----------
    criterion : "squared_error", "friedman_mse" (the same), "poisson" or "absolute_error"
        Nodes predict means, with "absolute_error" weighted medians. Medians need the rows
        themselves, sorted, for every split; a tree then takes several times as long.

    Attributes
    ----------
    n_outputs_, n_features_in_, max_features_, feature_names_in_, grown_, tree_,
    feature_importances_, surrogate_importances_
        As in `DecisionTreeClassifier`.

    References
    ----------
    Breiman, Friedman, Olshen and Stone, Classification and Regression Trees, 1984, chapter 8.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from vtree import DecisionTreeRegressor
    >>> X, y = load_diabetes(return_X_y=True)
    >>> model = DecisionTreeRegressor(max_depth=3).fit(X, y)
    >>> model.get_n_leaves(), round(model.score(X, y), 3)
    (8, 0.501)
    """

    _criteria = {**REGRESSION, **RANKED}
    _parameter_constraints: dict[str, list[Any]] = {
        **CONSTRAINTS,
        "criterion": [
            StrOptions({"squared_error", "absolute_error", "poisson"}),
            Hidden(StrOptions({"friedman_mse"})),
        ],
    }

    def __init__(
        self,
        *,
        criterion: str = "squared_error",
        splitter: str = "best",
        max_depth: int | None = None,
        min_samples_split: int | float = 2,
        min_samples_leaf: int | float = 1,
        min_weight_fraction_leaf: float = 0.0,
        max_features: int | float | str | None = None,
        random_state: Any = None,
        max_leaf_nodes: int | None = None,
        min_impurity_decrease: float = 0.0,
        ccp_alpha: float = 0.0,
        monotonic_cst: Any = None,
        feature_costs: Any = None,
        surrogates: int = 0,
        use_surrogates: int = 2,
        surrogate_counts: str = "sides",
        max_bins: int | None = 255,
        categorical_features: Any = "from_dtype",
        unknown_categories: str = "missing",
        min_samples_category: int = 1,
        device: str = "auto",
        n_jobs: int | None = None,
        histogram_budget: int = DEFAULT_BUDGET,
    ) -> None:
        if isinstance(criterion, str) and criterion == "friedman_mse":
            warnings.warn(
                'criterion "friedman_mse" is the same as "squared_error" and will go the way it '
                "goes in scikit-learn; use the latter",
                FutureWarning,
                stacklevel=2,
            )
        self.criterion = criterion
        self.splitter = splitter
        self.max_depth = max_depth
        self.min_samples_split = min_samples_split
        self.min_samples_leaf = min_samples_leaf
        self.min_weight_fraction_leaf = min_weight_fraction_leaf
        self.max_features = max_features
        self.random_state = random_state
        self.max_leaf_nodes = max_leaf_nodes
        self.min_impurity_decrease = min_impurity_decrease
        self.ccp_alpha = ccp_alpha
        self.monotonic_cst = monotonic_cst
        self.feature_costs = feature_costs
        self.surrogates = surrogates
        self.use_surrogates = use_surrogates
        self.surrogate_counts = surrogate_counts
        self.max_bins = max_bins
        self.categorical_features = categorical_features
        self.unknown_categories = unknown_categories
        self.min_samples_category = min_samples_category
        self.device = device
        self.n_jobs = n_jobs
        self.histogram_budget = histogram_budget

    fit = _fit_context(prefer_skip_nested_validation=True)(TreeEstimator.fit)

    def _prepare(self, X: Any, y: Any, sample_weight: Any) -> Prepared:
        numbers = as_columns(y, numeric=True)
        poisson = self.criterion == "poisson"
        check_span(numbers)
        if poisson:
            check_counts(numbers)
        values, schema = self._read(X)
        weight = row_weights(sample_weight, None, numbers, values.shape[0])
        self.n_outputs_ = numbers.shape[1]
        values, kept = kept_rows(values, weight)
        total = float(numbers.shape[0]) if weight is None else float(np.sum(weight))
        kept_weight = None if weight is None else weight[kept]
        ranked = self.criterion in RANKED
        targets = real_targets(numbers[kept], kept_weight, centred=not poisson, ranked=ranked)
        return Prepared(values, schema, targets, numbers.shape[0], total, kept, X)

    def _monotone(self, data: Prepared) -> NDArray[np.int8] | None:
        return _directions(self.monotonic_cst, self, data)

    def predict(self, X: Any, check_input: bool = True) -> Array:
        """Return the mean or median of the row's leaf, (N,) or (N, outputs)."""
        leaf = self._leaves(X)
        value = self.grown_.value[leaf]
        return answer(value[:, 0] if self.n_outputs_ == 1 else value, X)

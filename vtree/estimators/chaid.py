"""`CHAIDClassifier` and `CHAIDRegressor`: multiway trees by tests of significance."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import RegressorMixin, _fit_context
from sklearn.utils._param_validation import StrOptions

from vtree.arrays import Array
from vtree.chaid import association, moments
from vtree.chaid.association import AssociationTest
from vtree.chaid.search import class_levels
from vtree.criteria import CLASSIFICATION, REGRESSION
from vtree.estimators.base import TreeEstimator
from vtree.estimators.chaid_base import CHAID_CONSTRAINTS, ChaidEstimator
from vtree.estimators.devices import answer
from vtree.estimators.multiway import MultiwayClassifier, one_column
from vtree.estimators.prepared import Prepared, kept_rows
from vtree.estimators.targets import check_span, row_weights
from vtree.histogram import DEFAULT_BUDGET
from vtree.targets import Targets, real_targets

Floats = NDArray[np.float64]


class CHAIDClassifier(MultiwayClassifier, ChaidEstimator):
    """A classification tree with one branch for each group of levels that answer alike.

    Levels of a predictor are merged while the most similar pair does not differ significantly;
    the predictor with the smallest p-value, adjusted for the merging, splits the node. Numbers are
    cut at quantiles into ordinal groups. The defaults are those that IBM SPSS documents; see
    `r_compatible` for those of R.

    Parameters
    ----------
    statistic : "pearson" or "likelihood_ratio"
    alpha_merge : float
        Pairs of groups with a larger p-value merge.
    alpha_split : float
        A node is split if the adjusted p-value is not larger.
    alpha_resplit : float or None
        A merged group of three levels or more is cut in two again at this level, which must be
        below `alpha_merge`. None: groups stay together.
    bonferroni : bool
        Whether p-values are adjusted for the number of ways to merge.
    exhaustive : bool
        Merge down to two groups and keep the best stage (exhaustive CHAID).
    max_depth : int or None
    min_samples_split, min_samples_leaf : int, or float for a share of all rows
        The least number of rows to split a node, and of a child. Rows count by their weight.
    min_leaf_share : float
        A child may be smaller than `min_samples_leaf` if it has this share of its parent.
    small_groups : "after" or "first"
        Whether groups that are too small merge after all others, or merging goes on, whatever the
        p-value, while there is one. Groups still too small keep a predictor from splitting.
    missing : "late" or "floating"
        Missing values are a category of their own. In ordinal predictors it may join any group:
        after the others have merged, if that gives the smaller adjusted p-value, or on the way.
    class_weight : dict, "balanced" or None
    max_bins : int
        The most groups that numbers are cut into before merging.
    categorical_features : "from_dtype", None, mask, indices or names
        Nominal columns, as in `DecisionTreeClassifier`; "from_dtype" takes booleans, too.
    ordinal_features : "from_dtype", None, mask, indices, names, or dict
        Columns of levels with an order. "from_dtype": ordered categories of pandas, enumerations
        of polars. Columns that are listed have the order of their sorted levels; a dict gives the
        levels of each column in order.
    unknown_categories : "missing" or "error"
        What a level that training did not see is at predict time.
    device, n_jobs, histogram_budget
        As in `DecisionTreeClassifier`.

    Attributes
    ----------
    classes_ : (K,) labels, sorted
    p_values_, log_p_values_ : (M, F), adjusted, of each predictor in each node
    edges_ : of each numeric column the edges of its groups, None for others
    ordinal_ : (F,) bool
    grown_ : `vtree.tree.Tree`, the tree itself
    feature_importances_ : (F,) shares of the decrease of Gini impurity

    Notes
    -----
    Weights are frequencies: doubling all of them makes every test more significant. Levels that a
    node has no rows of go with its first level, or with their neighbour if they have an order;
    missing and unknown values that a node has not seen go to its largest child.

    References
    ----------
    Kass, An exploratory technique for investigating large quantities of categorical data, 1980.
    Biggs, de Ville and Suen, A method of choosing multiway partitions, 1991.

    Examples
    --------
    >>> from vtree import CHAIDClassifier, export_text
    >>> X = {"hair": ["dark"] * 60 + ["red"] * 60 + ["fair"] * 60}
    >>> y = ["brown"] * 50 + ["blue"] * 10 + ["brown"] * 48 + ["blue"] * 12 + ["blue"] * 60
    >>> print(export_text(CHAIDClassifier().fit(X, y)))
    hair: adjusted p = 1.01e-24
    hair in {dark, red} or missing: class brown (98 of 120 rows)
    hair in {fair}: class blue (60 of 60 rows)
    """

    criterion = "gini"
    _criteria = CLASSIFICATION
    _parameter_constraints: dict[str, list[Any]] = {
        **CHAID_CONSTRAINTS,
        "statistic": [StrOptions({"pearson", "likelihood_ratio"})],
        "class_weight": [dict, list, StrOptions({"balanced"}), None],
    }

    def __init__(
        self,
        *,
        statistic: str = "pearson",
        alpha_merge: float = 0.05,
        alpha_split: float = 0.05,
        alpha_resplit: float | None = None,
        bonferroni: bool = True,
        exhaustive: bool = False,
        max_depth: int | None = 3,
        min_samples_split: int | float = 100,
        min_samples_leaf: int | float = 50,
        min_leaf_share: float = 1.0,
        small_groups: str = "after",
        missing: str = "late",
        class_weight: Any = None,
        max_bins: int = 10,
        categorical_features: Any = "from_dtype",
        ordinal_features: Any = "from_dtype",
        unknown_categories: str = "missing",
        device: str = "auto",
        n_jobs: int | None = None,
        histogram_budget: int = DEFAULT_BUDGET,
    ) -> None:
        self.statistic = statistic
        self.alpha_merge = alpha_merge
        self.alpha_split = alpha_split
        self.alpha_resplit = alpha_resplit
        self.bonferroni = bonferroni
        self.exhaustive = exhaustive
        self.max_depth = max_depth
        self.min_samples_split = min_samples_split
        self.min_samples_leaf = min_samples_leaf
        self.min_leaf_share = min_leaf_share
        self.small_groups = small_groups
        self.missing = missing
        self.class_weight = class_weight
        self.max_bins = max_bins
        self.categorical_features = categorical_features
        self.ordinal_features = ordinal_features
        self.unknown_categories = unknown_categories
        self.device = device
        self.n_jobs = n_jobs
        self.histogram_budget = histogram_budget

    fit = _fit_context(prefer_skip_nested_validation=True)(TreeEstimator.fit)

    def _tests(self, targets: Targets) -> tuple[Targets, AssociationTest, Any]:
        test = getattr(association, self.statistic)(targets.weight_unit)
        return targets, test, class_levels

    def _class_shares(self, X: Any) -> Floats:
        leaf = self._leaves(X)  # first, for it tells whether there is a tree
        shares: Floats = self.grown_.value[leaf]
        return shares


class CHAIDRegressor(RegressorMixin, ChaidEstimator):
    """A regression tree by CHAID: groups of levels are compared by the F test of equal means.

    See `CHAIDClassifier` for all parameters.

    Attributes
    ----------
    p_values_, log_p_values_, edges_, ordinal_, grown_
        As in `CHAIDClassifier`.
    feature_importances_ : (F,) shares of the decrease of squared error

    References
    ----------
    Kass, An exploratory technique for investigating large quantities of categorical data, 1980.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from vtree import CHAIDRegressor
    >>> X, y = load_diabetes(return_X_y=True)
    >>> model = CHAIDRegressor(min_samples_leaf=20).fit(X, y)
    >>> model.get_depth(), model.get_n_leaves(), round(model.score(X, y), 3)
    (2, 7, 0.402)
    """

    criterion = "squared_error"
    _criteria = REGRESSION
    _parameter_constraints: dict[str, list[Any]] = CHAID_CONSTRAINTS

    def __init__(
        self,
        *,
        alpha_merge: float = 0.05,
        alpha_split: float = 0.05,
        alpha_resplit: float | None = None,
        bonferroni: bool = True,
        exhaustive: bool = False,
        max_depth: int | None = 3,
        min_samples_split: int | float = 100,
        min_samples_leaf: int | float = 50,
        min_leaf_share: float = 1.0,
        small_groups: str = "after",
        missing: str = "late",
        max_bins: int = 10,
        categorical_features: Any = "from_dtype",
        ordinal_features: Any = "from_dtype",
        unknown_categories: str = "missing",
        device: str = "auto",
        n_jobs: int | None = None,
        histogram_budget: int = DEFAULT_BUDGET,
    ) -> None:
        self.alpha_merge = alpha_merge
        self.alpha_split = alpha_split
        self.alpha_resplit = alpha_resplit
        self.bonferroni = bonferroni
        self.exhaustive = exhaustive
        self.max_depth = max_depth
        self.min_samples_split = min_samples_split
        self.min_samples_leaf = min_samples_leaf
        self.min_leaf_share = min_leaf_share
        self.small_groups = small_groups
        self.missing = missing
        self.max_bins = max_bins
        self.categorical_features = categorical_features
        self.ordinal_features = ordinal_features
        self.unknown_categories = unknown_categories
        self.device = device
        self.n_jobs = n_jobs
        self.histogram_budget = histogram_budget

    fit = _fit_context(prefer_skip_nested_validation=True)(TreeEstimator.fit)

    def _prepare(self, X: Any, y: Any, sample_weight: Any) -> Prepared:
        numbers = one_column(y, type(self).__name__, numeric=True)
        check_span(numbers)
        values, schema = self._read(X)
        weight = row_weights(sample_weight, None, numbers, values.shape[0])
        self.n_outputs_ = 1
        values, kept = kept_rows(values, weight)
        total = float(numbers.shape[0]) if weight is None else float(np.sum(weight))
        targets = real_targets(numbers[kept], None if weight is None else weight[kept])
        return Prepared(values, schema, targets, numbers.shape[0], total, kept)

    def __sklearn_tags__(self) -> Any:  # noqa: D105
        tags = super().__sklearn_tags__()
        # scikit-learn looks for R² > 0.5 on 200 rows, of which children of 50 make four leaves.
        tags.regressor_tags.poor_score = self.min_samples_leaf >= 50
        return tags

    def _tests(self, targets: Targets) -> tuple[Targets, AssociationTest, Any]:
        wide, statistics = moments.with_squares(targets)
        return wide, association.f_test(targets.weight_unit), statistics

    def predict(self, X: Any, check_input: bool = True) -> Array:
        """Return the mean of the row's leaf, (N,)."""
        leaf = self._leaves(X)
        return answer(self.grown_.value[leaf, 0], X)

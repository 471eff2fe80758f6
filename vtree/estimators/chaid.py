"""`CHAIDClassifier` and `CHAIDRegressor`: multiway trees by tests of significance."""

from __future__ import annotations

import math
import warnings
from numbers import Integral, Real
from typing import Any, NoReturn, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClassifierMixin, RegressorMixin, _fit_context
from sklearn.exceptions import DataConversionWarning
from sklearn.utils._param_validation import Interval, RealNotInt, StrOptions

from vtree.arrays import Array
from vtree.binning import level_numbers
from vtree.chaid import association, moments
from vtree.chaid.association import AssociationTest
from vtree.chaid.merging import Rules
from vtree.chaid.search import (
    ChaidSearch,
    NodeTests,
    Sizes,
    class_levels,
    joined_tests,
    log_p_of_nodes,
)
from vtree.criteria import CLASSIFICATION, REGRESSION, Criterion
from vtree.errors import InputError
from vtree.estimators.base import Prepared, TreeEstimator, kept_rows
from vtree.estimators.devices import answer
from vtree.estimators.limits import CONSTRAINTS
from vtree.estimators.targets import as_columns, check_span, class_codes, row_weights
from vtree.finish import finish
from vtree.growth import Plan, Stops, grow
from vtree.histogram import DEFAULT_BUDGET
from vtree.predict import leaves
from vtree.tables import Table, read_table
from vtree.targets import Targets, class_targets, real_targets
from vtree.tree import Tree, depth
from vtree_kernels.scan import Limits

Floats = NDArray[np.float64]

# All pairs of levels are compared: 8 million of them.
MOST_LEVELS = 4_096

# What the package CHAID of R has where SPSS, whose defaults are ours, has other values.
_OF_R = {
    "max_depth": None,
    "min_samples_split": 20,
    "min_samples_leaf": 7,
    "min_leaf_share": 0.01,
    "small_groups": "first",
    "missing": "floating",
}

_SHARED = ("max_depth", "unknown_categories", "device", "n_jobs", "histogram_budget")
_CONSTRAINTS: dict[str, list[Any]] = {
    **{name: CONSTRAINTS[name] for name in _SHARED},
    "alpha_merge": [Interval(Real, 0.0, 1.0, closed="neither")],
    "alpha_split": [Interval(Real, 0.0, 1.0, closed="neither")],
    "alpha_resplit": [Interval(Real, 0.0, 1.0, closed="neither"), None],
    "bonferroni": ["boolean"],
    "exhaustive": ["boolean"],
    "min_samples_split": [
        Interval(Integral, 2, None, closed="left"),
        Interval(RealNotInt, 0.0, 1.0, closed="right"),
    ],
    "min_samples_leaf": [
        Interval(Integral, 1, None, closed="left"),
        Interval(RealNotInt, 0.0, 1.0, closed="neither"),
    ],
    "min_leaf_share": [Interval(Real, 0.0, 1.0, closed="right")],
    "small_groups": [StrOptions({"first", "after"})],
    "missing": [StrOptions({"floating", "late"})],
    "max_bins": [Interval(Integral, 2, MOST_LEVELS - 1, closed="both")],
    "categorical_features": CONSTRAINTS["categorical_features"],
    "ordinal_features": [StrOptions({"from_dtype"}), "array-like", dict, None],
}


class ChaidEstimator(TreeEstimator):
    """What both CHAID estimators share; use a derived class."""

    # CHAID draws no features and prunes nothing.
    max_features = None
    ccp_alpha = 0.0
    criterion: str  # what importances and impurities are of

    @classmethod
    def r_compatible(cls, **parameters: Any) -> Self:
        """Return an estimator that grows the trees of the package CHAID of R.

        Its limits are other than those of SPSS: no maximum of depth, 20 rows to split, children of
        7 rows or a hundredth of their parent, if that is less, and small groups merge first.
        `parameters` are set besides.
        """
        return cls(**{**_OF_R, **parameters})

    def _tests(self, targets: Targets) -> tuple[Targets, AssociationTest, Any]:
        """Return (targets to grow by, test, what it reads from their tables)."""
        raise NotImplementedError

    def _table(self, X: Any) -> Table:
        self._check_alphas()
        table = read_table(
            X,
            categorical_features=self.categorical_features,
            ordinal_features=self.ordinal_features,
        )
        names = table.schema.names
        for feature, own in enumerate(table.schema.levels):
            if own is not None and own.size > MOST_LEVELS:
                name = f"column {feature}" if names is None else f"column {names[feature]!r}"
                raise InputError(
                    f"X: {name} holds {own.size:,} levels, and CHAID compares all pairs of up to "
                    f"{MOST_LEVELS:,}. Merge rare levels, or drop the column"
                )
        self.ordinal_ = table.ordinal | np.array([own is None for own in table.schema.levels])
        return table

    def _check_alphas(self) -> None:
        resplit, merge = self.alpha_resplit, self.alpha_merge
        if resplit is None:
            return
        if self.exhaustive:
            raise InputError(
                f"alpha_resplit={resplit} and exhaustive=True: the exhaustive search splits no "
                "group again; leave one of them out"
            )
        if resplit >= merge:
            raise InputError(
                f"alpha_resplit={resplit} must be below alpha_merge={merge}, or groups would be "
                "merged and split in turns; 0.049 beside 0.05 is usual"
            )

    def _grow(self, data: Prepared, roots: list[NDArray[np.int64]] | None = None) -> Tree:
        """Bin, grow and finish a tree, or one a root (ascending rows of `data`), all at once."""
        criterion: Criterion = self._criteria[self.criterion]
        bins = self._bin(data)
        self.edges_ = tuple(
            None if own is not None else edges
            for own, edges in zip(data.schema.levels, bins.edges, strict=True)
        )
        targets, test, statistics = self._tests(data.targets)
        search = self._search(data, targets, test, statistics)
        plan = Plan(search, Stops(self.max_depth), self.histogram_budget)
        grown, rows, branch_map = grow(bins, targets, plan, roots=roots)
        self.tested_ = joined_tests(search.record, self.n_features_in_)
        grown = grown._replace(total=grown.total[:, : data.targets.layout.n_statistics])
        return finish(grown, rows, branch_map, data.targets, criterion)

    def _search(
        self, data: Prepared, targets: Targets, test: AssociationTest, statistics: Any
    ) -> ChaidSearch:
        unit = targets.weight_unit
        least_split = _amount(self.min_samples_split, data.total_weight)
        rules = Rules(
            math.log(self.alpha_merge),
            None if self.alpha_resplit is None else math.log(self.alpha_resplit),
            self.exhaustive,
            self.small_groups == "first",
            self.missing == "late",
        )
        least = float(_amount(self.min_samples_leaf, data.total_weight))
        return ChaidSearch(
            criterion=self._criteria[self.criterion],
            layout=targets.layout,
            # Growth looks no further at nodes below twice the least weight of a child.
            limits=Limits(1, least_split / 2.0 / unit),
            test=test,
            statistics=statistics,
            rules=rules,
            sizes=Sizes(least, float(self.min_leaf_share), unit),
            bonferroni=self.bonferroni,
            log_alpha_split=math.log(self.alpha_split),
            ordinal=self.ordinal_,
            record=[],
        )

    def _rest(self, tree: Tree, values: Array) -> NDArray[np.int32]:
        return leaves(tree, level_numbers(values, self.edges_))[:, 0]

    def _more_to_save(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        tested = {"tested.key": self.tested_.key, "tested.log_p": self.tested_.log_p}
        return {"edges": list(self.edges_)}, {**tested, "ordinal": self.ordinal_}

    def _take_saved(self, header: dict[str, Any], extra: dict[str, NDArray[Any]]) -> None:
        self.edges_ = tuple(header["edges"])
        key, log_p, ordinal = (extra[name] for name in ("tested.key", "tested.log_p", "ordinal"))
        shapes = key.shape, log_p.shape, ordinal.shape
        n_features = self.n_features_in_
        if shapes != ((key.size,), (key.size, n_features), (n_features,)):
            raise ValueError(f"its tests have the shapes {shapes}")
        if [each.dtype.str[1:] for each in (key, log_p, ordinal)] != ["u8", "f8", "b1"]:
            raise TypeError("its tests are of other types")
        if (key[1:] <= key[:-1]).any():
            raise ValueError("the keys of its tests do not ascend")
        self.tested_, self.ordinal_ = NodeTests(key, log_p), ordinal

    @property
    def log_p_values_(self) -> Floats:
        """Logarithm of the adjusted p-value of each predictor in each node, (M, F).

        NaN where none was tested; above 0 where Bonferroni's adjustment passes 1.
        """
        return log_p_of_nodes(self.grown_, self.tested_)

    @property
    def p_values_(self) -> Floats:
        """The adjusted p-value, at most 1, of each predictor in each node, (M, F); NaN: none."""
        return np.minimum(np.exp(self.log_p_values_), 1.0)

    def get_depth(self) -> int:
        """Return the distance from the root to the farthest leaf."""
        return int(depth(self.grown_).max())

    def get_n_leaves(self) -> int:
        """Return the number of leaves."""
        return int((self.grown_.first_child < 0).sum())

    @property
    def tree_(self) -> NoReturn:
        """Not there: scikit-learn's trees are binary."""
        raise AttributeError(
            f"{type(self).__name__} has no tree_, for scikit-learn's trees are binary; "
            "see grown_, or vtree.export_text(model)"
        )

    def to_sklearn(self) -> NoReturn:
        """Raise InputError: scikit-learn's trees are binary."""
        raise InputError("scikit-learn's trees are binary and cannot hold a CHAID tree")

    def cost_complexity_pruning_path(self, X: Any, y: Any, sample_weight: Any = None) -> NoReturn:
        """Raise InputError: CHAID stops by tests; `vtree.prune` prunes its trees, too."""
        raise InputError("CHAID stops by tests; vtree.prune(model, ...) prunes its trees, too")


def _amount(least: int | float, total_weight: float) -> float:
    """Return a number of rows, given as such or as a share of all."""
    return float(least) if isinstance(least, Integral) else math.ceil(least * total_weight)


class CHAIDClassifier(ClassifierMixin, ChaidEstimator):
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
        Nominal columns, as in `DecisionTreeClassifier`.
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
        **_CONSTRAINTS,
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

    def _prepare(self, X: Any, y: Any, sample_weight: Any) -> Prepared:
        values, schema = self._read(X)
        labels = _one_output(y, numeric=False)
        weight = row_weights(sample_weight, self.class_weight, labels, values.shape[0])
        (self.classes_,), codes = class_codes(labels)
        self.n_classes_ = self.classes_.size
        self.n_outputs_ = 1
        values, kept = kept_rows(values, weight)
        total = float(labels.shape[0]) if weight is None else float(np.sum(weight))
        kept_weight = None if weight is None else weight[kept]
        targets = class_targets(codes[kept], [self.n_classes_], kept_weight)
        return Prepared(values, schema, targets, labels.shape[0], total, kept)

    def _tests(self, targets: Targets) -> tuple[Targets, AssociationTest, Any]:
        test = getattr(association, self.statistic)(targets.weight_unit)
        return targets, test, class_levels

    def _class_counts(self) -> NDArray[np.int64]:
        return np.asarray([self.n_classes_], dtype=np.int64)

    def _shares(self, X: Any) -> Floats:
        leaf = self._leaves(X)
        shares: Floats = self.grown_.value[leaf]
        return shares

    def predict_proba(self, X: Any, check_input: bool = True) -> Array:
        """Return the share of each class in the row's leaf, (N, K)."""
        return answer(self._shares(X), X)

    def predict_log_proba(self, X: Any) -> Array:
        """Return the natural logarithm of `predict_proba`, −∞ for impossible classes."""
        with np.errstate(divide="ignore"):
            return answer(np.log(self._shares(X)), X)

    def predict(self, X: Any, check_input: bool = True) -> Array:
        """Return the most frequent class of the row's leaf, (N,), the first of equals."""
        best = np.argmax(self._shares(X), axis=1)
        return answer(self.classes_[best], X)


class CHAIDRegressor(RegressorMixin, ChaidEstimator):
    """A regression tree by CHAID: groups of levels are compared by the F test of equal means.

    See `CHAIDClassifier` for all parameters.

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
    _parameter_constraints: dict[str, list[Any]] = _CONSTRAINTS

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
        numbers = _one_output(y, numeric=True)
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


def _one_output(y: Any, *, numeric: bool) -> NDArray[Any]:
    """Return y as (N, 1), or raise InputError for several outputs."""
    columns = as_columns(y, numeric=numeric)
    if columns.shape[1] > 1:
        raise InputError(
            f"y has {columns.shape[1]} columns, and CHAID predicts one; fit one model a column"
        )
    if len(getattr(y, "shape", ())) > 1:
        message = "A column-vector y was passed when a 1d array was expected. Pass y[:, 0]."
        warnings.warn(message, DataConversionWarning, stacklevel=4)
    return columns

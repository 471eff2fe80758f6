"""`C45Classifier`: Quinlan's C4.5, with missing values, pruning and attribute costs."""

from __future__ import annotations

from collections.abc import Callable
from numbers import Integral, Real
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import _fit_context
from sklearn.utils._param_validation import Interval, StrOptions

from vtree import arrays
from vtree.binning import Bins
from vtree.criteria import information
from vtree.criteria.information import Worth
from vtree.errors import InputError, own_errors
from vtree.estimators.base import TreeEstimator
from vtree.estimators.information_tree import InformationTree, column_name
from vtree.estimators.limits import CONSTRAINTS
from vtree.estimators.prepared import Prepared
from vtree.gain_ratio import InformationSearch, Merging
from vtree.histogram import DEFAULT_BUDGET
from vtree.pruning.collapsing import collapsed, training_errors
from vtree.pruning.error_based import added_errors, check_confidence
from vtree.pruning.raising import as_tree, prune_by_errors
from vtree.pruning.rerouting import Rows
from vtree.tables import Schema
from vtree.targets import Targets
from vtree.tree import Tree, sum_upward
from vtree_kernels.entropy_cuts.reference import TOLERANCE

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

_OF_COST: dict[str, Callable[[Floats, float], Worth]] = {
    "eg2": information.eg2,
    "idx": lambda costs, power: information.idx(costs),
    "cs_id3": lambda costs, power: information.cs_id3(costs),
}
_MOST_MERGED = 255  # levels
_J48_MARGIN = 1e-6  # by which a later attribute or cut must be better in J48
_SHARED = ("max_bins", "categorical_features", "unknown_categories", "device", "n_jobs")


class C45Classifier(InformationTree):
    """A C4.5 tree: gain ratio, fractional rows for missing values, error-based pruning.

    Nominal attributes branch by level, numeric ones at a value of the training set. Attributes
    compete by gain ratio if they gain at least the average; the choice of a cut is paid for with
    log2(candidates) / W bits. Trees are those of Quinlan's release 8 or of Weka's J48.

    Parameters
    ----------
    criterion : "gain_ratio", "gain", "eg2", "idx" or "cs_id3"
        The last three weigh the gain against `attribute_costs`.
    min_objects : float
        The least weight of at least two branches (C4.5's -m).
    confidence : float
        Of the pruning, above 0, at most 0.5; smaller values prune more (C4.5's -c).
    prune : bool
        Whether to prune; the tree collapses in any case if `collapse` is set.
    subtree_raising : bool
        Whether pruning may replace a node by its largest branch.
    collapse : bool
        Remove subtrees that do not lower the training errors.
    subset : bool
        Whether levels of nominal attributes may share branches, merged greedily pair by pair
        (C4.5's -s). Such attributes are asked again below.
    mdl_correction : bool
        Whether the choice among cuts costs gain.
    reference : "r8" or "j48"
        Whose arithmetic to follow where the programs differ.
    attribute_costs : (F,) positive costs, or None for 1 each
    cost_exponent : float
        How much costs count in "eg2", 0 … 1.
    class_weight : dict, "balanced" or None
    max_bins : int or None
        None cuts at any value; otherwise numbers are cut at that many quantiles first.
    categorical_features : "from_dtype", None, mask, indices or names
        Nominal columns, as in `DecisionTreeClassifier`; "from_dtype" takes booleans, too. Levels
        that no row of the training has count for nothing, declared or not; Quinlan's programs
        give them empty branches.
    unknown_categories : "missing" or "error"
        What a level that training did not see is at predict time.
    device, n_jobs, histogram_budget
        As in `DecisionTreeClassifier`.

    Attributes
    ----------
    classes_ : (K,) labels, sorted
    predicted_errors_ : (M,) errors that pruning expects of each node
    grown_ : `vtree.tree.Tree`, the tree itself
    feature_importances_ : (F,) shares of the decrease of entropy

    References
    ----------
    Quinlan, C4.5: Programs for Machine Learning, 1993. Quinlan, Improved use of continuous
    attributes in C4.5, JAIR 4 (1996). Costs: Núñez 1991, Norton 1989, Tan & Schlimmer 1990.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from vtree import C45Classifier, export_text
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> print(export_text(C45Classifier(confidence=0.1, min_objects=10).fit(X, y)))
    petal width (cm) <= 0.60: class 0 (50 of 50 rows)
    petal width (cm) >  0.60:
    |   petal width (cm) <= 1.70: class 1 (49 of 54 rows)
    |   petal width (cm) >  1.70: class 2 (45 of 46 rows)
    """

    _parameter_constraints: dict[str, list[Any]] = {
        **{name: CONSTRAINTS[name] for name in _SHARED},
        "criterion": [StrOptions({"gain_ratio", "gain", *_OF_COST})],
        "min_objects": [Interval(Real, 0.0, None, closed="neither")],
        "confidence": [Real],
        "prune": ["boolean"],
        "subtree_raising": ["boolean"],
        "collapse": ["boolean"],
        "subset": ["boolean"],
        "mdl_correction": ["boolean"],
        "reference": [StrOptions({"r8", "j48"})],
        "attribute_costs": ["array-like", None],
        "cost_exponent": [Interval(Real, 0.0, 1.0, closed="both")],
        "class_weight": [dict, list, StrOptions({"balanced"}), None],
        "histogram_budget": [Interval(Integral, 1, None, closed="left")],
    }

    def __init__(
        self,
        *,
        criterion: str = "gain_ratio",
        min_objects: float = 2.0,
        confidence: float = 0.25,
        prune: bool = True,
        subtree_raising: bool = True,
        collapse: bool = True,
        subset: bool = False,
        mdl_correction: bool = True,
        reference: str = "r8",
        attribute_costs: Any = None,
        cost_exponent: float = 1.0,
        class_weight: Any = None,
        max_bins: int | None = None,
        categorical_features: Any = "from_dtype",
        unknown_categories: str = "missing",
        device: str = "auto",
        n_jobs: int | None = None,
        histogram_budget: int = DEFAULT_BUDGET,
    ) -> None:
        self.criterion = criterion
        self.min_objects = min_objects
        self.confidence = confidence
        self.prune = prune
        self.subtree_raising = subtree_raising
        self.collapse = collapse
        self.subset = subset
        self.mdl_correction = mdl_correction
        self.reference = reference
        self.attribute_costs = attribute_costs
        self.cost_exponent = cost_exponent
        self.class_weight = class_weight
        self.max_bins = max_bins
        self.categorical_features = categorical_features
        self.unknown_categories = unknown_categories
        self.device = device
        self.n_jobs = n_jobs
        self.histogram_budget = histogram_budget

    fit = _fit_context(prefer_skip_nested_validation=True)(TreeEstimator.fit)

    def _prepare(self, X: Any, y: Any, sample_weight: Any) -> Prepared:
        check_confidence(self.confidence)
        data = super()._prepare(X, y, sample_weight)
        self._read_costs(len(data.schema.levels))
        return data

    def _read_costs(self, n_features: int) -> Floats:
        if self.attribute_costs is None:
            return np.ones(n_features)
        if self.criterion not in _OF_COST:
            raise InputError(
                f'attribute_costs count in the criteria "eg2", "idx" and "cs_id3" only, not in '
                f"{self.criterion!r}; choose one of them, or leave the costs out"
            )
        with own_errors("attribute_costs"):
            costs = np.asarray(self.attribute_costs, dtype=np.float64)
        if costs.shape != (n_features,):
            raise InputError(
                f"attribute_costs has shape {costs.shape} but X has {n_features} columns; "
                "give one cost for each"
            )
        if not ((costs > 0.0) & np.isfinite(costs)).all():
            worst = int(np.argmin((costs > 0.0) & np.isfinite(costs)))
            raise InputError(
                f"attribute_costs[{worst}] is {costs[worst]} but costs must be positive and "
                "finite; give attributes that cost nothing a small cost"
            )
        return costs

    def _worth(self, n_features: int) -> Worth:
        if self.criterion in _OF_COST:
            return _OF_COST[self.criterion](self._read_costs(n_features), float(self.cost_exponent))
        if self.criterion == "gain":
            return information.plain_gain
        return information.gain_ratio if self.reference == "r8" else information.positive_ratio

    def _search(
        self, targets: Targets, averaged: NDArray[np.bool_], bins: Bins
    ) -> InformationSearch:
        corrected = bool(self.mdl_correction) and self.criterion not in _OF_COST
        margin = _J48_MARGIN if self.reference == "j48" else TOLERANCE
        return (
            super()
            ._search(targets, averaged, bins)
            ._replace(
                corrected=corrected,
                margin=margin,
                merges=Merging(self.criterion == "gain_ratio") if self.subset else None,
            )
        )

    def _check_columns(self, schema: Schema) -> None:
        if not self.subset:
            return
        if self.criterion in _OF_COST:
            raise InputError(
                f'subset=True goes with the criteria "gain_ratio" and "gain", not with '
                f"{self.criterion!r}; choose one of them, or leave it out"
            )
        for feature, own in enumerate(schema.levels):
            if own is not None and own.size > _MOST_MERGED:
                raise InputError(
                    f"X: {column_name(schema, feature)} holds {own.size:,} levels, and subset=True "
                    f"tries all pairs of up to {_MOST_MERGED}. Merge rare levels, or drop it"
                )

    def _pruned(self, tree: Tree, data: Prepared, targets: Targets, whole: Integers | None) -> Tree:
        if self.collapse:
            tree = collapsed(tree, upward=self.reference == "r8")
        values = arrays.to_numpy(data.values)
        ones = np.ones(values.shape[0], dtype=np.int64)
        rows = Rows(
            values=values,
            label=targets.label[: ones.size, 0].astype(np.int64) - targets.layout.first,
            weight=ones if targets.weight is None else targets.weight,
            whole=ones if whole is None else whole,
            unit=targets.weight_unit,
            n_classes=int(self.n_classes_),
        )
        added = added_errors(float(self.confidence), self.reference)
        found = prune_by_errors(
            tree, rows, added, raising=bool(self.subtree_raising), prunes=bool(self.prune)
        )
        tree, self.predicted_errors_ = as_tree(tree, found, rows)
        return tree

    def _follow_pruning(self) -> None:
        tree = self.grown_
        errors = training_errors(tree)
        added = added_errors(float(self.confidence), self.reference)(tree.weight, errors)
        self.predicted_errors_ = sum_upward(
            tree, np.where(tree.first_child < 0, errors + added, 0.0)
        )

    def to_rules(self, X: Any, y: Any, sample_weight: Any = None) -> Any:
        """Return a `RuleListClassifier` with this tree's parameters, fitted on the same rows.

        Rules come from the tree before pruning and are judged by the rows it grew from, so these
        are asked for again.

        Examples
        --------
        >>> from vtree import C45Classifier
        >>> X = {"wing": ["yes", "yes", "no", "no"] * 5}
        >>> y = ["bird", "bird", "fish", "fish"] * 5
        >>> print(C45Classifier().fit(X, y).to_rules(X, y).to_text())
        if wing = yes then bird [87.1%]
        if wing = no then fish [87.1%]
        otherwise bird
        """
        from vtree.estimators.rule_list import RuleListClassifier

        if self.subset:
            raise InputError(
                "rules ask for single levels, and this tree groups them; grow it with subset=False"
            )
        own = self.get_params(deep=False)
        shared = {name: own[name] for name in RuleListClassifier().get_params() if name in own}
        return RuleListClassifier(**shared).fit(X, y, sample_weight)

    def _more_to_save(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        return {}, {"predicted_errors": self.predicted_errors_}

    def _take_saved(self, header: dict[str, Any], extra: dict[str, NDArray[Any]]) -> None:
        super()._take_saved(header, {})
        errors = extra["predicted_errors"]
        if errors.dtype != np.float64 or errors.ndim != 1 or not np.isfinite(errors).all():
            raise ValueError("its predicted errors are no finite numbers")
        self.predicted_errors_ = errors

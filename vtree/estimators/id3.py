"""`ID3Classifier`: Quinlan's first decision trees, for nominal attributes."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any

import numpy as np
from sklearn.base import _fit_context
from sklearn.utils._param_validation import Interval, StrOptions

from vtree import arrays
from vtree.arrays import Array
from vtree.criteria.information import Worth, gain_above
from vtree.errors import InputError
from vtree.estimators.base import TreeEstimator
from vtree.estimators.information_tree import InformationTree, column_name
from vtree.estimators.limits import CONSTRAINTS
from vtree.histogram import DEFAULT_BUDGET
from vtree.tables import Schema, Table, read_table

_SHARED = ("max_depth", "categorical_features", "unknown_categories", "device", "n_jobs")


class ID3Classifier(InformationTree):
    """A tree of nominal attributes with one branch a level, split by information gain.

    Each attribute is asked at most once on the way to a leaf. A level that a node has no rows of
    gets a leaf with the shares of the node's classes.

    Parameters
    ----------
    min_gain : float
        A node is split if its best attribute gains more bits than this.
    max_depth : int or None
    class_weight : dict, "balanced" or None
    categorical_features : "from_dtype", None, mask, indices or names
        As in `DecisionTreeClassifier`; "from_dtype" takes booleans, too. All columns must be
        nominal in the end; whole numbers in a plain array without column names count as levels.
    unknown_categories : "missing" or "error"
        What a level that training did not see is at predict time.
    device, n_jobs, histogram_budget
        As in `DecisionTreeClassifier`.

    Attributes
    ----------
    classes_ : (K,) labels, sorted
    grown_ : `vtree.tree.Tree`, the tree itself
    feature_importances_ : (F,) shares of the decrease of entropy

    Notes
    -----
    ID3 has no word on missing values; here they divide a row, as in `C45Classifier`.

    References
    ----------
    Quinlan, Induction of decision trees, Machine Learning 1 (1986).

    Examples
    --------
    >>> from vtree import ID3Classifier, export_text
    >>> X = {"outlook": ["sunny", "sunny", "rain", "rain"], "windy": ["no", "yes", "no", "yes"]}
    >>> print(export_text(ID3Classifier().fit(X, ["stay", "stay", "play", "stay"])))
    outlook in {rain}:
    |   windy in {no}: class play (1 of 1 row)
    |   windy in {yes}: class stay (1 of 1 row)
    outlook in {sunny}: class stay (2 of 2 rows)
    """

    _parameter_constraints: dict[str, list[Any]] = {
        **{name: CONSTRAINTS[name] for name in _SHARED},
        "min_gain": [Interval(Real, 0.0, None, closed="left")],
        "class_weight": [dict, list, StrOptions({"balanced"}), None],
        "histogram_budget": [Interval(Integral, 1, None, closed="left")],
    }

    def __init__(
        self,
        *,
        min_gain: float = 0.0,
        max_depth: int | None = None,
        class_weight: Any = None,
        categorical_features: Any = "from_dtype",
        unknown_categories: str = "missing",
        device: str = "auto",
        n_jobs: int | None = None,
        histogram_budget: int = DEFAULT_BUDGET,
    ) -> None:
        self.min_gain = min_gain
        self.max_depth = max_depth
        self.class_weight = class_weight
        self.categorical_features = categorical_features
        self.unknown_categories = unknown_categories
        self.device = device
        self.n_jobs = n_jobs
        self.histogram_budget = histogram_budget

    fit = _fit_context(prefer_skip_nested_validation=True)(TreeEstimator.fit)

    min_objects = 0.0

    def _worth(self, n_features: int) -> Worth:
        return gain_above(float(self.min_gain))

    def _most_levels(self) -> int | None:
        return self.max_depth

    def _table(self, X: Any) -> Table:
        table = super()._table(X)
        numeric = [feature for feature, own in enumerate(table.schema.levels) if own is None]
        if not numeric or table.schema.names is not None or self.categorical_features is None:
            return table
        if not all(_whole(table.values[:, feature]) for feature in numeric):
            return table
        return read_table(X, categorical_features=np.ones(len(table.schema.levels), dtype=bool))

    def _check_columns(self, schema: Schema) -> None:
        numeric = [f for f, own in enumerate(schema.levels) if own is None]
        if numeric:
            named = ", ".join(column_name(schema, f) for f in numeric[:8])
            more = f" and {len(numeric) - 8} more" if len(numeric) > 8 else ""
            verb = "holds" if len(numeric) == 1 else "hold"
            raise InputError(
                f"X: {named}{more} {verb} numbers, but ID3 splits nominal attributes alone. Pass "
                "them as categories (categorical_features), cut them into ranges first "
                "(sklearn.preprocessing.KBinsDiscretizer), or use C45Classifier"
            )

    def __sklearn_tags__(self) -> Any:  # noqa: D105
        tags = super().__sklearn_tags__()
        tags.input_tags.categorical = True
        return tags


def _whole(column: Array) -> bool:
    """Tell whether a column holds whole numbers and missing values only."""
    xp = arrays.namespace(column)
    return bool(xp.all(xp.isnan(column) | (xp.isfinite(column) & (xp.floor(column) == column))))

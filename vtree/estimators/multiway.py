"""What ID3, C4.5 and CHAID share: one target, and splits of any number of branches."""

from __future__ import annotations

import warnings
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClassifierMixin
from sklearn.exceptions import DataConversionWarning

from vtree.arrays import Array
from vtree.errors import InputError
from vtree.estimators.base import TreeEstimator
from vtree.estimators.devices import answer
from vtree.estimators.prepared import Prepared, kept_rows
from vtree.estimators.targets import as_columns, class_codes, row_weights
from vtree.tables import Schema
from vtree.targets import class_targets
from vtree.tree import depth

Floats = NDArray[np.float64]


class MultiwayTree(TreeEstimator):
    """Base of the estimators whose splits may have more than two branches; use a derived class."""

    # These systems draw no features and know no price of a leaf.
    max_features = None
    ccp_alpha = 0.0

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
        raise InputError(
            f"scikit-learn's trees are binary and cannot hold those of {type(self).__name__}"
        )

    def cost_complexity_pruning_path(self, X: Any, y: Any, sample_weight: Any = None) -> NoReturn:
        """Raise InputError: `vtree.prune` prunes these trees by cost-complexity, too."""
        raise InputError("use vtree.prune(model, ...), which prunes these trees, too")


class MultiwayClassifier(ClassifierMixin, MultiwayTree):
    """Base of those that tell classes; use a derived class."""

    class_weight: Any

    def _check_columns(self, schema: Schema) -> None:
        """Raise InputError for columns that the system cannot split."""

    def _prepare(self, X: Any, y: Any, sample_weight: Any) -> Prepared:
        values, schema = self._read(X)
        self._check_columns(schema)
        labels = one_column(y, type(self).__name__, numeric=False)
        weight = row_weights(sample_weight, self.class_weight, labels, values.shape[0])
        (self.classes_,), codes = class_codes(labels)
        self.n_classes_, self.n_outputs_ = self.classes_.size, 1
        values, kept = kept_rows(values, weight)
        total = float(labels.shape[0]) if weight is None else float(np.sum(weight))
        kept_weight = None if weight is None else weight[kept]
        targets = class_targets(codes[kept], [self.n_classes_], kept_weight)
        return Prepared(values, schema, targets, labels.shape[0], total, kept)

    def _class_counts(self) -> NDArray[np.int64]:
        return np.asarray([self.n_classes_], dtype=np.int64)

    def _class_shares(self, X: Any) -> Floats:
        """Return what `predict_proba` does, on the host."""
        raise NotImplementedError

    def predict_proba(self, X: Any, check_input: bool = True) -> Array:
        """Return the share of each class in the row's leaf, (N, K).

        Where rows without a value divide (ID3, C4.5), all branches answer, each by its share of the
        training weight; so they do for a level that training did not see.
        """
        return answer(self._class_shares(X), X)

    def predict_log_proba(self, X: Any) -> Array:
        """Return the natural logarithm of `predict_proba`, −∞ for impossible classes."""
        with np.errstate(divide="ignore"):
            return answer(np.log(self._class_shares(X)), X)

    def predict(self, X: Any, check_input: bool = True) -> Any:
        """Return the class with the largest share, the first of equal ones, (N,)."""
        chosen = np.argmax(self._class_shares(X), axis=1)
        return answer(self.classes_[chosen], X)


def one_column(y: Any, owner: str, *, numeric: bool) -> NDArray[Any]:
    """Return y as (N, 1), with scikit-learn's warning where it is a column already.

    Raises
    ------
    InputError
        Several columns.
    """
    columns = as_columns(y, numeric=numeric)
    if columns.shape[1] > 1:
        raise InputError(
            f"y has {columns.shape[1]} columns, but {owner} predicts one target; fit one model for "
            "each"
        )
    if len(getattr(y, "shape", ())) > 1:
        warnings.warn(
            "A column-vector y was passed when a 1d array was expected; pass y.ravel()",
            DataConversionWarning,
            stacklevel=6,
        )
    return columns

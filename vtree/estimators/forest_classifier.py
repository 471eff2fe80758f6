"""What forests that vote on classes share."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClassifierMixin
from sklearn.metrics import accuracy_score
from sklearn.utils._param_validation import StrOptions
from sklearn.utils.class_weight import compute_sample_weight

from vtree.arrays import Array
from vtree.ensembles.out_of_bag import score_of_answered
from vtree.errors import InputError
from vtree.estimators.base import TreeEstimator
from vtree.estimators.decision_tree import DecisionTreeClassifier
from vtree.estimators.devices import answer
from vtree.estimators.forest_analysis import ForestAnalysis
from vtree.estimators.prepared import Prepared
from vtree.estimators.targets import row_weights
from vtree.tree import Tree

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

VOTING: dict[str, list[Any]] = {
    "class_weight": [StrOptions({"balanced", "balanced_subsample"}), dict, list, None],
    "voting": [StrOptions({"soft", "hard"})],
}


class ForestClassifier(ClassifierMixin, ForestAnalysis):
    """Base of forests that vote on classes."""

    _tree_class = DecisionTreeClassifier

    def _row_weights(self, columns: NDArray[Any], sample_weight: Any) -> Floats | None:
        weight = row_weights(sample_weight, None, columns, columns.shape[0])
        _, by_class = self._validate_y_class_weight(columns, weight)
        if by_class is None:
            return weight
        return by_class if weight is None else weight * by_class

    def _validate_y_class_weight(
        self, y: NDArray[Any], sample_weight: Floats | None
    ) -> tuple[NDArray[Any], Floats | None]:
        """Return (y, the weight of each row by its class, None if all are alike)."""
        by_sample = self.class_weight == "balanced_subsample"
        if self.class_weight is None or (by_sample and self.bootstrap):
            return y, None
        rule = "balanced" if by_sample else self.class_weight
        labels = y if y.shape[1] > 1 else y[:, 0]
        if isinstance(rule, str) and sample_weight is not None:
            return y, _balanced_weights(y, sample_weight)
        row_weights(None, rule, y, y.shape[0])  # what cannot be used is refused there
        return y, np.asarray(compute_sample_weight(rule, labels), dtype=np.float64)

    def _balanced(self, data: Prepared | None) -> Integers | None:
        if self.class_weight != "balanced_subsample" or data is None:
            return None
        return data.targets.classes

    def _template(self) -> TreeEstimator:
        tree = super()._template()
        # As in scikit-learn, the trees of a forest answer class numbers.
        several = isinstance(self.classes_, list)
        own = [np.arange(each.size, dtype=np.float64) for each in self._outputs()]
        tree.classes_ = own if several else own[0]
        tree.priors_ = tree.costs_ = None
        return tree

    def _outputs(self) -> list[NDArray[Any]]:
        """Return the classes of each output."""
        return self.classes_ if isinstance(self.classes_, list) else [self.classes_]

    def _voting_tree(self) -> Tree:
        if self.voting == "soft":
            return self.grown_
        widest = max(own.size for own in self._outputs())
        share = self.grown_.value.reshape(-1, len(self._outputs()), widest)
        vote = np.argmax(share, axis=2)[:, :, None] == np.arange(widest)
        return self.grown_._replace(value=vote.astype(np.float64).reshape(len(share), -1))

    def _shares(self, X: Any) -> list[Floats]:
        return self._split(self._mean(X))

    def _split(self, mean: Floats) -> list[Floats]:
        """Return the shares of each output's classes."""
        outputs = self._outputs()
        widest = max(own.size for own in outputs)
        whole = mean.reshape(-1, len(outputs), widest)
        return [whole[:, o, : own.size] for o, own in enumerate(outputs)]

    def _score_out_of_bag(self, mean: Floats, columns: NDArray[Any], score: Any) -> None:
        # Classes that an output has not, beside others with more, have no share.
        shares = mean.reshape(mean.shape[0], len(self._outputs()), -1).transpose(0, 2, 1)
        self.oob_decision_function_ = shares[:, :, 0] if shares.shape[2] == 1 else shares
        known = ~np.isnan(mean[:, 0])
        labels = self._labels(self._split(mean[known]))
        truth = columns[known, 0] if columns.shape[1] == 1 else columns[known]
        self.oob_score_ = score_of_answered(score or accuracy_score, truth, labels)

    def _loss_of_rows(self, columns: NDArray[Any]) -> Any:
        codes = []
        for own, column in zip(self._outputs(), columns.T, strict=True):
            code = np.minimum(np.searchsorted(own, column), own.size - 1)
            if not (own[code] == column).all():
                raise InputError("y holds classes that fit did not see")
            codes.append(code)

        def wrong(value: Floats, rows: Integers) -> Floats:
            chosen = [np.argmax(share, axis=1) for share in self._split(value)]
            missed = [own != code[rows] for own, code in zip(chosen, codes, strict=True)]
            share: Floats = np.mean(missed, axis=0)
            return share

        return wrong

    def _labels(self, shares: list[Floats]) -> NDArray[Any]:
        chosen = [
            own[np.argmax(share, axis=1)]
            for own, share in zip(self._outputs(), shares, strict=True)
        ]
        return np.stack(chosen, axis=1) if isinstance(self.classes_, list) else chosen[0]

    def predict_proba(self, X: Any) -> Any:
        """Return the share of each class in the vote, (N, K); a list for several outputs."""
        shares = [answer(share, X) for share in self._shares(X)]
        return shares if isinstance(self.classes_, list) else shares[0]

    def predict_log_proba(self, X: Any) -> Any:
        """Return the natural logarithm of `predict_proba`, −∞ for impossible classes."""
        with np.errstate(divide="ignore"):
            logs = [answer(np.log(share), X) for share in self._shares(X)]
        return logs if isinstance(self.classes_, list) else logs[0]

    def predict(self, X: Any) -> Array:
        """Return the class of the largest share, the first of equal ones, (N,) or (N, outputs)."""
        return answer(self._labels(self._shares(X)), X)

    def __sklearn_tags__(self) -> Any:  # noqa: D105
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_label = True
        return tags


def _balanced_weights(y: NDArray[Any], weight: Floats) -> Floats:
    """Return total / (classes · weight of the row's class), multiplied over outputs, (N,).

    Classes that only rows of weight zero have do not count, as if these rows were absent.
    """
    factor = np.ones(y.shape[0])
    for column in y.T:
        code = np.unique(column, return_inverse=True)[1]
        total = np.bincount(code, weight)
        some = total > 0.0
        balanced = np.divide(weight.sum(), some.sum() * total, np.ones_like(total), where=some)
        factor *= balanced[code]
    return factor

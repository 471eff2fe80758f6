"""`BaggingClassifier` and `BaggingRegressor`: scikit-learn's, over any of our trees or others."""

from __future__ import annotations

from inspect import signature
from typing import Any

import numpy as np
import sklearn.ensemble
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.metrics import accuracy_score, r2_score
from sklearn.utils.validation import check_is_fitted, validate_data

from vtree import arrays
from vtree.ensembles.out_of_bag import score_of_answered
from vtree.estimators.bagged_trees import BaggedTrees
from vtree.estimators.base import TableEstimator, keep
from vtree.estimators.decision_tree import DecisionTreeClassifier, DecisionTreeRegressor
from vtree.estimators.devices import answer
from vtree.estimators.forest_classifier import VOTING
from vtree.estimators.limits import CONSTRAINTS
from vtree.estimators.members import by_class_numbers

Floats = NDArray[np.float64]

# None of late, once 1.0.
_MAX_SAMPLES = signature(sklearn.ensemble.BaggingClassifier).parameters["max_samples"].default

BAGGING_CONSTRAINTS: dict[str, list[Any]] = {
    "oob_score": ["boolean", callable],
    "n_jobs": CONSTRAINTS["n_jobs"],
}


class BaggingClassifier(BaggedTrees, sklearn.ensemble.BaggingClassifier):
    """Classifiers on bootstrap samples, whose mean answer counts.

    scikit-learn's class with this library's `DecisionTreeClassifier` as its default `estimator`;
    any classifier will do, such as `C45Classifier` or `CHAIDClassifier`. Over this library's trees
    tables may hold categories and missing values.

    Parameters
    ----------
    estimator : classifier, optional
    n_estimators, max_samples, max_features, bootstrap, bootstrap_features, warm_start,
    random_state, verbose
        As in scikit-learn. The same `random_state` draws the same samples as there.
    oob_score : bool, or (truth, answers) → float
        Whether to score answers of trees whose samples lack a row, and by what.
    n_jobs : int, optional
        How many threads to work on, −1 for all; by default what the learner says.
    voting : "soft" or "hard"
        The mean of the shares of each class, or Breiman's majority vote.

    Attributes
    ----------
    estimators_, estimators_samples_, estimators_features_ : lists of T members, rows and columns
    classes_ : (K,) labels, sorted
    n_classes_, n_features_in_ : int
    oob_score_ : float, oob_decision_function_ : (N, K), if `oob_score`
    grown_ : `vtree.tree.Tree`, all trees in one, over this library's trees

    References
    ----------
    Breiman, Bagging predictors, Machine Learning 24, 1996.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from vtree import BaggingClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> model = BaggingClassifier(oob_score=True, n_estimators=30, random_state=0).fit(X, y)
    >>> type(model.estimators_[0]).__module__.split(".")[0], model.oob_score_ > 0.9
    ('vtree', True)
    """

    _method = "predict_proba"
    _parameter_constraints: dict[str, list[Any]] = {
        **sklearn.ensemble.BaggingClassifier._parameter_constraints,
        **BAGGING_CONSTRAINTS,
        "voting": VOTING["voting"],
    }

    def __init__(
        self,
        estimator: Any = None,
        n_estimators: int = 10,
        *,
        max_samples: Any = _MAX_SAMPLES,
        max_features: int | float = 1.0,
        bootstrap: bool = True,
        bootstrap_features: bool = False,
        oob_score: Any = False,
        warm_start: bool = False,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
        voting: str = "soft",
    ) -> None:
        super().__init__()
        keep(self, locals())

    def _get_estimator(self) -> Any:
        return DecisionTreeClassifier() if self.estimator is None else self.estimator

    def _validate_estimator(self, default: Any = None) -> None:
        super()._validate_estimator(default)
        if isinstance(self.estimator_, TableEstimator):  # a forest of ours
            own = by_class_numbers(self.estimator_, self.classes_)
            self.estimator_ = clone(self.estimator_).set_params(**own)

    def predict_proba(self, X: Any, **params: Any) -> Any:
        """Return the mean of the shares, or the share of votes, of each class, (N, K)."""
        check_is_fitted(self)
        if self._bags_trees:
            return answer(self._mean(X, "predict_proba"), X)
        if self.voting == "soft":
            return super().predict_proba(X, **params)
        return self._votes_of_others(X)

    def _votes_of_others(self, X: Any) -> Floats:
        """Return the share of learners that are none of our trees for each class, (N, K)."""
        kinds = ["csr", "csc"]
        X = validate_data(
            self, X, accept_sparse=kinds, dtype=None, ensure_all_finite=False, reset=False
        )
        every = zip(self.estimators_, self.estimators_features_, strict=True)
        votes: Any = sum(self._answer_of(*each, X, "predict_proba") for each in every)
        mean: Floats = votes / len(self.estimators_)
        return mean

    def predict_log_proba(self, X: Any, **params: Any) -> Any:
        """Return the natural logarithm of `predict_proba`, −∞ for impossible classes."""
        check_is_fitted(self)
        if not self._bags_trees and self.voting == "soft":
            return super().predict_log_proba(X, **params)
        mean = self._mean(X, "predict_proba") if self._bags_trees else self._votes_of_others(X)
        with np.errstate(divide="ignore"):
            return answer(np.log(mean), X)

    def predict(self, X: Any, **params: Any) -> Any:
        """Return the class of the largest share, the first of equal ones, (N,)."""
        check_is_fitted(self)
        if not self._bags_trees:
            return super().predict(X, **params)
        mean = self._mean(X, "predict_proba")
        return answer(self.classes_[np.argmax(mean, axis=1)], X)

    def _node_answers(self, value: Floats) -> Floats:
        if self.voting == "soft":
            return value
        chosen = np.argmax(value, axis=1)[:, None] == np.arange(value.shape[1])
        votes: Floats = chosen.astype(np.float64)
        return votes

    def _of_member(self, member: Any, table: Any, method: str) -> Any:
        if self.voting == "hard" or not hasattr(member, method):
            label = arrays.to_numpy(member.predict(table)).astype(np.int64)
            votes: Floats = (label[:, None] == np.arange(self.n_classes_)).astype(np.float64)
            return votes
        own: Floats = super()._of_member(member, table, method)
        known = member.classes_.astype(np.int64)  # numbers of classes
        if known.size == self.n_classes_:
            return own
        shares = np.zeros((len(own), self.n_classes_))  # its sample may lack classes
        shares[:, known] = own
        return shares

    def _take_out_of_bag(self, mean: Floats, known: NDArray[np.bool_], target: Any) -> None:
        self.oob_decision_function_ = mean
        score = self.oob_score if callable(self.oob_score) else accuracy_score
        truth, answers = target[known], np.argmax(mean[known], axis=1)
        self.oob_score_ = score_of_answered(score, self.classes_[truth], self.classes_[answers])


class BaggingRegressor(BaggedTrees, sklearn.ensemble.BaggingRegressor):
    """Regressors on bootstrap samples, whose mean is the prediction.

    scikit-learn's class with this library's `DecisionTreeRegressor` as its default `estimator`.
    See `BaggingClassifier` for all parameters. Over this library's trees tables may hold categories
    and missing values.

    Attributes
    ----------
    estimators_, estimators_samples_, estimators_features_, n_features_in_, grown_
        As in `BaggingClassifier`.
    oob_score_ : float, oob_prediction_ : (N,) or (N, outputs), if `oob_score`

    References
    ----------
    Breiman, Bagging predictors, Machine Learning 24, 1996.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from vtree import BaggingRegressor
    >>> X, y = load_diabetes(return_X_y=True)
    >>> BaggingRegressor(random_state=0).fit(X, y).predict(X).shape
    (442,)
    """

    _parameter_constraints: dict[str, list[Any]] = {
        **sklearn.ensemble.BaggingRegressor._parameter_constraints,
        **BAGGING_CONSTRAINTS,
    }

    def _get_estimator(self) -> Any:
        return DecisionTreeRegressor() if self.estimator is None else self.estimator

    def predict(self, X: Any, **params: Any) -> Any:
        """Return the mean of what the members predict, (N,) or (N, outputs)."""
        check_is_fitted(self)
        if not self._bags_trees:
            return super().predict(X, **params)
        return answer(self._mean(X, "predict"), X)

    def _take_out_of_bag(self, mean: Floats, known: NDArray[np.bool_], target: Any) -> None:
        self.oob_prediction_ = mean
        score = self.oob_score if callable(self.oob_score) else r2_score
        self.oob_score_ = score_of_answered(score, target[known], mean[known])

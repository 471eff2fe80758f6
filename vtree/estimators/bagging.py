"""`BaggingClassifier` and `BaggingRegressor`: scikit-learn's, over any of our trees or others."""

from __future__ import annotations

from typing import Any

import numpy as np
import sklearn.ensemble
from numpy.typing import NDArray
from sklearn.metrics import accuracy_score, r2_score
from sklearn.utils.validation import check_is_fitted

from vtree.ensembles.out_of_bag import score_of_answered
from vtree.estimators.bagged_trees import BaggedTrees
from vtree.estimators.decision_tree import DecisionTreeClassifier, DecisionTreeRegressor
from vtree.estimators.devices import answer

Floats = NDArray[np.float64]


class BaggingClassifier(BaggedTrees, sklearn.ensemble.BaggingClassifier):
    """Classifiers on bootstrap samples, whose mean answer counts.

    scikit-learn's class with this library's `DecisionTreeClassifier` as its default `estimator`;
    any classifier will do, such as `C45Classifier` or `CHAIDClassifier`. Over this library's trees
    tables may hold categories and missing values.

    Parameters
    ----------
    estimator : classifier, optional
    n_estimators, max_samples, max_features, bootstrap, bootstrap_features, oob_score, warm_start,
    n_jobs, random_state, verbose
        As in scikit-learn. The same `random_state` draws the same samples as there.

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

    def _get_estimator(self) -> Any:
        return DecisionTreeClassifier() if self.estimator is None else self.estimator

    def predict_proba(self, X: Any, **params: Any) -> Any:
        """Return the mean of the shares of each class, (N, K)."""
        check_is_fitted(self)
        if not self._bags_trees:
            return super().predict_proba(X, **params)
        return answer(self._mean(X, "predict_proba"), X)

    def predict_log_proba(self, X: Any, **params: Any) -> Any:
        """Return the natural logarithm of `predict_proba`, −∞ for impossible classes."""
        check_is_fitted(self)
        if not self._bags_trees:
            return super().predict_log_proba(X, **params)
        with np.errstate(divide="ignore"):
            return answer(np.log(self._mean(X, "predict_proba")), X)

    def predict(self, X: Any, **params: Any) -> Any:
        """Return the class of the largest share, the first of equal ones, (N,)."""
        check_is_fitted(self)
        if not self._bags_trees:
            return super().predict(X, **params)
        mean = self._mean(X, "predict_proba")
        return answer(self.classes_[np.argmax(mean, axis=1)], X)

    def _take_out_of_bag(self, mean: Floats, known: NDArray[np.bool_], target: Any) -> None:
        self.oob_decision_function_ = mean
        answers = np.argmax(mean[known], axis=1)
        self.oob_score_ = score_of_answered(accuracy_score, target[known], answers)


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
        self.oob_score_ = score_of_answered(r2_score, target[known], mean[known])

    def _set_oob_score(self, X: Any, y: Any) -> None:
        super()._set_oob_score(X, y)
        # A row that is in every sample has no answer, and scikit-learn's 0 for it is none.
        known = np.zeros(len(y), dtype=np.bool_)
        for rows in self.estimators_samples_:
            known |= np.bincount(rows, minlength=known.size) == 0
        if not known.all():
            found = np.array(vars(self)["oob_prediction_"])
            found[~known] = np.nan
            self.oob_prediction_ = found
            self.oob_score_ = score_of_answered(r2_score, y[known], found[known])

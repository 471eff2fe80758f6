"""`BaggingClassifier` and `BaggingRegressor`: scikit-learn's, over any of our trees or others."""

from __future__ import annotations

from typing import Any

import numpy as np
import sklearn.ensemble
from sklearn.metrics import r2_score

from vtree.estimators.decision_tree import DecisionTreeClassifier, DecisionTreeRegressor


class BaggingClassifier(sklearn.ensemble.BaggingClassifier):
    """Classifiers on bootstrap samples, whose mean answer counts.

    scikit-learn's class with this library's `DecisionTreeClassifier` as its default `estimator`;
    any classifier will do, such as `C45Classifier` or `CHAIDClassifier`. See scikit-learn for the
    parameters.

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

    def _get_estimator(self) -> Any:
        return DecisionTreeClassifier() if self.estimator is None else self.estimator


class BaggingRegressor(sklearn.ensemble.BaggingRegressor):
    """Regressors on bootstrap samples, whose mean is the prediction.

    scikit-learn's class with this library's `DecisionTreeRegressor` as its default `estimator`.

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
            self.oob_score_ = r2_score(y[known], found[known])

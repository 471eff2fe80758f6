"""`BaggingClassifier` and `BaggingRegressor`: scikit-learn's, over any of our trees or others."""

from __future__ import annotations

from typing import Any

import sklearn.ensemble

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

"""`AdaBoostClassifier` (SAMME) and `AdaBoostRegressor` (R2), with scikit-learn's parameters.

Over this library's trees rounds are counted here, and where they can share a table, it is read and
binned once. Other weak learners are boosted by scikit-learn's own loop.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import sklearn.ensemble
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from vtree import arrays
from vtree.ensembles.adaboost import Judge, r2, samme
from vtree.errors import InputError
from vtree.estimators.base import unchanged_on_error
from vtree.estimators.boosted_trees import BoostedTrees
from vtree.estimators.decision_tree import DecisionTreeClassifier, DecisionTreeRegressor
from vtree.estimators.devices import answer
from vtree.estimators.members import told_of_plain_tables
from vtree.estimators.prepared import Prepared
from vtree.estimators.targets import host
from vtree.estimators.weak_learners import tree_of
from vtree.predict import leaves, totals
from vtree.tree import Tree, one_tree

Floats = NDArray[np.float64]

# Of the default learners: a stump has one histogram, so that more bins cost it little.
_BINS = 4095


class AdaBoostClassifier(BoostedTrees, sklearn.ensemble.AdaBoostClassifier):
    """Boosted classifiers, each on rows weighted by the mistakes before (SAMME).

    Parameters
    ----------
    estimator : classifier, optional
        `DecisionTreeClassifier(max_depth=1, max_bins=4095)` by default, whose cuts are exact up to
        4,095 distinct values. Over this library's trees (`C45Classifier`, `CHAIDClassifier` …)
        tables may hold what these take, categories and missing values included.
    n_estimators, learning_rate, random_state
        As in scikit-learn.
    verbose : int
        Whether to tell of the rounds over this library's trees: 0 not, 1 some, 2 each.

    Attributes
    ----------
    estimators_, estimator_weights_, estimator_errors_, classes_, n_classes_, n_features_in_,
    feature_importances_
        As in scikit-learn.
    grown_ : `vtree.tree.Tree`, all trees in one, over this library's trees

    References
    ----------
    Zhu, Zou, Rosset and Hastie, Multi-class AdaBoost, Statistics and Its Interface 2, 2009.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from vtree import AdaBoostClassifier
    >>> X, y = load_wine(return_X_y=True)
    >>> model = AdaBoostClassifier(n_estimators=20, random_state=0).fit(X, y)
    >>> model.score(X, y) > 0.95
    True
    """

    _parameter_constraints: dict[str, list[Any]] = {
        **sklearn.ensemble.AdaBoostClassifier._parameter_constraints,
        "verbose": ["verbose"],
    }

    def __init__(
        self,
        estimator: Any = None,
        *,
        n_estimators: int = 50,
        learning_rate: float = 1.0,
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        super().__init__(
            estimator,
            n_estimators=n_estimators,
            learning_rate=learning_rate,
            random_state=random_state,
        )
        self.verbose = verbose

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> AdaBoostClassifier:
        """Boost on the rows of X; see `DecisionTreeClassifier.fit` for what tables may hold."""
        tree = tree_of(self._weak())
        with unchanged_on_error(self):
            if self._boosts_trees():
                del self.grown_, self.schema_
            if tree is None:
                with told_of_plain_tables(self, self.estimator, X, gaps=False):
                    super().fit(X, y, sample_weight)
            else:
                self._validate_params()
                self.estimator_ = tree
                self._fit_trees(tree, X, y, sample_weight)
                if self.estimator_weights_[0] == 0.0:
                    raise InputError(
                        "BaseClassifier in AdaBoostClassifier ensemble is worse than random, "
                        "ensemble can not be fit."
                    )
        return self

    def _weak(self) -> Any:
        return (
            DecisionTreeClassifier(max_depth=1, max_bins=_BINS)
            if self.estimator is None
            else self.estimator
        )

    def _validate_estimator(self) -> None:
        if self.estimator is None:
            self.estimator_ = self._weak()
        else:
            super()._validate_estimator()

    def _judge(self, data: Prepared) -> Judge:
        target = data.targets.classes[:, 0]
        return samme(target, data.targets.layout.classes, self.learning_rate)

    def _votes(self, tree: Tree, alpha: Any) -> Floats:
        """Return what each node adds to the classes' sums, (M, K)."""
        n_classes = tree.value.shape[1]
        voted = np.argmax(tree.value, axis=1)[:, None] == np.arange(n_classes)
        weight = np.asarray(alpha).reshape(-1, 1)
        return np.where(voted, weight, -1.0 / (n_classes - 1) * weight)

    def decision_function(self, X: Any) -> Any:
        """Return the weighted vote, (N, K), or (N,) for two classes, positive for the second."""
        return answer(self._decision(X), X)

    def _decision(self, X: Any) -> Floats:
        check_is_fitted(self)
        if self.n_classes_ == 1 and self._boosts_trees():
            with self._speaking():
                return np.zeros((len(self.estimators_[0].predict(X)), 1))
        if not self._share_a_table():
            with self._speaking():
                own: Floats = super().decision_function(host(X))
                return own
        values = self._values(X)
        n_nodes = np.diff(np.append(self.grown_.root, self.grown_.feature.size))
        alphas = self.estimator_weights_[: n_nodes.size]
        votes = self._votes(self.grown_, np.repeat(alphas, n_nodes))
        column = np.zeros(n_nodes.size, dtype=np.int64)
        sums = arrays.to_numpy(totals(self.grown_, values, votes, column, votes.shape[1]))
        return _as_decision(sums / alphas.sum())

    def staged_decision_function(self, X: Any) -> Iterator[Any]:
        """Yield `decision_function` after each round."""
        for decision in self._staged_decision(X):
            yield answer(decision, X)

    def _staged_decision(self, X: Any) -> Iterator[Floats]:
        check_is_fitted(self)
        if self.n_classes_ == 1:
            yield from [self._decision(X)] * len(self.estimators_)
            return
        if not self._share_a_table():
            with self._speaking():
                yield from super().staged_decision_function(host(X))
            return
        values = self._values(X)
        total: Any = 0.0
        whole = 0.0
        for number, alpha in enumerate(self.estimator_weights_[: len(self.estimators_)]):
            tree = one_tree(self.grown_, number)
            total = total + self._votes(tree, alpha)[leaves(tree, values)[:, 0]]
            whole += alpha
            yield _as_decision(total / whole)

    def predict_proba(self, X: Any) -> Any:
        """Return the probabilities of the classes, (N, K)."""
        return answer(self._shares(self._decision(X)), X)

    def predict_log_proba(self, X: Any) -> Any:
        """Return the natural logarithm of `predict_proba`, −∞ for impossible classes."""
        with np.errstate(divide="ignore"):
            return answer(np.log(self._shares(self._decision(X))), X)

    def staged_predict_proba(self, X: Any) -> Iterator[Any]:
        """Yield `predict_proba` after each round."""
        for decision in self._staged_decision(X):
            yield answer(self._shares(decision), X)

    def predict(self, X: Any) -> Any:
        """Return the class of the largest vote, the first of equal ones, (N,)."""
        return answer(self._labels(self._decision(X)), X)

    def staged_predict(self, X: Any) -> Iterator[Any]:
        """Yield `predict` after each round."""
        for decision in self._staged_decision(X):
            yield answer(self._labels(decision), X)

    def _labels(self, decision: Floats) -> NDArray[Any]:
        two = self.n_classes_ == 2
        number = (decision > 0).astype(int) if two else np.argmax(decision, axis=1)
        labels: NDArray[Any] = self.classes_[number]
        return labels

    def _shares(self, decision: Floats) -> Floats:
        # A copy, for scikit-learn divides in place.
        shares: Floats = self._compute_proba_from_decision(decision.copy(), self.n_classes_)
        return shares

    @staticmethod
    def _compute_proba_from_decision(decision: Any, n_classes: int) -> Any:
        if n_classes == 1:
            return np.ones_like(decision)
        parent: Any = super(AdaBoostClassifier, AdaBoostClassifier)
        return parent._compute_proba_from_decision(decision, n_classes)


def _as_decision(mean: Floats) -> Floats:
    """Return one number a row for two classes, positive for the second."""
    return mean[:, 1] - mean[:, 0] if mean.shape[1] == 2 else mean


class AdaBoostRegressor(BoostedTrees, sklearn.ensemble.AdaBoostRegressor):
    """Boosted regressors, each on rows weighted by the errors before (R2).

    Over this library's trees the weights go into the trees themselves, where Drucker draws rows in
    proportion to them; so a row of weight two is two rows, and nothing is left to chance.

    Parameters
    ----------
    estimator : regressor, optional
        `DecisionTreeRegressor(max_depth=3, max_bins=4095)` by default.
    n_estimators, learning_rate, loss, random_state
        As in scikit-learn.
    verbose : int
        As in `AdaBoostClassifier`.

    Attributes
    ----------
    estimators_, estimator_weights_, estimator_errors_, n_features_in_, feature_importances_, grown_
        As in `AdaBoostClassifier`.

    References
    ----------
    Drucker, Improving regressors using boosting techniques, ICML 1997.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from vtree import AdaBoostRegressor
    >>> X, y = load_diabetes(return_X_y=True)
    >>> AdaBoostRegressor(n_estimators=20).fit(X, y).score(X, y) > 0.5
    True
    """

    _parameter_constraints: dict[str, list[Any]] = {
        **sklearn.ensemble.AdaBoostRegressor._parameter_constraints,
        "verbose": ["verbose"],
    }

    def __init__(
        self,
        estimator: Any = None,
        *,
        n_estimators: int = 50,
        learning_rate: float = 1.0,
        loss: str = "linear",
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        super().__init__(
            estimator,
            n_estimators=n_estimators,
            learning_rate=learning_rate,
            loss=loss,
            random_state=random_state,
        )
        self.verbose = verbose

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> AdaBoostRegressor:
        """Boost on the rows of X; see `DecisionTreeRegressor.fit` for what tables may hold."""
        tree = tree_of(self._weak())
        with unchanged_on_error(self):
            if self._boosts_trees():
                del self.grown_, self.schema_
            if tree is None:
                with told_of_plain_tables(self, self.estimator, X, gaps=False):
                    super().fit(X, y, sample_weight)
            else:
                self._validate_params()
                self.estimator_ = tree
                self._fit_trees(tree, X, y, sample_weight)
        return self

    def _weak(self) -> Any:
        return (
            DecisionTreeRegressor(max_depth=3, max_bins=_BINS)
            if self.estimator is None
            else self.estimator
        )

    def _validate_estimator(self) -> None:
        if self.estimator is None:
            self.estimator_ = self._weak()
        else:
            super()._validate_estimator()

    def _judge(self, data: Prepared) -> Judge:
        return r2(data.targets.identity[:, 0], self.loss, self.learning_rate)

    def predict(self, X: Any) -> Any:
        """Return the weighted median of what the members predict, (N,)."""
        return answer(super().predict(X if self._share_a_table() else host(X)), X)

    def staged_predict(self, X: Any) -> Iterator[Any]:
        """Yield `predict` after each round."""
        for median in super().staged_predict(X if self._share_a_table() else host(X)):
            yield answer(median, X)

    def _get_median_predict(self, X: Any, limit: int) -> Floats:
        """Return the weighted median of the first `limit` answers, (N,)."""
        if not self._boosts_trees():
            foreign: Floats = super()._get_median_predict(X, limit)
            return foreign
        if self._share_a_table():
            tree = self.grown_._replace(root=self.grown_.root[:limit])
            answers = self.grown_.value[leaves(tree, self._values(X)), 0]
        else:
            with self._speaking():
                own = [arrays.to_numpy(member.predict(X)) for member in self.estimators_[:limit]]
            answers = np.stack(own, axis=1)
        order = np.argsort(answers, axis=1, kind="stable")
        reached = np.cumsum(self.estimator_weights_[order], axis=1)
        place = np.argmax(reached >= 0.5 * reached[:, -1:], axis=1)
        rows = np.arange(len(order))
        median: Floats = answers[rows, order[rows, place]]
        return median

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
from sklearn.base import clone
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from vtree import arrays
from vtree.arrays import Array
from vtree.ensembles.adaboost import Boosted, Judge, boost, r2, samme
from vtree.errors import InputError
from vtree.estimators.bagged_trees import shares_a_table
from vtree.estimators.base import TreeEstimator, thread_count, unchanged_on_error
from vtree.estimators.decision_tree import DecisionTreeClassifier, DecisionTreeRegressor
from vtree.estimators.devices import working
from vtree.estimators.forest import warn_of_column
from vtree.estimators.limits import ChecksParameters
from vtree.estimators.prepared import Prepared, of_known_levels
from vtree.estimators.progress import CallbackSupportMixin, reported, with_callbacks
from vtree.estimators.targets import host, row_weights
from vtree.estimators.weak_learners import learner_of, tree_of
from vtree.predict import leaves, totals
from vtree.tree import Tree, joined, one_tree
from vtree_kernels import threads

Floats = NDArray[np.float64]

# Of the default learners: a stump has one histogram, so that more bins cost it little.
_BINS = 4095


def _refuse_negative(sample_weight: Any, y: Any) -> None:
    """Raise InputError for negative weights, in the words that scikit-learn has for them."""
    weight = np.asarray(host(sample_weight))
    if (
        weight.dtype.kind in "if"
        and weight.shape == np.asarray(host(y)).shape[:1]
        and (weight < 0).any()
    ):
        raise InputError("Negative values in data passed to `sample_weight`; use 0 to drop rows")


# What an ensemble knows from the table and the targets, as its members do.
_LEARNT = (
    *("n_features_in_", "feature_names_in_", "schema_", "max_features_"),
    *("n_outputs_", "classes_", "n_classes_"),
)


class _Boosted(ChecksParameters, CallbackSupportMixin):
    """The way from a table to boosted trees; mixed into both estimators."""

    estimators_: list[Any]

    def _boosts_trees(self) -> bool:
        """Tell whether the members are this library's trees."""
        return "grown_" in vars(self)

    def _share_a_table(self) -> bool:
        """Tell whether they answer by the leaves of `grown_`, all at once."""
        return self._boosts_trees() and shares_a_table(self.estimators_[0])

    @with_callbacks
    def _fit_trees(self, tree: TreeEstimator, X: Any, y: Any, sample_weight: Any) -> None:
        template: Any = clone(tree)
        template._validate_params()
        warn_of_column(y)
        _refuse_negative(sample_weight, y)
        with threads(thread_count(tree.n_jobs)), working(tree.device, X, release=True):
            data = of_known_levels(X, template._prepare(X, y, sample_weight))
            template._remember(X, data.schema)
            vars(self).pop("feature_names_in_", None)  # of another table
            if data.targets.layout.outputs > 1:
                raise InputError("y holds several outputs; AdaBoost takes one, (N,)")
            weight = np.ones(data.values.shape[0])
            if not shares_a_table(template):  # it may weigh classes itself
                given = row_weights(sample_weight, None, np.zeros((data.n_rows, 1)), data.n_rows)
                weight = weight if given is None else given[data.kept]
            elif data.targets.weight is not None:
                weight = data.targets.weight.astype(np.float64)
            random = check_random_state(self.random_state)  # type: ignore[attr-defined]
            with reported(
                self, "round", self._rounds(), X=X, y=y, sample_weight=sample_weight
            ) as report:
                learner = learner_of(template, data, random, report, (X, y))

                def told(boosted: Boosted) -> bool:
                    return report.end(
                        attributes=lambda: self._fitted(template, boosted, learner.members)
                    )

                boosted = boost(learner, self._judge(data), weight, self._rounds(), told)
                vars(self).update(self._fitted(template, boosted, learner.members))

    def _rounds(self) -> int:
        return int(self.n_estimators)  # type: ignore[attr-defined]

    def _judge(self, data: Prepared) -> Judge:
        raise NotImplementedError

    def _fitted(self, template: Any, boosted: Boosted, members: list[Any]) -> dict[str, Any]:
        """Return the attributes of an ensemble of the rounds so far."""
        fitted = {name: vars(template)[name] for name in _LEARNT if name in vars(template)}
        weights, errors = np.zeros(self._rounds()), np.ones(self._rounds())
        weights[: len(boosted.alphas)] = boosted.alphas
        errors[: len(boosted.errors)] = boosted.errors
        return {
            **fitted,
            "estimator_weights_": weights,
            "estimator_errors_": errors,
            "grown_": joined(boosted.trees),
            "estimators_": members[: len(boosted.trees)],
        }

    def _more_to_save(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        """Return what a model file holds of the rounds besides: header entries, and arrays."""
        own = {"weights": self.estimator_weights_, "errors": self.estimator_errors_}
        return {"own": own}, {}

    def _take_saved(self, header: dict[str, Any], extra: dict[str, NDArray[Any]]) -> None:
        """Set what `_more_to_save` returned; raise ValueError, KeyError or TypeError for less."""
        weights, errors = header["own"]["weights"], header["own"]["errors"]
        for each in (weights, errors):
            if each.dtype != np.float64 or each.shape != (self._rounds(),):
                raise ValueError("the weights and errors of the rounds are of another number")
        self.estimator_weights_, self.estimator_errors_ = weights, errors

    def _tree_of_member(self, tree: Tree, number: int) -> Tree:
        return one_tree(tree, number)

    def _take_members(self, members: list[Any]) -> None:
        """Take the fitted trees that a file describes."""
        self.estimators_, self.estimator_ = members, self._weak()

    def _check_X(self, X: Any) -> Any:
        # Our trees read tables themselves, categories and gaps included.
        return X if self._boosts_trees() else super()._check_X(X)  # type: ignore[misc]

    def _values(self, X: Any) -> Array:
        """Return an encoded table, where the engine works."""
        own: Array = self.estimators_[0]._encode(X)
        return own

    @property
    def feature_importances_(self) -> Floats:
        """The mean of the trees' importances by their weights, (F,)."""
        check_is_fitted(self)
        if self._boosts_trees() and not self.estimator_weights_.any():
            first: Floats = self.estimators_[0].feature_importances_  # it answers alone
            return first
        mean: Floats = super().feature_importances_  # type: ignore[misc]
        return mean

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()  # type: ignore[misc]
        tags.input_tags.allow_nan = tree_of(self._weak()) is not None
        return tags

    def _weak(self) -> Any:
        raise NotImplementedError


class AdaBoostClassifier(_Boosted, sklearn.ensemble.AdaBoostClassifier):
    """Boosted classifiers, each on rows weighted by the mistakes before (SAMME).

    Parameters
    ----------
    estimator : classifier, optional
        `DecisionTreeClassifier(max_depth=1, max_bins=4095)` by default, whose cuts are exact up to
        4,095 distinct values. Over this library's trees (`C45Classifier`, `CHAIDClassifier` …)
        tables may hold what these take, categories and missing values included.
    n_estimators, learning_rate, random_state
        As in scikit-learn.

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

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> AdaBoostClassifier:
        """Boost on the rows of X; see `DecisionTreeClassifier.fit` for what tables may hold."""
        tree = tree_of(self._weak())
        with unchanged_on_error(self):
            if self._boosts_trees():
                del self.grown_, self.schema_
            if tree is None:
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
        check_is_fitted(self)
        if self.n_classes_ == 1 and self._boosts_trees():
            return np.zeros((len(self.estimators_[0].predict(X)), 1))
        if not self._share_a_table():
            return super().decision_function(X)
        values = self._values(X)
        n_nodes = np.diff(np.append(self.grown_.root, self.grown_.feature.size))
        alphas = self.estimator_weights_[: n_nodes.size]
        votes = self._votes(self.grown_, np.repeat(alphas, n_nodes))
        column = np.zeros(n_nodes.size, dtype=np.int64)
        sums = arrays.to_numpy(totals(self.grown_, values, votes, column, votes.shape[1]))
        return _as_decision(sums / alphas.sum())

    def staged_decision_function(self, X: Any) -> Iterator[Any]:
        """Yield `decision_function` after each round."""
        check_is_fitted(self)
        if self.n_classes_ == 1:
            yield from [self.decision_function(X)] * len(self.estimators_)
            return
        if not self._share_a_table():
            yield from super().staged_decision_function(X)
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
        return self._compute_proba_from_decision(self.decision_function(X), self.n_classes_)

    @staticmethod
    def _compute_proba_from_decision(decision: Any, n_classes: int) -> Any:
        if n_classes == 1:
            return np.ones_like(decision)
        parent: Any = super(AdaBoostClassifier, AdaBoostClassifier)
        return parent._compute_proba_from_decision(decision, n_classes)


def _as_decision(mean: Floats) -> Floats:
    """Return one number a row for two classes, positive for the second."""
    return mean[:, 1] - mean[:, 0] if mean.shape[1] == 2 else mean


class AdaBoostRegressor(_Boosted, sklearn.ensemble.AdaBoostRegressor):
    """Boosted regressors, each on rows weighted by the errors before (R2).

    Over this library's trees the weights go into the trees themselves, where Drucker draws rows in
    proportion to them; so a row of weight two is two rows, and nothing is left to chance.

    Parameters
    ----------
    estimator : regressor, optional
        `DecisionTreeRegressor(max_depth=3, max_bins=4095)` by default.
    n_estimators, learning_rate, loss, random_state
        As in scikit-learn.

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

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> AdaBoostRegressor:
        """Boost on the rows of X; see `DecisionTreeRegressor.fit` for what tables may hold."""
        tree = tree_of(self._weak())
        with unchanged_on_error(self):
            if self._boosts_trees():
                del self.grown_, self.schema_
            if tree is None:
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

    def _get_median_predict(self, X: Any, limit: int) -> Floats:
        """Return the weighted median of the first `limit` answers, (N,)."""
        if not self._boosts_trees():
            foreign: Floats = super()._get_median_predict(X, limit)
            return foreign
        if self._share_a_table():
            tree = self.grown_._replace(root=self.grown_.root[:limit])
            answers = self.grown_.value[leaves(tree, self._values(X)), 0]
        else:
            own = [arrays.to_numpy(member.predict(X)) for member in self.estimators_[:limit]]
            answers = np.stack(own, axis=1)
        order = np.argsort(answers, axis=1, kind="stable")
        reached = np.cumsum(self.estimator_weights_[order], axis=1)
        place = np.argmax(reached >= 0.5 * reached[:, -1:], axis=1)
        rows = np.arange(len(order))
        median: Floats = answers[rows, order[rows, place]]
        return median

"""Boosting of this library's trees from any table; mixed into scikit-learn's classes."""

from __future__ import annotations

from contextlib import AbstractContextManager
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from vtree.arrays import Array
from vtree.ensembles.adaboost import Boosted, Judge, Weights, boost, weights_of
from vtree.errors import InputError, renamed
from vtree.estimators.bagged_trees import shares_a_table
from vtree.estimators.base import TreeEstimator, thread_count
from vtree.estimators.devices import working
from vtree.estimators.forest import warn_of_column
from vtree.estimators.limits import ChecksParameters
from vtree.estimators.members import check_kind
from vtree.estimators.prepared import Prepared, of_known_levels
from vtree.estimators.progress import CallbackSupportMixin, reported, with_callbacks
from vtree.estimators.targets import host, row_weights
from vtree.estimators.weak_learners import learner_of, tree_of
from vtree.tree import Tree, joined, one_tree
from vtree_kernels import threads

Floats = NDArray[np.float64]


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


class BoostedTrees(ChecksParameters, CallbackSupportMixin):
    """The way from a table to boosted trees; mixed into both estimators."""

    estimators_: list[Any]

    def _validate_params(self) -> None:
        super()._validate_params()
        check_kind(self, self._weak())

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
            # Not those of the learner, which may weigh classes itself.
            given = row_weights(sample_weight, None, np.zeros((data.n_rows, 1)), data.n_rows)
            weight = np.ones(data.values.shape[0]) if given is None else given[data.kept]
            random = check_random_state(self.random_state)  # type: ignore[attr-defined]
            with reported(
                self, "round", self._rounds(), X=X, y=y, sample_weight=sample_weight
            ) as report:
                weights, total = weights_of(weight), Weights(weight).total
                learner = learner_of(template, data, random, report, (X, y), total)

                def told(boosted: Boosted) -> bool:
                    return report.end(
                        attributes=lambda: self._fitted(template, boosted, learner.members)
                    )

                boosted = boost(learner, self._judge(data), weights, self._rounds(), told)
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
        with self._speaking():
            own: Array = self.estimators_[0]._encode(X)
        return own

    def _speaking(self) -> AbstractContextManager[None]:
        """Let errors of members name the ensemble, which was called."""
        return renamed(type(self.estimators_[0]).__name__, type(self).__name__)

    @property
    def feature_importances_(self) -> Floats:
        """The mean of the trees' importances by their weights, (F,)."""
        check_is_fitted(self)
        if self._boosts_trees() and not self.estimator_weights_.any():
            first: Floats = self.estimators_[0].feature_importances_  # it answers alone
            return first
        mean: Floats = super().feature_importances_  # type: ignore[misc]
        return mean

    def __sklearn_tags__(self) -> Any:  # noqa: D105
        tags = super().__sklearn_tags__()  # type: ignore[misc]
        tags.input_tags.allow_nan = tree_of(self._weak()) is not None
        return tags

    def _weak(self) -> Any:
        raise NotImplementedError

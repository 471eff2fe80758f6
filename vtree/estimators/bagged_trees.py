"""Bagging of this library's trees: from any table, and of CART trees all as one frontier."""

from __future__ import annotations

import copy
import warnings
from collections.abc import Iterator
from contextlib import AbstractContextManager
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.utils.validation import has_fit_parameter

from vtree import arrays
from vtree.ensembles.forest import Forest, grow_forest
from vtree.ensembles.samples import Sample
from vtree.errors import own_errors, renamed
from vtree.estimators.bagged_columns import columns_of, parameters_of
from vtree.estimators.bagged_samples import BaggedSamples
from vtree.estimators.base import TreeEstimator, root_keys, thread_count, unchanged_on_error
from vtree.estimators.bins import Bins
from vtree.estimators.continuing import check_same_classes, check_same_table
from vtree.estimators.decision_tree import DecisionTreeClassifier, DecisionTreeRegressor
from vtree.estimators.devices import working
from vtree.estimators.limits import ChecksParameters, ParameterError
from vtree.estimators.members import (
    by_class_numbers,
    check_feature_count,
    check_kind,
    told_of_plain_tables,
)
from vtree.estimators.prepared import Prepared
from vtree.estimators.progress import CallbackSupportMixin, Report, reported, with_callbacks
from vtree.estimators.sampling_history import from_saved, to_saved
from vtree.estimators.targets import as_columns, row_weights
from vtree.predict import totals
from vtree.pruning import prune_cost_complexity
from vtree.tables import Schema
from vtree.tree import Tree, joined, one_tree
from vtree_kernels import threads

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]


def shares_a_table(learner: Any) -> bool:
    """Tell whether trees of this kind may share a binned table and differ by their rows alone."""
    if type(learner) not in (DecisionTreeClassifier, DecisionTreeRegressor):
        return False
    altered = [getattr(learner, name, None) for name in ("class_weight", "priors", "costs")]
    return all(each is None for each in altered) and not learner.surrogates


class BaggedTrees(BaggedSamples, ChecksParameters, CallbackSupportMixin):
    """The way from a table to bagged trees; mixed into scikit-learn's classes, which bag others."""

    n_estimators: int
    oob_score: Any
    n_jobs: int | None
    classes_: NDArray[Any]
    n_classes_: int
    estimators_features_: list[Integers]
    grown_: Any

    def fit(self, X: Any, y: Any, sample_weight: Any = None, **fit_params: Any) -> Any:
        """Fit on samples of the rows of X.

        Parameters
        ----------
        X : (N, F) table
            As the learner takes it: with this library's trees categories and missing values, too.
        y : (N,), or (N, outputs) for numbers
        sample_weight : (N,), optional
            Weights, not negative, in proportion to which rows are drawn.
        fit_params : for other learners, see scikit-learn

        Returns
        -------
        self
        """
        learner: Any = self._get_estimator()  # type: ignore[attr-defined]
        with unchanged_on_error(self):
            is_ours = isinstance(learner, TreeEstimator) and not fit_params
            if is_ours and has_fit_parameter(learner, "sample_weight"):
                self._validate_params()
                self._fit_trees(learner, X, y, sample_weight)
            else:
                for name in ("grown_", "schema_", "_door"):
                    vars(self).pop(name, None)
                with told_of_plain_tables(self, learner, X, gaps=True), self._drawn_by_others():
                    super().fit(X, y, sample_weight, **fit_params)  # type: ignore[misc]
        return self

    def _validate_params(self) -> None:
        super()._validate_params()
        check_kind(self, self._get_estimator())  # type: ignore[attr-defined]

    @property
    def _bags_trees(self) -> bool:
        return "_door" in vars(self)

    @with_callbacks
    def _fit_trees(self, learner: Any, X: Any, y: Any, sample_weight: Any) -> None:
        door = self._with_own_jobs(clone(learner))
        door._validate_params()
        numeric = not hasattr(self, "predict_proba")
        columns = as_columns(y, numeric=numeric)
        known = dict(vars(self))
        with own_errors("y"):
            target = self._validate_y(  # type: ignore[attr-defined]
                columns[:, 0] if columns.shape[1] == 1 else columns
            )
        if not numeric:
            door.set_params(**by_class_numbers(door, self.classes_))
        with threads(thread_count(door.n_jobs)), working(door.device, X, release=True):
            data = door._prepare(X, target, None)
            door._remember(X, data.schema)
            if self.warm_start and known.get("estimators_"):
                check_same_table(door, known["schema_"], known["n_outputs_"])
                check_same_classes(self, known.get("classes_"))
            weight = row_weights(sample_weight, None, columns, data.n_rows)
            self._set_sizes(data.n_rows, door.n_features_in_, weight)
            self._adopt(door)
            self._kept_trees()
            count = self.n_estimators - len(self.estimators_)
            if count == 0:
                warnings.warn(
                    "Warm-start fitting without increasing n_estimators does not fit new trees.",
                    stacklevel=3,
                )
                return
            self._draw_seeds(count)
            about: dict[str, Any] = {"X": X, "y": y, "sample_weight": sample_weight}
            about["done"] = len(self.estimators_)
            with reported(self, "tree", self.n_estimators, **about) as report:
                self._grow(door, data, X, target, report)
                if self.oob_score:
                    self._score_out_of_bag(X, target)

    def _with_own_jobs(self, learner: Any) -> Any:
        """Set how many threads a learner of ours takes to those of the bag, where it says so."""
        return learner if self.n_jobs is None else learner.set_params(n_jobs=self.n_jobs)

    def _kept_trees(self) -> None:
        """Keep the trees to go on from, and refuse what contradicts itself."""
        if not self.bootstrap and self.oob_score:
            raise ParameterError("Out of bag estimation only available if bootstrap=True")
        if self.warm_start and self.oob_score:
            raise ParameterError("Out of bag estimate only available if warm_start=False")
        for name in ("oob_score_", "oob_decision_function_", "oob_prediction_"):
            vars(self).pop(name, None)
        if not self.warm_start or "estimators_" not in vars(self):
            self.estimators_, self.estimators_features_ = [], []
        if self.n_estimators < len(self.estimators_):
            raise ParameterError(
                f"n_estimators={self.n_estimators} must be larger or equal to "
                f"len(estimators_)={len(self.estimators_)} when warm_start==True"
            )

    def _adopt(self, door: Any) -> None:
        self._door, self.estimator_ = door, clone(door)
        self.n_features_in_, self.schema_ = door.n_features_in_, door.schema_
        self.n_outputs_, self.max_features_ = door.n_outputs_, door.max_features_
        vars(self).pop("feature_names_in_", None)
        if hasattr(door, "feature_names_in_"):
            self.feature_names_in_ = door.feature_names_in_

    def _grow(self, door: Any, data: Prepared, X: Any, target: Any, report: Report) -> None:
        """Fit new trees and add them and their features, as many as callbacks let grow."""
        make: Any = self._make_estimator  # type: ignore[attr-defined]
        before, features = self.estimators_, self.estimators_features_
        members = [make(append=False, random_state=seed) for seed in self._seeds[len(before) :]]
        drawn = list(self._drawn(len(before)))
        whole = not self.bootstrap_features and self._max_features == self.n_features_in_
        # Targets leave room for sums over as many rows as there are.
        if whole and shares_a_table(door) and self._max_samples <= self._n_samples:
            most = report.tasks_at_once(len(members))
            growth = self._grown_together(door, data, members, [rows for _, rows in drawn], most)
        else:
            growth = self._grown_alone(members, drawn, X, target, None if whole else data.schema)
        count = 0
        while count < len(members):
            report.begin()
            new = next(growth)
            count += new
            self.estimators_ = before + members[:count]
            self.estimators_features_ = features + [own for own, _ in drawn[:count]]
            if report.end(new, attributes=self._so_far):
                break
        self._seeds = self._seeds[: len(before) + count]
        self.grown_ = _all_trees(self.estimators_, self.estimators_features_)

    def _so_far(self) -> dict[str, Any]:
        """Return the attributes of a bag of the trees so far."""
        own = {name: getattr(self, name) for name in ("estimators_", "estimators_features_")}
        return {**own, "grown_": _all_trees(self.estimators_, self.estimators_features_)}

    def _grown_alone(
        self, members: list[Any], drawn: list[Any], X: Any, target: Any, schema: Schema | None
    ) -> Iterator[int]:
        """Fit the members one by one, on the whole table or on the columns that they drew of it."""
        for member, (features, rows) in zip(members, drawn, strict=True):
            times = np.bincount(rows, minlength=self._n_samples)
            own = X if schema is None else columns_of(X, features)
            if schema is not None:
                member.set_params(**parameters_of(member, schema, features))
            # Whichever levels its rows have, a member knows those of all.
            member._fit(own, target, times, all_levels=True)
            yield 1

    def _grown_together(
        self,
        door: Any,
        data: Prepared,
        members: list[Any],
        drawn: list[Integers],
        most_trees: int | None,
    ) -> Iterator[int]:
        """Grow the members as one forest; yield how many there are more."""

        def sample(number: int) -> Sample:
            rows, times = np.unique(drawn[number], return_counts=True)
            return Sample(rows, times.astype(np.int32))

        data = data._replace(total_weight=float(self._max_samples))
        criterion = door._criteria[door.criterion]
        bins, plan = door._bin(data), door._plan(data)
        forest = Forest(bins, data.targets, plan, criterion, door.max_leaf_nodes, sample)
        keys = root_keys([member.random_state for member in members])
        fitted = {name: own for name, own in vars(door).items() if name.endswith("_")}
        done = 0
        for grown in grow_forest(forest, keys, most_trees):
            for number in range(grown.root.size):
                member, tree = members[done + number], one_tree(grown, number)
                vars(member).update(fitted)
                alpha = door.ccp_alpha
                member.grown_ = prune_cost_complexity(tree, alpha) if alpha else tree
                member.surrogates_ = None
            done += grown.root.size
            yield grown.root.size

    def _mean(self, X: Any, method: str) -> Any:
        """Return the mean of what the trees answer, (N, K) or (N,)."""
        door = self._door
        together = shares_a_table(door) and self._max_features == self.n_features_in_
        if not together or self.bootstrap_features or self.grown_ is None:
            return sum(self._answers(X, method)) / len(self.estimators_)
        jobs = door.n_jobs if self.n_jobs is None else self.n_jobs
        with threads(thread_count(jobs)), working(door.device, X), self._speaking():
            values = door._encode_known(X)
            column = np.zeros(self.grown_.root.size, dtype=np.int64)
            answers = self._node_answers(self.grown_.value)
            total = totals(self.grown_, values, answers, column, answers.shape[1])
        mean = arrays.to_numpy(total) / len(self.estimators_)
        return mean[:, 0] if method == "predict" and self.n_outputs_ == 1 else mean

    def _node_answers(self, value: Floats) -> Floats:
        """Return what nodes of these values (M, K) add to the sum of all trees' answers."""
        return value

    def _speaking(self) -> AbstractContextManager[None]:
        """Let errors of members name the ensemble, which was called."""
        return renamed(type(self.estimator_).__name__, type(self).__name__)

    def _answers(self, X: Any, method: str) -> Iterator[Any]:
        """Yield what each tree answers."""
        self._check_columns(X)
        for member, features in zip(self.estimators_, self.estimators_features_, strict=True):
            yield self._answer_of(member, features, X, method)

    def _check_columns(self, X: Any) -> None:
        """Raise InputError if X has others than the training table."""
        with self._speaking():
            self._door._check_names(X)
        if not isinstance(X, Bins):
            check_feature_count(X, self.n_features_in_, type(self).__name__)

    def _answer_of(self, member: Any, features: Integers, X: Any, method: str) -> Any:
        """Return what a member answers, of which X has all features."""
        if self._bags_trees:
            member = self._with_own_jobs(copy.copy(member))
        whole = not self.bootstrap_features and features.size == self.n_features_in_
        with self._speaking():
            return self._of_member(member, X if whole else columns_of(X, features), method)

    def _of_member(self, member: Any, table: Any, method: str) -> Any:
        """Return what a member answers, of which `table` has its features alone."""
        return arrays.to_numpy(getattr(member, method)(table))

    def _score_out_of_bag(self, X: Any, target: Any) -> None:
        """Set the out-of-bag answers: each row's, from the trees that did not draw it."""
        n_rows = self._n_samples
        width = target.shape[1:] if self._method == "predict" else (self.n_classes_,)
        total = np.zeros((n_rows, *width))
        count = np.zeros(n_rows, dtype=np.int64)
        samples: Any = self.estimators_samples_  # type: ignore[attr-defined]
        every = zip(samples, self.estimators_, self.estimators_features_, strict=True)
        for rows, member, features in every:
            left_out = np.bincount(rows, minlength=n_rows) == 0
            if self._bags_trees:  # whose tables are of any kind
                total[left_out] += self._answer_of(member, features, X, self._method)[left_out]
            elif left_out.any():
                total[left_out] += self._answer_of(member, features, X[left_out], self._method)
            count += left_out
        if (count == 0).any():
            warnings.warn(
                "Some inputs do not have OOB scores. This probably means too few estimators were "
                "used to compute any reliable oob estimates.",
                stacklevel=5,
            )
        # A row that is in every sample has no answer, and none is made up for the score.
        known = count > 0
        shape = (-1,) + (1,) * len(width)
        mean = total / np.where(known, count, np.nan).reshape(shape)
        self._take_out_of_bag(mean, known, target)

    def _set_oob_score(self, X: Any, y: Any) -> None:
        """Do so for learners of others, whom scikit-learn bags."""
        self._score_out_of_bag(X, y)

    _method = "predict"

    def _take_out_of_bag(self, mean: Floats, known: NDArray[np.bool_], target: Any) -> None:
        raise NotImplementedError

    def _more_to_save(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        """Return what a model file holds of a bag besides: header entries, and arrays."""
        own = {"seeds": self._seeds, "samplings": to_saved(self._samplings)}
        return {"own": {**own, "features": list(self.estimators_features_)}}, {}

    def _take_saved(self, header: dict[str, Any], extra: dict[str, NDArray[Any]]) -> None:
        """Set what `_more_to_save` returned; raise ValueError, KeyError or TypeError for less."""
        own = dict(header["own"])
        features = [np.asarray(each) for each in own["features"]]
        if len(features) != self.grown_.root.size:
            raise ValueError("a bag needs the features of each tree")
        for each in features:
            if each.dtype.kind != "i" or each.ndim != 1 or not each.size:
                raise TypeError("the features of a tree are no list of whole numbers")
            if each.min() < 0 or each.max() >= header["n_features"]:
                raise ValueError("a tree has features that the table has not")
        self.estimators_features_ = features
        self._take_samples(own["seeds"], from_saved(own["samplings"], len(features)))

    def _tree_of_member(self, tree: Tree, number: int) -> Tree:
        """Return a member's tree, by the features of its own table."""
        own, features = one_tree(tree, number), self.estimators_features_[number]
        place = np.full(int(features.max()) + 1, -1)
        place[features[::-1]] = np.arange(features.size)[::-1]
        split = own.feature >= 0
        if (own.feature >= place.size).any() or (place[own.feature[split]] < 0).any():
            raise ValueError("a tree splits by features that it has not")
        feature = np.where(split, place[np.where(split, own.feature, 0)], -1)
        return own._replace(feature=feature.astype(np.int32))

    def _take_members(self, members: list[Any]) -> None:
        """Take the fitted trees that a file describes."""
        self.estimators_ = members
        learner: Any = self._get_estimator()  # type: ignore[attr-defined]
        self.estimator_ = self._with_own_jobs(clone(learner))
        self._door = clone(self.estimator_)
        for name in ("n_features_in_", "schema_", "n_outputs_", "max_features_"):
            setattr(self._door, name, getattr(self, name))
        if hasattr(self, "feature_names_in_"):
            self._door.feature_names_in_ = self.feature_names_in_


def _all_trees(members: list[Any], features: list[Integers]) -> Tree | None:
    """Return all members' trees as one, by the features of the whole table.

    None where their nodes do not answer alike many numbers.
    """
    if len({member.grown_.value.shape[1] for member in members}) > 1:
        return None
    trees = []
    for member, own in zip(members, features, strict=True):
        tree = member.grown_
        split = tree.feature >= 0
        feature = np.where(split, own[np.where(split, tree.feature, 0)], -1).astype(np.int32)
        trees.append(tree._replace(feature=feature))
    return joined(trees)

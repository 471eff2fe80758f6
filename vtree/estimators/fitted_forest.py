"""A fitted forest: its trees one by one, what they answer together, and what a file keeps of it."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.utils.validation import check_is_fitted

from vtree import arrays
from vtree.arrays import Array
from vtree.estimators.base import TableEstimator, TreeEstimator, thread_count
from vtree.estimators.devices import answer, working
from vtree.estimators.sampling_history import (
    History,
    Sampling,
    check_one_table,
    extended,
    from_saved,
    of_tree,
    to_saved,
)
from vtree.estimators.view import importances, paths
from vtree.predict import leaves, totals
from vtree.tree import Tree, one_tree
from vtree_kernels import threads

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

# What a fitted forest has and its trees have not.
_NOT_OF_TREES = frozenset(
    ("grown_", "seeds_", "oob_score_", "oob_prediction_", "oob_decision_function_")
)


class FittedForest(TableEstimator):
    """What a forest of one kind of tree can do once it is fitted; use a derived class."""

    grown_: Tree
    seeds_: Integers
    _n_samples: int
    _n_samples_bootstrap: int | None
    _sample_weight: Floats | None
    _samplings: History | None = None  # of models pickled before there was one

    def _tree(self) -> TreeEstimator:
        """Return an unfitted tree with the forest's parameters."""
        raise NotImplementedError

    @property
    def estimator(self) -> TreeEstimator:
        """The kind of tree, unfitted."""
        return self._tree()

    estimator_ = estimator

    @property
    def estimators_(self) -> list[Any]:
        """The trees, each a fitted estimator of its own, (T,)."""
        check_is_fitted(self)
        views = vars(self).get("_views")
        if views is None or views[0] is not self.grown_:
            template = self._template()
            trees = [self._view(template, n) for n in range(self.grown_.root.size)]
            self._views = views = (self.grown_, trees)
        return list(views[1])

    def _keep_views(self, before: Tree | None) -> None:
        """Keep the trees of `estimators_`, made for `before`, when others have come after them."""
        views = vars(self).get("_views")
        if views is not None and views[0] is before:
            template, known = self._template(), views[1]
            more = range(len(known), self.grown_.root.size)
            self._views = (self.grown_, known + [self._view(template, n) for n in more])

    def _template(self) -> TreeEstimator:
        """Return what all trees of `estimators_` have in common."""
        tree = self._tree()
        for name, value in vars(self).items():
            if name.endswith("_") and name not in _NOT_OF_TREES:
                setattr(tree, name, value)
        tree.surrogates_ = None
        return tree

    def _view(self, template: TreeEstimator, number: int) -> TreeEstimator:
        tree = copy.copy(template)
        tree.random_state = int(self.seeds_[number])
        tree.grown_ = one_tree(self.grown_, number)
        return tree

    def _sampling_now(self, first: int = 0) -> Sampling:
        """Return how the trees of the latest fit, from `first` on, draw their rows."""
        return Sampling(first, self._n_samples, self._n_samples_bootstrap, self._sample_weight)

    def _history(self) -> History:
        """Return how all trees drew their rows."""
        return self._samplings or (self._sampling_now(),)

    def _sampling(self, number: int | None = None) -> Sampling:
        """Return how a tree drew its rows, without a number the last one."""
        history = self._history()
        return history[-1] if number is None else of_tree(history, number)

    def _check_one_table(self, what: str) -> None:
        check_is_fitted(self)
        check_one_table(self._history(), what)

    def _voting_tree(self) -> Tree:
        """Return the trees with what each of their nodes says in a vote."""
        return self.grown_

    def _mean(self, X: Any) -> Floats:
        """Return the mean of the trees' votes, (N, K)."""
        with threads(thread_count(self.n_jobs)), working(self.device, X):
            return self._mean_of(self._encode(X))

    def _mean_of(self, values: Array) -> Floats:
        tree = self._voting_tree()
        column = np.zeros(tree.root.size, dtype=np.int64)
        total = totals(tree, values, tree.value, column, tree.value.shape[1])
        mean: Floats = arrays.to_numpy(total) / tree.root.size
        return mean

    def _leaves(self, X: Any) -> Integers:
        with threads(thread_count(self.n_jobs)), working(self.device, X):
            values = self._encode(X)  # first, for it tells whether there are trees
            leaf = leaves(self.grown_, values).astype(np.int64)
        return leaf - self.grown_.root

    def apply(self, X: Any) -> Array:
        """Return the number of the leaf that each row comes to in each tree, (N, T) int64."""
        return answer(self._leaves(X), X)

    def decision_path(self, X: Any) -> tuple[sparse.csr_matrix, Integers]:
        """Return (nodes each row passes, (N, M) sparse, and each tree's first column (T + 1,))."""
        leaf = self._leaves(X)
        trees = [one_tree(self.grown_, number) for number in range(leaf.shape[1])]
        own = [paths(tree, leaf[:, number]) for number, tree in enumerate(trees)]
        ends = np.cumsum([0] + [tree.feature.size for tree in trees])
        return sparse.hstack(own).tocsr(), ends

    @property
    def feature_importances_(self) -> Floats:
        """Each feature's share of the decrease of impurity, mean over trees, (F,)."""
        check_is_fitted(self)
        own = np.stack([importances(tree.grown_, self.n_features_in_) for tree in self.estimators_])
        several = np.diff(np.append(self.grown_.root, self.grown_.feature.size)) > 1
        if not several.any():
            return np.zeros(self.n_features_in_)
        mean: Floats = own[several].mean(axis=0)
        return mean / mean.sum() if mean.sum() > 0.0 else mean

    def __len__(self) -> int:  # noqa: D105
        return len(self.estimators_)

    def __getitem__(self, index: Any) -> Any:  # noqa: D105
        return self.estimators_[index]

    def __iter__(self) -> Iterator[Any]:  # noqa: D105
        return iter(self.estimators_)

    def _more_to_save(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        """Return what a model file holds of a forest besides: header entries, and arrays."""
        history, last = self._history(), self._sampling()
        own: dict[str, Any] = {
            "seeds": self.seeds_,
            "n_samples": last.n_rows,
            "n_samples_bootstrap": self._n_samples_bootstrap,
            "sample_weight": last.weight,
        }
        latest = self._sampling_now(last.first)  # other than the last if it grew no trees
        if len(extended(history, latest)) > 1:
            own["samplings"] = to_saved(history)
        return {"own": own}, {}

    def _take_saved(self, header: dict[str, Any], extra: dict[str, NDArray[Any]]) -> None:
        """Set what `_more_to_save` returned; raise ValueError, KeyError or TypeError for less."""
        saved = header["own"]
        seeds = np.asarray(saved["seeds"])
        size, drawn = saved["n_samples"], saved["n_samples_bootstrap"]
        weight = saved["sample_weight"]
        if seeds.shape != (self.grown_.root.size,) or seeds.dtype.kind != "i":
            raise ValueError("a forest needs a seed a tree")
        if not isinstance(size, int) or not isinstance(drawn, int | None):
            raise TypeError("the sizes of the samples are no whole numbers")
        if weight is not None and np.shape(weight) != (size,):
            raise ValueError("the weights of the rows are of another number")
        self.seeds_ = seeds.astype(np.int64)
        self._n_samples, self._n_samples_bootstrap = size, drawn
        self._sample_weight = None if weight is None else np.asarray(weight, dtype=np.float64)
        several = saved.get("samplings")
        now = (self._sampling_now(),)
        self._samplings = now if several is None else from_saved(several, seeds.size)

    def __getstate__(self) -> dict[str, Any]:  # noqa: D105
        state: dict[str, Any] = super().__getstate__()
        return {name: value for name, value in state.items() if name != "_views"}

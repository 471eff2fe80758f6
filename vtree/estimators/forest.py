"""What forests share: trees of one kind, grown together, seen one by one in `estimators_`."""

from __future__ import annotations

import copy
import warnings
from collections.abc import Callable, Iterator
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import (
    MultiOutputMixin,
    is_classifier,
)
from sklearn.exceptions import DataConversionWarning
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import Interval, RealNotInt
from sklearn.utils.multiclass import type_of_target
from sklearn.utils.validation import check_is_fitted

from vtree import arrays
from vtree.arrays import Array
from vtree.ensembles.forest import Forest, grow_forest
from vtree.ensembles.out_of_bag import out_of_bag_sums
from vtree.ensembles.samples import Bootstrap, counts_of, drawn_rows, sample
from vtree.errors import InputError
from vtree.estimators.base import (
    Prepared,
    TableEstimator,
    TreeEstimator,
    root_keys,
    thread_count,
    unchanged_on_error,
)
from vtree.estimators.devices import answer, working
from vtree.estimators.limits import CONSTRAINTS, ParameterError
from vtree.estimators.targets import as_columns, row_weights
from vtree.estimators.view import importances, paths
from vtree.predict import leaves, totals
from vtree.pruning import prune_cost_complexity
from vtree.tree import Tree, joined, one_tree
from vtree_kernels import threads

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

# What a fitted forest has and its trees have not.
_NOT_OF_TREES = frozenset(
    ("grown_", "seeds_", "oob_score_", "oob_prediction_", "oob_decision_function_")
)

_MOST_SEED = np.iinfo(np.int32).max

FOREST_CONSTRAINTS: dict[str, list[Any]] = {
    **{name: rule for name, rule in CONSTRAINTS.items() if name != "splitter"},
    "n_estimators": [Interval(Integral, 1, None, closed="left")],
    "bootstrap": ["boolean"],
    "oob_score": ["boolean", callable],
    "verbose": ["verbose"],
    "warm_start": ["boolean"],
    "max_samples": [
        None,
        Interval(RealNotInt, 0.0, None, closed="neither"),
        Interval(Integral, 1, None, closed="left"),
    ],
}


def warn_of_column(y: Any) -> None:
    """Warn of targets (N, 1), which scikit-learn takes for (N,) too."""
    if getattr(y, "ndim", 1) == 2 and y.shape[1] == 1:
        warnings.warn(
            "A column-vector y was passed when a 1d array was expected. Please change the shape "
            "of y to (n_samples,), for example using ravel().",
            DataConversionWarning,
            stacklevel=4,
        )


def sample_size(n_rows: int, max_samples: int | float | None, weight: Floats | None) -> int:
    """Return how many rows a tree draws."""
    if max_samples is None:
        return n_rows
    if isinstance(max_samples, Integral):
        return int(max_samples)
    whole = float(n_rows) if weight is None else float(weight.sum())
    size = max(int(float(max_samples) * whole), 1)
    if size < max(10, n_rows ** (1 / 3)):
        warnings.warn(
            f"max_samples={max_samples} of a total weight of {whole:g} is a low number, {size}, of "
            "rows a tree; give max_samples as an integer to say it is meant",
            stacklevel=3,
        )
    return size


class ForestEstimator(MultiOutputMixin, TableEstimator):
    """Base of forests; use a derived class."""

    _tree_class: type[TreeEstimator]
    _splitter = "best"
    _not_of_trees = frozenset(
        ("n_estimators", "bootstrap", "oob_score", "verbose", "warm_start", "max_samples", "voting")
    )

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Any:
        """Grow a forest on the rows of X.

        Parameters
        ----------
        X : (N, F) table
            As for `DecisionTreeClassifier.fit`; NaN marks missing values.
        y : (N,) or (N, outputs)
            Labels, or real targets.
        sample_weight : (N,), optional
            Weights, not negative. With `bootstrap` a row is drawn in proportion to its weight;
            without, the trees are grown on weighted rows.

        Returns
        -------
        self

        Raises
        ------
        InputError, InputTypeError
            Whatever cannot be used, see `vtree.errors`. The estimator then stays what it was.
        """
        with (
            unchanged_on_error(self),
            threads(thread_count(self.n_jobs)),
            working(self.device, X, release=True),
        ):
            self._check_request(y)
            before = self._kept_trees()
            template, data = self._prepared(X, y, sample_weight)
            self._adopt(template)
            seeds = self._seeds(before)
            if seeds.size:
                grown = list(self._grow(template, data, seeds))
                self.grown_ = joined(([before] if before is not None else []) + grown)
            elif before is not None:
                warnings.warn(
                    "Warm-start fitting without increasing n_estimators does not fit new trees.",
                    stacklevel=2,
                )
            if self.oob_score and (seeds.size or not hasattr(self, "oob_score_")):
                self._set_oob_score_and_attributes(data.values, y, self._scorer())
            del data  # it holds memory of the device
        return self

    def _scorer(self) -> Callable[[Any, Any], float] | None:
        return self.oob_score if callable(self.oob_score) else None

    def _check_request(self, y: Any) -> None:
        """Raise InputError for parameters that contradict each other."""
        if sparse.issparse(y):
            raise InputError("sparse multilabel-indicator for y is not supported.")
        if not self.bootstrap and self.max_samples is not None:
            raise ParameterError(
                "`max_sample` cannot be set if `bootstrap=False`. Either switch to "
                "`bootstrap=True` or set `max_sample=None`."
            )
        if not self.bootstrap and self.oob_score:
            raise ParameterError("Out of bag estimation only available if bootstrap=True")
        warn_of_column(y)

    def _kept_trees(self) -> Tree | None:
        """Return the trees to go on from."""
        before: Tree | None = vars(self).get("grown_") if self.warm_start else None
        if not self.warm_start:
            for name in ("oob_score_", "oob_decision_function_", "oob_prediction_"):
                if hasattr(self, name):
                    delattr(self, name)
        if before is not None and before.root.size > self.n_estimators:
            raise ParameterError(
                f"n_estimators={self.n_estimators} must be larger or equal to "
                f"len(estimators_)={before.root.size} when warm_start==True"
            )
        return before

    def _tree(self) -> TreeEstimator:
        """Return an unfitted tree with the forest's parameters."""
        own = {
            name: value
            for name, value in self.get_params(deep=False).items()
            if name not in self._not_of_trees and name != "class_weight"
        }
        if own["criterion"] == "friedman_mse":  # the same, and `__init__` has warned
            own["criterion"] = "squared_error"
        return self._tree_class(**own, splitter=self._splitter)

    def _prepared(self, X: Any, y: Any, sample_weight: Any) -> tuple[TreeEstimator, Prepared]:
        """Return a template of the trees, and the training set."""
        template = self._tree()
        columns = as_columns(y, numeric=not is_classifier(self))
        self._check_columns(columns)
        self._n_samples = columns.shape[0]
        weight = self._row_weights(columns, sample_weight)
        self._sample_weight = weight
        data = template._prepare(X, y, None if self.bootstrap else weight)
        template._remember(X, data.schema)
        self._n_samples_bootstrap = None
        if self.bootstrap:
            size = sample_size(self._n_samples, self.max_samples, weight)
            self._n_samples_bootstrap = size
            targets = self._roomy(data, columns, size)
            data = data._replace(total_weight=float(size), targets=targets)
        return template, data

    def _check_columns(self, columns: NDArray[Any]) -> None:
        """Raise InputError for targets (N, O) that a criterion cannot use."""

    def _row_weights(self, columns: NDArray[Any], sample_weight: Any) -> Floats | None:
        return row_weights(sample_weight, None, columns, columns.shape[0])

    def _roomy(self, data: Prepared, columns: NDArray[Any], size: int) -> Any:
        """Return targets whose sums stay exact over `size` rows."""
        return data.targets

    def _adopt(self, template: TreeEstimator) -> None:
        """Take over what the template learnt at the door."""
        for name, value in vars(template).items():
            if name.endswith("_") and name not in ("priors_", "costs_"):
                setattr(self, name, value)
        if not hasattr(template, "feature_names_in_") and hasattr(self, "feature_names_in_"):
            del self.feature_names_in_

    def _seeds(self, before: Tree | None) -> Integers:
        """Append the seeds of the trees to come to `seeds_`, and return them."""
        kept = 0 if before is None else before.root.size
        random = check_random_state(self.random_state)
        if kept:
            random.randint(_MOST_SEED, size=kept)  # what the trees before have taken
        more = [random.randint(_MOST_SEED) for _ in range(self.n_estimators - kept)]
        new = np.asarray(more, dtype=np.int64)
        earlier: Integers = vars(self).get("seeds_", new)
        self.seeds_: Integers = np.concatenate([earlier, new]) if kept else new
        return new

    def _grow(self, template: TreeEstimator, data: Prepared, seeds: Integers) -> Iterator[Tree]:
        bootstrap = self._bootstrap(data)
        forest = Forest(
            template._bin(data),
            data.targets,
            template._plan(data),
            template._criteria[template.criterion],
            self.max_leaf_nodes,
            None if bootstrap is None else lambda number: sample(bootstrap, int(seeds[number])),
        )
        for tree in grow_forest(forest, root_keys(seeds.tolist())):
            if self.ccp_alpha > 0.0:
                own = [one_tree(tree, number) for number in range(tree.root.size)]
                yield joined([prune_cost_complexity(each, self.ccp_alpha) for each in own])
            else:
                yield tree

    def _bootstrap(self, data: Prepared | None = None) -> Bootstrap | None:
        if not self.bootstrap:
            return None
        weight = self._sample_weight
        probability = None if weight is None else weight / np.sum(weight)
        assert self._n_samples_bootstrap is not None
        return Bootstrap(
            self._n_samples, self._n_samples_bootstrap, probability, self._balanced(data)
        )

    def _balanced(self, data: Prepared | None) -> Integers | None:
        return None

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

    @property
    def estimators_samples_(self) -> list[NDArray[np.int32]]:
        """The row numbers that each tree drew, in the order of the draws."""
        check_is_fitted(self)
        bootstrap = self._bootstrap()
        if bootstrap is None:
            return [np.arange(self._n_samples, dtype=np.int32) for _ in self.seeds_]
        return [drawn_rows(bootstrap, seed) for seed in self.seeds_.tolist()]

    def _set_oob_score_and_attributes(
        self, values: Array, y: Any, scoring_function: Callable[[Any, Any], float] | None = None
    ) -> None:
        """Set `oob_score_` and the out-of-bag answers."""
        columns = as_columns(y, numeric=not is_classifier(self))
        kind = type_of_target(columns)
        if kind == "unknown" or (is_classifier(self) and kind == "multiclass-multioutput"):
            raise InputError(
                f"The type of target cannot be used to compute OOB estimates. Got {kind} while "
                "only the following are supported: continuous, continuous-multioutput, binary, "
                "multiclass, multilabel-indicator."
            )
        bootstrap = self._bootstrap()
        assert bootstrap is not None

        def left_out(number: int) -> Integers:
            return np.flatnonzero(counts_of(bootstrap, int(self.seeds_[number])) == 0)

        total, count = out_of_bag_sums(self._voting_tree(), values, left_out)
        if (count == 0).any():
            warnings.warn(
                "Some inputs do not have OOB scores. This probably means too few trees were used "
                "to compute any reliable OOB estimates.",
                stacklevel=4,
            )
        # A row that is in every sample has no answer, and none is made up for the score.
        mean = total / np.where(count > 0, count, np.nan)[:, None]
        self._score_out_of_bag(mean, columns, scoring_function)

    def _score_out_of_bag(self, mean: Floats, columns: NDArray[Any], score: Any) -> None:
        raise NotImplementedError

    def _voting_tree(self) -> Tree:
        """Return the trees with what each of their nodes says in a vote."""
        return self.grown_

    def _mean(self, X: Any) -> Floats:
        """Return the mean of the trees' votes, (N, K)."""
        with threads(thread_count(self.n_jobs)), working(self.device, X):
            values = self._encode(X)
            tree = self._voting_tree()
            column = np.zeros(tree.root.size, dtype=np.int64)
            total = totals(tree, values, tree.value, column, tree.value.shape[1])
            mean: Floats = arrays.to_numpy(total) / tree.root.size
            return mean

    def _leaves(self, X: Any) -> Integers:
        with threads(thread_count(self.n_jobs)), working(self.device, X):
            leaf = leaves(self.grown_, self._encode(X)).astype(np.int64)
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
        own = {
            "seeds": self.seeds_,
            "n_samples": self._n_samples,
            "n_samples_bootstrap": self._n_samples_bootstrap,
            "sample_weight": self._sample_weight,
        }
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

    def __getstate__(self) -> dict[str, Any]:  # noqa: D105
        state: dict[str, Any] = super().__getstate__()
        return {name: value for name, value in state.items() if name != "_views"}

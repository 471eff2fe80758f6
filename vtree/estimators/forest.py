"""How forests are fitted: samples, trees of one kind grown together, out-of-bag answers."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import MultiOutputMixin, is_classifier
from sklearn.exceptions import DataConversionWarning
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import Interval, RealNotInt
from sklearn.utils.multiclass import type_of_target

from vtree.arrays import Array
from vtree.ensembles.forest import Forest, grow_forest
from vtree.ensembles.out_of_bag import out_of_bag_sums
from vtree.ensembles.samples import Bootstrap, Sample, counts_of, drawn_rows, sample
from vtree.errors import InputError
from vtree.estimators.base import TreeEstimator, root_keys, thread_count, unchanged_on_error
from vtree.estimators.continuing import check_same_classes, check_same_table
from vtree.estimators.devices import working
from vtree.estimators.fitted_forest import FittedForest
from vtree.estimators.limits import CONSTRAINTS, ParameterError
from vtree.estimators.prepared import Prepared, known_levels, of_known_levels
from vtree.estimators.progress import CallbackSupportMixin, Report, reported, with_callbacks
from vtree.estimators.sampling_history import History, check_one_table, extended
from vtree.estimators.targets import as_columns, row_weights
from vtree.pruning import prune_cost_complexity
from vtree.tree import Gathering, Tree, joined, one_tree
from vtree_kernels import threads

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

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
        return _drawable(int(max_samples), max_samples)
    whole = float(n_rows) if weight is None else float(weight.sum())
    size = _drawable(max(float(max_samples) * whole, 1.0), max_samples)
    if size < max(10, n_rows ** (1 / 3)):
        there_are = (
            f"there are {n_rows} rows"
            if weight is None
            else f"the total sum of sample weights is {whole}"
        )
        warnings.warn(
            f"Using the fractional value max_samples={max_samples} when {there_are} results in a "
            f"low number ({size}) of bootstrap samples. We recommend passing `max_samples` as an "
            "integer.",
            stacklevel=3,
        )
    return size


def _drawable(size: float, max_samples: int | float) -> int:
    """Return how many rows to draw, or raise ParameterError if that is beyond reason."""
    if size > np.iinfo(np.int32).max:
        raise ParameterError(
            f"max_samples={max_samples} asks for {size:,.0f} rows a tree; draw fewer"
        )
    return int(size)


class ForestEstimator(CallbackSupportMixin, MultiOutputMixin, FittedForest):
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
            history = () if before is None else self._history()
            template, data = self._prepared(X, y, sample_weight)
            seeds = self._seeds(before)
            if before is not None and seeds.size:
                check_same_table(template, self.schema_, self.n_outputs_)
                check_same_classes(template, vars(self).get("classes_"))
            self._note_samples(history, before, grows=bool(seeds.size))
            if before is None or seeds.size:
                self._adopt(template)
            else:
                warnings.warn(
                    "Warm-start fitting without increasing n_estimators does not fit new trees.",
                    stacklevel=2,
                )
            about = {"X": X, "y": y, "sample_weight": sample_weight}
            self._train(template, data, seeds, before, about)
            del data  # it holds memory of the device
        return self

    def _note_samples(self, history: History, before: Tree | None, *, grows: bool) -> None:
        """Remember how new trees draw their rows, after those before.

        Raise InputError where out-of-bag answers are asked of trees of several tables.
        """
        now = self._sampling_now(0 if before is None else before.root.size)
        if self.oob_score and (grows or not hasattr(self, "oob_score_")):
            check_one_table((*history, now), f"oob_score={self.oob_score}")
        self._samplings = extended(history, now) if grows else history

    # Within the fit, which may give back all attributes before callbacks are put away.
    @with_callbacks
    def _train(
        self,
        template: TreeEstimator,
        data: Prepared,
        seeds: Integers,
        before: Tree | None,
        about: dict[str, Any],
    ) -> None:
        """Grow trees and learn from them; about: what `fit` was given."""
        done = 0 if before is None else before.root.size
        with reported(self, "tree", self.n_estimators, **about, done=done) as report:
            if seeds.size:
                self._grow_told(template, data, seeds, before, report)
            self._conclude(data, about["y"], grew=bool(seeds.size))

    def _grow_told(
        self,
        template: TreeEstimator,
        data: Prepared,
        seeds: Integers,
        before: Tree | None,
        report: Report,
    ) -> None:
        """Set `grown_` to the trees before and new ones, as many as callbacks let grow."""
        trees = Gathering((0 if before is None else before.root.size) + seeds.size)
        if before is not None:
            trees.add(before)
        growth = self._grow(template, data, seeds, report.tasks_at_once(seeds.size))
        left = seeds.size
        while left:
            report.begin()
            n_trees = trees.add(next(growth))
            left -= n_trees
            if report.end(n_trees, attributes=lambda: self._so_far(trees.so_far())):
                break
        self.grown_ = trees.whole()
        self.seeds_ = self.seeds_[: self.grown_.root.size]
        self._keep_views(before)

    def _so_far(self, grown: Tree) -> dict[str, Any]:
        """Return the attributes of a forest of the trees so far, which can predict."""
        return {"grown_": grown, "seeds_": self.seeds_[: grown.root.size]}

    def _conclude(self, data: Prepared, y: Any, *, grew: bool) -> None:
        """Learn what takes the whole forest; grew: whether it has new trees."""
        if self.oob_score and (grew or not hasattr(self, "oob_score_")):
            self._set_oob_score_and_attributes(data.values, y, self._scorer())

    def _scorer(self) -> Callable[[Any, Any], float] | None:
        return self.oob_score if callable(self.oob_score) else None

    def _check_request(self, y: Any) -> None:
        """Raise InputError for parameters that contradict each other."""
        if sparse.issparse(y):
            raise InputError("sparse multilabel-indicator for y is not supported.")
        if not self.bootstrap and self.max_samples is not None:
            # The second sentence is scikit-learn's, which its tests look for.
            raise ParameterError(
                f"max_samples={self.max_samples} is for bootstrap samples only. "
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
        data = of_known_levels(X, template._prepare(X, y, None if self.bootstrap else weight))
        if self.bootstrap:
            values, schema = known_levels(X, data.values, data.schema, weight)
            data = data._replace(values=values, schema=schema)
        template._remember(X, data.schema)
        drawn, there_are = self.max_features, template.n_features_in_
        if isinstance(drawn, Integral) and int(drawn) > there_are:
            raise ParameterError(
                f"max_features={drawn}, but X has {there_are} features; draw at most as many, or "
                "give a share of them, such as 1.0"
            )
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

    def _grow(
        self,
        template: TreeEstimator,
        data: Prepared,
        seeds: Integers,
        most_trees: int | None = None,
    ) -> Iterator[Tree]:
        """Yield trees, at most `most_trees` at a time."""
        data, own_rows = self._sampled(data, seeds)
        forest = Forest(
            template._bin(data),
            data.targets,
            template._plan(data),
            template._criteria[template.criterion],
            self.max_leaf_nodes,
            own_rows,
        )
        growth = grow_forest(forest, root_keys(seeds.tolist()), most_trees)
        # No tree is held here while the next one grows.
        yield from growth if self.ccp_alpha == 0.0 else map(self._pruned, growth)

    def _pruned(self, tree: Tree) -> Tree:
        """Return trees, each pruned."""
        own = [one_tree(tree, number) for number in range(tree.root.size)]
        return joined([prune_cost_complexity(each, self.ccp_alpha) for each in own])

    def _sampled(
        self, data: Prepared, seeds: Integers
    ) -> tuple[Prepared, Callable[[int], Sample] | None]:
        """Return (the table to grow from, tree number → its rows there, None for all of them)."""
        bootstrap = self._bootstrap(data)
        if bootstrap is None:
            return data, None
        return data, lambda number: sample(bootstrap, int(seeds[number]))

    def _bootstrap(
        self, data: Prepared | None = None, number: int | None = None
    ) -> Bootstrap | None:
        """Return how a tree drew its sample, without a number the last; None for all rows."""
        sampling = self._sampling(number)
        if sampling.size is None:
            return None
        return Bootstrap(sampling.n_rows, sampling.size, sampling.chance, self._balanced(data))

    def _times(self, number: int) -> NDArray[np.int32]:
        """Return how often a tree drew each training row, (N,)."""
        bootstrap = self._bootstrap(number=number)
        if bootstrap is None:
            raise ParameterError(
                "bootstrap=False: all trees saw all rows, so that none is out of bag; fit with "
                "bootstrap=True"
            )
        return counts_of(bootstrap, int(self.seeds_[number]))

    def _left_out(self, number: int) -> Integers:
        """Return the training rows that a tree did not draw, ascending."""
        if self._sampling(number).size is None:  # a tree of an earlier fit, without bootstrap
            return np.empty(0, dtype=np.int64)
        return np.flatnonzero(self._times(number) == 0)

    def _balanced(self, data: Prepared | None) -> Integers | None:
        return None

    @property
    def estimators_samples_(self) -> list[NDArray[np.int32]]:
        """The row numbers that each tree drew, in the order of the draws."""
        self._check_one_table("estimators_samples_")
        found = []
        for number, seed in enumerate(self.seeds_.tolist()):
            bootstrap = self._bootstrap(number=number)
            every = np.arange(self._sampling(number).n_rows, dtype=np.int32)
            found.append(every if bootstrap is None else drawn_rows(bootstrap, seed))
        return found

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
        total, count = out_of_bag_sums(self._voting_tree(), values, self._left_out)
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

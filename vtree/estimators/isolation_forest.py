"""`IsolationForest`: rows that random splits part from all others soon are outliers."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from numbers import Integral, Real
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import OutlierMixin, _fit_context
from sklearn.utils._param_validation import Interval, RealNotInt, StrOptions
from sklearn.utils.validation import check_is_fitted

from vtree import arrays
from vtree.arrays import Array
from vtree.ensembles.isolation import anomaly_score, with_path_lengths
from vtree.ensembles.samples import Sample, Subsample, drawn_subsample, subsample_of
from vtree.estimators.base import TreeEstimator, keep
from vtree.estimators.devices import answer
from vtree.estimators.forest import FOREST_CONSTRAINTS
from vtree.estimators.limits import ParameterError
from vtree.estimators.prepared import Prepared
from vtree.estimators.random_trees import RandomTrees
from vtree.estimators.sampling_history import Sampling
from vtree.histogram import DEFAULT_BUDGET
from vtree.targets import repeated
from vtree.tree import THRESHOLD, Tree

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

_AVERAGE = -0.5  # the score of a row as deep as the average: with "auto", the threshold

_OF_TREES = (
    "random_state",
    "categorical_features",
    "unknown_categories",
    "device",
    "n_jobs",
    "histogram_budget",
)


class IsolationForest(OutlierMixin, RandomTrees):
    """An outlier detector: rows that few random splits part from all others are outliers.

    Each tree is grown on a small sample, by cuts at random in features at random. All trees grow
    as one frontier. Missing values and categories need no preparation.

    Parameters
    ----------
    n_estimators, max_samples, contamination, max_features, bootstrap, random_state, verbose,
    warm_start
        As in scikit-learn. The same `random_state` draws the same rows and features as there.
    categorical_features, unknown_categories, device, n_jobs, histogram_budget
        As in `DecisionTreeClassifier`. None of the last three changes the model.

    Attributes
    ----------
    offset_ : float
        What is taken off `score_samples`, so that outliers have a negative `decision_function`.
    max_samples_ : int, rows a tree
    estimators_ : list of T fitted `DecisionTreeRegressor`
        They take whole rows, and predict the path's length in units of its average.
    estimators_samples_, estimators_features_ : lists of T arrays, in the order of the draws
    n_features_in_, feature_names_in_
    grown_ : `vtree.tree.Tree`, all trees in one

    References
    ----------
    Liu, Ting and Zhou, Isolation forest, ICDM 2008.

    Examples
    --------
    >>> from vtree import IsolationForest
    >>> X = [[-1.1], [0.3], [0.5], [100]]
    >>> IsolationForest(random_state=0).fit(X).predict([[0.1], [0], [90]])
    array([ 1,  1, -1])
    """

    _parameter_constraints: dict[str, list[Any]] = {
        **{name: FOREST_CONSTRAINTS[name] for name in _OF_TREES},
        **{
            name: FOREST_CONSTRAINTS[name]
            for name in ("n_estimators", "bootstrap", "verbose", "warm_start")
        },
        "max_samples": [
            StrOptions({"auto"}),
            Interval(Integral, 1, None, closed="left"),
            Interval(RealNotInt, 0.0, 1.0, closed="right"),
        ],
        "contamination": [StrOptions({"auto"}), Interval(Real, 0.0, 0.5, closed="right")],
        "max_features": [
            Interval(Integral, 1, None, closed="left"),
            Interval(RealNotInt, 0.0, 1.0, closed="right"),
        ],
    }

    offset_: float

    def __init__(
        self,
        *,
        n_estimators: int = 100,
        max_samples: int | float | str = "auto",
        contamination: float | str = "auto",
        max_features: int | float = 1.0,
        bootstrap: bool = False,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
        warm_start: bool = False,
        categorical_features: Any = "from_dtype",
        unknown_categories: str = "missing",
        device: str = "auto",
        histogram_budget: int = DEFAULT_BUDGET,
    ) -> None:
        keep(self, locals())

    fit = _fit_context(prefer_skip_nested_validation=True)(RandomTrees.fit)

    def _weights_of_trees(self, weight: Floats | None) -> Floats | None:
        return None  # rows are drawn by them

    def _prepared(self, X: Any, y: Any, sample_weight: Any) -> tuple[TreeEstimator, Prepared]:
        template, data = super()._prepared(X, y, sample_weight)
        n_features = template.n_features_in_
        share = self.max_features
        whole = isinstance(share, Integral)
        width = int(share) if whole else max(1, int(share * n_features))
        if width > n_features:
            raise ParameterError(
                f"max_features={width} must be <= n_features, and X has {n_features}; give a "
                "smaller number, or a share of them"
            )
        self._max_features = width
        self.max_samples_ = self._max_samples = self._size(data.n_rows)
        template.set_params(max_depth=_depth_of(self._max_samples))
        return template, data

    def _size(self, n_rows: int) -> int:
        """Return how many rows a tree draws."""
        asked = self.max_samples
        if isinstance(asked, str):
            size = min(256, n_rows)
        elif isinstance(asked, Integral):
            size = min(int(asked), n_rows)
            if size < int(asked):
                warnings.warn(
                    f"max_samples={asked} is greater than the number of rows, {n_rows}. "
                    "max_samples will be set to n_samples for estimation.",
                    stacklevel=6,
                )
        else:
            size = max(1, int(asked * n_rows))
        weight = self._sample_weight
        if weight is None or self.bootstrap:
            return size
        return min(size, int(np.count_nonzero(weight)))  # a row is drawn once

    def _tree(self) -> TreeEstimator:
        size = vars(self).get("_max_samples")
        tree = super()._tree()
        tree.set_params(max_depth=None if size is None else _depth_of(size))
        return tree

    def _sampling_now(self, first: int = 0) -> Sampling:
        size, width = self._max_samples, self._max_features
        return Sampling(first, self._n_samples, size, self._sample_weight, width, self.bootstrap)

    def _subsample(self, number: int | None = None) -> Subsample:
        """Return how a tree drew rows and features, without a number the last."""
        own = self._sampling(number)
        assert own.size is not None and own.width is not None
        n_features = self.n_features_in_
        return Subsample(own.n_rows, own.size, n_features, own.width, own.replace, own.chance)

    def _drawn(self) -> list[tuple[Integers, Integers]]:
        """Return the features and the rows that each tree drew."""
        seeds = enumerate(self.seeds_.tolist())
        return [drawn_subsample(self._subsample(number), seed) for number, seed in seeds]

    def _sampled(
        self, data: Prepared, seeds: Integers
    ) -> tuple[Prepared, Callable[[int], Sample] | None]:
        # Of a large table the samples hold little: the rest needs no bins and no statistics.
        subsample = self._subsample()
        samples = [subsample_of(subsample, seed) for seed in seeds.tolist()]
        rows = np.unique(np.concatenate([each.rows for each in samples]))
        values = arrays.namespace(data.values).take(
            data.values, arrays.like(rows, data.values), axis=0
        )
        data = data._replace(values=values, targets=repeated(data.targets, rows, None))
        own = [each._replace(rows=np.searchsorted(rows, each.rows)) for each in samples]
        return data, own.__getitem__

    def _grow(
        self,
        template: TreeEstimator,
        data: Prepared,
        seeds: Integers,
        most_trees: int | None = None,
    ) -> Iterator[Tree]:
        for tree in super()._grow(template, data, seeds, most_trees):
            # Codes of numbers are of the sampled rows only, and nothing asks for them again.
            code = np.where(tree.kind == THRESHOLD, 0, tree.bin).astype(tree.bin.dtype)
            yield with_path_lengths(tree._replace(bin=code), self._max_samples)

    def _so_far(self, grown: Tree) -> dict[str, Any]:
        return {**super()._so_far(grown), "offset_": _AVERAGE}

    def _conclude(self, data: Prepared, y: Any, *, grew: bool) -> None:
        self.offset_ = _AVERAGE
        if self.contamination != "auto":
            score = -anomaly_score(self._mean_of(data.values)[:, 0])
            self.offset_ = float(np.percentile(score, 100.0 * self.contamination))

    @property
    def feature_importances_(self) -> Floats:
        """None: splits at random decrease no impurity."""
        raise AttributeError(
            "IsolationForest has no feature_importances_: its features and cuts are drawn at random"
        )

    @property
    def estimators_samples_(self) -> list[NDArray[np.int32]]:
        """The row numbers that each tree drew, in the order of the draws."""
        self._check_one_table("estimators_samples_")
        return [rows.astype(np.int32) for _, rows in self._drawn()]

    @property
    def estimators_features_(self) -> list[Integers]:
        """The features that each tree drew; no others split its nodes."""
        check_is_fitted(self)
        return [features for features, _ in self._drawn()]

    def score_samples(self, X: Any) -> Array:
        """Return minus the anomaly score of each row, (N,), from −1 to 0: the lower, the odder."""
        return answer(-anomaly_score(self._mean(X)[:, 0]), X)

    def decision_function(self, X: Any) -> Array:
        """Return `score_samples` less `offset_`, (N,), negative for outliers."""
        return self.score_samples(X) - self.offset_

    def predict(self, X: Any) -> Array:
        """Return −1 for outliers and 1 for all others, (N,)."""
        score = -anomaly_score(self._mean(X)[:, 0])
        return answer(np.where(score - self.offset_ < 0.0, -1, 1), X)

    def _more_to_save(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        header, extra = super()._more_to_save()
        own = {"size": self._max_samples, "width": self._max_features, "offset": self.offset_}
        return {**header, "isolation": own}, extra

    def _take_saved(self, header: dict[str, Any], extra: dict[str, NDArray[Any]]) -> None:
        own = header["isolation"]
        size, width, offset = own["size"], own["width"], own["offset"]
        if not (isinstance(size, int) and isinstance(width, int) and isinstance(offset, float)):
            raise TypeError("the size of the samples and the offset are no numbers")
        self.max_samples_ = self._max_samples = size
        self._max_features, self.offset_ = width, offset
        super()._take_saved(header, extra)


def _depth_of(size: int) -> int:
    """Return the depth at which the paths of `size` rows are cut short, that of a balanced tree."""
    return max(1, (size - 1).bit_length())

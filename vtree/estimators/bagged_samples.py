"""Which rows and columns each tree of a bag drew: those that scikit-learn would draw.

They are drawn anew from a seed a tree whenever they are asked for. A warm start may go on with
other rows, weights or sizes; trees keep what they were drawn from.
"""

from __future__ import annotations

import copy
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_random_state

from vtree.estimators.forest import sample_size
from vtree.estimators.limits import ParameterError
from vtree.estimators.sampling_history import History, Sampling, extended

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

_MOST_SEED = np.iinfo(np.int32).max


class BaggedSamples:
    """The samples of a bag; mixed into scikit-learn's classes before them."""

    max_samples: Any
    max_features: Any
    bootstrap: bool
    bootstrap_features: bool
    warm_start: bool
    random_state: Any
    n_features_in_: int
    estimators_: list[Any]
    estimators_features_: list[Integers]
    _n_samples: int  # of the latest fit, as in scikit-learn
    _max_samples: int
    _max_features: int
    _sample_weight: Floats | None
    _seeds: Integers  # (T,)
    _samplings: History = ()  # of the members

    def _set_sizes(self, n_rows: int, n_features: int, weight: Floats | None) -> None:
        """Set how many rows and features a tree draws."""
        share = self.max_features
        whole = isinstance(share, Integral)
        width = int(share) if whole else max(1, int(share * n_features))
        if width > n_features:
            raise ParameterError(f"max_features must be <= n_features, {n_features}, not {width}")
        size = sample_size(n_rows, self.max_samples, weight)
        if not self.bootstrap:
            if weight is not None:
                warnings.warn(
                    f"When fitting {type(self).__name__} with sample_weight it is recommended to "
                    "use bootstrap=True, got False.",
                    stacklevel=4,
                )
            if size > n_rows:
                raise ParameterError(
                    f"Effective max_samples={size} must be <= n_samples={n_rows} to be able to "
                    "sample without replacement."
                )
            # A row without weight is no row to draw.
            size = size if weight is None else min(size, int(np.count_nonzero(weight)))
        self._n_samples, self._max_samples, self._max_features = n_rows, size, width
        self._sample_weight = weight

    def _draw_seeds(self, count: int) -> None:
        """Draw the seeds of further trees as scikit-learn would."""
        random = check_random_state(self.random_state)
        before = np.empty(0, dtype=np.int64)
        if self.estimators_:
            random.randint(_MOST_SEED, size=len(self.estimators_))
            before = self._seeds
        self._samplings = self._samplings_from(len(before))
        self._seeds = np.concatenate([before, random.randint(_MOST_SEED, size=count)])

    @contextmanager
    def _drawn_by_others(self) -> Iterator[None]:
        """Remember the samples that scikit-learn's own fit draws."""
        before = vars(self).get("_seeds") if self.warm_start else None
        if before is None:
            vars(self).pop("_samplings", None)
        yield
        if before is None:
            self._samplings = self._samplings_from(0)
        elif self._seeds is not before:  # some were added
            self._samplings = self._samplings_from(len(before))
            self._seeds = np.concatenate([before, self._seeds])

    def _samplings_from(self, first: int) -> History:
        """Return the samplings of all trees if those from `first` on are drawn as now."""
        weight = vars(self).get("_sample_weight")  # scikit-learn 1.6 has none
        size, width = self._max_samples, self._max_features
        pairs = self.bootstrap, self.bootstrap_features
        now = Sampling(first, self._n_samples, size, weight, width, *pairs)
        return extended(self._samplings if first else (), now)

    def _take_samples(self, seeds: Any, samplings: History) -> None:
        """Take what a file says; raise TypeError or ValueError for anything else."""
        seeds = np.asarray(seeds)
        if seeds.dtype.kind != "i" or seeds.shape != (len(self.estimators_features_),):
            raise ValueError("a bag needs the seed of each tree")
        self._seeds, self._samplings = seeds, samplings
        self._set_as(self, samplings[-1])

    @staticmethod
    def _set_as(bag: Any, sampling: Sampling) -> None:
        bag._n_samples, bag._max_samples = sampling.n_rows, sampling.size
        bag._max_features, bag._sample_weight = sampling.width, sampling.weight

    def _get_estimators_indices(self) -> Iterator[tuple[Integers, Integers]]:
        return self._drawn(0)

    def _drawn(self, first: int) -> Iterator[tuple[Integers, Integers]]:
        """Yield the columns and rows that each tree drew, from `first` on."""
        samplings: Any = self._samplings or (None,)
        ends = [each.first for each in samplings[1:]] + [self._seeds.size]
        for sampling, end in zip(samplings, ends, strict=True):
            begin = 0 if sampling is None else sampling.first
            like = copy.copy(self)
            like._seeds = self._seeds[max(begin, first) : end]
            if sampling is not None:
                self._set_as(like, sampling)
                like.bootstrap = sampling.replace
                like.bootstrap_features = sampling.replace_columns
            yield from super(BaggedSamples, like)._get_estimators_indices()  # type: ignore[misc]

"""`QuantileForestRegressor`: a random forest that keeps the training rows of its leaves."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from vtree.ensembles.leaf_samples import (
    blocks,
    leaf_columns,
    shares_of_rows,
    weighted_quantiles,
)
from vtree.errors import InputError, own_errors
from vtree.estimators.devices import answer
from vtree.estimators.prepared import Prepared
from vtree.estimators.random_forest import RandomForestRegressor
from vtree.estimators.targets import as_columns
from vtree.predict import leaves

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]


class QuantileForestRegressor(RandomForestRegressor):
    """A random forest that answers any quantile of the target, not its mean alone.

    Each training row counts by its mean share of the leaves that a row comes to; without another
    criterion than squared error the weighted mean is `predict`. The trees are those of
    `RandomForestRegressor` with the same parameters; larger leaves (`min_samples_leaf`) give
    smoother distributions.

    Parameters
    ----------
    As `RandomForestRegressor`. One target only.

    Attributes
    ----------
    Those of `RandomForestRegressor`. `predict_quantiles(X, quantiles)` answers quantiles.

    References
    ----------
    Meinshausen, Quantile regression forests, JMLR 7, 2006.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from vtree import QuantileForestRegressor
    >>> X, y = load_diabetes(return_X_y=True)
    >>> model = QuantileForestRegressor(50, min_samples_leaf=5, random_state=0).fit(X, y)
    >>> low, high = model.predict_quantiles(X, [0.05, 0.95]).T
    >>> bool(((low <= y) & (y <= high)).mean() > 0.9)
    True
    """

    def _conclude(self, data: Prepared, y: Any, *, grew: bool) -> None:
        super()._conclude(data, y, grew=grew)
        if not grew and "_target" in vars(self):
            return  # the leaves have the rows that they were grown on
        columns = as_columns(y, numeric=True)
        if columns.shape[1] > 1:
            raise InputError(f"y has {columns.shape[1]} columns; quantiles are of one target")
        target = columns[data.kept, 0]
        order = np.argsort(target, kind="stable")
        # The training rows in the order of their targets.
        self._target = target[order]
        self._row = np.arange(columns.shape[0])[data.kept][order]
        self._node = leaves(self.grown_, data.values)[order]

    def weights(self, X: Any) -> sparse.csr_matrix:
        """Return how much each training row counts for each row of X, (N, training rows)."""
        self._check_one_table("weights")
        found = self._weights(self._nodes(X))
        where = (found.data, self._row[found.indices], found.indptr)
        return sparse.csr_matrix(where, shape=(found.shape[0], self._sampling().n_rows))

    def predict_quantiles(self, X: Any, quantiles: Any = (0.1, 0.5, 0.9)) -> Any:
        """Return quantiles of the target for each row.

        Parameters
        ----------
        X : (N, F) table
        quantiles : one level from 0 to 1, or (Q,) of them

        Returns
        -------
        (N,) or (N, Q): the least training target that rows of a weight of the level do not exceed
        """
        self._check_one_table("predict_quantiles")
        with own_errors("quantiles", "quantiles must be numbers from 0 to 1"):
            levels = np.asarray(quantiles, dtype=np.float64)
        if levels.ndim > 1 or not ((levels >= 0.0) & (levels <= 1.0)).all():
            raise InputError(f"quantiles={quantiles!r} must be numbers from 0 to 1")
        node = self._nodes(X)
        found = np.empty((node.shape[0], levels.size))
        for block in blocks(node.shape[0], self._target.size):
            weights = self._weights(node[block])
            found[block] = weighted_quantiles(weights, self._target, levels.reshape(-1))
        return answer(found[:, 0] if levels.ndim == 0 else found, X)

    def _weights(self, node: Integers) -> sparse.csr_matrix:
        """Return the weights of the training rows in the order of their targets."""
        n_nodes = self.grown_.feature.size
        times = np.stack([self._counts(number) for number in range(self.seeds_.size)], axis=1)
        return leaf_columns(node, n_nodes) @ shares_of_rows(self._node, times, n_nodes)

    def _counts(self, number: int) -> NDArray[Any]:
        """Return how much a tree's training rows count, in the order of their targets."""
        sampling = self._sampling(number)
        if sampling.size is not None:
            return self._times(number)[self._row]
        weight = sampling.weight
        return np.ones(self._row.size) if weight is None else weight[self._row]

    def __sklearn_tags__(self) -> Any:  # noqa: D105
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = False
        return tags

    def _more_to_save(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        header, extra = super()._more_to_save()
        return header, {**extra, "target": self._target, "row": self._row, "node": self._node}

    def _take_saved(self, header: dict[str, Any], extra: dict[str, NDArray[Any]]) -> None:
        super()._take_saved(header, extra)
        target, row, node = extra["target"], extra["row"], extra["node"]
        n_trees, n_nodes = self.grown_.root.size, self.grown_.feature.size
        fits = target.ndim == 1 and row.shape == target.shape and node.shape == (row.size, n_trees)
        if not fits or target.dtype != np.float64 or {row.dtype.kind, node.dtype.kind} != {"i"}:
            raise ValueError("the training rows of the leaves are of another number or kind")
        for each, end in ((row, self._n_samples), (node, n_nodes)):
            if each.size and (each.min() < 0 or each.max() >= end):
                raise ValueError("there are leaves or training rows that do not exist")
        self._target, self._row, self._node = target, row, node

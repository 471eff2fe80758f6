"""What a bagged forest tells beyond its predictions: importances, proximities, variances."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import is_classifier
from sklearn.utils import Bunch

from vtree.ensembles.jackknife import METHODS
from vtree.ensembles.leaf_samples import blocks, leaf_columns, proximities
from vtree.ensembles.shuffling import losses_by_shuffling
from vtree.errors import InputError
from vtree.estimators.base import thread_count
from vtree.estimators.devices import working
from vtree.estimators.forest import ForestEstimator
from vtree.estimators.limits import ParameterError
from vtree.estimators.targets import as_columns
from vtree.predict import leaves
from vtree_kernels import threads

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

_MOST_ALWAYS = 0.2  # of the rows, that may be in all samples


class ForestAnalysis(ForestEstimator):
    """Base of forests of a target; use a derived class."""

    def out_of_bag_importance(self, X: Any, y: Any) -> Bunch:
        """Return what each tree loses, on rows that it did not see, when a feature is shuffled.

        Parameters
        ----------
        X, y : the table and the targets of `fit`, in the same order

        Returns
        -------
        Bunch with `importances` (F, T), the rise of each tree's mean loss: the share of wrong
        classes, or the squared error; NaN for trees that saw all rows. `importances_mean` and
        `importances_std` (F,) are over trees. No refits and no data held out are needed.

        Raises
        ------
        ParameterError
            With `bootstrap=False`.
        InputError
            Another number of rows than in `fit`; trees of several tables, after a warm start on
            other rows; a forest of which every tree saw every row.

        References
        ----------
        Breiman, Random Forests, Machine Learning 45, 2001, section 10.

        Examples
        --------
        >>> from sklearn.datasets import load_iris
        >>> from vtree import RandomForestClassifier
        >>> X, y = load_iris(return_X_y=True)
        >>> model = RandomForestClassifier(50, random_state=0).fit(X, y)
        >>> model.out_of_bag_importance(X, y).importances_mean.argmax() in (2, 3)
        True
        """
        self._check_one_table("out_of_bag_importance")
        columns = as_columns(y, numeric=not is_classifier(self))
        self._times(0)
        n_rows = self._sampling().n_rows
        if columns.shape[0] != n_rows:
            raise InputError(
                f"y has {columns.shape[0]} rows, but the forest was fitted on {n_rows}: "
                "pass the table and the targets of fit"
            )
        loss = self._loss_of_rows(columns)
        with threads(thread_count(self.n_jobs)), working(self.device, X):
            values = self._encode(X)
            if values.shape[0] != n_rows:
                raise InputError(f"X has {values.shape[0]} rows and y has {n_rows}")
            lost = losses_by_shuffling(
                self._voting_tree(),
                values,
                self.seeds_,
                self._left_out,
                loss,
            )
        known = lost[:, ~np.isnan(lost[0])]
        if known.shape[1] == 0:
            size = self._sampling().size
            raise InputError(
                f"every tree saw every row, for it drew {size} times from {n_rows} rows: let it "
                "draw fewer (max_samples), or grow more trees"
            )
        return Bunch(
            importances_mean=known.mean(axis=1),
            importances_std=known.std(axis=1),
            importances=lost,
        )

    def _loss_of_rows(self, columns: NDArray[Any]) -> Any:
        """Return the loss of what a tree answers, see `vtree.ensembles.shuffling`."""
        raise NotImplementedError

    def proximities(self, X: Any, Y: Any = None, *, most: int = 100) -> sparse.csr_matrix:
        """Return the share of the trees in which rows come to the same leaf.

        Parameters
        ----------
        X : (N, F) table
        Y : (R, F) table, X if not given
        most : how many of the largest entries of a row to keep

        Returns
        -------
        (N, R) sparse matrix, from 0 to 1, with at most `most` entries a row

        References
        ----------
        Breiman and Cutler, Random forests: manual, 2003.

        Examples
        --------
        >>> from sklearn.datasets import load_iris
        >>> from vtree import RandomForestClassifier
        >>> X, y = load_iris(return_X_y=True)
        >>> near = RandomForestClassifier(30, random_state=0).fit(X, y).proximities(X, most=5)
        >>> near.shape, near.nnz, near.max()
        ((150, 150), 750, np.float64(1.0))
        """
        if isinstance(most, bool) or not isinstance(most, int | np.integer) or most < 1:
            raise ParameterError(f"most={most!r} must be a whole number of at least 1")
        ours = self._leaf_columns(X)
        return proximities(ours, ours if Y is None else self._leaf_columns(Y), int(most))

    def _leaf_columns(self, X: Any) -> sparse.csr_matrix:
        return leaf_columns(self._nodes(X), self.grown_.feature.size)

    def _nodes(self, X: Any) -> Integers:
        """Return where each row comes to in each tree, by the nodes of all trees, (N, T)."""
        with threads(thread_count(self.n_jobs)), working(self.device, X):
            values = self._encode(X)  # first, for it tells whether there are trees
            return leaves(self.grown_, values).astype(np.int64)

    def prediction_variance(
        self, X: Any, *, method: str = "extrapolated", corrected: bool = True
    ) -> Floats:
        """Return how much the answer for each row would vary with another training set.

        Parameters
        ----------
        X : (N, F) table
        method : "infinitesimal", "after_bootstrap" or "extrapolated"
            The infinitesimal jackknife, the jackknife after bootstrap, or the mean of both, whose
            biases have opposite signs.
        corrected : whether to take off what the finite number of trees adds; variances may then
            come out below zero, which says that it takes more trees to tell them from it

        Returns
        -------
        (N,) of the predicted numbers; (N, K) of class shares or several outputs

        Raises
        ------
        ParameterError
            With `bootstrap=False`, or another method.
        InputError
            A single tree; trees of several tables, after a warm start on other rows; without
            "infinitesimal", a forest of which more than a fifth of the rows are in the samples of
            all trees, for what it would answer without them is not known. Fewer are left out.

        References
        ----------
        Wager, Hastie and Efron, Confidence intervals for random forests, JMLR 15, 2014.

        Examples
        --------
        >>> from sklearn.datasets import load_diabetes
        >>> from vtree import RandomForestRegressor
        >>> X, y = load_diabetes(return_X_y=True)
        >>> model = RandomForestRegressor(300, min_samples_leaf=5, random_state=0).fit(X, y)
        >>> variance = model.prediction_variance(X[:5])
        >>> variance.shape, bool((variance > 0.0).mean() > 0.5)
        ((5,), True)
        """
        self._check_one_table("prediction_variance")
        if method not in METHODS:
            raise ParameterError(f"method={method!r} is not one of {', '.join(METHODS)}")
        times = np.stack([self._times(number) for number in range(self.seeds_.size)])
        if times.shape[0] < 2:
            raise InputError(
                "the variance of a forest is told by how its trees differ, but it has 1; grow "
                "more (n_estimators)"
            )
        if method != "infinitesimal":
            _check_left_out(times, method)
        chance = self._mean_chance()
        value = self._voting_tree().value
        node = self._nodes(X)
        found = np.empty((node.shape[0], value.shape[1]))
        for block in blocks(node.shape[0], node.shape[1] * value.shape[1]):
            answers = value[node[block].T]  # (T, rows, K)
            flat = answers.reshape(times.shape[0], -1)
            own = METHODS[method](times, flat, chance, corrected=corrected)
            found[block] = own.reshape(-1, value.shape[1])
        return found[:, 0] if found.shape[1] == 1 else found

    def _mean_chance(self) -> Floats | None:
        """Return with what probability a draw is of each row, mean over draws, None: all alike."""
        history = self._history()
        if all(each.weight is None for each in history):
            return None
        ends = [*(each.first for each in history[1:]), self.seeds_.size]
        total, chance = 0.0, np.zeros(history[0].n_rows)
        for each, end in zip(history, ends, strict=True):
            assert each.size is not None
            n_draws = float(each.size * (end - each.first))
            own = each.chance
            chance += n_draws * (1.0 / each.n_rows if own is None else own)
            total += n_draws
        return chance / total


def _check_left_out(times: NDArray[np.int32], method: str) -> None:
    """Raise InputError if too many of the rows that trees drew are in the samples of all trees."""
    drawn = times > 0
    n_rows, n_always = int(drawn.any(axis=0).sum()), int(drawn.all(axis=0).sum())
    if n_always > _MOST_ALWAYS * n_rows:
        raise InputError(
            f"method={method!r} compares trees with and without each row, but {n_always} of "
            f"{n_rows} rows are in the samples of all {len(times)} trees; grow more trees, let "
            "them draw fewer rows (max_samples), or pass method='infinitesimal'"
        )

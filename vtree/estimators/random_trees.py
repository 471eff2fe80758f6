"""What forests without a target share: every node is split at random."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_random_state

from vtree.estimators.base import TreeEstimator
from vtree.estimators.decision_tree import DecisionTreeRegressor
from vtree.estimators.forest import ForestEstimator
from vtree.estimators.prepared import Prepared, kept_rows, known_levels
from vtree.estimators.targets import row_weights
from vtree.targets import real_targets

Floats = NDArray[np.float64]


class RandomTrees(ForestEstimator):
    """Base of forests that know no target: one random feature a node, cut at a random value.

    Grown as regression trees of a target drawn at random, which decides only what is left open by
    the draws: to which side missing values and the levels of a category go.
    """

    _tree_class = DecisionTreeRegressor
    _splitter = "random"

    criterion = "squared_error"
    ccp_alpha = 0.0
    max_leaf_nodes: int | None = None
    bootstrap = False
    oob_score = False

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Any:
        """Grow trees on the rows of X.

        Parameters
        ----------
        X : (N, F) table
            As for `DecisionTreeClassifier.fit`; NaN marks missing values.
        y : ignored
        sample_weight : (N,), optional
            Weights, not negative: of the rows that trees grow on, or, where trees have samples, in
            proportion to which rows are drawn.

        Returns
        -------
        self

        Raises
        ------
        InputError, InputTypeError
            Whatever cannot be used, see `vtree.errors`. The estimator then stays what it was.
        """
        return super().fit(X, y, sample_weight)

    def _check_request(self, y: Any) -> None:
        pass  # there are no targets, and no samples that contradict others

    def _tree(self) -> TreeEstimator:
        known = DecisionTreeRegressor().get_params(deep=False)
        own = {
            name: value
            for name, value in self.get_params(deep=False).items()
            if name in known and name not in self._not_of_trees
        }
        return DecisionTreeRegressor(**{**own, "splitter": self._splitter, "max_features": 1})

    def _prepared(self, X: Any, y: Any, sample_weight: Any) -> tuple[TreeEstimator, Prepared]:
        template = self._tree()
        values, schema = self._read(X)
        n_rows = int(values.shape[0])
        weight = row_weights(sample_weight, None, np.zeros((n_rows, 1)), n_rows)
        values, schema = known_levels(X, values, schema, weight)
        drawn = check_random_state(self.random_state).uniform(size=n_rows)[:, None]
        own = self._weights_of_trees(weight)
        values, kept = kept_rows(values, own)
        targets = real_targets(drawn[kept], None if own is None else own[kept])
        template.n_outputs_ = 1
        template._remember(X, schema)
        self._n_samples, self._sample_weight = n_rows, weight
        self._n_samples_bootstrap = None
        total = float(n_rows) if own is None else float(np.sum(own))
        return template, Prepared(values, schema, targets, n_rows, total, kept)

    def _weights_of_trees(self, weight: Floats | None) -> Floats | None:
        """Return the weights (N,) that trees are grown on, rather than drawn by."""
        return weight

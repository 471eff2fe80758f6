"""What forests that average numbers share."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import RegressorMixin
from sklearn.metrics import r2_score

from vtree.arrays import Array
from vtree.ensembles.out_of_bag import score_of_answered
from vtree.errors import InputError
from vtree.estimators.decision_tree import DecisionTreeRegressor
from vtree.estimators.devices import answer
from vtree.estimators.forest_analysis import ForestAnalysis
from vtree.estimators.prepared import Prepared
from vtree.targets import real_targets

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]


def warn_of_friedman(criterion: Any) -> None:
    """Say that a name of a criterion is going."""
    if isinstance(criterion, str) and criterion == "friedman_mse":
        warnings.warn(
            'criterion "friedman_mse" is the same as "squared_error" and will go the way it goes '
            "in scikit-learn; use the latter",
            FutureWarning,
            stacklevel=3,
        )


class ForestRegressor(RegressorMixin, ForestAnalysis):
    """Base of forests that average numbers."""

    _tree_class = DecisionTreeRegressor

    def _check_columns(self, columns: NDArray[Any]) -> None:
        if self.criterion == "poisson":
            if (columns < 0.0).any():
                raise InputError(
                    "Some value(s) of y are negative which is not allowed for Poisson regression."
                )
            if not columns.sum() > 0.0:
                raise InputError(
                    "Sum of y is not strictly positive which is necessary for Poisson regression."
                )

    def _roomy(self, data: Prepared, columns: NDArray[Any], size: int) -> Any:
        if size <= columns.shape[0]:
            return data.targets
        return real_targets(
            columns,
            None,
            centred=self.criterion != "poisson",
            ranked=data.targets.ranks is not None,
            most_rows=size,
        )

    def _score_out_of_bag(self, mean: Floats, columns: NDArray[Any], score: Any) -> None:
        single = columns.shape[1] == 1
        self.oob_prediction_ = mean[:, 0] if single else mean
        known = ~np.isnan(mean[:, 0])
        truth = columns[known, 0] if single else columns[known]
        answers = self.oob_prediction_[known]
        self.oob_score_ = score_of_answered(score or r2_score, truth, answers)

    def _loss_of_rows(self, columns: NDArray[Any]) -> Any:
        def squared(value: Floats, rows: Integers) -> Floats:
            loss: Floats = ((value - columns[rows]) ** 2).mean(axis=1)
            return loss

        return squared

    def predict(self, X: Any) -> Array:
        """Return the mean of what the trees predict, (N,) or (N, outputs)."""
        mean = self._mean(X)
        return answer(mean[:, 0] if self.n_outputs_ == 1 else mean, X)

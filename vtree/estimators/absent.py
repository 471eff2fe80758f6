"""The door for what the parameters of surrogates say becomes of rows with missing values."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from vtree.errors import InputError
from vtree.splits import Search
from vtree.surrogates import COUNTS, SurrogateRouter, credit

Floats = NDArray[np.float64]

STAY, SURROGATES_OR_STAY, LARGER_SIDE_AT_LAST = 0, 1, 2


def surrogate_router(estimator: Any, search: Search) -> SurrogateRouter | None:
    """Return what routes rows by surrogates, or None where the branch of missing values is learnt.

    Raises
    ------
    InputError
        Surrogates along with what judges rows that miss a feature by its splits all the same.
    """
    count, use = int(estimator.surrogates), int(estimator.use_surrogates)
    if count == 0 and use == LARGER_SIDE_AT_LAST:
        return None
    name = "surrogates" if count else "use_surrogates"
    for reason, holds in (
        ("criterion='absolute_error'", search.criterion.by_rows),
        ("splitter='random'", search.draw.random_threshold),
        ("monotonic_cst", search.monotone is not None and search.monotone.any()),
    ):
        if holds:
            raise InputError(
                f"{name}={getattr(estimator, name)} cannot be combined with {reason}; leave "
                "surrogates=0 and use_surrogates=2, which learns a branch for missing values"
            )
    return SurrogateRouter(
        0 if use == STAY else count,
        to_larger=use == LARGER_SIDE_AT_LAST,
        budget=estimator.histogram_budget,
        counts=COUNTS[estimator.surrogate_counts],
    )


class HasSurrogates:
    """What estimators with the parameter `surrogates` show of them."""

    grown_: Any
    surrogates_: Any
    n_features_in_: int

    @property
    def surrogate_importances_(self) -> Floats:
        """Each feature's share of the decrease of impurity, with that of its surrogates, (F,).

        A surrogate counts by how much better than the larger side it agrees with the split, as in
        rpart's `variable.importance`; without surrogates, these are `feature_importances_`.
        """
        check_is_fitted(self)
        total = credit(self.grown_, self.surrogates_, self.n_features_in_)
        whole = float(total.sum())
        return total / whole if whole > 0.0 else total

"""The door for `surrogates` and `use_surrogates`: what becomes of rows with missing values."""

from __future__ import annotations

from typing import Any

from vtree.errors import InputError
from vtree.splits import Search
from vtree.surrogates import SurrogateRouter

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
    )

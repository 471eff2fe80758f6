"""The definition of `elementwise` over the array API."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from array_api_compat import array_namespace


def elementwise(
    column: Any,
    others: tuple[Any, ...],
    numbers: tuple[float, ...],
    function: Callable[..., tuple[Any, ...]],
    n_results: int,
) -> tuple[Any, ...]:
    """Return the results of `function`; see the package for the contract."""
    found = function(column, *others, *numbers)[:n_results]
    # A result may be the same number for all rows.
    return tuple(0.0 * column + each for each in found)


def with_reach(
    column: Any,
    others: tuple[Any, ...],
    numbers: tuple[float, ...],
    function: Callable[..., tuple[Any, ...]],
    n_results: int,
    before: float,
) -> tuple[tuple[Any, ...], tuple[float, ...]]:
    """Return the results of `function` and their reach; see the package for the contract."""
    xp = array_namespace(column)
    found = elementwise(before + column, others, numbers, function, n_results)
    some = column.shape[0] > 0
    return found, tuple(float(xp.max(xp.abs(each))) if some else 0.0 for each in found)

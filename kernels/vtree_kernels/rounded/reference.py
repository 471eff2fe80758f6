"""The definition of `rounded` over the array API."""

from __future__ import annotations

from typing import Any

from array_api_compat import array_namespace


def rounded(
    values: Any, factor: float, weight: Any | None, products: bool, least: int | None
) -> Any:
    """Return whole (N,); see the package for the contract."""
    xp = array_namespace(values)
    scaled = values * factor
    if weight is not None and not products:
        scaled = scaled * xp.astype(weight, xp.float64)
    whole = xp.astype(xp.round(scaled), xp.int64)
    if weight is not None and products:
        whole = whole * weight
    return whole if least is None else xp.where(whole < least, least, whole)

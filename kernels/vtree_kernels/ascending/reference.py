"""The definition of `ascending` over the array API."""

from __future__ import annotations

from typing import Any

from array_api_compat import array_namespace


def ascending(x: Any) -> Any:
    """Return the numbers; see the package for the contract."""
    xp = array_namespace(x)
    known = xp.nonzero(~xp.isnan(x))[0]
    own = x if known.shape[0] == x.shape[0] else xp.take(x, known)
    return xp.sort(own, stable=False) + 0.0

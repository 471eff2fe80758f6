"""The definition of `bincode` over the array API."""

from __future__ import annotations

from typing import Any

from array_api_compat import array_namespace, device


def bincode(
    values: Any, columns: list[int], edges: Any, offsets: list[int], codes_dtype: Any
) -> Any:
    """Return codes (N, G) of `values` (N, F); see the package for the contract."""
    xp = array_namespace(values)
    coded = []
    for g, column in enumerate(columns):
        x = xp.astype(values[:, column], xp.float64)
        missing = xp.isnan(x)
        known = xp.where(missing, xp.zeros_like(x), x)
        code = xp.searchsorted(edges[offsets[g] : offsets[g + 1]], known, side="left") + 1
        coded.append(xp.where(missing, xp.zeros_like(code), code))
    if not coded:
        return xp.zeros((values.shape[0], 0), dtype=codes_dtype, device=device(values))
    return xp.astype(xp.stack(coded, axis=1), codes_dtype)

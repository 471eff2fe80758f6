"""The definition of `ranks` over the array API: sort, keep the first of equals, look up."""

from __future__ import annotations

from typing import Any

from array_api_compat import array_namespace, device

from vtree_kernels.widened import widened


def ranks(values: Any, columns: list[int]) -> tuple[Any, list[Any]]:
    """Return (codes (G, N), distinct values); see the package for the contract."""
    xp = array_namespace(values)
    found = [_of_column(widened(values[:, column]) + 0.0) for column in columns]
    if not found:
        return xp.zeros((0, values.shape[0]), dtype=xp.int32, device=device(values)), []
    return xp.stack([codes for codes, _ in found]), [own for _, own in found]


def _of_column(x: Any) -> tuple[Any, Any]:
    xp = array_namespace(x)
    missing = xp.isnan(x)
    known = xp.sort(xp.take(x, xp.nonzero(~missing)[0]))
    if known.shape[0] == 0:
        return xp.zeros_like(x, dtype=xp.int32), xp.astype(known, xp.float64)
    later = xp.nonzero(known[1:] != known[:-1])[0] + 1
    distinct = xp.concat([known[:1], xp.take(known, later)])
    code = xp.searchsorted(distinct, xp.where(missing, distinct[0], x)) + 1
    return xp.astype(xp.where(missing, 0, code), xp.int32), xp.astype(distinct, xp.float64)

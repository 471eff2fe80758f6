"""The definition of `sift` over the array API: one stable sort a feature."""

from __future__ import annotations

from typing import Any

import numpy as np
from array_api_compat import array_namespace, device
from numpy.typing import NDArray

ROW = (1 << 32) - 1  # the bits of an element that are its row


def line_up(codes: Any, label: Any, bits: int) -> Any:
    """Return the lines (G, N); see the package for the contract."""
    xp, place = array_namespace(codes), device(codes)
    row = xp.arange(codes.shape[0], dtype=xp.int64, device=place)
    own = xp.astype(label, xp.int64)
    lines = []
    for g in range(codes.shape[1]):
        code = xp.astype(codes[:, g], xp.int64)
        order = xp.argsort(code, stable=True)
        lines.append(xp.take((code * (1 << bits) + own) * (1 << 32) + row, order))
    return xp.stack(lines)


def sift(
    lines: Any,
    rows: Any,
    start: NDArray[np.int64],
    stop: NDArray[np.int64],
    n_children: NDArray[np.int32],
    lengths: NDArray[np.int64],
) -> Any:
    """Return the lines (G, R); see the package for the contract."""
    xp, place = array_namespace(lines), device(lines)
    if start.size == 0 or lines.shape[0] == 0:
        return lines
    owner = np.repeat(np.arange(start.size), stop - start)
    before = np.cumsum(stop - start) - (stop - start)
    positions = np.arange(owner.size) - before[owner] + start[owner]
    # Children are numbered over all nodes, so that one sort serves them all.
    child = np.repeat(np.arange(lengths.size), lengths)
    where = xp.asarray(positions, device=place)
    own_rows = xp.astype(xp.take(rows, where), xp.int64)
    order = xp.argsort(own_rows)
    sorted_rows = xp.take(own_rows, order)
    child_of = xp.take(xp.asarray(child, device=place), order)
    sifted = []
    for g in range(lines.shape[0]):
        own = xp.take(lines[g, :], where)
        key = xp.take(child_of, xp.searchsorted(sorted_rows, own & ROW))
        sifted.append(_with(lines[g, :], where, xp.take(own, xp.argsort(key, stable=True))))
    return xp.stack(sifted)


def _with(line: Any, where: Any, values: Any) -> Any:
    """Return line (R,) with `values` at the ascending places `where`."""
    xp = array_namespace(line)
    everywhere = xp.arange(line.shape[0], dtype=where.dtype, device=device(line))
    at = xp.searchsorted(where, everywhere)
    at = xp.where(at < where.shape[0], at, 0)
    taken = xp.take(where, at) == everywhere
    return xp.where(taken, xp.take(values, at), line)

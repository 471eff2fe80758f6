"""`scan` in Numba: one pass over each (node, feature), compiled once per criterion."""

from __future__ import annotations

import functools
import hashlib
from collections.abc import Callable
from typing import Any

import numba
import numpy as np
from numba.extending import register_jitable
from numpy.typing import NDArray

import vtree_kernels.elementary.cpu  # noqa: F401  (teaches Numba `log` and `choose`)
from vtree_kernels import _threads
from vtree_kernels.scan.reference import Best, Limits


@numba.njit(cache=True, nogil=True, inline="always")
def _rows_of(cell, implied, classes):  # type: ignore[no-untyped-def]
    if implied == 0:
        return np.int64(cell[0])
    rows = np.int64(0)
    for c in range(classes):
        rows += cell[c]
    return rows


@functools.cache
def _kernel(gain: Callable[[Any, Any, Any], Any]) -> Any:
    """Compile the scan around one criterion.

    The criterion is captured as a plain function, so that Numba's disk cache finds the result
    again in another process; its code is part of the key, for the cache only watches this file.
    """
    stamp = int(hashlib.sha256(gain.__code__.co_code).hexdigest()[:8], 16)
    register_jitable(gain)

    @numba.njit(cache=True, nogil=True)
    def scan_nodes(  # type: ignore[no-untyped-def]
        hist, total, allowed, monotone, lower, upper, min_rows, min_weight, layout, first, last, out
    ):
        out_gain, out_bin, out_next, out_missing_left, out_missing, out_varies, out_left = out
        n_features, n_codes, stored = hist.shape[1:]
        implied = total.shape[1] - stored  # 1: plane 0 is the sum of the classes
        running = np.empty(stored, np.int64)
        left = np.empty(total.shape[1], np.float64)
        right = np.empty(total.shape[1], np.float64)
        nothing = stamp * 0  # keeps `stamp` among the captured values
        for l in range(first, last):
            n_rows = total[l, 0]
            for g in range(n_features):
                cells = hist[l, g]
                running[:] = nothing
                n_known = np.int64(0)
                n_missing = _rows_of(cells[0], implied, layout.classes)
                best = (-np.inf, -np.inf)  # missing right, missing left
                best_bin = (0, 0)
                filled = 1 if n_missing > 0 else 0
                ways = 1 + filled
                only = allowed[l, g]
                constrained = monotone.size > 0 and monotone[g] != 0
                for b in range(1, n_codes):
                    here = _rows_of(cells[b], implied, layout.classes)
                    if here > 0:
                        filled += 1
                    elif only != b:
                        continue  # the same split as the bin before
                    n_known += here
                    for s in range(stored):
                        running[s] += cells[b, s]
                    if n_known == 0 or (only != 0 and only != b):
                        continue
                    for way in range(ways):
                        n_left = n_known + way * n_missing
                        if n_left < min_rows or n_rows - n_left < min_rows:
                            continue
                        left[0] = n_left
                        right[0] = n_rows - n_left
                        for s in range(stored):
                            value = running[s] + way * cells[0, s]
                            left[implied + s] = value
                            right[implied + s] = total[l, implied + s] - value
                        if left[layout.weight] < min_weight or right[layout.weight] < min_weight:
                            continue
                        if constrained:
                            share = left[layout.ordered] / left[layout.weight]
                            mean_left = layout.center + share * layout.scale
                            share = right[layout.ordered] / right[layout.weight]
                            mean_right = layout.center + share * layout.scale
                            if (mean_right - mean_left) * monotone[g] < 0.0:
                                continue
                            if min(mean_left, mean_right) < lower[l]:
                                continue
                            if max(mean_left, mean_right) > upper[l]:
                                continue
                        score = gain(left, right, layout)
                        if score > best[way]:
                            if way == 0:
                                best, best_bin = (score, best[1]), (b, best_bin[1])
                            else:
                                best, best_bin = (best[0], score), (best_bin[0], b)
                way = 1 if best[1] > best[0] else 0
                bin = best_bin[way]
                out_gain[l, g] = best[way]
                out_bin[l, g] = bin
                out_missing[l, g] = n_missing
                out_missing_left[l, g] = way == 1
                out_varies[l, g] = filled >= 2
                following = 0
                for b in range(bin + 1, n_codes):
                    if _rows_of(cells[b], implied, layout.classes) > 0:
                        following = b
                        break
                out_next[l, g] = following
                n_known = way * n_missing
                for s in range(stored):
                    value = np.int64(way * cells[0, s])
                    for b in range(1, bin + 1):
                        value += cells[b, s]
                    out_left[l, g, implied + s] = value
                for b in range(1, bin + 1):
                    n_known += _rows_of(cells[b], implied, layout.classes)
                out_left[l, g, 0] = n_known

    return scan_nodes


def scan(
    hist: NDArray[np.int64],
    total: NDArray[np.int64],
    allowed: NDArray[np.int32],
    monotone: NDArray[np.int8] | None,
    lower: NDArray[np.float64],
    upper: NDArray[np.float64],
    limits: Limits,
    gain: Callable[[Any, Any, Any], Any],
    layout: Any,
) -> Best:
    """Return the best split of each node and feature; see the package for the contract."""
    shape = hist.shape[:2]
    best = Best(
        np.empty(shape),
        np.empty(shape, dtype=np.int32),
        np.empty(shape, dtype=np.int32),
        np.empty(shape, dtype=np.bool_),
        np.empty(shape, dtype=np.int64),
        np.empty(shape, dtype=np.bool_),
        np.empty((*shape, total.shape[1]), dtype=np.int64),
    )
    kernel = _kernel(gain)
    directions = np.empty(0, dtype=np.int8) if monotone is None else monotone
    fixed = (allowed, directions, lower, upper, max(1, limits.min_rows), limits.min_weight)
    compiled_layout = layout._replace(unit=np.asarray(layout.unit, dtype=np.float64))
    per_task = max(1, 65_536 // (shape[1] * hist.shape[2]))

    def nodes(index: int) -> None:
        first = index * per_task
        last = min(first + per_task, shape[0])
        kernel(hist, total, *fixed, compiled_layout, first, last, tuple(best))

    _threads.run(nodes, -(-shape[0] // per_task), work=hist.size * 4)
    return best

"""The definition of `search`: histograms, then their scan."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from array_api_compat import array_namespace

from vtree_kernels.histogram import Compact, histogram
from vtree_kernels.scan import Best, scan

_CELLS = 1 << 22  # of the histograms that are held at a time


def search(
    codes: Any,
    rows: Any,
    start: Any,
    stop: Any,
    label: Any,
    weight: Any,
    sums: Any,
    n_codes: int,
    total: Any,
    monotone: Any | None,
    lower: Any | None,
    upper: Any | None,
    limits: Any,
    gain: Callable[[Any, Any, Any], Any],
    layout: Any,
    compact: Compact | None = None,
) -> Best:
    """Return the best split of each node and feature; see the package for the contract."""
    counted = layout.implied == 0
    statistics = (label, weight, sums, n_codes, layout.n_stored, counted, compact)
    step = max(1, _CELLS // (codes.shape[1] * n_codes * layout.n_stored))
    parts = []
    for first in range(0, max(1, start.size), step):
        last = min(first + step, start.size)  # the standard allows no slice beyond the end
        # Through the dispatch: an array library with native twins of the two uses them.
        hist = histogram(codes, rows, start[first:last], stop[first:last], *statistics)
        own = [None if each is None else each[first:last] for each in (lower, upper)]
        given = (hist, total[first:last, ...], None, monotone)
        parts.append(scan(*given, own[0], own[1], limits, gain, layout))
    result = array_namespace(parts[0].gain)  # some twins answer on the host
    return Best(*(result.concat(fields, axis=0) for fields in zip(*parts, strict=True)))

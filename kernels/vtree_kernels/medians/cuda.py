"""`medians` on CUDA: one launch finds all errors and medians of some nodes, arrays do the rest."""

from __future__ import annotations

from typing import Any

import numpy as np
from array_api_compat import array_namespace
from numpy.typing import NDArray

from vtree_kernels._cuda import Program, device_of
from vtree_kernels.histogram.cuda import histogram
from vtree_kernels.medians.reference import Ranks, Table, best_of, by_place, rows_in_play
from vtree_kernels.scan.reference import Best, Limits

MOST_BYTES = 2**28  # of what is kept for the nodes of one launch
THREADS = 256  # candidates of a block

VARIANTS: tuple[dict[str, object], ...] = ({},)

_program = Program("medians")


def medians(
    codes: Any,
    rows: Any,
    start: NDArray[np.int64],
    stop: NDArray[np.int64],
    weight: Any | None,
    sums: Any,
    ranks: Ranks,
    places: Any | None,
    total: Any,
    allowed: Any,
    monotone: Any | None,
    lower: Any,
    upper: Any,
    limits: Limits,
    layout: Any,
    n_codes: int,
) -> Best:
    """Return the best split of each node and feature; see the package for the contract."""
    xp = array_namespace(codes)
    found = []
    borders = _borders(stop - start, codes.shape[1], n_codes, total.shape[1])
    for first, last in zip(borders[:-1].tolist(), borders[1:].tolist(), strict=True):
        own = slice(first, last)
        begin, end = start[own], stop[own]
        own_places = None if places is None else places[own, ...]
        table = rows_in_play(codes, rows, begin, end, weight, sums, ranks, own_places)
        # Places are as few as codes are, and codes fit into 16 bits.
        table = table._replace(place=xp.astype(table.place, xp.uint16))
        ends = np.cumsum(end - begin)
        segments = np.stack([ends - (end - begin), ends])
        hist = by_place(histogram, table, segments, weight is not None, n_codes)

        def around(
            output: int, table: Table = table, segments: NDArray[np.int64] = segments
        ) -> tuple[Any, Any]:
            return _around_medians(table, segments, ranks, output, n_codes)

        rest = (total[own, ...], allowed[own, ...], monotone, lower[own], upper[own])
        found.append(best_of(hist, around, *rest, limits, layout))
    return Best(*(xp.concat(fields, axis=0) for fields in zip(*found, strict=True)))


def _borders(
    lengths: NDArray[np.int64], n_features: int, n_codes: int, n_statistics: int
) -> NDArray[np.int64]:
    """Group neighbouring nodes of `lengths` rows to at most MOST_BYTES, or one node: (n + 1,)."""
    of_row = n_features * 12 + 64
    of_node = n_features * n_codes * 8 * (8 + 8 * n_statistics)
    group = np.cumsum(lengths * of_row + of_node) // MOST_BYTES
    return np.concatenate([[0], np.flatnonzero(np.diff(group)) + 1, [lengths.size]])


def _around_medians(
    table: Table, segments: NDArray[np.int64], ranks: Ranks, output: int, n_codes: int
) -> tuple[Any, Any]:
    """Return (error, median) of all sides as the reference does, (L, G, 2, 2, B)."""
    xp = array_namespace(table.place)
    here = device_of(table.place)
    n_nodes, n_features = segments.shape[1], table.place.shape[1]
    shape = (n_nodes, n_features, 2, 2, n_codes)
    error, median = here.zeros(shape, np.float64), here.zeros(shape, np.float64)
    node = here.upload(np.repeat(np.arange(n_nodes), segments[1] - segments[0]))
    order = xp.argsort(node * ranks.value.shape[0] + xp.astype(table.rank[:, output], xp.int64))
    _program.on(here).launch(
        "around",
        (n_nodes * n_features, -(-n_codes // THREADS)),
        THREADS,
        here.contiguous(table.place),
        np.int32(n_features),
        here.contiguous(table.weight),
        here.contiguous(table.sums),
        here.contiguous(table.rank),
        *map(np.int32, (table.rank.shape[1], output)),
        order,
        here.upload(segments),
        np.int32(n_nodes),
        here.contiguous(ranks.position),
        here.contiguous(ranks.value),
        np.int32(n_codes),
        error,
        median,
    )
    return error, median

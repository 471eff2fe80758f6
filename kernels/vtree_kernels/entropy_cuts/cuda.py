"""`cuts` on CUDA: a warp a (node, feature); large nodes by their histograms, small ones by rows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from vtree_kernels._cuda import Device, Program, Variant, blocks_for, c_type, device_of, numpy_dtype
from vtree_kernels.entropy_cuts import reference
from vtree_kernels.entropy_cuts.reference import Cuts, Reach, Rule
from vtree_kernels.histogram.cuda import histogram
from vtree_kernels.scan.reference import Layout

MOST_ROWS = 1024  # of a node whose rows are sorted; to sort them costs less than long histograms
BYTES = 1 << 28  # of histograms at once, one node's of one feature at least
WARPS, CELL_WARPS = 8, 4  # of a block

_ROWS: dict[str, Any] = {"CODE": "unsigned short", "CELL": "int", "COUNTED": 0, "WEIGHTED": 0}
VARIANTS: tuple[dict[str, Any], ...] = (
    _ROWS,
    _ROWS | {"CODE": "unsigned char"},
    _ROWS | {"CELL": "long long", "COUNTED": 1, "WEIGHTED": 1},
)

_program = Program("entropy_cuts")


class _Table(NamedTuple):
    """What rows are and add."""

    codes: Any
    rows: Any
    label: Any
    weight: Any | None


class _Judge(NamedTuple):
    """What all launches of a call share."""

    here: Device
    kernels: Variant
    layout: Layout
    rest: tuple[Any, ...]  # the last arguments
    scratch: int  # bytes of shared memory, of a warp

    def warps(self, most: int, more: int = 0) -> int:
        """Return how many warps have room in a block, each with `more` bytes besides."""
        return min(most, self.here.shared_bytes // (self.scratch + more))


def cuts(
    codes: Any,
    rows: Any,
    start: NDArray[np.int64],
    stop: NDArray[np.int64],
    label: Any,
    weight: Any | None,
    reach: Sequence[Reach],
    layout: Layout,
    unit: float,
    rule: Rule,
    lines: Any | None = None,
) -> Cuts:
    """Return the best cut of each node and feature, on the host, in one copy.

    See the package for the contract. `lines` would spare nothing here. So many classes that no
    shared memory holds their sums are left to the reference.
    """
    here = device_of(codes)
    n_statistics = layout.n_statistics
    kernels = _program.on(
        here,
        CODE=c_type(codes.dtype),
        CELL=c_type(_cell(layout)),
        COUNTED=int(layout.implied == 0),
        WEIGHTED=int(weight is not None),
    )
    found = here.empty((start.size, codes.shape[1], 3 + 2 * n_statistics), np.int64)
    sizes = (layout.classes, layout.first, layout.weight, n_statistics)
    numbers = (unit, rule.min_weight, rule.margin)
    rest = (_where(here, reach), *map(np.int32, sizes), *map(np.float64, numbers), found)
    judge = _Judge(here, kernels, layout, rest, 2 * layout.classes * 8)
    if not judge.warps(1, 4 * MOST_ROWS):
        own = (codes, rows, start, stop, label, weight)
        return reference.cuts(*own, reach, layout, unit, rule, lines)
    own_weight = None if weight is None else here.contiguous(weight)
    table = _Table(codes, here.contiguous(rows), here.contiguous(label), own_weight)
    few = stop - start <= MOST_ROWS
    _by_rows(judge, table, start, stop, np.flatnonzero(few))
    longest = [each.step.shape[0] + 1 for each in reach]
    _by_cells(judge, table, start, stop, np.flatnonzero(~few), longest)
    return _unpacked(here.download(found), n_statistics)


def _cell(layout: Layout) -> Any:
    return np.int32 if layout.implied else np.int64


def _where(here: Device, reach: Sequence[Reach]) -> Any:
    """Return where the steps of each feature lie, and the bytes of one, (G, 2)."""
    steps = [each.step for each in reach]
    where = [(here.address(step), numpy_dtype(step.dtype).itemsize) for step in steps]
    return here.upload(np.asarray(where, dtype=np.int64).reshape(-1, 2))


def _by_rows(
    judge: _Judge,
    table: _Table,
    start: NDArray[np.int64],
    stop: NDArray[np.int64],
    nodes: NDArray[np.int64],
) -> None:
    """Judge the cuts of `nodes`, whose rows are few."""
    here, n_features = judge.here, table.codes.shape[1]
    if not nodes.size * n_features:
        return
    most = 1 << int((stop - start)[nodes].max() - 1).bit_length() if nodes.size else 1
    warps = judge.warps(WARPS, 4 * most)
    judge.kernels.launch(
        "of_rows",
        blocks_for(nodes.size * n_features, warps),
        32 * warps,
        table.codes,
        *map(np.int64, here.strides(table.codes)),
        table.rows,
        here.upload(np.concatenate([start[nodes], stop[nodes], nodes])),
        np.int64(nodes.size),
        table.label,
        here.empty(0, np.int64) if table.weight is None else table.weight,
        *map(np.int32, (n_features, most, judge.layout.first - judge.layout.implied)),
        *judge.rest,
        shared=warps * (judge.scratch + 4 * most),
    )


def _by_cells(
    judge: _Judge,
    table: _Table,
    start: NDArray[np.int64],
    stop: NDArray[np.int64],
    nodes: NDArray[np.int64],
    widths: list[int],
) -> None:
    """Judge the cuts of `nodes` by their histograms, as many at a time as fit."""
    layout, here, n_features = judge.layout, judge.here, table.codes.shape[1]
    warps = judge.warps(CELL_WARPS)
    none = here.empty((table.codes.shape[0], 0), np.int64)
    each = max(widths, default=1) * layout.n_stored * np.dtype(_cell(layout)).itemsize
    across = max(1, min(n_features, BYTES // each))
    down = max(1, BYTES // (each * across))
    for feature in range(0, n_features if nodes.size else 0, across):
        last = min(feature + across, n_features)
        codes = table.codes[:, feature:last]
        n_codes = max(widths[feature:last])
        for first in range(0, nodes.size, down):
            own = nodes[first : first + down]
            rows = (table.rows, start[own], stop[own], table.label, table.weight, none)
            hist = histogram(codes, *rows, n_codes, layout.n_stored, layout.implied == 0)
            pairs = own.size * codes.shape[1]
            shape = (feature, codes.shape[1], n_features, n_codes, layout.n_stored)
            judge.kernels.launch(
                "of_cells",
                blocks_for(pairs, warps),
                32 * warps,
                hist,
                here.upload(own),
                np.int64(pairs),
                *map(np.int32, (*shape, layout.first - layout.implied)),
                *judge.rest,
                shared=warps * judge.scratch,
            )


def _unpacked(found: NDArray[np.int64], n_statistics: int) -> Cuts:
    """Return the fields of the kernels' words (L, G, 3 + 2 S)."""
    return Cuts(
        gain=np.ascontiguousarray(found[..., 0]).view(np.float64),
        tries=found[..., 1],
        bin=(found[..., 2] & 0xFFFFFFFF).astype(np.int32),
        following=(found[..., 2] >> 32).astype(np.int32),
        left=found[..., 3 : 3 + n_statistics],
        known=found[..., 3 + n_statistics :],
    )

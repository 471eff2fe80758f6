"""`search` on CUDA: a warp a (node, feature), whose cells nobody stores."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from vtree_kernels._cuda import Device, Program, c_type, device_of
from vtree_kernels._translate import TranslationError, c_gain
from vtree_kernels.histogram.reference import Compact
from vtree_kernels.scan.cuda import macros, on_nodes, packed, unpacked
from vtree_kernels.scan.reference import Best, Layout
from vtree_kernels.search import reference

MOST_WARPS = 8  # of a block
MARGIN = 1_024  # bytes of shared memory that are left alone

# None without a criterion: tests/kernels/test_search.py compiles them.
VARIANTS: tuple[dict[str, object], ...] = ()

_program = Program("search")


class Place(NamedTuple):
    """How the shared memory of a block is used that sums and scans cells, a warp a feature."""

    warps: int  # 0: not one has room
    width: int  # columns of a scan
    scan_bytes: int  # of a warp
    cell_bytes: int  # of a warp


def place(room: int, layout: Layout, n_codes: int, most_warps: int) -> Place:
    """Return how many warps, at most `most_warps`, `room` bytes are enough for, and what for."""
    small = macros(layout, "int")["SMALL"]
    cells = -(-n_codes * layout.n_stored * (4 if layout.implied else 8) // 8) * 8
    warps = most_warps
    while warps:
        width = 32
        while width:
            scan = 0 if small else 8 * layout.n_statistics * (width + 3)
            if warps * (scan + cells) <= room:
                return Place(warps, width, scan, cells)
            width = 0 if small else width // 2
        warps //= 2
    return Place(0, 0, 0, 0)


def search(
    codes: Any,
    rows: Any,
    start: NDArray[np.int64],
    stop: NDArray[np.int64],
    label: Any,
    weight: Any | None,
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
    """Return the best split of each node and feature, on the host, in one copy.

    See the package for the contract. A gain that cannot be put in C, and cells that do not fit
    into shared memory, are left to histograms.
    """
    here = device_of(codes)
    table, statistics = (codes, rows, start, stop), (label, weight, sums)
    nodes = (total, monotone, lower, upper)
    own = place(here.shared_bytes - MARGIN, layout, n_codes, MOST_WARPS)
    try:
        prelude = c_gain(gain)
    except TranslationError:
        own = own._replace(warps=0)
    if not own.warps:
        return reference.search(*table, *statistics, n_codes, *nodes, limits, gain, layout)
    counted = layout.implied == 0
    kernels = _program.on(
        here,
        prelude,
        **macros(layout, "long long" if counted else "int"),
        **added(label, weight, sums, counted),
        CODE=c_type(codes.dtype),
        CELLS_SHARED=1,
    )
    n_features = codes.shape[1]
    found = here.empty((start.size, n_features, 4 + layout.n_statistics), np.int64)
    kernels.launch(
        "search",
        start.size * -(-n_features // own.warps),
        32 * own.warps,
        *_data(here, *table, *statistics),
        np.int32(n_features),
        np.int32(n_codes),
        *on_nodes(here, *nodes),
        packed(here, layout),
        np.int64(max(1, limits.min_rows)),
        np.float64(limits.min_weight),
        np.int32(own.width),
        found,
        shared=own.warps * (own.scan_bytes + own.cell_bytes),
    )
    return unpacked(here.download(found))


def _data(
    here: Device,
    codes: Any,
    rows: Any,
    start: NDArray[np.int64],
    stop: NDArray[np.int64],
    *statistics: Any,
) -> list[Any]:
    """Return the arguments that say what the rows of nodes are and add."""
    nothing = here.empty(0, np.int64)
    return [
        codes,
        *map(np.int64, here.strides(codes)),
        here.contiguous(rows),
        here.upload(np.concatenate([start, stop])),
        *(nothing if each is None else here.contiguous(each) for each in statistics),
    ]


def added(label: Any, weight: Any | None, sums: Any, counted: bool) -> dict[str, object]:
    """Return the macros of what a row adds to a cell."""
    return {
        "COUNTED": int(counted),
        "WEIGHTED": int(weight is not None),
        "LABELS": label.shape[1],
        "SUMS": sums.shape[1],
    }

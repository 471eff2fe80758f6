"""`extremes`, `cut_sums` and `sides` on CUDA: a launch each, whatever the number of nodes."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from vtree_kernels._cuda import Device, Program, Variant, blocks_for, c_type, device_of
from vtree_kernels.histogram.cuda import chunks

CHUNK = 1024  # rows of one warp
WARPS = 4  # of a block
MOST_SHARED = 48 * 1024  # bytes of a block's own cells: four blocks of a processor have as many

_NOTHING: dict[str, Any] = {"COUNTED": 0, "WEIGHTED": 0, "LABELS": 0, "SUMS": 0, "CELL": "int"}
VARIANTS: tuple[dict[str, Any], ...] = (
    _NOTHING | {"VALUE": "float", "WIDTH": 8, "LABELS": 1},
    _NOTHING | {"VALUE": "double", "WIDTH": 32, "COUNTED": 1, "SUMS": 2, "CELL": "long long"},
    _NOTHING
    | {
        "VALUE": "double",
        "WIDTH": 1,
        "WEIGHTED": 1,
        "COUNTED": 1,
        "LABELS": 2,
        "CELL": "long long",
    },
)

_program = Program("cuts")


class _Wanted(NamedTuple):
    """The pairs of node and feature to look at, on the device, and how warps go through them."""

    feature: NDArray[np.int64]  # (P,)
    node: NDArray[np.int64]  # (P,)
    there: tuple[Any, ...]  # tasks, their number, first, pairs
    width: int
    grid: tuple[int, int]


def _wanted(here: Device, start: Any, stop: Any, wanted: NDArray[np.bool_]) -> _Wanted:
    node, feature = np.nonzero(wanted)
    counts = wanted.sum(axis=1)
    most = int(counts.max(initial=0))
    width = 1 << min(5, max(0, most - 1).bit_length())
    tasks = chunks(np.flatnonzero(counts), start, stop, CHUNK)
    first = np.concatenate([[0], np.cumsum(counts)])
    there = here.upload(np.concatenate([tasks.reshape(-1), first, feature]))
    parts = there[tasks.size :], there[tasks.size + first.size :]
    grid = blocks_for(tasks.shape[0], WARPS), -(-most // width)
    return _Wanted(feature, node, (there, np.int32(tasks.shape[0]), *parts), width, grid)


def _table(here: Device, values: Any, rows: Any) -> tuple[Any, ...]:
    return values, *map(np.int64, here.strides(values)), here.contiguous(rows)


def _on(here: Device, values: Any, width: int, **macros: Any) -> Variant:
    return _program.on(
        here, **{**_NOTHING, **macros, "VALUE": c_type(values.dtype), "WIDTH": width}
    )


def extremes(
    values: Any,
    rows: Any,
    start: NDArray[np.int64],
    stop: NDArray[np.int64],
    wanted: NDArray[np.bool_],
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return (least, greatest), each (L, F) on the host; see the package for the contract."""
    here = device_of(values)
    own = _wanted(here, start, stop, wanted)
    found = here.zeros((own.node.size, 2), np.uint64)
    table = _table(here, values, rows)
    kernels = _on(here, values, own.width)
    kernels.launch("extremes", own.grid, 32 * WARPS, *table, *own.there, found)
    both = _doubles(here.download(found))
    least, greatest = np.full(wanted.shape, np.inf), np.full(wanted.shape, -np.inf)
    least[own.node, own.feature] = 0.0 - both[:, 0]
    greatest[own.node, own.feature] = both[:, 1] + 0.0
    return least, greatest


def _doubles(keys: NDArray[np.uint64]) -> NDArray[np.float64]:
    """Return the numbers whose keys these are, −∞ for 0."""
    top = np.uint64(1 << 63)
    numbers = np.where(keys & top, keys ^ top, ~keys).view(np.float64)
    return np.where(keys == 0, -np.inf, numbers)


def cut_sums(
    values: Any,
    rows: Any,
    start: NDArray[np.int64],
    stop: NDArray[np.int64],
    wanted: NDArray[np.bool_],
    threshold: NDArray[np.float64],
    label: Any,
    weight: Any | None,
    sums: Any,
    n_statistics: int,
    counted: bool = True,
) -> Any:
    """Return hist (L, F, 3, S); see the package for the contract."""
    here = device_of(values)
    own = _wanted(here, start, stop, wanted)
    hist = here.zeros((*wanted.shape, 3, n_statistics), np.int64 if counted else np.int32)
    kernels = _on(
        here,
        values,
        own.width,
        COUNTED=int(counted),
        WEIGHTED=int(weight is not None),
        LABELS=label.shape[1],
        SUMS=sums.shape[1],
        CELL=c_type(hist.dtype),
    )
    cells = 3 * n_statistics * 8 * 32 * WARPS
    apart = cells <= min(MOST_SHARED, here.shared_bytes)
    kernels.launch(
        "cut_sums",
        own.grid,
        32 * WARPS,
        *_table(here, values, rows),
        *own.there,
        here.upload(threshold[own.node, own.feature]),
        here.contiguous(label),
        here.empty(0, np.int64) if weight is None else here.contiguous(weight),
        here.contiguous(sums),
        *map(np.int32, (wanted.shape[1], n_statistics, apart)),
        hist,
        shared=cells if apart else 0,
    )
    return hist


def sides(
    values: Any,
    rows: Any,
    start: NDArray[np.int64],
    stop: NDArray[np.int64],
    feature: NDArray[np.int64],
    threshold: NDArray[np.float64],
    missing_child: NDArray[Any],
) -> Any:
    """Return the child of each position (R,); see the package for the contract."""
    here = device_of(values)
    child = here.empty(rows.shape, np.uint8)
    tasks = chunks(np.arange(start.size), start, stop, CHUNK)
    bits = np.ascontiguousarray(threshold, dtype=np.float64).view(np.int64)
    rules = np.stack([feature, bits, missing_child], axis=1).astype(np.int64)
    there = here.upload(np.concatenate([tasks.reshape(-1), rules.reshape(-1)]))
    own = there, np.int32(tasks.shape[0]), there[tasks.size :]
    grid = blocks_for(tasks.shape[0], WARPS)
    table = _table(here, values, rows)
    _on(here, values, 1).launch("sides", grid, 32 * WARPS, *table, *own, child)
    return child

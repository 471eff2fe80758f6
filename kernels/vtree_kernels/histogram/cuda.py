"""`histogram` on CUDA: tiles in shared memory for large nodes, global atomics for small ones."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from vtree_kernels._cuda import (
    Device,
    Program,
    Variant,
    c_type,
    device_of,
    numpy_dtype,
)
from vtree_kernels.histogram.reference import Compact

# A tile is cleared and read once, a cell a lane; a row adds to as many cells as a tile is wide.
CELLS_A_ROW = 32  # of a tile that a row pays for
LEAST_CHUNK, MOST_CHUNK = 4096, 65_536  # rows of a node in one task
BLOCKS_PER_PROCESSOR = 3  # tiles of one count that a processor's shared memory holds
SMALL_CHUNK = 1024  # rows of one warp in `direct`
MOST_PASSES = 6  # over the rows, for statistics that one tile cannot hold; then `direct` is faster

NARROW_BITS = 31 - (MOST_CHUNK - 1).bit_length()  # of a number that a task adds up in 32

_COUNTS: dict[str, Any] = {"COUNTED": 0, "WEIGHTED": 0, "LABELS": 1, "SUMS": 0, "CELL": "int"}
_COUNTS |= {"NARROW": 0}
_SUMS = _COUNTS | {"COUNTED": 1, "LABELS": 0, "SUMS": 1, "CELL": "long long"}
_BYTES = {"CODE": "unsigned char", "WORDS": 1, "WIDTH": 32}
_SHORTS = {"CODE": "unsigned short", "WORDS": 1, "WIDTH": 16}
VARIANTS = (
    _COUNTS | _BYTES,
    _COUNTS | _SHORTS,
    _SUMS | _BYTES,
    _SUMS | {"CODE": "unsigned char", "WORDS": 0, "WIDTH": 8},
    _SUMS | _BYTES | {"WEIGHTED": 1, "LABELS": 3, "SUMS": 0},
    _SUMS | _SHORTS | {"WEIGHTED": 1, "SUMS": 2},
    _SUMS | _BYTES | {"WEIGHTED": 1, "NARROW": 1},
)

_program = Program("histogram")


class _Tiles(NamedTuple):
    """How histograms are cut into tiles."""

    width: int  # features side by side
    planes: int  # of one tile, 0: not one fits
    shared: int  # bytes
    passes: int  # over the rows, for all planes


def _tiles(here: Device, n_features: int, n_codes: int, words: list[int]) -> _Tiles:
    """Cut planes of `words` each so that a tile of n_codes × 32 columns fits a block."""
    width = next((each for each in (8, 16) if n_features <= each), 32)
    room = here.shared_bytes // (n_codes * 128)  # words of a code
    planes = len(words) if sum(words) <= room else room // max(words)
    if not planes:
        return _Tiles(width, 0, 0, 0)
    passes = -(-len(words) // planes)
    planes = -(-len(words) // passes)  # as even as can be
    most = max(sum(words[p : p + planes]) for p in range(0, len(words), planes))
    return _Tiles(width, planes, most * n_codes * 128, passes)


def chunks(
    nodes: NDArray[np.int64], start: NDArray[np.int64], stop: NDArray[np.int64], size: int
) -> NDArray[np.int64]:
    """Cut the rows of `nodes` into tasks (n, 3): node, begin, end; none for empty nodes."""
    begin, end = start[nodes], stop[nodes]
    pieces = -(-(end - begin) // size)
    owner = np.repeat(np.arange(nodes.size), pieces)
    first = begin[owner] + size * (np.arange(owner.size) - (np.cumsum(pieces) - pieces)[owner])
    return np.stack([nodes[owner], first, np.minimum(first + size, end[owner])], axis=1)


def histogram(
    codes: Any,
    rows: Any,
    start: NDArray[np.int64],
    stop: NDArray[np.int64],
    label: Any,
    weight: Any | None,
    sums: Any,
    n_codes: int,
    n_statistics: int,
    counted: bool = True,
    compact: Compact | None = None,
    room: int = 0,
) -> Any:
    """Return hist (L + room, G, B, S); see the package for the contract."""
    here = device_of(codes)
    n_features = codes.shape[1]
    shape = (start.size + room, n_features, n_codes, n_statistics)
    hist = here.empty(shape, np.int64 if counted else np.int32)
    if 0 in shape or not start.size:
        return hist
    here.clear(hist[: start.size, ...])  # the rest is for others to write
    nothing = here.empty(0, np.int64)
    table = Table.of(here, codes)
    shifts = _shifts(compact)
    units = 1 if weight is not None else n_statistics - sums.shape[1]
    units = n_statistics if shifts is not None else units
    tiles = _tiles(here, n_features, n_codes, [1] * units + [2] * (n_statistics - units))
    kernels = _program.on(
        here,
        **table.macros,
        WIDTH=tiles.width,
        COUNTED=int(counted),
        WEIGHTED=int(weight is not None),
        LABELS=label.shape[1],
        SUMS=sums.shape[1],
        CELL=c_type(hist.dtype),
        NARROW=int(shifts is not None),
    )
    add = _Rows(
        table,
        here.contiguous(rows),
        here.contiguous(label),
        nothing if weight is None else here.contiguous(weight),
        here.contiguous(sums),
        shifts or (0, 0),
    )
    _build(here, kernels, add, tiles, (start, stop), hist)
    return hist


class Table(NamedTuple):
    """Codes (N, G) whose rows lie `pitch` elements apart, and whether by aligned words."""

    codes: Any
    pitch: int
    macros: dict[str, Any]

    @classmethod
    def of(cls, here: Device, codes: Any) -> Table:
        """Return `codes` as a table, copied if the codes of a row do not lie side by side."""
        if here.strides(codes)[1] != 1 or here.strides(codes)[0] < codes.shape[1]:
            codes = here.contiguous(codes)
        pitch, own = here.strides(codes)[0], numpy_dtype(codes.dtype)
        aligned = pitch * own.itemsize % 4 == 0 and here.address(codes) % 4 == 0
        return cls(codes, pitch, {"CODE": c_type(own), "WORDS": int(aligned)})


def _shifts(compact: Compact | None) -> tuple[int, int] | None:
    """Return the bits that weights, and those that sums, have none of below a few; None: more."""
    if compact is None or int(compact.bits.max(initial=0)) > NARROW_BITS:
        return None
    lowest: list[int] = compact.lowest.tolist()
    weight, sums = lowest[: compact.weighted], lowest[compact.weighted :]
    if len(set(sums)) > 1:
        return None
    return next(iter(weight), 0), next(iter(sums), 0)


class _Rows(NamedTuple):
    table: Table
    rows: Any
    label: Any
    weight: Any
    sums: Any
    shifts: tuple[int, int]  # of weights and sums, for narrow tiles


def _build(
    here: Device,
    kernels: Variant,
    own: _Rows,
    tiles: _Tiles,
    nodes: tuple[NDArray[np.int64], NDArray[np.int64]],
    hist: Any,
) -> None:
    """Add the rows of each node to its histogram, in one launch for large and one for small.

    One copy to the device serves both.
    """
    start, stop = nodes
    n_features, n_codes, n_statistics = hist.shape[1:]
    groups = -(-n_features // tiles.width)
    large = stop - start >= n_codes * tiles.planes * tiles.width // CELLS_A_ROW
    large &= 0 < tiles.passes <= MOST_PASSES
    table = (own.table.codes, np.int64(own.table.pitch), own.rows)
    shape = tuple(map(np.int32, (n_features, n_codes, n_statistics)))
    rest = (own.label, own.weight, own.sums, *shape)
    wanted = int((stop - start)[large].sum()) * groups * tiles.passes
    size = wanted // max(1, here.processors * BLOCKS_PER_PROCESSOR)
    size = min(max(size, LEAST_CHUNK), MOST_CHUNK)
    many = chunks(np.flatnonzero(large), start, stop, size).reshape(-1)
    few = chunks(np.flatnonzero(~large), start, stop, SMALL_CHUNK).reshape(-1)
    there = here.upload(np.concatenate([many, few]))
    if many.size:
        grid: tuple[int, ...] = (many.size // 3, groups, tiles.passes)
        last = (np.int32(tiles.planes), *map(np.int32, own.shifts), hist)
        # As many warps a processor, whether its shared memory holds one tile or several.
        threads = 512 if 2 * tiles.shared <= here.shared_bytes else 1024
        kernels.launch("tiles", grid, threads, *table, there, *rest, *last, shared=tiles.shared)
    if few.size:
        grid = (-(-few.size // 24), groups)
        listed = (there[many.size :], np.int32(few.size // 3))
        kernels.launch("direct", grid, 256, *table, *listed, *rest, hist)

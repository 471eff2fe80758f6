"""`traverse` on CUDA: a thread per row, or per row and chunk of trees where rows are few."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from vtree_kernels._cuda import Program, blocks_for, c_type, device_of, numpy_dtype

THREADS = 256
# Bytes of a block's rows in shared memory: a processor's holds them for six blocks and more.
STAGED_BYTES = 32 * 1024
BLOCKS_PER_PROCESSOR = 8  # that keep a processor busy; with fewer, trees are cut into chunks

VARIANTS = tuple(
    {"VALUE": value, "STAGED": staged} for value in ("float", "double") for staged in (0, 1)
)

_program = Program("traverse")


def traverse(
    values: Any,
    root: NDArray[np.int32],
    feature: NDArray[np.int32],
    kind: NDArray[np.int8],
    threshold: NDArray[np.float64],
    first_child: NDArray[np.int32],
    missing_child: NDArray[np.int32],
    map_offset: NDArray[np.int64],
    branch_map: NDArray[Any],
) -> Any:
    """Return leaf (N, T) int32; see the package for the contract."""
    here = device_of(values)
    n_rows, n_columns = values.shape
    leaf = here.empty((n_rows, root.size), np.int32)
    if root.size == 0:
        return leaf
    bytes_of_row = numpy_dtype(values.dtype).itemsize * (n_columns | 1)
    log_rows = _log_rows(n_rows, min(STAGED_BYTES, here.shared_bytes) // bytes_of_row)
    # A read brings a sector of 8 values; a row pays when its trees read all of its sectors.
    reads = root.size * (feature.size // root.size).bit_length()
    staged = log_rows >= 0 and 8 * reads >= n_columns
    log_rows = log_rows if staged else _log_rows(n_rows, THREADS)
    tiles = blocks_for(n_rows, 1 << log_rows)
    chunks = _chunks(root.size, THREADS >> log_rows, here.processors * BLOCKS_PER_PROCESSOR, tiles)
    kernels = _program.on(here, VALUE=c_type(values.dtype), STAGED=int(staged))
    kernels.launch(
        "walk",
        (tiles, chunks),
        THREADS,
        values,
        np.int64(n_rows),
        *map(np.int64, here.strides(values)),
        *map(np.int32, (n_columns, log_rows)),
        here.upload(root),
        *map(np.int32, (root.size, -(-root.size // chunks))),
        here.upload(_packed(feature, kind, threshold, first_child, map_offset)),
        here.upload(missing_child.astype(np.int32, copy=False)),
        here.upload(branch_map.astype(np.uint16)),
        leaf,
        shared=(bytes_of_row << log_rows) if staged else 0,
    )
    return leaf


def _log_rows(n_rows: int, most: int) -> int:
    """Return log2 of the rows of a block, at most `most` and THREADS; −1 where `most` is 0."""
    return min((n_rows - 1).bit_length(), min(most, THREADS).bit_length() - 1)


def _chunks(n_trees: int, trees_at_once: int, blocks: int, tiles: int) -> int:
    """Return in how many chunks the trees are cut, so that there are about `blocks` blocks."""
    return max(1, min(-(-n_trees // trees_at_once), blocks // max(1, tiles)))


def _packed(
    feature: NDArray[np.int32],
    kind: NDArray[np.int8],
    threshold: NDArray[np.float64],
    first_child: NDArray[np.int32],
    map_offset: NDArray[np.int64],
) -> NDArray[np.int64]:
    """Return the nodes as `Node` of cuda.cu lays them out, (M, 2)."""
    by_map = (kind > 0) & (feature >= 0)
    packed = np.empty(feature.size, [("word", "<i8"), ("feature", "<i4"), ("first_child", "<i4")])
    packed["word"] = np.where(by_map, map_offset, threshold.view(np.int64))
    packed["feature"] = np.where(by_map, -2 - feature, np.maximum(feature, -1))
    packed["first_child"] = first_child
    return packed.view(np.int64).reshape(-1, 2)

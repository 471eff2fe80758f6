"""`route` on CUDA: one launch decides each row's child, then `partition` sorts by it."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from vtree_kernels._cuda import Program, blocks_for, c_type, device_of
from vtree_kernels.partition.cuda import THREADS, TILE, by_child, table_of

VARIANTS = tuple(
    {"CODE": f"unsigned {code}", "CHILD": f"unsigned {child}", "TILE": TILE}
    for code, child in (("char", "char"), ("short", "char"), ("short", "short"))
)

_program = Program("route")


def route(
    rows: Any,
    start: NDArray[np.int64],
    stop: NDArray[np.int64],
    codes: Any,
    column: NDArray[np.int64],
    kind: NDArray[np.int8],
    bin: NDArray[np.int32],
    missing_child: NDArray[np.int32],
    map_offset: NDArray[np.int64],
    branch_map: NDArray[Any],
    n_children: int,
    overwrite: bool = False,
) -> Any:
    """Return the rows; see the package for the contract."""
    here = device_of(rows)
    own_rows = here.contiguous(rows)
    n_rows = own_rows.shape[0]
    # The maps of a level's nodes are the last of a tree's, so the rest need not come along.
    first = int(map_offset[kind > 0].min(initial=branch_map.size))
    rule = (column, kind, bin, missing_child, map_offset - first)
    nodes = here.upload(table_of(start, stop, *rule))
    child_dtype = np.uint8 if n_children <= 256 else np.uint16
    maps = branch_map[first:].astype(child_dtype, copy=False)
    child = here.empty(n_rows, child_dtype)
    kernels = _program.on(here, CODE=c_type(codes.dtype), CHILD=c_type(child.dtype), TILE=TILE)
    kernels.launch(
        "decide",
        blocks_for(n_rows, TILE),
        THREADS,
        own_rows,
        np.int64(n_rows),
        nodes,
        np.int32(nodes.shape[1]),
        codes,
        *map(np.int64, here.strides(codes)),
        here.upload(maps) if maps.size else here.empty(0, child_dtype),
        child,
    )
    return by_child(here, own_rows, nodes, child, n_children)

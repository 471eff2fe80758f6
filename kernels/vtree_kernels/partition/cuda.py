"""`partition` on CUDA: mark, add up and move, once for each bit of a child."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from vtree_kernels._cuda import Device, Program, blocks_for, c_type, device_of, numpy_dtype

THREADS = 256
# Positions of a block: enough to pay for the search of their nodes, and few enough that a million
# rows fill a processor of 132 with threads.
TILE = 1024

VARIANTS = tuple({"TILE": TILE, "CHILD": child} for child in ("unsigned char", "unsigned short"))

_program = Program("partition")


def partition(
    rows: Any, start: NDArray[np.int64], stop: NDArray[np.int64], child: Any, n_children: int
) -> Any:
    """Return the rows; see the package for the contract."""
    here = device_of(rows)
    nodes = here.upload(table_of(start, stop))
    return by_child(here, rows, nodes, here.contiguous(child), n_children)


def table_of(start: NDArray[np.int64], stop: NDArray[np.int64], *more: Any) -> NDArray[np.int64]:
    """Return start, stop, number and `more` of the nodes that have rows, (planes, L) int64."""
    number = np.flatnonzero(stop > start)
    return np.stack([start[number], stop[number], number, *(each[number] for each in more)])


def by_child(here: Device, rows: Any, nodes: Any, child: Any, n_children: int) -> Any:
    """Do it for nodes of `table_of`, on the device."""
    kernels = _program.on(here, TILE=TILE, CHILD=c_type(child.dtype))
    n_rows, number = rows.shape[0], np.int32(nodes.shape[1])
    n_tiles = n_rows // TILE + 1  # the end of the last node has a rank too
    bits = here.empty(n_rows // 32 + 1, np.uint32)
    before_word = here.empty(n_rows // 32 + 1, np.int32)
    before_tile = here.empty(n_tiles, np.int64)
    ranks = (bits, before_word, before_tile)
    own, to = here.contiguous(rows), child
    for bit in range(max(1, (n_children - 1).bit_length())):
        source = (to, np.int64(n_rows), nodes, number)
        kernels.launch("mark", n_tiles, THREADS, *source, np.int32(bit), *ranks)
        kernels.launch("add_up", 1, 1024, before_tile, np.int32(n_tiles))
        moved = here.empty(n_rows, np.int32), here.empty(n_rows, numpy_dtype(child.dtype))
        kernels.launch("move", blocks_for(n_rows, TILE), THREADS, own, *source, *ranks, *moved)
        own, to = moved
    return own

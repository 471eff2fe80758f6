"""`bincode` on CUDA: a lane a column, whose edges lie in shared memory as far as they fit."""

from __future__ import annotations

from typing import Any

import numpy as np

from vtree_kernels._cuda import Program, blocks_for, c_type, device_of, numpy_dtype

THREADS = 512
BATCH = 8  # rows of a lane's step
# Steps of a search in shared memory, enough for 255 bins: 32 kB of float edges for 32 columns. One
# more step would double what each block copies first.
SHARED_STEPS = 8
BLOCKS_PER_PROCESSOR = 2  # as the registers for BATCH rows allow; each loops over its share

VARIANTS = (
    {"VALUE": "float", "EDGE": "int", "CODE": "unsigned char"},
    {"VALUE": "double", "EDGE": "double", "CODE": "unsigned char"},
    {"VALUE": "double", "EDGE": "double", "CODE": "unsigned short"},
    {"VALUE": "long long", "EDGE": "double", "CODE": "unsigned char"},
)

_program = Program("bincode")


def bincode(
    values: Any, columns: list[int], edges: Any, offsets: list[int], codes_dtype: Any
) -> Any:
    """Return codes (N, G) of `values` (N, F); see the package for the contract."""
    here = device_of(values)
    n_rows, n_columns = values.shape[0], len(columns)
    codes = here.pitched(n_rows, n_columns, numpy_dtype(codes_dtype))
    if n_columns == 0:
        return codes
    value_type = c_type(values.dtype)
    edge_type = "int" if value_type == "float" else "double"
    kernels = _program.on(here, VALUE=value_type, EDGE=edge_type, CODE=c_type(codes.dtype))
    edge_bytes = 4 if edge_type == "int" else 8
    steps = int(np.diff(offsets).max()).bit_length()
    room = here.shared_bytes // (32 * edge_bytes) + 1
    n_shared = min(steps, SHARED_STEPS, room.bit_length() - 1)
    width = 1 << min(5, (n_columns - 1).bit_length())
    rows_of_block = THREADS // width * BATCH
    most = -(-here.processors * BLOCKS_PER_PROCESSOR * width // n_columns)
    kernels.launch(
        "encode",
        (blocks_for(n_rows, rows_of_block, most=most), -(-n_columns // width)),
        THREADS,
        values,
        np.int64(n_rows),
        *map(np.int64, here.strides(values)),
        here.upload(np.asarray(columns, dtype=np.int64)),
        here.upload(np.asarray(offsets, dtype=np.int64)),
        here.contiguous(edges),
        *map(np.int32, (n_columns, width, n_shared, steps - n_shared)),
        codes,
        np.int64(here.strides(codes)[0]),
        shared=((1 << n_shared) - 1) * 32 * edge_bytes,
    )
    return codes

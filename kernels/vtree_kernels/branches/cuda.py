"""`branches` on CUDA: a warp a (node, feature)."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from vtree_kernels._cuda import Program, blocks_for, c_type, device_of
from vtree_kernels.branches import reference
from vtree_kernels.branches.reference import Branches
from vtree_kernels.entropy_cuts.reference import SLACK
from vtree_kernels.scan.reference import Layout

WARPS = 4  # of a block, fewer where many classes fill its shared memory
VARIANTS: tuple[dict[str, Any], ...] = ({"CELL": "int"}, {"CELL": "long long"})

_program = Program("branches")


def branches(hist: Any, whole: Any, layout: Layout, unit: float, min_weight: float) -> Branches:
    """Return what `Branches` holds, on the host, in one copy; see the package for the contract."""
    here = device_of(hist)
    n_nodes, n_features, n_codes, n_planes = hist.shape
    warps = min(WARPS, here.shared_bytes // (8 * layout.classes))
    if not warps:
        return reference.branches(hist, whole, layout, unit, min_weight)
    found = here.empty((n_nodes, n_features, 3), np.int64)
    pairs = n_nodes * n_features
    shape = (n_features, n_codes, n_planes, layout.first - layout.implied, layout.classes)
    _program.on(here, CELL=c_type(hist.dtype)).launch(
        "judge",
        blocks_for(pairs, warps),
        32 * warps,
        here.contiguous(hist),
        here.contiguous(whole),
        np.int64(pairs),
        *map(np.int32, shape),
        *map(np.float64, (unit, min_weight * SLACK)),
        found,
        shared=warps * layout.classes * 8,
    )
    host: NDArray[np.int64] = here.download(found)
    gain, info = (np.ascontiguousarray(host[..., i]).view(np.float64) for i in range(2))
    return Branches(gain, info, host[..., 2])

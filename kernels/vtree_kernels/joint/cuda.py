"""`joint` on CUDA: a warp a (pair of nodes, feature), then a thread a candidate."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from vtree_kernels._cuda import Program, blocks_for, device_of
from vtree_kernels.joint import reference

WARPS = 4  # of a block, fewer where many statistics fill its shared memory
THREADS = 256
VARIANTS: tuple[dict[str, object], ...] = ({},)

_program = Program("joint")


def joint(
    hist: Any,
    total: Any,
    learn: NDArray[np.int64],
    judge: NDArray[np.int64],
    shrink: float,
    one_hot: bool,
    layout: Any,
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return (worth, size), each (G, 2, B); see the package for the contract."""
    here = device_of(hist)
    warps = min(WARPS, here.shared_bytes // (2 * hist.shape[3] * 8))
    if not warps:  # of thousands of outputs not even one pair's sums fit
        both = reference.joint(hist, total, learn, judge, shrink, one_hot, layout)
        return here.download(both[0]), here.download(both[1])
    hist, total = here.contiguous(hist), here.contiguous(total)
    n_nodes, n_features, n_codes, n_statistics = hist.shape
    kernels, n_pairs = _program.on(here), learn.size
    each, shape = (n_pairs, n_features, 2, n_codes), (n_features, 2, n_codes)
    worth, size = here.empty(each, np.float64), here.empty(each, np.float64)
    divided = here.zeros(shape, np.int32)
    kernels.launch(
        "judge",
        blocks_for(n_pairs * n_features, warps),
        32 * warps,
        hist,
        total,
        here.upload(np.concatenate([learn, judge])),
        np.int64(n_pairs),
        np.int32(n_features),
        np.int32(n_codes),
        np.int32(n_statistics),
        np.int32(layout.weight),
        np.int32(layout.first),
        np.int32(layout.outputs),
        np.float64(shrink),
        np.int32(one_hot),
        worth,
        size,
        divided,
        shared=warps * 2 * n_statistics * 8,
    )
    own = (hist, np.int64(n_nodes), np.int32(n_statistics), worth, size, divided)
    sizes = (np.int64(n_pairs), np.int32(n_codes), np.int32(one_hot))
    out = here.empty((2, *shape), np.float64)
    grid = (n_features, blocks_for(n_codes, THREADS))  # features may be more than fit into y
    kernels.launch("add_up", grid, THREADS, *own, *sizes, out)
    both = here.download(out)
    return both[0], both[1]

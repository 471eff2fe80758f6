"""`isotonic` on CUDA: a thread a (pair of nodes, feature), then a thread a candidate."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from vtree_kernels._cuda import Program, blocks_for, device_of

THREADS = 256
BYTES = 1 << 28  # of sums and stacks at once, one feature's at least
VARIANTS: tuple[dict[str, object], ...] = ({},)

_PLANES = 5

_program = Program("isotonic")


def isotonic(
    hist: Any,
    total: Any,
    learn: NDArray[np.int64],
    judge: NDArray[np.int64],
    chain: NDArray[np.int64],
    direction: NDArray[np.int8],
    shrink: float,
    one_hot: bool,
    layout: Any,
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return (worth, size), each (G, 2, B); see the package for the contract."""
    here = device_of(hist)
    hist, total = here.contiguous(hist), here.contiguous(total)
    n_nodes, n_features, n_codes, n_statistics = hist.shape
    kernels, n_pairs = _program.on(here), learn.size
    out = here.empty((2, n_features, 2, n_codes), np.float64)
    pairs = here.upload(np.concatenate([learn, judge, chain]))
    directions = here.upload(np.ascontiguousarray(direction, dtype=np.int8))
    # Of a feature: sums to the left, and for each of two ways a stack of 2 Q blocks with answers.
    each = max(1, n_pairs * n_codes * 8 * (_PLANES + 4 * (_PLANES + 1)))
    step = max(1, min(n_features, BYTES // each))
    planes = [np.int32(number) for number in (n_statistics, layout.weight, layout.first)]
    hot = np.int32(one_hot)
    for first in range(0, n_features, step):
        some = min(step, n_features - first)
        lefts = here.empty((n_pairs, _PLANES, some, n_codes), np.int64)
        stack = here.empty((2 * n_pairs, _PLANES, some * 2 * n_codes), np.int64)
        level = here.empty((2 * n_pairs, some * 2 * n_codes), np.float64)
        part = [np.int32(number) for number in (first, some, n_features, n_codes)]
        count, pairs_of = np.int64(n_pairs), blocks_for(n_pairs * some, THREADS)
        own = (hist, pairs, count, *part, *planes, hot, lefts)
        kernels.launch("sum_up", pairs_of, THREADS, *own)
        own = (hist, np.int64(n_nodes), total, pairs, count, directions, lefts, *part, *planes)
        rest = (np.float64(shrink), hot, stack, level, out)
        grid = blocks_for(some * 2 * n_codes, THREADS)
        kernels.launch("pool", grid, THREADS, *own, *rest)
    both = here.download(out)
    return both[0], both[1]

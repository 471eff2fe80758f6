"""The definition of `accumulate` over the array API."""

from __future__ import annotations

from typing import Any

import numpy as np
from array_api_compat import array_namespace, device

from vtree_kernels.traverse.reference import traverse


def accumulate(
    values: Any,
    root: Any,
    feature: Any,
    kind: Any,
    threshold: Any,
    first_child: Any,
    missing_child: Any,
    map_offset: Any,
    branch_map: Any,
    value: Any,
    column: Any,
    n_columns: int,
) -> Any:
    """Return total (N, n_columns); see the package for the contract."""
    xp = array_namespace(values)
    place = device(values)
    answers = xp.asarray(np.asarray(value, dtype=np.float64), device=place)
    nodes = (feature, kind, threshold, first_child, missing_child, map_offset, branch_map)
    zero = xp.zeros((values.shape[0],), dtype=xp.float64, device=place)
    totals = [zero] * n_columns
    for tree, first in enumerate(np.asarray(column).tolist()):
        leaf = traverse(values, root[tree : tree + 1], *nodes)[:, 0]
        for v in range(answers.shape[1]):
            totals[first + v] = totals[first + v] + xp.take(answers[:, v], leaf)
    return xp.stack(totals, axis=1)

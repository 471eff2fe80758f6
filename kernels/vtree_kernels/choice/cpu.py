"""`choice` in Numba: one node after another."""

from __future__ import annotations

from typing import Any

import numba
import numpy as np
from numpy.typing import NDArray

from vtree_kernels.choice.reference import Choice
from vtree_kernels.scan.reference import Best

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

_ANY: Integers = np.empty((0, 0), np.int64)


@numba.njit(cache=True, nogil=True)
def _choose(  # type: ignore[no-untyped-def]
    gain, worth, place, bin, following, missing_left, missing, left, total, size, categorical, out
):
    """Fill `out`, the fields of `Choice`; return how many nodes have a split."""
    feature, own, own_bin, own_following, missing_child, kind, n_children, child_total = out
    placed, n_split = place.size > 0, 0
    for node in range(gain.shape[0]):
        f = 0
        for g in range(1, gain.shape[1]):
            more = worth[node, g] > worth[node, f]
            if placed and worth[node, g] == worth[node, f]:
                more = place[node, g] < place[node, f]
            if more:
                f = g
        feature[node], own[node] = f, gain[node, f]
        own_bin[node], own_following[node] = bin[node, f], following[node, f]
        kind[node] = categorical[f]
        first = left[node, f, size]
        second = first <= total[node, size] - first
        if missing[node, f] > 0:
            second = not missing_left[node, f]
        missing_child[node], n_children[node] = second, 0
        if own[node] > -np.inf:
            n_children[node] = 2
            for s in range(total.shape[1]):
                child_total[2 * n_split, s] = left[node, f, s]
                child_total[2 * n_split + 1, s] = total[node, s] - left[node, f, s]
            n_split += 1
    return n_split


def choice(
    gain: Floats,
    best: Best,
    total: Integers,
    size: int,
    is_categorical: NDArray[np.bool_],
    worth: Floats | None = None,
    place: Integers | None = None,
) -> Choice:
    """Return each node's split; see the package for the contract."""
    n_nodes = gain.shape[0]
    found = Choice(
        np.empty(n_nodes, np.int64),
        np.empty(n_nodes),
        np.empty(n_nodes, np.int32),
        np.empty(n_nodes, np.int32),
        np.empty(n_nodes, np.int32),
        np.empty(n_nodes, np.int8),
        np.empty(n_nodes, np.int32),
        np.empty((2 * n_nodes, total.shape[1]), np.int64),
    )
    order = gain if worth is None else worth
    # Compiled once, whichever twin of `scan` they come from.
    numbers: Any = [
        np.ascontiguousarray(each, dtype)
        for each, dtype in (
            (gain, np.float64),
            (order, np.float64),
            (_ANY if place is None else place, np.int64),
            (best.bin, np.int32),
            (best.next, np.int32),
            (best.missing_left, np.bool_),
            (best.missing, np.int64),
            (best.left, np.int64),
            (total, np.int64),
        )
    ]
    n_split: int = _choose(*numbers, size, is_categorical, tuple(found))  # type: ignore[call-arg]
    return found._replace(child_total=found.child_total[: 2 * n_split])

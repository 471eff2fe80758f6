"""`best_first` in Numba: a binary heap of nodes, by gain and by when they came."""

from __future__ import annotations

from typing import Any

import numba
import numpy as np
from numpy.typing import NDArray

from vtree_kernels._registered import register_jitable
from vtree_kernels.best_first.reference import GENERATIONS, SHARE

Integers = NDArray[np.int64]

_BELOW = (1 << GENERATIONS + 1) - 2  # guesses below a node


@register_jitable
def _before(gain: Any, arrival: Any, node: Any, other: Any) -> Any:
    if gain[node] != gain[other]:
        return gain[node] > gain[other]
    return arrival[node] < arrival[other]


@register_jitable
def push(line: Any, size: Any, gain: Any, arrival: Any, node: Any) -> None:
    """Put a node into the heap, which has `size` others."""
    at = size
    while at > 0:
        above = (at - 1) // 2
        if not _before(gain, arrival, node, line[above]):
            break
        line[at] = line[above]
        at = above
    line[at] = node


@register_jitable
def pop(line: Any, size: Any, gain: Any, arrival: Any) -> Any:
    """Take the first of `size` nodes out of the heap."""
    first, node, at = line[0], line[size - 1], 0
    while 2 * at + 1 < size - 1:
        below = 2 * at + 1
        if below + 1 < size - 1 and _before(gain, arrival, line[below + 1], line[below]):
            below += 1
        if not _before(gain, arrival, line[below], node):
            break
        line[at] = line[below]
        at = below
    line[at] = node
    return first


@numba.njit(cache=True, nogil=True)
def _guess(gains, generation, node, n_all):  # type: ignore[no-untyped-def]
    """Write what comes below a node behind all that there are; return how many these are then."""
    after = n_all + 2 if generation[node] < GENERATIONS else n_all
    for child in range(n_all, after):
        gains[child], generation[child] = gains[node] * SHARE, generation[node] + 1
    return after


@numba.njit(cache=True, nogil=True)
def _select(  # type: ignore[no-untyped-def]
    gains, feature, first_child, n_children, root, most, arrival, generation, line, split, wanted
):
    """Write the nodes; return how many there are of both.

    A guess is a node behind those that there are. Arrival and generation are 0 in all places.
    """
    n_nodes = feature.size
    n_split, n_wanted = 0, 0
    for tree in range(root.size):
        size, arrivals, turns, n_all = 0, 1, 0, n_nodes
        if feature[root[tree]] >= 0:
            line[0], size = root[tree], 1
        while size > 0 and turns < most:
            node = pop(line, size, gains, arrival)
            size, turns = size - 1, turns + 1
            if node >= n_nodes or first_child[node] < 0:
                if node < n_nodes:
                    wanted[n_wanted] = node
                    n_wanted += 1
                child = n_all
                n_all = after = _guess(gains, generation, node, n_all)
            else:
                split[n_split] = node
                n_split += 1
                child, after = first_child[node], first_child[node] + n_children[node]
            while child < after:
                arrival[child] = arrivals
                arrivals += 1
                if child >= n_nodes or feature[child] >= 0:
                    push(line, size, gains, arrival, child)
                    size += 1
                child += 1
    return n_split, n_wanted


def best_first(
    gain: NDArray[np.float64],
    feature: NDArray[Any],
    first_child: NDArray[Any],
    n_children: NDArray[Any],
    root: NDArray[Any],
    most: int,
) -> tuple[Integers, Integers]:
    """Return (split, wanted); see the package for the contract."""
    split, wanted = np.empty(gain.size, np.int64), np.empty(gain.size, np.int64)
    # Compiled once, whatever growth has them in.
    nodes: Any = (each.astype(np.int64) for each in (feature, first_child, n_children, root))
    most = min(most, (1 + _BELOW) * gain.size)
    gains = np.append(gain, np.empty(min(2 * most, _BELOW * gain.size)))
    of_guesses = np.zeros(gains.size, np.int64), np.zeros(gains.size, np.int64)
    room: Any = *of_guesses, np.empty(gains.size, np.int64), split, wanted
    given: Any = (gains, *nodes, most, *room)
    n_split, n_wanted = _select(*given)
    return split[:n_split], wanted[:n_wanted]

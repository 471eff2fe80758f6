"""Which features may split a node, compiled: `usable` for one node at a time."""

from __future__ import annotations

from typing import Any

import numpy as np

from vtree_kernels import mixing
from vtree_kernels._registered import register_jitable
from vtree_kernels.subtree.usable import Usable, Words

_next_state: Any = register_jitable(mixing.next_state)


def usable_work(usable: Usable, sets: Words, depth: Any, key: Any) -> tuple[Any, ...]:
    """Return what nodes are asked about, and the arrays that go with it.

    sets (M, W), depth, key (M,): of all nodes.
    """
    size = usable.number.size
    marks, order = np.empty(size, np.bool_), np.arange(size)
    return tuple(usable), (sets, depth, key), (marks, order, np.empty(size, np.uint64))


@register_jitable
def _before(word: Any, f: Any, other: Any) -> Any:
    return word[f] < word[other] or (word[f] == word[other] and f < other)


@register_jitable
def _least_first(order: Any, size: Any, word: Any, count: Any) -> None:
    """Sort order[:size] until the first `count` are those of the least words (Hoare 1961)."""
    low, high = 0, size - 1
    while low < high:
        i, j, pivot = low, high, order[(low + high) // 2]
        while i <= j:
            while _before(word, order[i], pivot):
                i += 1
            while _before(word, pivot, order[j]):
                j -= 1
            if i <= j:
                other = order[i]
                order[i] = order[j]
                order[j] = other
                i, j = i + 1, j - 1
        if count - 1 <= j:
            high = j
        elif count - 1 >= i:
            low = i
        else:
            break


@register_jitable
def meets(sets: Any, own: Any) -> Any:
    """Tell whether some set is in both."""
    both = np.uint64(0)
    for w in range(sets.size):
        both |= sets[w] & own[w]
    return both != 0


@register_jitable
def usable_by(held: Any, node: Any) -> Any:
    """Return marks of the features that may split a node, (F,), in a tuple.

    Where arrays are not counted, Numba lets none be returned by itself.
    """
    (number, counts, states, sets), (own_sets, depth, key), (marks, order, word) = held
    size = number.size
    for stage in range(2):
        if counts[stage]:
            own = key[node] if stage else np.uint64(depth[node])
            state = _next_state(states[stage], own)
            for i in range(size):
                word[order[i]] = _next_state(state, number[order[i]]) >> np.uint64(1)
            _least_first(order, size, word, counts[stage])
            size = counts[stage]
    marks[:] = False
    for i in range(size):
        f = order[i]
        marks[f] = sets.shape[1] == 0 or meets(sets[f], own_sets[node])
    return (marks,)


@register_jitable
def hand_sets_on(held: Any, node: Any, feature: Any, first: Any) -> None:
    """Write the sets that hold the paths to a node's children."""
    (_, _, _, sets), (own, _, _), _ = held
    for w in range(sets.shape[1]):
        own[first, w] = own[first + 1, w] = own[node, w] & sets[feature, w]


@register_jitable
def is_of_use(held: Any, node: Any, feature: Any) -> Any:
    """Tell whether a feature may split a node or one below it, whatever these draw."""
    (_, _, _, sets), (own, _, _), _ = held
    return sets.shape[1] == 0 or meets(sets[feature], own[node])

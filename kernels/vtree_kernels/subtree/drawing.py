"""A node's own order of the features, compiled, for a few of them at a time."""

from __future__ import annotations

from typing import Any

import numpy as np

from vtree_kernels import mixing
from vtree_kernels._registered import register_jitable

_next_state: Any = register_jitable(mixing.next_state)
_below: Any = register_jitable(mixing.below)


@register_jitable(forceinline=True)
def next_feature(order: Any, turn: Any, state: Any) -> Any:
    """Return the feature of place `turn`, one of those that are left, order[turn:]."""
    left = np.uint64(order.size - turn)
    other = turn + np.int64(_below(_next_state(state, np.uint64(turn)), left))
    feature = order[other]
    order[other] = order[turn]
    order[turn] = feature
    return feature


@register_jitable(forceinline=True)
def put_back(order: Any, turns: Any) -> None:
    """Undo the first draws from `order`: only they and the features drawn have moved."""
    for turn in range(turns):
        feature = order[turn]
        if feature >= turns:
            order[feature] = feature
    for turn in range(turns):
        order[turn] = turn

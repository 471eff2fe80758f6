"""The definition of `choice`: all nodes at once."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from vtree_kernels.scan.reference import Best

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]


class Choice(NamedTuple):
    """The split of each of L nodes."""

    feature: Integers  # (L,) the best one, whether or not it may split the node
    gain: Floats  # (L,) −∞ without a split
    bin: NDArray[np.int32]  # (L,) as in `Best`
    following: NDArray[np.int32]
    missing_child: NDArray[np.int32]
    kind: NDArray[np.int8]  # (L,) 1 of a category, 0 else
    n_children: NDArray[np.int32]  # (L,) 2, 0 without a split
    child_total: Integers  # (2 C, S) statistics of both children of the C nodes with a split


def missing_branch(
    missing_left: NDArray[np.bool_], missing: Integers, left: Integers, both: Integers
) -> NDArray[np.int32]:
    """Return the learnt branch of missing values, or the larger one (second on ties).

    missing (Q,): rows of the node that tell; left, both (Q,): sizes of the first child and of the
    node.
    """
    told, second_is_larger = missing > 0, left <= both - left
    second: NDArray[np.bool_] = np.where(told, missing_left == 0, second_is_larger)
    return second.astype(np.int32)


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
    n_features = gain.shape[1]
    worth = gain if worth is None else worth
    feature = worth.argmax(axis=1)  # the first of equal ones
    if place is not None:
        equal = worth == worth.max(axis=1, keepdims=True)
        feature = np.argmin(np.where(equal, place, n_features), axis=1)
    at = np.arange(0, gain.size, n_features) + feature

    def of_feature(every: Any) -> Any:
        return every.reshape(-1, *every.shape[2:]).take(at, axis=0)

    left, own = of_feature(best.left), of_feature(gain)
    split = own > -np.inf
    sides = np.stack([left, total - left], axis=1)  # (L, 2, S)
    learnt, missing = of_feature(best.missing_left), of_feature(best.missing)
    return Choice(
        feature=feature,
        gain=own,
        bin=of_feature(best.bin),
        following=of_feature(best.next),
        missing_child=missing_branch(learnt, missing, left[:, size], total[:, size]),
        kind=is_categorical[feature].astype(np.int8),
        n_children=np.where(split, 2, 0).astype(np.int32),
        child_total=sides[split].reshape(-1, left.shape[1]),
    )

"""What holds a node besides its rows, compiled: bounds of what it answers.

Where a rule has none of it, what is asked here is a constant.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numba.extending import register_jitable

import vtree_kernels.elementary.cpu  # noqa: F401  (teaches Numba `choose`)
from vtree_kernels._naming import named_after
from vtree_kernels.subtree import bounds

_narrowed: Any = register_jitable(bounds.narrowed)


class Kind(NamedTuple):
    """What code is compiled for, of all that may hold nodes."""

    answer: Callable[[Any, Any], Any] | None = None  # as in a rule
    levels: Any = None  # as `leveling` takes it

    @property
    def free(self) -> bool:
        """Whether nothing holds a node, and all features split it alike."""
        return self.answer is None and self.levels is None


class Holding(NamedTuple):
    """The functions of one kind; `held` is what `cpu` hands over for it."""

    of_node: Any  # (held, node) → what a node's search is given
    of_feature: Any  # (that, feature) → (direction, lower, upper) of a scan
    hand_on: Any  # (held, total, node, feature, first child, layout): writes what holds children


@register_jitable(forceinline=True)
def _nothing(held: Any, node: Any) -> Any:
    return ()


@register_jitable(forceinline=True)
def _unbound(own: Any, feature: Any) -> Any:
    return np.int64(0), -np.inf, np.inf


@register_jitable(forceinline=True)
def _hand_nothing_on(
    held: Any, total: Any, node: Any, feature: Any, first: Any, layout: Any
) -> None:
    pass


@functools.cache
def holding(kind: Kind) -> Holding:
    """Return the functions for what holds the nodes of a rule."""
    if kind.answer is None:
        return Holding(_nothing, _unbound, _hand_nothing_on)
    answer = kind.answer
    register_jitable(answer)

    @register_jitable(forceinline=True)
    def of_node(held: Any, node: Any) -> Any:
        monotone, lower, upper = held
        return monotone, lower[node], upper[node]

    @register_jitable(forceinline=True)
    def of_feature(own: Any, feature: Any) -> Any:
        monotone, lower, upper = own
        return np.int64(monotone[feature]), lower, upper

    @register_jitable
    @named_after(answer)
    def hand_on(held: Any, total: Any, node: Any, feature: Any, first: Any, layout: Any) -> None:
        monotone, lower, upper = held
        left, right = answer(total[first], layout), answer(total[first + 1], layout)
        own = _narrowed(lower[node], upper[node], left, right, monotone[feature])
        lower[first], upper[first], lower[first + 1], upper[first + 1] = own

    return Holding(of_node, of_feature, hand_on)

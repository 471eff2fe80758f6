"""What holds a node besides its rows, compiled: bounds of its answer, features that may split it.

Where a rule has none of it, what is asked here is a constant.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

import vtree_kernels.elementary.cpu  # noqa: F401  (teaches Numba `choose`)
from vtree_kernels._naming import named_after
from vtree_kernels._registered import register_jitable, register_once
from vtree_kernels.subtree import bounds
from vtree_kernels.subtree.choosing import hand_sets_on, is_of_use, usable_by

_narrowed: Any = register_jitable(bounds.narrowed)


class Kind(NamedTuple):
    """What code is compiled for, of all that may hold nodes."""

    answer: Callable[[Any, Any], Any] | None = None  # as in a rule
    some_features: bool = False  # may split a node
    levels: Any = None  # as `leveling` takes it

    @property
    def free(self) -> bool:
        """Whether a split that is legal by one feature is so by all, and gains as much."""
        return self.answer is None and self.levels is None


class Holding(NamedTuple):
    """The functions of one kind; `held` is what `cpu` hands over for it."""

    of_node: Any  # (held, node) → what a node's search is given
    may_split: Any  # (that, feature) → whether the feature may split the node
    of_feature: Any  # (that, feature) → (direction, lower, upper) of a scan
    hand_on: Any  # (held, total, node, feature, first child, layout): writes what holds children
    is_of_use: Any  # (held, node, feature) → whether it may split the node or one below it


@functools.cache
def holding(kind: Kind) -> Holding:
    """Return the functions for what holds the nodes of a rule."""
    bounds_of, of_feature, bound = _bounding(kind.answer)
    marks_of, marked, mark, of_use = _marking if kind.some_features else _not_marking

    @register_jitable(forceinline=True)
    @named_after(*kind)
    def of_node(held: Any, node: Any) -> Any:
        return bounds_of(held[0], node), marks_of(held[1], node)

    @register_jitable(forceinline=True)
    @named_after(*kind)
    def may_split(own: Any, feature: Any) -> Any:
        return marked(own[1], feature)

    @register_jitable(forceinline=True)
    @named_after(*kind)
    def bounds_in(own: Any, feature: Any) -> Any:
        return of_feature(own[0], feature)

    @register_jitable(forceinline=True)
    @named_after(*kind)
    def hand_on(held: Any, total: Any, node: Any, feature: Any, first: Any, layout: Any) -> None:
        bound(held[0], total, node, feature, first, layout)
        mark(held[1], node, feature, first)

    @register_jitable(forceinline=True)
    @named_after(*kind)
    def needed(held: Any, node: Any, feature: Any) -> Any:
        return of_use(held[1], node, feature)

    return Holding(of_node, may_split, bounds_in, hand_on, needed)


@register_jitable(forceinline=True)
def _nothing(held: Any, node: Any) -> Any:
    return ()


@register_jitable(forceinline=True)
def _unbound(own: Any, feature: Any) -> Any:
    return np.int64(0), -np.inf, np.inf


@register_jitable(forceinline=True)
def _bind_none(held: Any, total: Any, node: Any, feature: Any, first: Any, layout: Any) -> None:
    pass


@register_jitable(forceinline=True)
def _bounds_of(held: Any, node: Any) -> Any:
    monotone, lower, upper = held
    return monotone, lower[node], upper[node]


@register_jitable(forceinline=True)
def _bounds_in(own: Any, feature: Any) -> Any:
    monotone, lower, upper = own
    return np.int64(monotone[feature]), lower, upper


def _bounding(answer: Callable[[Any, Any], Any] | None) -> tuple[Any, Any, Any]:
    """Return what tells a node's bounds, those in a feature, and what writes its children's."""
    if answer is None:
        return _nothing, _unbound, _bind_none
    register_once(answer)

    @register_jitable
    @named_after(answer)
    def bind(held: Any, total: Any, node: Any, feature: Any, first: Any, layout: Any) -> None:
        monotone, lower, upper = held
        left, right = answer(total[first], layout), answer(total[first + 1], layout)
        own = _narrowed(lower[node], upper[node], left, right, monotone[feature])
        lower[first], upper[first], lower[first + 1], upper[first + 1] = own

    return _bounds_of, _bounds_in, bind


@register_jitable(forceinline=True)
def _any_feature(own: Any, feature: Any) -> Any:
    return True


@register_jitable(forceinline=True)
def _mark_none(held: Any, node: Any, feature: Any, first: Any) -> None:
    pass


@register_jitable(forceinline=True)
def _all_of_use(held: Any, node: Any, feature: Any) -> Any:
    return True


@register_jitable(forceinline=True)
def _marked(own: Any, feature: Any) -> Any:
    return own[0][feature]


_not_marking = _nothing, _any_feature, _mark_none, _all_of_use
_marking = usable_by, _marked, hand_sets_on, is_of_use

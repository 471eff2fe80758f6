"""Splits of a node by subsets of a categorical feature's levels, compiled.

Where no feature is categorical, what is asked here is a constant.

    word of a node     left 0 … 63 │ left 64 … 127 ┃ absent 0 … 63 │ absent 64 … 127
                       bit c: code c goes left     ┃ bit c: code c goes the way of missing values
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from vtree_kernels._naming import named_after
from vtree_kernels._registered import register_jitable
from vtree_kernels.level_subsets import cpu as level_subsets
from vtree_kernels.scan.cpu import Shape
from vtree_kernels.search.cpu import add_rows
from vtree_kernels.subtree.reference import Levels, Rule, words_of

Gain = Callable[[Any, Any, Any], Any]

# In place of what nodes lose, by which searches are compiled: levels are searched by `Prefixes`.
PREFIXES = "prefixes"

_NO_LEVEL = -np.inf, np.int64(0), np.int64(0), False, np.int64(0), False


class Leveling(NamedTuple):
    """The functions of one kind; `levels` is what `levels_for` returns for it."""

    is_level: Any  # (levels, feature) → whether the feature is categorical
    # (levels, cells (B, S), its node's sums, minima, layout, sums) → (gain, bin, next, missing
    # left, missing, whether it varies)
    search: Any
    keep: Any  # (levels): what was searched last is the best so far
    store: Any  # (levels, node): the best is that of a node
    # (levels, node, column, local, begin, end, missing left, spare) → where the right rows begin
    part: Any


def kind_of(levels: Levels | None) -> Any:
    """Return by what loops are compiled for the categorical features of a rule."""
    if levels is None:
        return None
    return level_subsets.lost_of(levels.rule) or PREFIXES


def levels_for(rule: Rule, n_codes: NDArray[np.int64], words: NDArray[np.uint64]) -> Any:
    """Return what the loops of a task work with, and write to words (M, 2 W)."""
    own = rule.levels
    if own is None:
        return ()
    most, layout = int(n_codes[own.categorical].max()), rule.layout
    return (
        own.categorical,
        own.least_rows,
        level_subsets.numbers_of(own.rule, layout._replace(unit=np.asarray(layout.unit))),
        level_subsets.room_of(own.rule, most, layout),
        np.empty((most, layout.n_stored), np.int64),
        np.empty((2, most), np.int8),
        np.empty(words_of(own, n_codes) // 2, np.uint64),
        words,
    )


@register_jitable(forceinline=True)
def _is_none(levels: Any, feature: Any) -> Any:
    return False


@register_jitable(forceinline=True)
def _no_search(levels: Any, cells: Any, own: Any, minima: Any, layout: Any, sums: Any) -> Any:
    return _NO_LEVEL


@register_jitable(forceinline=True)
def _nothing(levels: Any) -> None:
    pass


@register_jitable(forceinline=True)
def _nothing_of(levels: Any, node: Any) -> None:
    pass


@register_jitable(forceinline=True)
def _no_parting(
    levels: Any, node: Any, column: Any, local: Any, begin: Any, end: Any, way: Any, spare: Any
) -> Any:
    return np.int64(begin)


@register_jitable(forceinline=True)
def _is_level(levels: Any, feature: Any) -> Any:
    return levels[0][feature]


@register_jitable
def _keep(levels: Any) -> None:
    ways = levels[5]
    for code in range(ways.shape[1]):
        ways[1, code] = ways[0, code]


@register_jitable
def _store(levels: Any, node: Any) -> None:
    ways, words = levels[5][1], levels[7][node]
    half = words.size // 2
    words[:] = 0
    for code in range(ways.size):
        bit = np.uint64(1) << np.uint64(code & 63)
        if ways[code] > 0:
            words[code >> 6] |= bit
        elif ways[code] < 0:
            words[half + (code >> 6)] |= bit


@register_jitable
def _part(
    levels: Any, node: Any, column: Any, local: Any, begin: Any, end: Any, way: Any, spare: Any
) -> Any:
    """Sort a node's rows stably by side; return where the right ones begin."""
    left, words = levels[6], levels[7][node]
    for w in range(left.size):
        left[w] = words[w] | (words[left.size + w] if way else np.uint64(0))
    at, kept = np.uint64(begin), np.uint64(0)
    for i in range(np.uint64(begin), np.uint64(end)):
        row = local[i]
        code = np.uint64(column[np.uint64(row)])
        goes_left = (left[code >> np.uint64(6)] >> (code & np.uint64(63))) & np.uint64(1)
        local[at] = row
        spare[kept] = row
        at += goes_left
        kept += np.uint64(1) - goes_left
    for k in range(kept):
        local[at + np.uint64(k)] = spare[k]
    return np.int64(at)


@functools.cache
def leveling(gain: Gain, shape: Shape, kind: Any) -> Leveling:
    """Return the functions for the categorical features of a rule."""
    if kind is None:
        return Leveling(_is_none, _no_search, _nothing, _nothing_of, _no_parting)
    search_levels = level_subsets.search_of(gain, None if kind == PREFIXES else kind, shape)

    @register_jitable
    @named_after(gain, shape, kind)
    def search(levels: Any, cells: Any, own: Any, minima: Any, layout: Any, sums: Any) -> Any:
        _, least_rows, numbers, room, kept, ways, _, _ = levels
        n_codes = cells.shape[0]
        searched = cells
        if least_rows > 1:
            level_subsets.set_rare_apart(
                kept[:n_codes], cells, least_rows, layout.implied, layout.classes
            )
            searched = kept[:n_codes]
        its_ways = ways[0, :n_codes]
        ways[0, n_codes:] = 0
        found = search_levels(
            searched, own, n_codes - 1, numbers, minima, -np.inf, layout, sums, room, its_ways
        )
        level_subsets.rare_ways(its_ways, cells, least_rows, layout.implied, layout.classes)
        return found

    return Leveling(_is_level, search, _keep, _store, _part)


@functools.cache
def dense_search(gain: Gain, shape: Shape, kind: Any) -> Any:
    """Return the same search for a node's rows, whose cells are added up in dense (B, S), zeros."""
    _, search, _, _, _ = leveling(gain, shape, kind)

    @register_jitable
    @named_after(gain, shape, kind)
    def search_rows(
        levels: Any, dense: Any, line: Any, local: Any, begin: Any, end: Any, statistics: Any,
        own: Any, minima: Any, layout: Any, sums: Any,
    ) -> Any:  # fmt: skip
        flat = dense.reshape(-1)
        add_rows(flat, dense.shape[1], line, local, begin, end, statistics)
        found = search(levels, dense, own, minima, layout, sums)
        flat[:] = 0
        return found

    return search_rows

"""The search for a node's split among the cuts between codes, compiled."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from vtree_kernels import mixing
from vtree_kernels._naming import named_after
from vtree_kernels._registered import register_jitable
from vtree_kernels.scan.cpu import Shape, feature_search
from vtree_kernels.search.cpu import cells_by_code, following
from vtree_kernels.subtree.drawing import next_feature, put_back
from vtree_kernels.subtree.holding import Kind, holding
from vtree_kernels.subtree.leveling import dense_search, leveling

_next_state: Any = register_jitable(mixing.next_state)


@functools.cache
def _look(gain: Callable[[Any, Any, Any], Any], shape: Shape, kind: Kind) -> Any:
    """Return the search for a node's split by one feature, from the codes of its rows."""
    best_of, is_level = feature_search(shape), leveling(gain, shape, kind.levels).is_level
    of_feature = holding(kind).of_feature
    search_levels = dense_search(gain, shape, kind.levels)

    @register_jitable(forceinline=True)
    @named_after(gain, shape, *kind)
    def look(
        f: Any, line: Any, local: Any, node: Any, statistics: Any, n_codes: Any, by_code: Any,
        minima: Any, layout: Any, sums: Any,
    ) -> Any:  # fmt: skip
        """Return (gain, bin, next, missing left, missing, whether it varies)."""
        begin, end, _, own, held, levels, _ = node
        dense = by_code[0][:n_codes]
        if is_level(levels, f):
            return search_levels(
                levels, dense, line, local, begin, end, statistics, own, minima, layout, sums
            )
        cells, codes = cells_by_code(line, local, begin, end, statistics, n_codes, by_code)
        score, bin, way, n_missing, varies = best_of(
            gain, cells, own, 0, of_feature(held, f), minima, layout, sums
        )
        next_bin = np.int64(following(cells, codes, bin, layout.implied, layout.classes))
        if codes.size == 0:
            dense.reshape(-1)[:] = 0
            return score, bin, next_bin, way == 1, n_missing, varies
        return score, codes[bin], next_bin, way == 1, n_missing, varies

    return look


@functools.cache
def code_search(  # noqa: C901  (one compiled loop)
    gain: Callable[[Any, Any, Any], Any], shape: Shape, kind: Kind
) -> Any:
    """Return the search for one criterion, one shape of layout and one kind of what holds nodes."""
    look, may_split, free = _look(gain, shape, kind), holding(kind).may_split, kind.free
    is_level, _, keep, _, _ = leveling(gain, shape, kind.levels)

    @register_jitable(forceinline=True)
    @named_after(gain, shape, *kind)
    def search_node(
        columns: Any, _: Any, local: Any, node: Any, statistics: Any, n_codes: Any,
        rules: Any, work: Any,
    ) -> Any:  # fmt: skip
        """Return (feature or −1, gain, bin, next, missing left, missing, threshold, last code).

        node: with (least, most), the places of features to look at: all, unless none are drawn.
        """
        begin, end, state, _, held, levels, (least, most) = node
        (_, _, min_rows, min_weight, _, costs), (max_features, order_state, _), layout, _ = rules
        by_code, line, order, sums, _ = work
        n_features, n_rows, minima = columns.shape[0], end - begin, (min_rows, min_weight)
        draws, turns = _next_state(order_state, state), 0
        best, worth, found, varied = -np.inf, -np.inf, -1, False
        its_bin, its_next, its_way, its_missing = np.int64(0), np.int64(0), False, np.int64(0)
        for looked in range(least, most):
            # Two rows have one split, whichever feature makes it, where none is forbidden.
            one_split = free and n_rows == 2 and not costs.size
            if varied and (looked >= max_features or one_split):
                break
            f = looked
            if max_features < n_features:
                f, turns = next_feature(order, looked, draws), looked + 1
            if not may_split(held, f):
                continue
            column = columns[f]
            for i in range(n_rows):
                line[i] = column[np.uint64(local[begin + i])]
            score, bin, next_bin, way, n_missing, varies = look(
                f, line, local, node, statistics, n_codes[f], by_code, minima, layout, sums
            )
            varied, per_cost = varied or varies, score / costs[f] if costs.size else score
            if score > -np.inf and (found < 0 or per_cost > worth):
                best, worth, found, its_bin, its_next = score, per_cost, f, bin, next_bin
                its_way, its_missing = way, n_missing
                if is_level(levels, f):
                    keep(levels)
        put_back(order, turns)
        return found, best, its_bin, its_next, its_way, its_missing, 0.0, its_bin

    return search_node

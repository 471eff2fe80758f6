"""`symmetric_splits` in Numba: a level after another, a column at a time, whose cells stay near."""

from __future__ import annotations

from typing import Any

import numba
import numpy as np
from numba.extending import register_jitable
from numpy.typing import NDArray

from vtree_kernels import mixing
from vtree_kernels.symmetric_splits.reference import Levels, Rule

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

_NO_CODE = 1 << 40

_next_state: Any = register_jitable(forceinline=True)(mixing.next_state)
_bell: Any = register_jitable(forceinline=True)(mixing.bell)


@register_jitable
def _by_key(order: Any, key: Any, n_nodes: Any) -> None:
    """Write the nodes in the order of their keys; they are few."""
    for node in range(n_nodes):
        place = node
        while place > 0 and key[order[place - 1]] > key[node]:
            order[place] = order[place - 1]
            place -= 1
        order[place] = node


@register_jitable
def _fill(cells: Any, codes: Any, column: Any, leaf: Any, weight: Any, sums: Any) -> None:
    """Add up the rows of each node by code: cells (L, 3, B)."""
    n_codes, width = np.uint64(cells.shape[2]), np.uint64(codes.shape[1])
    flat, all_codes = cells.reshape(-1), codes.reshape(-1)
    for i in range(flat.size):
        flat[i] = 0
    for row in range(np.uint64(leaf.size)):
        code = np.uint64(all_codes[row * width + np.uint64(column)])
        at = np.uint64(leaf[row]) * (np.uint64(3) * n_codes) + code
        flat[at] += 1
        flat[at + n_codes] += weight[row] if weight.size else 1
        flat[at + np.uint64(2) * n_codes] += sums[row]


@register_jitable
def _add_node(worth: Any, size: Any, divided: Any, cells: Any, shrink: Any, ways: Any) -> None:
    """Add what a node's candidates are worth: worth, size, divided (2, B); cells (3, B)."""
    n_codes = cells.shape[1]
    n_none, w_none, s_none = cells[0, 0], cells[1, 0], cells[2, 0]
    cells[:, 0] = 0
    for plane in range(3):  # cells become sums up to each code
        running = np.int64(0)
        for b in range(n_codes):
            running += cells[plane, b]
            cells[plane, b] = running
    n_all = cells[0, n_codes - 1] + n_none
    w_all, s_all = cells[1, n_codes - 1] + w_none, cells[2, n_codes - 1] + s_none
    count, weight, sums = cells[0], cells[1], cells[2]
    for way in range(ways):
        n, w, s = way * n_none, way * w_none, way * s_none
        own, length, both = worth[way], size[way], divided[way]
        for b in range(n_codes):
            w_left, s_left = weight[b] + w, sums[b] + s
            w_right, s_right = w_all - w_left, s_all - s_left
            v_left = np.float64(s_left) / (np.float64(w_left) + shrink)
            v_right = np.float64(s_right) / (np.float64(w_right) + shrink)
            v_left = v_left if w_left > 0 else 0.0
            v_right = v_right if w_right > 0 else 0.0
            own[b] += v_left * np.float64(s_left) + v_right * np.float64(s_right)
            length[b] += v_left * v_left * np.float64(w_left) + (
                v_right * v_right * np.float64(w_right)
            )
        for b in range(n_codes):
            rows = count[b] + n
            both[b] |= (rows > 0) & (rows < n_all)


@register_jitable
def _score(
    worth: Any, size: Any, divided: Any, cosine: Any, spread: Any, state: Any, n_bins: Any
) -> None:
    """Turn worth (2, B) into scores, −inf for what is no candidate."""
    n_codes = worth.shape[1]
    for way in range(2):
        worth[way, 0] = -np.inf
        for b in range(1, n_codes):
            length = size[way, b]
            score = worth[way, b]
            if cosine:
                score = score / np.sqrt(length) if length > 0.0 else 0.0
            worth[way, b] = score if divided[way, b] else -np.inf
    if spread > 0.0:
        for b in range(n_codes):
            drawn = _bell(_next_state(state, np.uint64(b))) * spread
            worth[0, b] += drawn
            worth[1, b] += drawn
        worth[:, n_bins + 1 :] = -np.inf


@register_jitable
def _divide(leaf: Any, codes: Any, column: Any, bin: Any, way: Any, found: Any) -> None:
    """Send rows to the children of their nodes, and write what `Levels` says of the split."""
    following, n_none, n_left = np.int64(_NO_CODE), 0, 0
    for row in range(leaf.size):
        code = np.int64(codes[row, column])
        n_none += code == 0
        n_left += code <= bin
        if code > bin:
            following = code if code < following else following
    missing_child = 1 - way
    if n_none == 0:
        missing_child = 0 if 2 * n_left > leaf.size else 1
    for row in range(leaf.size):
        code = np.int64(codes[row, column])
        leaf[row] = 2 * leaf[row] + (missing_child if code == 0 else np.int64(code > bin))
    found[0], found[1] = column, bin
    found[2], found[3] = following if following < _NO_CODE else 0, missing_child


@register_jitable
def _best(
    codes: Any,
    weight: Any,
    sums: Any,
    features: Any,
    n_bins: Any,
    rule: Any,
    leaf: Any,
    cells: Any,
    order: Any,
    rows: Any,
) -> Any:
    """Return (score, column, place among the ways and codes) of the best candidate of a level.

    cells (L, 3, B): room for those of a column; order (L,): the nodes by key; rows (L,): of each;
    rule: shrink, cosine, spread, and the state of the level's draws.
    """
    shrink, cosine, spread, state = rule
    n_codes = cells.shape[2]
    worth, size = np.empty((2, n_codes)), np.empty((2, n_codes))
    divided = np.empty((2, n_codes), np.bool_)
    best, best_column, best_place = -np.inf, 0, 0
    for column in range(codes.shape[1]):
        _fill(cells, codes, column, leaf, weight, sums)
        ways = 1
        for node in range(order.size):
            ways = max(ways, 1 + (cells[node, 0, 0] > 0))
        worth[:], size[:], divided[:] = 0.0, 0.0, False
        for node in order:
            if rows[node] > 0:  # the others are worth nothing
                _add_node(worth, size, divided, cells[node], shrink, ways)
        own_state = _next_state(state, np.uint64(features[column]))
        _score(worth, size, divided, cosine, spread, own_state, n_bins[column])
        flat = worth.reshape(-1)
        for place in range(flat.size):
            if flat[place] > best:
                best, best_column, best_place = flat[place], column, place
    return best, best_column, best_place


@numba.njit(cache=True, nogil=True, error_model="numpy")
def _grow(  # type: ignore[no-untyped-def]
    codes, weight, sums, features, n_bins, n_codes, rule, found, score, leaf
):
    """Write all levels to found (depth, 4) and score (depth,); return how many there are."""
    depth, shrink, cosine, spread, state, root_key = rule
    widest = 1 << (depth - 1)
    cells = np.empty((widest, 3, n_codes), np.int64)
    order, rows = np.empty(widest, np.int64), np.empty(widest, np.int64)
    key = np.empty(2 * widest, np.uint64)
    key[0] = root_key
    for level in range(depth):
        n_nodes = 1 << level
        _by_key(order, key, n_nodes)
        rows[:] = 0
        for row in range(leaf.size):
            rows[leaf[row]] += 1
        own = shrink, cosine, spread, _next_state(state, np.uint64(level))
        nodes = cells[:n_nodes], order[:n_nodes], rows
        best, column, place = _best(codes, weight, sums, features, n_bins, own, leaf, *nodes)
        if best == -np.inf:
            return level
        score[level] = best
        _divide(leaf, codes, column, place % n_codes, place // n_codes, found[level])
        for node in range(n_nodes - 1, -1, -1):
            both = _next_state(np.uint64(0), key[node])
            key[2 * node + 1] = _next_state(both, np.uint64(1))
            key[2 * node] = _next_state(both, np.uint64(0))
    return depth


def symmetric_splits(
    codes: NDArray[Any],
    weight: Integers | None,
    sums: Integers,
    features: Integers,
    n_bins: Integers,
    n_codes: int,
    rule: Rule,
) -> tuple[Levels, Integers]:
    """Return (the levels, the leaf of each row); see the package for the contract."""
    leaf = np.zeros(codes.shape[0], dtype=np.int64)
    found, score = np.empty((rule.depth, 4), dtype=np.int64), np.empty(rule.depth)
    whole = np.empty(0, dtype=np.int64) if weight is None else weight
    given = np.ascontiguousarray(codes), whole, np.ascontiguousarray(sums), features, n_bins
    n_levels = _grow(*given, n_codes, tuple(rule), found, score, leaf)
    column, bin, following, missing_child = found[:n_levels].T
    return Levels(column, bin, following, missing_child, score[:n_levels]), leaf

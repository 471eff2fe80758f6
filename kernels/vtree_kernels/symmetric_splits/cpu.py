"""`symmetric_splits` in Numba: a level after another, a column at a time, whose cells stay near."""

from __future__ import annotations

from typing import Any

import numba
import numpy as np
from numpy.typing import NDArray

from vtree_kernels import mixing
from vtree_kernels._counting import UNCOUNTED
from vtree_kernels._registered import register_jitable
from vtree_kernels.symmetric_splits.reference import OF_ITS_OWN, Columns, Levels, Rule

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

_NO_CODE = 1 << 40
_OF_ITS_OWN = np.uint64(OF_ITS_OWN)

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
def _fill(cells: Any, codes: Any, column: Any, rows: Any, tree: Any, values: Any) -> None:
    """Add up some rows by tree and code: cells (T, P, B), planes the count, the weight, the sums.

    tree: of each row; values (R, P − 1): what it adds.
    """
    n_codes, width = np.uint64(cells.shape[2]), np.uint64(codes.shape[1])
    size = np.uint64(cells.shape[1]) * n_codes
    flat, all_codes, all_values = cells.reshape(-1), codes.reshape(-1), values.reshape(-1)
    n_values = np.uint64(values.shape[1])
    for i in range(flat.size):
        flat[i] = 0
    for i in range(np.uint64(rows.size)):
        code = np.uint64(all_codes[np.uint64(rows[i]) * width + np.uint64(column)])
        at, own = np.uint64(tree[i]) * size + code, i * n_values
        flat[at] += 1
        flat[at + n_codes] += all_values[own]
        flat[at + np.uint64(2) * n_codes] += all_values[own + np.uint64(1)]
        for k in range(np.uint64(2), n_values):
            flat[at + (np.uint64(1) + k) * n_codes] += all_values[own + k]


@register_jitable
def _cumulate(cells: Any, none: Any) -> None:
    """Turn cells (P, B) into sums up to each code, without those of code 0, which `none` gets."""
    for plane in range(cells.shape[0]):
        none[plane] = cells[plane, 0]
        cells[plane, 0] = 0
        running = np.int64(0)
        for b in range(cells.shape[1]):
            running += cells[plane, b]
            cells[plane, b] = running


@register_jitable
def _set_apart(cells: Any, none: Any) -> None:
    """Write the sums of cells (P, B) but for the last code to none (P,): those of it are there."""
    last = cells.shape[1] - 1
    for plane in range(cells.shape[0]):
        none[plane] = 0
        for b in range(last):
            none[plane] += cells[plane, b]


# Each loop below touches few arrays: LLVM looks at them in pairs for whether they overlap, and
# works out one candidate at a time where there are more than eight pairs.


@register_jitable
def _answer(
    v: Any, weight: Any, sums: Any, w_none: Any, s_none: Any, shrink: Any, way: Any
) -> None:
    """Write what both sides of candidates answer, v (2, B), by sums up to each code (B,)."""
    last = weight.size - 1
    w_all, s_all, w, s = weight[last] + w_none, sums[last] + s_none, way * w_none, way * s_none
    left, right = v[0], v[1]
    for b in range(weight.size):
        w_left, s_left = weight[b] + w, sums[b] + s
        w_right, s_right = w_all - w_left, s_all - s_left
        v_left = np.float64(s_left) / (np.float64(w_left) + shrink)
        v_right = np.float64(s_right) / (np.float64(w_right) + shrink)
        left[b] = v_left if w_left > 0 else 0.0
        right[b] = v_right if w_right > 0 else 0.0


@register_jitable
def _add_single(
    worth: Any, size: Any, v: Any, weight: Any, sums: Any, w_none: Any, t_none: Any, way: Any
) -> None:
    """Add what the answers v (2, B) are worth in a node that judges: worth, size (B,)."""
    last, left, right = weight.size - 1, v[0], v[1]
    m_all, t_all, m, t = weight[last] + w_none, sums[last] + t_none, way * w_none, way * t_none
    for b in range(worth.size):
        t_left = sums[b] + t
        worth[b] += left[b] * np.float64(t_left) + right[b] * np.float64(t_all - t_left)
    for b in range(worth.size):
        m_left = weight[b] + m
        size[b] += left[b] * left[b] * np.float64(m_left) + (
            right[b] * right[b] * np.float64(m_all - m_left)
        )


@register_jitable
def _add_side(
    worth: Any, size: Any, v: Any, weight: Any, sums: Any, m: Any, t: Any, sign: Any
) -> None:
    """Add what the answers v (B,) of one side are worth with one output, by sign × (sums − t)."""
    for b in range(worth.size):
        worth[b] += v[b] * np.float64(sign * (sums[b] - t))
    for b in range(worth.size):
        size[b] += v[b] * v[b] * np.float64(sign * (weight[b] - m))


@register_jitable
def _add_pair(
    worth: Any,
    size: Any,
    own: Any,
    own_none: Any,
    other: Any,
    other_none: Any,
    shrink: Any,
    way: Any,
    v: Any,
    sides: Any,
) -> None:
    """Add what candidates of a pair of nodes are worth: worth, size (B,).

    own (P, B): sums up to each code of the node that learns, other (P, B): of that which judges;
    none (P,): what is missing in both, on the left in way 1; v (2, B), sides (4, B): room.
    """
    n_planes, n_codes = own.shape
    if n_planes == 3:
        _answer(v, own[1], own[2], own_none[1], own_none[2], shrink, way)
        _add_single(worth, size, v, other[1], other[2], other_none[1], other_none[2], way)
        return
    sides[:, :] = 0.0  # a side's outputs are added up before both sides are
    m_left, m_all = way * other_none[1], other[1, n_codes - 1] + other_none[1]
    for k in range(2, n_planes):
        _answer(v, own[1], own[k], own_none[1], own_none[k], shrink, way)
        t_left, t_all = way * other_none[k], other[k, n_codes - 1] + other_none[k]
        _add_side(sides[0], sides[1], v[0], other[1], other[k], -m_left, -t_left, 1)
        given = other[1], other[k], m_all - m_left, t_all - t_left, -1
        _add_side(sides[2], sides[3], v[1], *given)
    for b in range(n_codes):
        worth[b] += sides[0, b] + sides[2, b]
        size[b] += sides[1, b] + sides[3, b]


@register_jitable
def _add_trees(
    worth: Any,
    size: Any,
    divided: Any,
    cells: Any,
    none: Any,
    n_pairs: Any,
    shrink: Any,
    ways: Any,
    v: Any,
    sides: Any,
) -> None:
    """Add what candidates are worth in the nodes of all trees: cells (T, P, B), none (T, P).

    worth, size, divided (2, B); the last n_pairs trees judge the first ones; v, sides: room.
    """
    n_trees, n_codes = cells.shape[0], cells.shape[2]
    for learn in range(n_pairs):
        judge = n_trees - n_pairs + learn
        own, own_none, other, other_none = cells[learn], none[learn], cells[judge], none[judge]
        count = other[0]
        n_all = count[n_codes - 1] + other_none[0]
        if n_all == 0:
            continue  # nobody judges, and zeros change nothing
        for way in range(ways):
            nodes = own, own_none, other, other_none
            _add_pair(worth[way], size[way], *nodes, shrink, way, v, sides)
            both, n = divided[way], way * other_none[0]
            for b in range(n_codes):
                rows = count[b] + n
                both[b] |= (rows > 0) & (rows < n_all)


@register_jitable
def _score(worth: Any, size: Any, divided: Any, cosine: Any, first: Any) -> None:
    """Turn worth (2, B) into scores, −inf for what is no candidate, as are codes before `first`."""
    n_codes = worth.shape[1]
    for way in range(2):
        worth[way, :first] = -np.inf
        for b in range(first, n_codes):
            length = size[way, b]
            score = worth[way, b]
            if cosine:
                score = score / np.sqrt(length) if length > 0.0 else 0.0
            worth[way, b] = score if divided[way, b] else -np.inf


@register_jitable
def _best_of_column(score: Any, drawn: Any, spread: Any, state: Any) -> Any:
    """Return (score, way, code) of a column's best candidate, score (2, B).

    state: of the column's draws; drawn (B,): room.
    """
    n_codes = score.shape[1]
    for b in range(n_codes):
        drawn[b] = _bell(_next_state(state, np.uint64(b))) * spread if spread > 0.0 else 0.0
    best, best_way, best_code = -np.inf, 0, 0
    for way in range(2):
        for b in range(n_codes):
            own = score[way, b] + drawn[b]
            if own > best:
                best, best_way, best_code = own, way, b
    best = score[best_way, best_code]
    if spread > 0.0:
        best += _bell(_next_state(state, _OF_ITS_OWN)) * spread
    return best, best_way, best_code


@register_jitable
def _told(codes: Any, column: Any, bin: Any, way: Any, one_hot: Any, found: Any) -> None:
    """Write what `Levels` says of a split, and whether it is of one code."""
    found[0], found[1], found[4] = column, bin, one_hot
    if one_hot:
        found[2], found[3] = 0, np.int64(bin != 0)
        return
    following, n_none, n_left = np.int64(_NO_CODE), 0, 0
    for row in range(codes.shape[0]):
        code = np.int64(codes[row, column])
        n_none += code == 0
        n_left += code <= bin
        if code > bin:
            following = code if code < following else following
    missing_child = 1 - way
    if n_none == 0:
        missing_child = 0 if 2 * n_left > codes.shape[0] else 1
    found[2], found[3] = following if following < _NO_CODE else 0, missing_child


@register_jitable
def _divide(rows: Any, start: Any, n_nodes: Any, codes: Any, found: Any, spare: Any) -> None:
    """Part the rows of each node, rows[start[l] : start[l + 1]], and write where children begin."""
    column, bin, missing_child, one_hot = found[0], found[1], found[3], found[4]
    start[2 * n_nodes] = rows.size
    end = rows.size
    for node in range(n_nodes - 1, -1, -1):
        begin = start[node]
        first, others = begin, 0
        for place in range(begin, end):
            row = rows[place]
            code = np.int64(codes[row, column])
            child = missing_child if code == 0 else np.int64(code > bin)
            if one_hot:
                child = np.int64(code != bin)
            if child == 0:
                rows[first] = row
                first += 1
            else:
                spare[others] = row
                others += 1
        for place in range(others):
            rows[first + place] = spare[place]
        start[2 * node], start[2 * node + 1] = begin, first
        end = begin


@register_jitable
def _best(codes: Any, lacks: Any, columns: Any, rule: Any, order: Any, room: Any) -> Any:
    """Return (score, column, way, code) of the best candidate of a level.

    lacks (F,): whether columns lack values; rule: shrink, cosine, spread, the state of the level's
    draws, pairs of trees; order (L,): the nodes by key. A column takes the room of its own codes.
    """
    feature, n_bins, one_hot = columns
    shrink, cosine, spread, state, n_pairs = rule
    rows, start, tree, values, all_cells, none, all_worth, all_size, all_divided, all_v, sides = (
        room
    )
    n_trees, n_planes = none.shape
    best = -np.inf, 0, 0, 0
    for column in range(codes.shape[1]):
        n_codes, apart = n_bins[column] + 1, one_hot[column]
        cells = all_cells[: n_trees * n_planes * n_codes].reshape(n_trees, n_planes, n_codes)
        worth, size = all_worth[: 2 * n_codes], all_size[: 2 * n_codes]
        worth, size = worth.reshape(2, n_codes), size.reshape(2, n_codes)
        divided = all_divided[: 2 * n_codes].reshape(2, n_codes)
        v = all_v[: 2 * n_codes].reshape(2, n_codes)
        own_sides = sides[: 4 * n_codes].reshape(4, n_codes)
        worth[:, :], size[:, :], divided[:, :] = 0.0, 0.0, False
        ways = 1 if apart else 1 + lacks[column]
        for node in order:
            first, last = start[node], start[node + 1]
            if first < last:  # others are worth nothing
                _fill(cells, codes, column, rows[first:last], tree[first:last], values[first:last])
                for each in range(n_trees):
                    if apart:
                        _set_apart(cells[each], none[each])
                    else:
                        _cumulate(cells[each], none[each])
                given = cells, none, n_pairs, shrink, ways, v, own_sides
                _add_trees(worth, size, divided, *given)
        _score(worth, size, divided, cosine, 0 if apart else 1)
        own_state = _next_state(state, np.uint64(feature[column]))
        score, way, code = _best_of_column(worth, v[0], spread, own_state)
        if score > best[0]:
            best = score, column, way, code
    return best


@register_jitable
def _put_in_order(rows: Any, table: Any, tree: Any, own_tree: Any, values: Any) -> None:
    """Write the tree of each row, in the order of rows, and what it adds."""
    for i in range(rows.size):
        own_tree[i] = tree[rows[i]]
        for k in range(values.shape[1]):
            values[i, k] = table[rows[i], k]


@numba.njit(cache=True, nogil=True, error_model="numpy", **UNCOUNTED)
def _grow(  # type: ignore[no-untyped-def]
    codes, table, tree, columns, rule, found, score, leaf, nodes, room, spare
):
    """Write all levels to found (depth, 5) and score (depth,); return how many there are."""
    depth, shrink, cosine, spread, state, root_key, n_trees, judged = rule
    n_pairs = n_trees // 2 if judged else n_trees
    order, key, lacks = nodes
    rows, start, own_tree, values = room[:4]
    for row in range(codes.shape[0]):
        for column in range(codes.shape[1]):
            lacks[column] |= codes[row, column] == 0
    n_levels = 0
    key[0], start[1] = root_key, leaf.size
    for level in range(depth):
        n_nodes = 1 << level
        _by_key(order, key, n_nodes)
        _put_in_order(rows, table, tree, own_tree, values)
        own = shrink, cosine, spread, _next_state(state, np.uint64(level)), n_pairs
        best, column, way, code = _best(codes, lacks, columns, own, order[:n_nodes], room)
        if best == -np.inf:
            break
        score[level], n_levels = best, level + 1
        _told(codes, column, code, way, columns[2][column], found[level])
        _divide(rows, start, n_nodes, codes, found[level], spare)
        for node in range(n_nodes - 1, -1, -1):
            both = _next_state(np.uint64(0), key[node])
            key[2 * node + 1] = _next_state(both, np.uint64(1))
            key[2 * node] = _next_state(both, np.uint64(0))
    for node in range(1 << n_levels):
        for place in range(start[node], start[node + 1]):
            leaf[rows[place]] = node
    return n_levels


def _room(table: Integers, n_codes: int, rule: Rule) -> tuple[NDArray[Any], ...]:
    """Return arrays to work in, for compiled code makes none: see `_best`."""
    n_rows, n_values = table.shape
    none = np.empty((rule.n_trees, 1 + n_values), dtype=np.int64)
    cells = np.empty(none.size * n_codes, dtype=np.int64)
    worth, size, v = (np.empty(2 * n_codes) for _ in range(3))
    divided, sides = np.empty(2 * n_codes, dtype=np.bool_), np.empty(4 * n_codes)
    tree, start = np.empty(n_rows, dtype=np.int64), np.zeros((1 << rule.depth) + 1, dtype=np.int64)
    rows, values = np.arange(n_rows), np.empty_like(table)
    return rows, start, tree, values, cells, none, worth, size, divided, v, sides


def symmetric_splits(
    codes: NDArray[Any],
    weight: Integers | None,
    sums: Integers,
    tree: Integers,
    columns: Columns,
    n_codes: int,
    rule: Rule,
) -> tuple[Levels, Integers]:
    """Return (the levels, the leaf of each row); see the package for the contract."""
    leaf = np.empty(codes.shape[0], dtype=np.int64)
    found, score = np.empty((rule.depth, 5), dtype=np.int64), np.empty(rule.depth)
    own = np.ones(codes.shape[0], dtype=np.int64) if weight is None else weight
    table, widest = np.column_stack([own, sums]), 1 << rule.depth
    order, key = np.empty(widest, dtype=np.int64), np.empty(widest, dtype=np.uint64)
    nodes = order, key, np.zeros(codes.shape[1], dtype=np.int64)
    given = np.ascontiguousarray(codes), table, tree, tuple(columns), tuple(rule)
    room = _room(table, n_codes, rule)
    n_levels = _grow(*given, found, score, leaf, nodes, room, np.empty_like(leaf))
    column, bin, following, missing_child, _ = found[:n_levels].T
    return Levels(column, bin, following, missing_child, score[:n_levels]), leaf

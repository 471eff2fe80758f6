"""`subtree` in Numba: a task a few nodes, whose rows are copied column by column."""

from __future__ import annotations

from typing import Any, NamedTuple

import numba
import numpy as np
from numpy.typing import NDArray

from vtree_kernels import _threads
from vtree_kernels._keys import BITS, no_value
from vtree_kernels._prefetch import AHEAD, prefetch
from vtree_kernels.histogram.cpu import batches
from vtree_kernels.scan.cpu import shape_of
from vtree_kernels.subtree.growing import LATER, grower, scratch
from vtree_kernels.subtree.reference import Rule, Starts, Statistics, Subtrees, Table

ROWS = 16_384  # of a task
LEAST = 8_192  # below, a node's columns are copied once more, for they are all in the cache then
_EACH = 16  # rows that a node costs besides its own
_BLOCK = 64  # rows whose values of a column fill a cache line

_Made = dict[str, NDArray[Any]]

_KINDS = {
    **dict.fromkeys(("feature", "bin", "next"), np.int32),
    **dict.fromkeys(("gain", "threshold"), np.float64),
    **{"missing_left": np.bool_, "key": np.uint64},
}


@numba.njit(cache=True, nogil=True)
def _copy_columns(columns, places, table, rows):  # type: ignore[no-untyped-def]
    """Copy rows of a table (N, G) to lines of columns (F, n)."""
    flat, width = table.reshape(-1), table.shape[1]
    for block in range(0, rows.size, _BLOCK):
        last = min(block + _BLOCK, rows.size)
        for i in range(block, last):
            prefetch(flat, np.intp(rows[min(i + AHEAD, rows.size - 1)]) * width)
            base = np.intp(rows[i]) * width
            for g in range(width):
                columns[places[g], i] = flat[base + g]


@numba.njit(cache=True, nogil=True)
def _gather_rows(own, rows, start, stop):  # type: ignore[no-untyped-def]
    at = 0
    for node in range(start.size):
        for position in range(start[node], stop[node]):
            own[at] = rows[position]
            at += 1


@numba.njit(cache=True, nogil=True)
def _scatter_rows(rows, own, start, stop):  # type: ignore[no-untyped-def]
    at = 0
    for node in range(start.size):
        for position in range(start[node], stop[node]):
            rows[position] = own[at]
            at += 1


@numba.njit(cache=True, nogil=True)
def _pick(columns, places, table, rows):  # type: ignore[no-untyped-def]
    """Copy rows of a table that lies in columns, (G, N), to lines of columns (F, n)."""
    for g in range(places.size):
        for i in range(rows.size):
            columns[places[g], i] = table[g, np.uint64(rows[i])]


class _Near(NamedTuple):
    """What a task reads of its rows, n of them."""

    columns: NDArray[Any]  # (F, n) codes or values
    local: NDArray[np.uint32]  # where each row of the task is there
    statistics: Statistics
    own: NDArray[np.int32] | None  # (n,) which rows these are, None: all in order


def _copied(own: NDArray[np.int32], table: Table, statistics: Statistics, raw: bool) -> _Near:
    """Copy what there is of some rows, so that they are near each other."""
    sources: Any = list(zip(table.codes, table.features, strict=True))
    if raw:
        sources = [(table.values, np.arange(table.n_codes.size))]
    dtype = np.result_type(*(codes for codes, _ in sources))
    columns = np.empty((table.n_codes.size, own.size), dtype=dtype)
    for codes, features in sources:
        if _by_column(codes):
            _pick(columns, features, codes.T, own)
        else:
            _copy_columns(columns, features, np.ascontiguousarray(codes), own)
    kept: Any = [None if field is None else field[own] for field in statistics]
    return _Near(columns, np.arange(own.size, dtype=np.uint32), Statistics(*kept), own)


def _by_column(table: Any) -> bool:
    return bool(table.flags.f_contiguous and not table.flags.c_contiguous)


def _most_nodes(lengths: NDArray[np.int64], depth: NDArray[np.int64], rule: Rule) -> int:
    """Return how many nodes there can be below and including given ones."""
    leaves = np.maximum(lengths // max(1, rule.limits.min_rows), 1)
    if rule.max_depth >= 0:
        leaves = np.minimum(leaves, 1 << np.clip(rule.max_depth - depth, 0, 40))
    return int((2 * leaves - 1).sum())


def _blank(count: int, given: Starts) -> _Made:
    """Return room for `count` nodes, the given ones first."""
    n_given, n_statistics = given.total.shape
    made: _Made = {
        name: np.empty(count, dtype=_KINDS.get(name, np.int64))
        for name in Subtrees._fields[1:]
        if name != "total"
    }
    made["total"] = np.empty((count, n_statistics), dtype=np.int64)
    stop = np.cumsum(given.stop - given.start)
    own: dict[str, Any] = {
        **{"parent": -1, "first_child": -1, "feature": -1, "gain": -np.inf},
        **{"start": stop - (given.stop - given.start), "stop": stop},
        **{"depth": given.depth, "key": given.key, "total": given.total},
    }
    for name, values in own.items():
        made[name][:n_given] = values
    return made


def _grow_task(
    rows: NDArray[np.int32],
    given: Starts,
    table: Table,
    statistics: Statistics,
    rule: Rule,
    least: int,
) -> _Made:
    """Return the nodes of one task; their rows are sorted in place."""
    lengths = given.stop - given.start
    own = np.empty(int(lengths.sum()), dtype=np.int32)
    _gather_rows(own, rows, given.start, given.stop)
    values: Any = table.values
    if least and rule.raw and _by_column(values):
        near = _Near(values.T, own.astype(np.uint32), statistics, None)
    else:
        near = _copied(own, table, statistics, rule.raw)
    columns = near.columns
    bits = columns.view(BITS[columns.dtype]) if rule.raw else columns
    label, weight, sums, identity = near.statistics
    weight = np.empty(0, dtype=np.int64) if weight is None else weight
    reals = identity is not None
    identity = np.empty((0, 0)) if identity is None else identity
    layout, limits = rule.layout, rule.limits
    least_rows = max(1, limits.min_rows)
    numbers = (
        rule.max_depth,
        max(rule.min_rows_split, 2 * least_rows),
        least_rows,
        float(limits.min_weight),
        float(rule.min_gain),
        np.empty(0) if rule.costs is None else rule.costs,
    )
    made = _blank(_most_nodes(lengths, given.depth, rule), given)
    most = int(lengths.max(initial=0))
    kernel = grower(rule.gain, shape_of(layout, layout.implied), rule.raw)
    count = kernel(
        columns,
        bits,
        near.local,
        given.start.size,
        (label, weight, sums, layout.implied == 0),
        identity,
        reals,
        table.n_codes,
        numbers,
        (rule.max_features, rule.order_state, rule.cut_state),
        layout._replace(unit=np.asarray(layout.unit, dtype=np.float64)),
        least,
        no_value(bits),
        scratch(int(table.n_codes.max()), most, given.start.size, layout, bits, rule.raw),
        tuple(made[name] for name in Subtrees._fields[1:]),
    )
    placed = near.local if near.own is None else near.own[near.local]
    _scatter_rows(rows, placed, given.start, given.stop)
    made = {name: values[:count] for name, values in made.items()}
    _place(made, given)
    return made


def _place(made: _Made, given: Starts) -> None:
    """Move segments from the rows of the task to where they stand among all rows."""
    ends = np.cumsum(given.stop - given.start)
    owner = np.searchsorted(ends, made["start"], side="right")
    owner[: ends.size] = np.arange(ends.size)  # given nodes may be empty, others are not
    moved = (given.stop - ends)[owner]
    made["start"] += moved
    made["stop"] += moved


def subtree(
    rows: NDArray[np.int32], nodes: Starts, table: Table, statistics: Statistics, rule: Rule
) -> Subtrees:
    """Return the nodes and all below them; see the package for the contract."""
    rows = rows.copy()
    made = _blank(nodes.key.size, nodes)
    made["start"], made["stop"] = nodes.start, nodes.stop
    many = nodes.stop - nodes.start > LEAST
    for own, least in ((np.flatnonzero(many), LEAST), (np.flatnonzero(~many), 0)):
        pending = own if least else np.append(own, np.flatnonzero(made["first_child"] == LATER))
        made = _stage(rows, made, pending, table, statistics, rule, least)
    return Subtrees(rows, *(made[name] for name in Subtrees._fields[1:]))


def _stage(
    rows: NDArray[np.int32],
    made: _Made,
    own: NDArray[np.int64],
    table: Table,
    statistics: Statistics,
    rule: Rule,
    least: int,
) -> _Made:
    """Return the nodes with all below the `own` ones that have more than `least` rows."""
    if not own.size:
        return made
    given = Starts(*(made[name][own] for name in Starts._fields))
    lengths = given.stop - given.start
    borders = batches(np.stack([lengths, given.start, given.stop], axis=1), ROWS, each=_EACH)
    parts: list[_Made] = [{}] * (len(borders) - 1)

    def grow(index: int) -> None:
        task = slice(int(borders[index]), int(borders[index + 1]))
        some: Any = (field[task] for field in given)
        parts[index] = _grow_task(rows, Starts(*some), table, statistics, rule, least)

    looked = min(rule.max_features, table.n_codes.size)
    _threads.run(grow, len(parts), work=int(lengths.sum()) * looked * 8)
    return _joined(made, own, parts, borders)


def _joined(
    made: _Made, own: NDArray[np.int64], parts: list[_Made], borders: NDArray[np.int64]
) -> _Made:
    """Append what the tasks grew below the `own` nodes, renumbered."""
    n_given = np.diff(borders)
    new = np.array([part["parent"].size for part in parts], dtype=np.int64) - n_given
    before = made["parent"].size + np.cumsum(new) - new
    for part, first, given, after in zip(parts, borders, n_given, before, strict=False):
        place = np.concatenate([own[first : first + given], after + np.arange(part["key"].size)])
        part["parent"] = np.where(part["parent"] < 0, -1, place[part["parent"]])
        split = part["first_child"] >= 0
        part["first_child"][split] = place[part["first_child"][split]]
    result = {}
    for name in Subtrees._fields[1:]:
        tails = [part[name][given:] for part, given in zip(parts, n_given, strict=True)]
        result[name] = np.concatenate([made[name], *tails])
        if name != "parent":
            heads = [part[name][:given] for part, given in zip(parts, n_given, strict=True)]
            result[name][own] = np.concatenate(heads)
    return result

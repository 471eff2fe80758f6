"""`subtree` in Numba: a task a few nodes, whose rows are copied column by column."""

from __future__ import annotations

from collections import deque
from typing import Any, NamedTuple

import numba
import numpy as np
from numpy.typing import NDArray

from vtree_kernels import _threads
from vtree_kernels._keys import BITS, no_value
from vtree_kernels._pages import own_pages
from vtree_kernels._prefetch import AHEAD, prefetch
from vtree_kernels._tasks import batches
from vtree_kernels.scan.cpu import shape_of
from vtree_kernels.subtree.choosing import usable_work
from vtree_kernels.subtree.growing import LATER, grower, scratch
from vtree_kernels.subtree.holding import Kind
from vtree_kernels.subtree.leveling import kind_of, levels_for
from vtree_kernels.subtree.reference import (
    ALWAYS,
    KINDS,
    MOST_BYTES,
    Rule,
    Starts,
    Statistics,
    Subtrees,
    Table,
    bytes_of_sums,
    fields_of,
    words_of,
)
from vtree_kernels.subtree.together import grow_together, useful_threads
from vtree_kernels.subtree.whole import room_for

ROWS = 16_384  # of a task
LEAST = 8_192  # below, a node's columns are copied once more, for they are all in the cache then
_EACH = 16  # rows that a node costs besides its own
FROM = 1_024  # rows from which a node grows with cells
FEW = 256  # rows up to which a node of a whole tree has no cells
NEAR = 1 << 17  # rows of a table of which each column of codes is in the cache
_BLOCK = 64  # rows whose values of a column fill a cache line

_Made = dict[str, NDArray[Any]]

NO_WAYS = np.empty((0, 0), np.uint64)

_OF_SPLITS = ("bin", "next", "missing_left", "missing", "threshold")
_OF_NODES = ("start", "stop", "depth", "first_child", "feature", "gain")
_TOGETHER = (("key",), ("total",), _OF_SPLITS, _OF_NODES, ("lower", "upper"), ("ways",))


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
        own, line = table[g], columns[places[g]]
        for i in range(rows.size):
            line[i] = own[np.uint64(rows[i])]


class _Near(NamedTuple):
    """What a task reads of its rows, n of them."""

    columns: NDArray[Any]  # (F, n) codes or values
    local: NDArray[np.uint32]  # where each row of the task is there
    statistics: Statistics
    own: NDArray[np.int32] | None  # (n,) which rows these are, None: all in order


class _Columns:
    """Memory for the columns of a task, which those after it use again.

    A page that is written for the first time costs as much as to copy what it holds.
    """

    def __init__(self, most: int) -> None:
        """Expect up to `most` rows in a task."""
        self._most = most
        self._free: deque[NDArray[Any]] = deque()

    def take(self, n_features: int, n_rows: int, dtype: Any) -> NDArray[Any]:
        """Return an array (F, n), not set, that is a task's until `put` is given it."""
        size = n_features * self._most
        try:
            room = self._free.pop()
        except IndexError:
            room = own_pages({"": ((size,), dtype)})[""]
        return room[: n_features * n_rows].reshape(n_features, n_rows)

    def put(self, columns: NDArray[Any]) -> None:
        """Take back an array that `take` returned."""
        room = columns.base
        assert isinstance(room, np.ndarray)
        self._free.append(room)


def _copied(
    own: NDArray[np.int32], table: Table, statistics: Statistics, raw: bool, room: _Columns
) -> _Near:
    """Copy what there is of some rows, so that they are near each other."""
    sources: Any = list(zip(table.codes, table.features, strict=True))
    if raw:
        sources = [(table.values, np.arange(table.n_codes.size))]
    dtype = np.result_type(*(codes for codes, _ in sources))
    columns = room.take(table.n_codes.size, own.size, dtype)
    for codes, features in sources:
        if _by_column(codes):
            _pick(columns, features, codes.T, own)
        else:
            _copy_columns(columns, features, np.ascontiguousarray(codes), own)
    return _Near(columns, np.arange(own.size, dtype=np.uint32), statistics.of(own), own)


def _is_near(table: Table, statistics: Statistics, most: int = LEAST) -> bool:
    """Tell whether a table is so small that to copy its columns brings nothing nearer.

    most: its rows, of which each column of codes is in the cache.
    """
    codes = table.codes[0]
    alone = codes.shape[1] == table.n_codes.size and codes.shape[0] <= most
    if not alone or not _by_column(codes) or not codes.flags.writeable:
        return False
    # Of other kinds all would be compiled anew.
    flags = [field.flags for field in statistics[:4] if field is not None]
    return all(own.c_contiguous and own.writeable for own in flags)


def _by_column(table: Any) -> bool:
    return bool(table.flags.f_contiguous and not table.flags.c_contiguous)


def _most_nodes(lengths: NDArray[np.int64], depth: NDArray[Any], rule: Rule) -> NDArray[np.int64]:
    """Return how many nodes there can be below and including each given one."""
    leaves = np.maximum(lengths // max(1, rule.limits.min_rows), 1)
    if rule.max_depth >= 0:
        below = np.clip(rule.max_depth - depth.astype(np.int64), 0, 40)
        leaves = np.minimum(leaves, 1 << below)
    if rule.max_leaves:
        leaves = np.minimum(leaves, rule.max_leaves)
    return np.asarray(2 * leaves - 1)


def _room(count: int, n_statistics: int, n_words: int, rule: Rule) -> _Made:
    """Return the fields of `count` nodes, not set, those that are let go together side by side."""
    shapes: Any = {"total": (count, n_statistics), "ways": (count, n_words)}
    room: _Made = {}
    asked = fields_of(rule)
    for names in _TOGETHER:
        if names[0] in asked:
            fields = {n: (shapes.get(n, (count,)), KINDS.get(n, np.int32)) for n in names}
            room |= own_pages(fields)
    made = {name: room[name] for name in asked}
    if rule.usable is not None:
        made["sets"] = np.empty((count, rule.usable.sets.shape[1]), np.uint64)
    return made


def _result(rows: NDArray[np.int32], made: _Made) -> Subtrees:
    return Subtrees(rows, **{name: own for name, own in made.items() if name != "sets"})


def _begin(made: _Made, given: Starts) -> None:
    """Write the given nodes, without a split, to the first places of `made`."""
    for name, values in given._asdict().items():
        if values is not None:
            made[name][: given.key.size] = values
    for name, value in (("first_child", -1), ("feature", -1), ("gain", -np.inf)):
        made[name][: given.key.size] = value


def _grow_task(
    made: _Made,
    rows: NDArray[np.int32],
    given: Starts,
    table: Table,
    statistics: Statistics,
    rule: Rule,
    least: int,
    room: _Columns,
    *,
    in_turn: bool = False,
    cells: bool = False,
    alone: bool = False,
) -> int:
    """Write the nodes of one task to `made`, return how many; their rows are sorted in place.

    alone: whether there are no other tasks, so that threads have nothing else to do.
    """
    lengths = given.stop - given.start
    own = np.empty(int(lengths.sum()), dtype=np.int32)
    _gather_rows(own, rows, given.start, given.stop)
    most_near = (NEAR if cells else LEAST) if in_turn else -1
    near = _near_rows(own, table, statistics, rule.raw, room, most_near, values=least > 0)
    columns = near.columns
    bits = columns.view(BITS[columns.dtype]) if rule.raw else columns
    ends = np.cumsum(lengths)
    _begin(made, given._replace(start=ends - lengths, stop=ends))
    most = int(lengths.max(initial=0))
    what = (*_of_rows(near.statistics, rule), table.n_codes, *_fixed(rule))
    kind = Kind(rule.answer, rule.usable is not None, kind_of(rule.levels))
    widest = int(table.n_codes.max())
    of_rows = what[0][0], rule.layout, bits, rule.raw, kind

    def new_scratch() -> Any:
        return scratch(widest, most, given.start.size, *of_rows)

    held, out = _held(made, rule), tuple(made[name] for name in ALWAYS)
    levels = levels_for(rule, table.n_codes, made.get("ways", NO_WAYS))
    count: int
    if cells:
        few = FEW if _cells_fit(table, rule) else most  # of more they take too much
        given_room = _room_of_cells(table, rule, few, most, made["key"].size, what[0])
        compiled = rule.gain, shape_of(rule.layout, rule.layout.implied), kind
        drawn = rule.max_features < table.n_codes.size
        shared = useful_threads(most, table.n_codes.size, *compiled[1:], drawn=drawn)
        n_threads = shared if alone else 1
        limits, codes = (rule.max_leaves - 1, few), (columns, near.local)
        more = no_value(bits), held, levels, given_room
        given_all: Any = n_threads, compiled, codes, what, limits, more, most, new_scratch, out
        count = grow_together(*given_all)
    else:
        kernel = grower(rule.gain, shape_of(rule.layout, rule.layout.implied), rule.raw, kind)
        known = columns, bits, near.local, given.start.size
        rest = no_value(bits), held, levels, new_scratch(), out
        count = kernel(*known, *what, least, in_turn, *rest)
    placed = near.local if near.own is None else near.own[near.local]
    if near.own is not None:
        room.put(columns)
    _scatter_rows(rows, placed, given.start, given.stop)
    _place(made, count, given)
    return count


def _near_rows(
    own: NDArray[np.int32],
    table: Table,
    statistics: Statistics,
    raw: bool,
    room: _Columns,
    most: int,
    *,
    values: bool,
) -> _Near:
    """Return what a task reads of its rows, where it lies if columns of `most` rows are near there.

    values: whether those of a table that lies in columns are read there, too.
    """
    if values and raw and _by_column(table.values):
        return _Near(np.asarray(table.values).T, own.astype(np.uint32), statistics, None)
    if not raw and _is_near(table, statistics, most):
        own_columns = table.codes[0].T
        return _Near(own_columns, own.astype(np.uint32), statistics.of(slice(None)), None)
    return _copied(own, table, statistics, raw, room)


def _held(made: _Made, rule: Rule) -> tuple[Any, ...]:
    """Return what holds nodes besides their rows, as `holding` takes it."""
    bounds: tuple[Any, ...] = ()
    usable: tuple[Any, ...] = ()
    if rule.answer is not None:
        bounds = rule.monotone, made["lower"], made["upper"]
    if rule.usable is not None:
        usable = usable_work(rule.usable, made["sets"], made["depth"], made["key"])
    return bounds, usable


def _room_of_cells(
    table: Table, rule: Rule, few: int, most: int, n_nodes: int, statistics: Any
) -> tuple[Any, ...]:
    """Return what a task of a node of `most` rows works with, see `room_for`."""
    shape = (table.n_codes.size, int(table.n_codes.max()), rule.layout.n_stored)
    # Of open nodes, and of one that is being filled.
    n_cells = min(most // few, n_nodes // 2) + 2 if most > few else 0
    return room_for(most, n_nodes, n_cells, shape, statistics, rule.layout.n_statistics)


def _of_rows(statistics: Statistics, rule: Rule) -> tuple[Any, ...]:
    """Return what rows add, what their targets are, and whether these are real numbers."""
    label, weight, sums, identity, _ = statistics
    # Of one type, for all is compiled anew for another.
    weight = np.empty(0, np.int64) if weight is None else weight.astype(np.int64, copy=False)
    reals = identity is not None
    targets = np.empty((0, 0)) if identity is None else identity
    return (label, weight, sums, rule.layout.implied == 0), targets, reals


def _fixed(rule: Rule) -> tuple[Any, ...]:
    """Return what a node needs to be split, how features are drawn, and the layout."""
    layout = rule.layout
    draw = rule.max_features, rule.order_state, rule.cut_state
    return _numbers(rule), draw, layout._replace(unit=np.asarray(layout.unit, dtype=np.float64))


def _numbers(rule: Rule) -> tuple[Any, ...]:
    """Return what a node needs to be split, and what features cost."""
    least_rows = max(1, rule.limits.min_rows)
    return (
        rule.max_depth,
        max(rule.min_rows_split, 2 * least_rows),
        least_rows,
        float(rule.limits.min_weight),
        float(rule.min_gain),
        np.empty(0) if rule.costs is None else rule.costs,
    )


def _place(made: _Made, count: int, given: Starts) -> None:
    """Move segments from the rows of the task to where they stand among all rows."""
    n_given, ends = given.stop.size, np.cumsum(given.stop - given.start)
    if n_given == 1:
        made["start"][:count] += np.int32(given.start[0])
        made["stop"][:count] += np.int32(given.start[0])
        return
    # Nodes were made below one given node after another.
    border = np.searchsorted(made["start"][n_given:count], ends[:-1])
    n_below = np.diff(border, prepend=0, append=count - n_given)
    moved = (given.stop - ends).astype(np.int32)
    moved = np.concatenate([moved, np.repeat(moved, n_below)])
    made["start"][:count] += moved
    made["stop"][:count] += moved


def subtree(
    rows: NDArray[np.int32], nodes: Starts, table: Table, statistics: Statistics, rule: Rule
) -> Subtrees:
    """Return the nodes and all below them; see the package for the contract."""
    rows = rows.copy()
    lengths = nodes.stop - nodes.start
    by_cells = _have_cells(lengths, table, rule)
    many = ~by_cells & (lengths > LEAST)
    rest = (table, statistics, rule)
    n_words = 0 if rule.levels is None else words_of(rule.levels, table.n_codes)
    sizes = nodes.total.shape[1], n_words
    if lengths.size == 1 and not many[0]:
        made = _room(int(_most_nodes(lengths, nodes.depth, rule)[0]), *sizes, rule)
        columns, cells = _Columns(int(lengths[0])), bool(by_cells[0])
        how: Any = {"in_turn": True, "cells": cells, "alone": True}
        count = _grow_task(made, rows, nodes, *rest, 0, columns, **how)
        return _result(rows, {name: field[:count] for name, field in made.items()})
    made = _room(lengths.size, *sizes, rule)
    _begin(made, nodes)
    made = _stage(rows, made, np.flatnonzero(by_cells), 0, *rest, cells=True)
    made = _stage(rows, made, np.flatnonzero(many), LEAST, *rest)
    own = np.flatnonzero(~many & ~by_cells)
    later = np.flatnonzero(made["first_child"] == LATER)
    made = _stage(rows, made, np.append(own, later), 0, *rest)
    return _result(rows, made)


def _have_cells(lengths: NDArray[np.int64], table: Table, rule: Rule) -> NDArray[np.bool_]:
    """Return which nodes are so large that to keep sums by code pays, or have a limit of leaves."""
    if rule.max_leaves:
        return np.ones(lengths.shape, dtype=np.bool_)
    all_looked_at = rule.max_features >= table.n_codes.size and not rule.raw
    return np.asarray((lengths > FROM) & (all_looked_at and _cells_fit(table, rule)))


def _cells_fit(table: Table, rule: Rule) -> bool:
    """Tell whether one node's sums by code are few enough to keep those of many."""
    return bytes_of_sums(table.n_codes, rule.layout) <= MOST_BYTES


def _stage(
    rows: NDArray[np.int32],
    made: _Made,
    own: NDArray[np.int64],
    least: int,
    table: Table,
    statistics: Statistics,
    rule: Rule,
    *,
    cells: bool = False,
) -> _Made:
    """Return the nodes and, behind, those below the `own` ones with more than `least` rows."""
    if not own.size:
        return made
    given = Starts(**{name: made[name][own] for name in Starts._fields if name in made})
    lengths = (given.stop - given.start).astype(np.int64)
    borders = np.arange(own.size + 1)  # a node with cells is a task
    if not cells:
        borders = batches(np.stack([lengths, given.start, given.stop], axis=1), ROWS, _EACH)
    before = np.cumsum(np.append(made["key"].size, _most_nodes(lengths, given.depth, rule)))
    first = before[borders]  # each task's first place
    n_words = made["ways"].shape[1] if "ways" in made else 0
    room = _room(int(first[-1]), made["total"].shape[1], n_words, rule)
    for name, field in made.items():
        room[name][: field.shape[0]] = field
    counts = np.zeros(len(borders) - 1, np.int64)
    columns = _Columns(int(np.add.reduceat(lengths, borders[:-1]).max()))

    def grow(index: int) -> None:
        task, places = (slice(*each[index : index + 2].tolist()) for each in (borders, first))
        its = {name: field[places] for name, field in room.items()}
        some: Any = (field if field is None else field[task] for field in given)
        task_of = (rows, Starts(*some), table, statistics, rule, least, columns)
        count = _grow_task(its, *task_of, in_turn=cells, cells=cells)
        counts[index], child = count, its["first_child"][:count]
        child += np.int32(first[index]) * (child >= 0)
        for name, field in its.items():  # the given nodes stay where they were
            room[name][own[task]] = field[: own[task].size]

    looked = min(rule.max_features, table.n_codes.size)
    _threads.run(grow, counts.size, work=int(lengths.sum()) * looked * 8)
    if not least and not cells:
        return room
    # Few have been made, with much room between.
    n_given = np.diff(borders)
    used = [
        np.arange(a + given, a + n) for a, given, n in zip(first, n_given, counts, strict=False)
    ]
    places = np.concatenate([np.arange(before[0]), *used])
    made = {name: field[places] for name, field in room.items()}
    child = made["first_child"]
    child[child >= 0] = np.searchsorted(places, child[child >= 0])
    return made

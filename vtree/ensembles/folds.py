"""Folds: random orders of the rows, and models that learn from prefixes of them.

    order     a b c d e f g h …
    model 0   learns from a,       judges b           An entry is a row that a model learns from or
    model 1   learns from a b,     judges c d         judges. All models of a fold have the same
    model 2   learns from a … d,   judges e … h       splits; what their leaves answer differs.

So the residual of a row comes from a model that has not seen it (Prokhorenkova et al., 2018, §4). A
whole fold has one model, which learns from all rows: that of plain boosting.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from vtree import arrays, draws
from vtree.arrays import Array
from vtree.binning import NARROW, Bins, Group, beside, bin_at, bin_table, with_columns
from vtree.ensembles.symmetric_trees import SideBySide, side_by_side
from vtree.ensembles.target_statistics import Column, Rows, columns_of, of_rows_before

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

# Of more than 500 rows, models of fewer than a fiftieth know little and would cost as much as the
# others; beyond 5,000 rows, 100 are enough to begin with.
_FEW_ROWS, _LEAST_SHARE, _MOST_LEAST = 500, 50, 100


class Fold(NamedTuple):
    """E entries, those of learners first, model after model; then those of judges."""

    bins: Bins  # E rows, a whole fold's N in the order of the table
    table: Bins  # N rows, with the target statistics of this order; they are cut alike in all
    together: SideBySide | None  # the codes of bins in one array, where they are few
    statistics: Floats | None  # (N, Q J) themselves, where trees are asked that were there before
    rows: Integers  # (E,) the row of each entry
    model: Integers  # (E,)
    n_models: int
    n_learners: int  # entries that are learnt from, all of them in a whole fold
    sums: Floats  # (E, K) what its model says of each entry, kept up to date in place

    @property
    def whole(self) -> bool:
        """Whether one model learns from all rows."""
        return self.n_learners == self.rows.size

    def roots(self) -> list[Integers]:
        """Return the entries of each model's learners, then those of its judges."""
        if self.whole:
            return [np.arange(self.rows.size)]
        # The first judges may be those of the last learners' model, the only one.
        border = np.union1d(np.flatnonzero(np.diff(self.model)) + 1, self.n_learners)
        return np.split(np.arange(self.rows.size), border)


class Ordering(NamedTuple):
    """In which orders models see the rows."""

    prefixes: bool = False  # whether trees are shaped by models of prefixes
    permutations: int = 4  # the last one's are kept
    in_time: bool = False  # no permutation: the rows come in their order


class Folds(NamedTuple):
    """Folds that shape trees in turn, and the one whose steps are kept."""

    shaping: tuple[Fold, ...]
    last: Fold  # a whole one; it may be the only one

    @property
    def every(self) -> tuple[Fold, ...]:
        """All of them, each once."""
        return self.shaping if self.last is self.shaping[-1] else (*self.shaping, self.last)


def planted(
    bins: Bins,
    values: Array,
    ordering: Ordering,
    sources: Rows | None,
    seed: int,
    sums: Floats,
    *,
    asked: bool = False,
) -> Folds:
    """Return the folds of a table; sums (N, K) become those of the last one.

    values: of the namespace that statistics are binned in. sources: what target statistics are made
    from, which differ from order to order; None for none. asked: whether there are trees to go on
    from.
    """
    n_rows, n_raw = sums.shape
    orders = [np.arange(n_rows)]
    if not ordering.in_time and (ordering.prefixes or sources is not None):
        n_orders = max(2, ordering.permutations)
        orders = [random_order(seed, number, n_rows) for number in range(n_orders)]
    tables = _tables(with_columns(bins), values, sources, orders, asked)
    last = whole_fold(*tables[-1], sums)
    shaping = list(zip(orders, tables, strict=True))[: max(1, len(orders) - 1)]
    if ordering.prefixes:
        return Folds(tuple(prefix_fold(*own, order, n_raw) for order, own in shaping), last)
    if len(orders) == 1:
        return Folds((last,), last)
    return Folds(tuple(whole_fold(*own, np.zeros_like(sums)) for _, own in shaping), last)


def _tables(
    bins: Bins, values: Array, sources: Rows | None, orders: list[Integers], asked: bool
) -> list[tuple[Bins, Floats | None]]:
    """Return, of each order, (the bins with those of its statistics beside them, maybe these)."""
    if sources is None:
        return [(bins, None)] * len(orders)
    edges: tuple[Floats, ...] = ()
    tables: list[tuple[Bins, Floats | None]] = []
    for order in reversed(orders):  # the last one's are kept, so by them they are cut
        statistics = of_rows_before(sources, order)
        edges = edges or _edges(sources, statistics, values)
        own = bin_at(arrays.like(statistics, values), edges)
        tables.append(
            (with_columns(narrow_together(beside(bins, own))), statistics if asked else None)
        )
    return tables[::-1]


def narrow_together(bins: Bins) -> Bins:
    """Return the table with one group of all narrow numbers: a histogram less at each level."""

    def goes(group: Group) -> bool:
        return group.n_codes <= NARROW and not group.categorical and group.bundles is None

    narrow = [group for group in bins.groups if goes(group)]
    if len(narrow) < 2:
        return bins
    codes = arrays.namespace(narrow[0].codes).concat([group.codes for group in narrow], axis=1)
    features = np.concatenate([group.features for group in narrow])
    one = Group(features, codes, max(group.n_codes for group in narrow), False)
    return bins._replace(groups=(one, *(group for group in bins.groups if not goes(group))))


def _edges(sources: Rows, statistics: Floats, values: Array) -> tuple[Floats, ...]:
    """Return where statistics (N, Q J) are cut."""
    columns = columns_of(sources.kinds, sources.sums.shape[1]) * len(sources.keys)
    found = []
    for place, column in enumerate(columns):
        if column.kind.even:
            found.append(_even_edges(column))
            continue
        own, bins = arrays.like(statistics[:, place, None], values), column.kind.borders + 1
        found += bin_table(own, np.full(1, -1), max_bins=bins).edges
    return tuple(found)


def _even_edges(column: Column) -> Floats:
    """Return edges between bins as wide as each other, from 0 or the prior to 1 or the prior.

    What lies on an edge is above it.
    """
    prior, n_bins = column.prior.mean or 0.0, column.kind.borders
    low, high = min(0.0, prior), max(1.0, prior)
    edges: Floats = np.nextafter(low + np.arange(1, n_bins + 1) / n_bins * (high - low), -np.inf)
    return edges


def random_order(seed: int, number: int, n_rows: int) -> Integers:
    """Return rows by place in random order `number`."""
    words = draws.mix(draws.PERMUTATION, seed, number, np.arange(n_rows))
    return np.argsort(words, kind="stable")


def whole_fold(bins: Bins, statistics: Floats | None, sums: Floats) -> Fold:
    """Return a fold with one model that learns from all rows; sums (N, K)."""
    every = np.arange(bins.n_rows)
    own = every, np.zeros_like(every), 1, every.size, sums
    return Fold(bins, bins, side_by_side(bins), statistics, *own)


def prefix_fold(bins: Bins, statistics: Floats | None, order: Integers, n_raw: int) -> Fold:
    """Return a fold of models that learn from prefixes of `order` (N,), each twice as long."""
    sizes = prefixes(order.size)
    judged = [order[size : 2 * size] for size in sizes]
    learners = np.concatenate([order[:size] for size in sizes])
    rows = np.concatenate([learners, *judged])
    number = np.arange(len(sizes))
    model = np.concatenate(
        [np.repeat(number, sizes), np.repeat(number, [own.size for own in judged])]
    )
    sums = np.zeros((rows.size, n_raw))
    tiled = _taken(bins, rows)
    together = side_by_side(tiled, several=True)
    own = rows, model, len(sizes), learners.size, sums
    return Fold(tiled, bins, together, statistics, *own)


def prefixes(n_rows: int) -> list[int]:
    """Return from how many rows each model learns.

    >>> prefixes(20), prefixes(3_000)
    ([1, 2, 4, 8, 16], [60, 120, 240, 480, 960, 1920])
    """
    least = 1 if n_rows <= _FEW_ROWS else min(_MOST_LEAST, n_rows // _LEAST_SHARE)
    sizes = [least]
    while 2 * sizes[-1] < n_rows:
        sizes.append(2 * sizes[-1])
    return sizes


def _taken(bins: Bins, rows: Integers) -> Bins:
    """Return the rows of a table, repeated as they are asked for."""
    groups = []
    for group in bins.groups:
        xp = arrays.namespace(group.codes)
        chosen = arrays.like(rows, group.codes)
        codes = xp.take(group.codes, chosen, axis=0)
        groups.append(group.of(codes))
    return with_columns(bins._replace(groups=tuple(groups)))

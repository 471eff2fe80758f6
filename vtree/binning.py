"""Binning: a table's values (N, F) → `Bins`, small integer codes and what they stand for.

Code 0 means missing; a numeric feature's code c >= 1 holds the values between its edges c − 2 and
c − 1, upper edge included; level l of a categorical feature has code l + 1.

A feature with at most `max_bins` distinct values gets a bin for each, so that the search for a
split is exact there. Others are cut at quantiles of their (weighted) distinct values, which have
equal shares between them where there are up to 255 bins, and less near both ends where there are
more. Equal values never straddle an edge.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from vtree import arrays
from vtree.arrays import Array
from vtree.draws import sample_rows
from vtree.errors import InputError
from vtree.quantiles import at, quantile_edges
from vtree_kernels import run_blocks, run_tasks
from vtree_kernels.ascending import ascending
from vtree_kernels.bincode import bincode
from vtree_kernels.gaps import Lines
from vtree_kernels.gaps import midpoints as midpoints
from vtree_kernels.ranks import ranks
from vtree_kernels.widened import widened

MAX_CODES = 65_536  # what uint16 holds, the missing code included

# Above this many rows, quantiles come from a sample of about this size, chosen by row number.
SAMPLE_ROWS = 200_000

# Features share a histogram array with others of similar width, so that padding stays small.
NARROW = 33  # codes
_WIDTHS = (NARROW, 257, 4097, MAX_CODES)
# Up to 12 levels, all subsets can be tried: no wider feature may stand beside such a one.
_CATEGORY_WIDTHS = (13, *_WIDTHS)

# The widest histogram of one node in one array, in cells (features times codes).
_GROUP_CELLS = 1 << 20


_BLOCK = 2_048  # rows

# edges, and the value of each bin where a bin is one value
_Cuts = tuple[NDArray[np.float64], NDArray[np.float64] | None]


class Bundles(NamedTuple):
    """Features of a group whose codes share columns, see `vtree.bundles`."""

    codes: Array  # (N, P) as `Group.codes`
    n_codes: int
    cell: NDArray[np.int64]  # (G, B) column · n_codes + code of each feature's code; −1: never met
    default: NDArray[np.int64]  # (G,) the code that a feature has wherever the column says another


class Group(NamedTuple):
    """Features that share an array of codes: all numeric or all categorical, similarly wide."""

    features: NDArray[np.int64]  # (G,) their columns in the table, ascending
    codes: Array  # (N, G) uint8, uint16, or int32 where the namespace lacks uint16
    n_codes: int  # B, the largest number of codes among them, missing included
    categorical: bool
    bundles: Bundles | None = None  # fewer columns to build the same histograms from
    by_column: Array | None = None  # the codes once more, column after column in memory

    def of(self, codes: Array) -> Group:
        """Return the group with other rows' codes."""
        return self._replace(codes=codes, by_column=None)


class Bins(NamedTuple):
    """A binned table and the meaning of its codes, F features."""

    groups: tuple[Group, ...]
    edges: tuple[NDArray[np.float64], ...]  # F times (n_bins − 1,), ascending
    distinct: tuple[NDArray[np.float64] | None, ...]  # F times (n_bins,): the value of each bin,
    #                                                   None where a bin holds a range or a level
    n_bins: NDArray[np.int64]  # (F,) bins or levels, missing not counted
    is_categorical: NDArray[np.bool_]  # (F,)
    values: Array | None = None  # (N, F) the table itself, for searches that need it
    lines: Lines | None = None  # edges and distinct values side by side, see `vtree.thresholds`

    @property
    def n_rows(self) -> int:
        """Rows of the table."""
        return int(self.groups[0].codes.shape[0])


def with_columns(bins: Bins) -> Bins:
    """Return the table with its codes once more by column, on the host.

    A split asks for one code of each row. Row after row these are as many cache lines; a column
    is an array of as many bytes as there are rows.
    """
    groups = []
    for group in bins.groups:
        if group.by_column is None and isinstance(group.codes, np.ndarray):
            group = group._replace(by_column=by_column(group.codes))
        groups.append(group)
    return bins._replace(groups=tuple(groups))


def by_column(table: NDArray[Any]) -> NDArray[Any]:
    """Return a table (N, G) column after column: of 28 MB in 10 ms, 78 all at once."""
    if table.flags.f_contiguous:
        return table
    found = np.empty_like(table, order="F")

    def block(rows: slice) -> None:
        found[rows] = table[rows]

    run_blocks(block, table.shape[0], each=table.shape[1])
    return found


def of_columns(bins: Bins, features: NDArray[np.int64]) -> Bins:
    """Return the table of some columns (G,), which may be repeated."""
    groups = []
    for group in bins.groups:
        own = np.flatnonzero(np.isin(features, group.features))
        if not own.size:
            continue
        place = arrays.like(np.searchsorted(group.features, features[own]), group.codes)
        with arrays.at_home(group.codes):
            codes = arrays.namespace(group.codes).take(group.codes, place, axis=1)
        n_codes = int(bins.n_bins[features[own]].max()) + 1
        groups.append(Group(own, codes, n_codes, group.categorical))
    chosen = features.tolist()
    return Bins(
        tuple(groups),
        tuple(bins.edges[feature] for feature in chosen),
        tuple(bins.distinct[feature] for feature in chosen),
        bins.n_bins[features],
        bins.is_categorical[features],
    )


def bin_table(
    values: Array,
    n_levels: NDArray[np.int64],
    *,
    max_bins: int | None = 255,
    weight: NDArray[np.int64] | None = None,
    names: tuple[str, ...] | None = None,
    most_codes: int = MAX_CODES,
) -> Bins:
    """Bin `values` (N, F), NaN for missing.

    Parameters
    ----------
    values : (N, F) float32 or float64 array of any namespace
    n_levels : (F,) int, the levels of each categorical feature, −1 for numeric ones
    max_bins : the most bins of a numeric feature, 2 … 65,535; None for one bin a distinct value
    weight : (N,) positive int64 weights for the quantiles, None for all ones
    names : of the features, for messages
    most_codes : of a feature while `max_bins` is None. More than 65,536 are int32 codes, for
        searches that need no histograms of numeric features.

    Raises
    ------
    InputError
        If a feature has more distinct values than codes while `max_bins` is None.
    """
    names = names or tuple(f"column {feature}" for feature in range(n_levels.size))
    exact = [] if max_bins is not None else np.flatnonzero(n_levels < 0).tolist()
    lines, values_of = ranks(values, exact)
    ranked = {feature: lines[place, :] for place, feature in enumerate(exact)}
    cuts = _cuts_of(values, n_levels, max_bins, weight)

    def cut(index: int) -> None:
        own = arrays.to_numpy(values_of[index])
        cuts[exact[index]] = _exact_cuts(own, names[exact[index]], most_codes)

    run_tasks(cut, len(exact), work=len(exact) * values.shape[0])
    edges = [own for own, _ in cuts]
    distinct = [own for _, own in cuts]
    n_bins = np.asarray([max(1, e.size + 1) for e in edges], dtype=np.int64)
    is_categorical = n_levels >= 0
    groups = tuple(
        _encode(values, features, edges, bool(is_categorical[features[0]]), ranked)
        for features in _groups(n_bins + 1, is_categorical)
    )
    return Bins(groups, tuple(edges), tuple(distinct), n_bins, is_categorical)


def bin_at(values: Array, edges: tuple[NDArray[np.float64], ...]) -> Bins:
    """Return the bins of numbers (N, F) between given edges, ascending, of each column."""
    n_bins = np.asarray([own.size + 1 for own in edges], dtype=np.int64)
    numeric = np.zeros(n_bins.size, dtype=np.bool_)
    groups = tuple(
        _encode(values, features, list(edges), False, {})
        for features in _groups(n_bins + 1, numeric)
    )
    return Bins(groups, edges, (None,) * n_bins.size, n_bins, numeric)


def _cuts_of(
    values: Array,
    n_levels: NDArray[np.int64],
    max_bins: int | None,
    weight: NDArray[np.int64] | None,
) -> list[_Cuts]:
    """Return each feature's cuts; without `max_bins`, numeric features are left out."""
    cuts: list[_Cuts] = [(np.arange(max(0, own - 1)) + 0.5, None) for own in n_levels.tolist()]
    if max_bins is None:
        return cuts
    sample = sample_rows(values.shape[0], SAMPLE_ROWS)
    part, part_weight = None, None
    if sample.size < values.shape[0]:
        part = arrays.namespace(values).take(values, arrays.like(sample, values), axis=0)
        part_weight = None if weight is None else weight[sample]
    numeric = np.flatnonzero(n_levels < 0).tolist()

    def cut(index: int) -> None:
        feature = numeric[index]
        with arrays.at_home(values):
            own = None if part is None else widened(part[:, feature])
            column = widened(values[:, feature])
            cuts[feature] = _numeric_bins(column, weight, own, part_weight, max_bins)

    run_tasks(cut, len(numeric), work=n_levels.size * sample.size * 2)
    return cuts


def spread(bins: Bins, features: NDArray[np.int64], n_features: int) -> Bins:
    """Return the bins of some features of a table with `n_features`; the others have none."""
    edges: list[NDArray[np.float64]] = [np.empty(0)] * n_features
    distinct: list[NDArray[np.float64] | None] = [None] * n_features
    for place, feature in enumerate(features.tolist()):
        edges[feature], distinct[feature] = bins.edges[place], bins.distinct[place]
    n_bins = np.ones(n_features, dtype=np.int64)
    n_bins[features] = bins.n_bins
    is_categorical = np.zeros(n_features, dtype=np.bool_)
    is_categorical[features] = bins.is_categorical
    groups = tuple(each._replace(features=features[each.features]) for each in bins.groups)
    return Bins(groups, tuple(edges), tuple(distinct), n_bins, is_categorical)


def beside(first: Bins, second: Bins) -> Bins:
    """Return the bins of two tables with the same rows as those of one, side by side."""
    before = first.n_bins.size
    moved = tuple(group._replace(features=group.features + before) for group in second.groups)
    return Bins(
        first.groups + moved,
        first.edges + second.edges,
        first.distinct + second.distinct,
        np.concatenate([first.n_bins, second.n_bins]),
        np.concatenate([first.is_categorical, second.is_categorical]),
    )


def level_numbers(values: Array, edges: tuple[NDArray[np.float64] | None, ...]) -> Array:
    """Return `values` (N, F) with numbers replaced by the number of their bin, float64.

    edges: of each feature, None where its values are level numbers already and stay. The bins are
    those of `bin_table`, counted from 0; NaN stays.
    """
    xp = arrays.namespace(values)
    features = [feature for feature, own in enumerate(edges) if own is not None]
    numbers = xp.asarray(values, dtype=xp.float64, copy=True)
    if not features:
        return numbers
    own_edges = [own for own in edges if own is not None]
    offsets = np.concatenate([[0], np.cumsum([own.size for own in own_edges])]).tolist()
    widest = max(own.size for own in own_edges) + 2
    codes = bincode(
        values,
        features,
        arrays.like(np.concatenate(own_edges), values, dtype=np.float64),
        offsets,
        arrays.code_dtype(widest, values),
    )
    for place, feature in enumerate(features):
        code = xp.astype(codes[:, place], xp.float64)
        numbers[:, feature] = xp.where(code == 0.0, float("nan"), code - 1.0)
    return numbers


def _exact_cuts(values: NDArray[np.float64], name: str, most_codes: int) -> _Cuts:
    """Return the cuts between all distinct `values` of a numeric feature."""
    if values.size >= most_codes:
        raise InputError(
            f"max_bins=None asks for one bin a distinct value, but feature {name!r} has "
            f"{values.size:,} of them and the limit is {most_codes - 1:,}. "
            "Set max_bins (255 by default), or round the values."
        )
    return midpoints(values[:-1], values[1:]), values


def _numeric_bins(
    column: Array,
    weight: NDArray[np.int64] | None,
    part: Array | None,
    part_weight: NDArray[np.int64] | None,
    max_bins: int,
) -> _Cuts:
    """Return (edges, value of each bin or None) of one numeric column, `part` being its sample."""
    if part is not None:
        x, own = _sorted(part, part_weight)
        if _count_distinct(x) > max_bins:
            return quantile_edges(x, own, max_bins), None
        values = _distinct(x)
        if _all_among(column, values):
            return midpoints(values[:-1], values[1:]), values
    x, own = _sorted(column, weight)
    if _count_distinct(x) > max_bins:
        return quantile_edges(x, own, max_bins), None
    values = _distinct(x)
    return midpoints(values[:-1], values[1:]), values


def _sorted(
    column: Array, weight: NDArray[np.int64] | None
) -> tuple[Array, NDArray[np.int64] | None]:
    """Return the values that are not NaN, ascending, and their weights in that order."""
    if weight is None:
        return ascending(column), None
    xp = arrays.namespace(column)
    known = xp.nonzero(~xp.isnan(column))[0]
    x = column if known.shape[0] == column.shape[0] else xp.take(column, known)
    order = xp.argsort(x, stable=True)
    return xp.take(x, order), weight[arrays.to_numpy(xp.take(known, order))]


def _count_distinct(x: Array) -> int:
    """Count the distinct values of sorted `x`."""
    xp = arrays.namespace(x)
    if x.shape[0] == 0:
        return 0
    return 1 + int(xp.sum(xp.astype(x[1:] != x[:-1], xp.int64)))


def _distinct(x: Array) -> NDArray[np.float64]:
    """Return the distinct values of sorted `x`, ascending."""
    xp = arrays.namespace(x)
    if x.shape[0] == 0:
        return np.empty(0)
    first = np.concatenate([[0], arrays.to_numpy(xp.nonzero(x[1:] != x[:-1])[0]) + 1])
    return at(x, first)


def _all_among(column: Array, values: NDArray[np.float64]) -> bool:
    """Tell whether every number of `column` is one of `values`, or NaN."""
    if values.size == 0:
        return bool(arrays.namespace(column).all(arrays.namespace(column).isnan(column)))
    xp = arrays.namespace(column)
    known = arrays.like(values, column)
    x = xp.astype(column, xp.float64)
    absent = xp.isnan(x)
    x = xp.where(absent, known[0], x)
    place = xp.searchsorted(known, x)
    found = xp.take(known, xp.where(place < values.size, place, values.size - 1))
    return bool(xp.all(found == x))


def _groups(
    n_codes: NDArray[np.int64], is_categorical: NDArray[np.bool_]
) -> list[NDArray[np.int64]]:
    """Return the features of each group: same kind, same class of width, bounded total."""
    found = []
    for categorical, widths in ((False, _WIDTHS), (True, _CATEGORY_WIDTHS)):
        width_class = np.searchsorted(widths, n_codes)
        for width in range(len(widths) + 1):
            features = np.flatnonzero((width_class == width) & (is_categorical == categorical))
            if features.size:
                widest = int(n_codes[features].max())
                # Wider ones have no histograms.
                most = max(1, _GROUP_CELLS // widest) if widest <= MAX_CODES else features.size
                found += np.array_split(features, -(-features.size // most))
    return found


def _encode(
    values: Array,
    features: NDArray[np.int64],
    edges: list[NDArray[np.float64]],
    categorical: bool,
    ranked: dict[int, Array],
) -> Group:
    """Return a group of features; ranked: the codes (N,) of those whose bins are single values."""
    own = [edges[feature] for feature in features]
    needed = max(e.size for e in own) + 2
    # Odd, for with an even stride neighbouring features' cells fall on the same cache sets and
    # each store waits for another one's: 2.4 ns an update instead of 0.7 on skewed columns.
    n_codes = needed if categorical else needed | 1
    dtype = arrays.code_dtype(needed, values)
    if features[0] in ranked:
        codes = _side_by_side([ranked[feature] for feature in features.tolist()], dtype)
        return Group(features, codes, n_codes, categorical)
    offsets = np.concatenate([[0], np.cumsum([e.size for e in own])]).tolist()
    codes = bincode(
        values,
        features.tolist(),
        arrays.like(np.concatenate(own), values, dtype=np.float64),
        offsets,
        dtype,
    )
    return Group(features, codes, n_codes, categorical)


def _side_by_side(lines: list[Array], dtype: Any) -> Array:
    """Return lines of codes, each (N,), as the columns of one array (N, G)."""
    if not arrays.is_numpy(lines[0]):
        xp = arrays.namespace(lines[0])
        return xp.stack([xp.astype(line, dtype) for line in lines], axis=1)
    codes = np.empty((lines[0].size, len(lines)), dtype=dtype)

    def block(index: int) -> None:
        # So few rows that what is written of one line is still in the cache for the next.
        rows = slice(index * _BLOCK, (index + 1) * _BLOCK)
        for column, line in enumerate(lines):
            codes[rows, column] = line[rows]

    run_tasks(block, -(-codes.shape[0] // _BLOCK), work=codes.size)
    return codes

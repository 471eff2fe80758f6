"""A level's histograms: build the smaller sibling, subtract for the larger, within a byte budget.

A node's histogram is its parent's less its sibling's, so of two children only the one with fewer
rows is built. Integers make that exact.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from vtree import arrays
from vtree.arrays import Array
from vtree.binning import Group
from vtree.errors import MemoryBudgetError
from vtree.targets import Targets
from vtree_kernels.derive import Derived
from vtree_kernels.histogram import Compact, compacted, histogram, unpacked
from vtree_kernels.medians import Ranks
from vtree_kernels.scan import Layout
from vtree_kernels.siblings import Siblings

Integers = NDArray[np.int64]

DEFAULT_BUDGET = 256 * 2**20  # bytes

# Tables of so few rows have no statistics packed for all histograms to come: a tree may need none,
# and each that is built packs its own.
FEW_ROWS = 1 << 13


class Rows(NamedTuple):
    """The rows' statistics where the codes are, for the kernels."""

    label: Array  # (N, O) planes of the histogram
    weight: Array | None  # (N,)
    sums: Array  # (N, O)
    layout: Layout
    identity: Array | None = None  # (N, O) of real targets, equal exactly where these are
    ranks: Ranks | None = None
    # Weight and sums once more, as kernels read them row by row; or all there is, see `Targets`.
    compact: Compact | None = None


def rows_of(targets: Targets, example: Array) -> Rows:
    """Bring the statistics of `targets` to the namespace and device of `example`."""
    reals = targets.sums.shape[1] > 0 or targets.packed is not None
    weight, sums, compact = _numbers(targets, example)
    if compact is None and compacted.is_native(example) and sums.shape[0] > FEW_ROWS:
        compact = compacted(sums, weight, targets.layout.implied == 0)
    ranks = targets.ranks
    if ranks is not None:
        ranks = Ranks(*(arrays.like(field, example) for field in ranks))
    implied = np.int32(targets.layout.implied)
    return Rows(
        arrays.like(targets.label - implied if implied else targets.label, example),
        weight,
        sums,
        targets.layout,
        arrays.like(targets.identity, example) if reals else None,
        ranks,
        compact,
    )


def _numbers(targets: Targets, example: Array) -> tuple[Array | None, Array, Compact | None]:
    """Return (weight, sums, compact) where `example` is.

    Words that hold all there is go to other memory as they are, and are taken apart there.
    """
    packed = targets.packed
    if compacted.is_native(example):
        return targets.weight, targets.sums, targets.compact
    if packed is None:
        weight = targets.weight
        if weight is not None:
            weight = _whole(weight, example)
        return weight, arrays.like(targets.sums, example), None
    there = packed._replace(words=arrays.like(packed.words, example))
    fields = unpacked(there, slice(None))
    sums = arrays.namespace(fields).permute_dims(fields[packed.weighted :, ...], (1, 0))
    compact = packed._replace(words=packed.words[:0])
    return fields[0, ...] if packed.weighted else None, sums, compact


def _whole(weight: Array, example: Array) -> Array:
    """Return weights as int64 where `example` is."""
    there = arrays.like(weight, example)
    xp = arrays.namespace(there)
    return xp.astype(there, xp.int64, copy=False)


def node_bytes(groups: Sequence[Group], layout: Layout) -> int:
    """Return the bytes of one node's histograms of `groups`."""
    return sum(_group_bytes(group, layout) for group in groups)


def check_budget(groups: Sequence[Group], layout: Layout, budget: int) -> None:
    """Raise MemoryBudgetError if one node of one feature of a group does not fit into `budget`."""
    for group in groups:
        needed = group.n_codes * layout.cell_bytes
        if needed > budget:
            raise MemoryBudgetError(
                f"the histogram of one node in one feature needs {needed:,} bytes "
                f"({group.n_codes:,} codes × {layout.cell_bytes:,} bytes), more than the budget of "
                f"{budget:,}. Lower max_bins, use fewer classes or outputs, or raise "
                "histogram_budget."
            )


def parts_that_fit(group: Group, layout: Layout, budget: int) -> list[Group]:
    """Return a group's features in as few groups as one node's histograms of each fit `budget`.

    Many classes or outputs make those of a wide table large: 4,096 features × 257 codes × 40
    classes are 340 MB.
    """
    n_features = group.features.size
    most = max(1, budget // (group.n_codes * layout.cell_bytes))  # features of a part
    if n_features <= most:
        return [group]
    parts = np.array_split(np.arange(n_features), -(-n_features // most))
    return [_part(group, own) for own in parts]


def _part(group: Group, own: Integers) -> Group:
    """Return some features of a group, without its bundles."""
    xp, place = arrays.namespace(group.codes), arrays.like(own, group.codes)
    codes = xp.take(group.codes, place, axis=1)
    by_column = None if group.by_column is None else group.by_column[:, own[0] : own[-1] + 1]
    return Group(group.features[own], codes, group.n_codes, group.categorical, None, by_column)


def nodes_that_fit(built: Sequence[Group], n_features: int, layout: Layout, budget: int) -> int:
    """Return for how many nodes the search fits into `budget`, at least one.

    built : the groups of features whose histograms are built, one after another
    """
    result = n_features * (32 + 8 * layout.n_statistics)  # what is kept of every group
    return max(1, budget // max([result, *(_group_bytes(group, layout) for group in built)]))


def _group_bytes(group: Group, layout: Layout) -> int:
    return group.features.size * group.n_codes * layout.cell_bytes


def build(
    group: Group,
    rows: Rows,
    order: Array,
    start: Integers,
    stop: Integers,
    room: int = 0,
) -> Array:
    """Return the histograms (L, G, B, S) of nodes with rows order[start[l] : stop[l]].

    Behind them is room for `room` more, see `vtree_kernels.histogram`. Of a group with bundles they
    are those of its bundles, for `per_feature`.
    """
    source = group.bundles or group
    return histogram(
        source.codes,
        order,
        start,
        stop,
        rows.label,
        rows.weight,
        rows.sums,
        source.n_codes,
        rows.layout.n_stored,
        rows.layout.implied == 0,
        rows.compact,
        room,
    )


def per_feature(group: Group, hist: Array) -> Array:
    """Return the histograms (L, G, B, S) of a group's features from what `build` returned.

    In a bundle a feature's default is all that its other codes leave of the node.
    """
    if group.bundles is None:
        return hist
    xp = arrays.namespace(hist)
    _, _, cell, default = group.bundles
    flat = xp.reshape(hist, (hist.shape[0], -1, hist.shape[3]))
    met = arrays.like(cell >= 0, hist)[None, :, :, None]
    places = arrays.like(np.maximum(cell, 0).reshape(-1), hist)
    own = xp.reshape(xp.take(flat, places, axis=1), (hist.shape[0], *cell.shape, hist.shape[3]))
    own = xp.where(met, own, xp.zeros_like(own))
    whole = xp.sum(hist[:, 0, :, :], axis=1, dtype=hist.dtype)[:, None, :]  # (L, 1, S)
    rest = whole - xp.sum(own, axis=2, dtype=hist.dtype)  # (L, G, S)
    is_default = arrays.like(np.arange(cell.shape[1]) == default[:, None], hist)
    return xp.where(is_default[None, :, :, None], rest[:, :, None, :], own)


def build_level(
    group: Group, rows: Rows, order: Array, segments: Siblings, previous: Array | None
) -> tuple[Array, Derived | None]:
    """Return the histograms (L, G, B, S) of the wanted nodes of `segments`, as `build` does.

    And how the last of them, which are rubbish yet, are derived: None if there are none such.
    """
    room = segments.sibling.size
    hist = build(group, rows, order, segments.start, segments.stop, room)
    derived = None
    if room:
        derived = Derived(previous, segments.parent_slot, hist, segments.sibling)
    return hist[segments.unwanted :, ...], derived

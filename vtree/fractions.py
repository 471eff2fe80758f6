"""Rows without a value as fractions: a row goes to every branch, with a share of its weight.

Weights are integers in units of 2^−k of a row's own weight, shares are rounded half to even; so
sums over fractions are as exact as all others, and no backend or order of rows can change them.
A row keeps its number in the first branch; each further branch gets a copy of it under a new one.
(Quinlan 1993, §3.2.)
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from vtree import arrays
from vtree.arrays import Array
from vtree.binning import Bins
from vtree.grown import Grown
from vtree.histogram import rows_of
from vtree.routing import Data, by_branch
from vtree.targets import Targets
from vtree_kernels.route import route

Integers = NDArray[np.int64]

_TOTAL_BITS = 52  # one less than float64 holds exactly: rounding may add to a sum


def divisible(targets: Targets) -> tuple[Targets, Integers]:
    """Return (the same targets with weights in small units, units (N,) of each whole row).

    Classes only. Weights become whole numbers times a power of two, as large as sums allow.
    """
    n_rows = targets.label.shape[0]
    whole = np.ones(n_rows, dtype=np.int64) if targets.weight is None else targets.weight
    shift = max(0, _TOTAL_BITS - int(whole.sum()).bit_length())
    layout = targets.layout
    first = 2
    moved = targets.label + np.int32(first - layout.first)
    layout = layout._replace(
        weight=1, first=first, ordered=layout.ordered + first - layout.first, implied=0
    )
    parted = targets._replace(
        label=moved,
        weight=whole << shift,
        layout=layout,
        weight_unit=targets.weight_unit * 2.0**-shift,
    )
    return parted, whole


def parts(weight: Integers, whole: Integers, share: NDArray[np.float64]) -> Integers:
    """Return `share` (R,) of weights (R,), which are multiples of `whole` (R,), and so are they.

    Multiples, so that a row of weight 3 is divided like three rows.
    """
    fraction = (weight // whole).astype(np.float64)
    divided: Integers = np.rint(fraction * share).astype(np.int64) * whole
    return divided


class ByWeight:
    """A `Router`: rows without a value go to all branches that have known rows."""

    def __init__(self, whole: Integers) -> None:
        self.whole = whole  # (N,) of each row and copy

    def __call__(
        self,
        grown: Grown,
        chosen: Integers,
        total: Integers,
        branch_map: NDArray[Any],
        data: Data,
    ) -> tuple[Data, Integers]:
        """Sort rows by child, divide those without a value; see `Router`."""
        counts = grown.n_children[chosen].astype(np.int64)
        begin = np.cumsum(counts) - counts
        if chosen.size == 0:
            return data, total
        n_known = np.add.reduceat(total[:, 0], begin)
        missing = grown.stop[chosen] - grown.start[chosen] - n_known
        if not missing.any():
            return by_branch(grown, chosen, total, branch_map, data)
        order = arrays.to_numpy(_known_first(grown, chosen, branch_map, data))
        pairs = _pairs(grown, chosen, order, n_known, total, counts, begin, data, self.whole)
        return self._with_copies(grown, chosen, order, total, begin, counts, pairs, data)

    def _with_copies(
        self,
        grown: Grown,
        chosen: Integers,
        order: NDArray[np.int32],
        total: Integers,
        begin: Integers,
        counts: Integers,
        pairs: tuple[Integers, Integers, Integers],
        data: Data,
    ) -> tuple[Data, Integers]:
        child, row, weight = pairs
        known_rows = np.concatenate(
            [order[a : a + n] for a, n in zip(
                grown.start[chosen].tolist(),
                np.add.reduceat(total[:, 0], begin).tolist(), strict=True)]
        )  # fmt: skip
        known_child = np.repeat(np.arange(total.shape[0]), total[:, 0])
        number, data = self._numbered(row, weight, data)
        total = _added(total, child, weight, data.targets.label[number, 0])
        all_children = np.concatenate([known_child, child])
        all_rows = np.concatenate([known_rows, number])[np.argsort(all_children, kind="stable")]
        lengths = np.add.reduceat(total[:, 0], begin)
        grown.stop[chosen] = np.cumsum(lengths)
        grown.start[chosen] = grown.stop[chosen] - lengths
        return data._replace(order=arrays.like(all_rows.astype(np.int32), data.order)), total

    def _numbered(self, row: Integers, weight: Integers, data: Data) -> tuple[Integers, Data]:
        """Return (a number for each part of a row, the data with copies appended)."""
        targets = data.targets
        _, first = np.unique(row, return_index=True)
        copied = np.ones(row.size, dtype=np.bool_)
        copied[first] = False
        number = row.copy()
        number[copied] = self.whole.size + np.arange(int(copied.sum()))
        source = row[copied]
        assert targets.weight is not None
        weights = np.concatenate([targets.weight, np.zeros(source.size, dtype=np.int64)])
        weights[number] = weight
        self.whole = np.concatenate([self.whole, self.whole[source]])
        targets = targets._replace(
            label=np.concatenate([targets.label, targets.label[source]]),
            weight=weights,
            identity=np.concatenate([targets.identity, targets.identity[source]]),
            sums=np.zeros((weights.size, 0), dtype=np.int64),
        )
        bins = _with_rows(data.bins, source)
        return number, data._replace(
            bins=bins, targets=targets, rows=rows_of(targets, bins.groups[0].codes)
        )


def _known_first(grown: Grown, chosen: Integers, branch_map: NDArray[Any], data: Data) -> Array:
    """Return the order of rows by child, those without a value behind the last child."""
    order = data.order
    for group in data.bins.groups:
        own = chosen[np.isin(grown.feature[chosen], group.features)]
        if own.size:
            order = route(
                order,
                grown.start[own],
                grown.stop[own],
                group.codes,
                np.searchsorted(group.features, grown.feature[own]),
                grown.kind[own],
                grown.bin[own],
                grown.n_children[own],
                grown.map_offset[own],
                branch_map,
                int(grown.n_children[own].max()) + 1,
            )
    return order


def _pairs(
    grown: Grown,
    chosen: Integers,
    order: NDArray[np.int32],
    n_known: Integers,
    total: Integers,
    counts: Integers,
    begin: Integers,
    data: Data,
    whole: Integers,
) -> tuple[Integers, Integers, Integers]:
    """Return (child, row, weight) of every part of a row without a value, by child then row."""
    plane = data.targets.layout.weight
    assert data.targets.weight is not None
    known = np.add.reduceat(total[:, plane], begin)
    found: list[tuple[Any, Any, Any]] = []
    stop = grown.stop[chosen]
    for i in np.flatnonzero(stop - grown.start[chosen] > n_known).tolist():
        rows = order[grown.start[chosen[i]] + n_known[i] : stop[i]].astype(np.int64)
        for child in range(begin[i], begin[i] + counts[i]):
            if total[child, plane] > 0:
                share = np.full(rows.size, float(total[child, plane]) / float(known[i]))
                weight = parts(data.targets.weight[rows], whole[rows], share)
                some = weight > 0
                found.append((np.full(int(some.sum()), child), rows[some], weight[some]))
    children, rows, weights = (np.concatenate(each) for each in zip(*found, strict=True))
    return children, rows, weights


def _added(total: Integers, child: Integers, weight: Integers, plane: Any) -> Integers:
    """Return `total` (C, S) with the parts' counts and weights added."""
    grown = total.copy()
    np.add.at(grown[:, 0], child, 1)
    np.add.at(grown[:, 1], child, weight)
    np.add.at(grown, (child, plane.astype(np.int64)), weight)
    return grown


def _with_rows(bins: Bins, source: Integers) -> Bins:
    """Return `bins` with copies of the rows `source` appended."""
    groups = []
    for group in bins.groups:
        xp = arrays.namespace(group.codes)
        copies = xp.take(group.codes, arrays.like(source, group.codes), axis=0)
        groups.append(group.of(xp.concat([group.codes, copies], axis=0)))
    return bins._replace(groups=tuple(groups))

"""The search for surrogates: splits of other features that send rows the way a node's own does.

It is the search of growth once more, for a target that is the row's child.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from vtree import arrays
from vtree.arrays import Array
from vtree.binning import Bins, Group
from vtree.elementary import choose
from vtree.surrogates.known_rows import known_rows
from vtree.surrogates.rules import NO_WAY
from vtree.thresholds import thresholds
from vtree.tree import SUBSET, THRESHOLD
from vtree_kernels.histogram import histogram
from vtree_kernels.scan import Layout, Limits, scan

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

_LEAST_ROWS = 2  # that a surrogate sends either way, among those whose child is known
_LEAST_ADJUSTED = 1e-10
# Rows that know the candidate; weight of child 0, of child 1; then rows whose child is not known,
# or, where rows have weights, those whose child is.
_FIRST = 1
_LAYOUT = Layout(0, _FIRST, 1, 3, _FIRST, 0.0, 1.0, (1.0,))


class Sent(NamedTuple):
    """Rows of L nodes, disjoint, and the child that the nodes' own splits send them to."""

    order: Array  # (R,)
    start: Integers  # (L,)
    stop: Integers
    child: NDArray[np.int32]  # (N,) by row: 0, 1, or 2 where it is not known
    weight: Integers | None  # (N,)
    counts: Integers | None  # (N,) 2 of a row that weighs as much as two, otherwise 1
    n_rows: Integers  # (L, 2) that go either way, counted so
    weights: Integers  # (L, 2) of these

    def total(self) -> Integers:
        """Return the statistics of the nodes, (L, 4)."""
        known = self.n_rows.sum(axis=1)
        n_rows = self.stop - self.start
        last = n_rows - known if self.counts is None else known
        return np.stack([n_rows, *self.weights.T, last], axis=1)


class Candidates(NamedTuple):
    """The best surrogate of each node in each feature, (L, F); agreements are whole weights."""

    agreement: Floats  # −inf: none
    bin: Integers
    following: Integers
    low_child: NDArray[np.int8]
    ways: dict[int, NDArray[np.uint8]]  # categorical feature → (L, codes)


def agreement(left: Any, right: Any, layout: Any) -> Any:
    """Return how many rows the better orientation of a split sends where they ought to go."""
    straight = left[layout.first] + right[layout.first + 1]
    crossed = left[layout.first + 1] + right[layout.first]
    left_rows = left[layout.first] + left[layout.first + 1]
    right_rows = right[layout.first] + right[layout.first + 1]
    fewer = choose(left_rows < right_rows, left_rows, right_rows)
    return choose(fewer >= 2.0, choose(straight > crossed, straight, crossed), -float("inf"))


def weighed_agreement(left: Any, right: Any, layout: Any) -> Any:
    """Return the weight of these rows; here the last plane counts the rows with a child.

    A row that weighs as much as two counts as two of them.
    """
    straight = left[layout.first] + right[layout.first + 1]
    crossed = left[layout.first + 1] + right[layout.first]
    left_rows, right_rows = left[layout.first + 2], right[layout.first + 2]
    fewer = choose(left_rows < right_rows, left_rows, right_rows)
    return choose(fewer >= 2.0, choose(straight > crossed, straight, crossed), -float("inf"))


# counts(way, rows) → (l, G, 2), two rows of each of which make levels a surrogate. way (l, G,
# levels): the child of each level; rows (l, G, levels, 2): those that the split sends either way.
Counts = Callable[[Integers, Integers], Integers]


def either_side(way: Integers, rows: Integers) -> Integers:
    """Return the rows that the levels send to child 0, and to child 1."""
    both = rows.sum(axis=3)
    return np.stack([np.where(way == side, both, 0).sum(axis=2) for side in (0, 1)], axis=2)


def right_and_wrong(way: Integers, rows: Integers) -> Integers:
    """Return the rows that the levels send where they ought to go, and those that they do not.

    It is what rpart 4.1 counts, though its news say either side; so a copy is no surrogate there.
    """
    right = np.take_along_axis(rows, way[..., None], axis=3).sum(axis=(2, 3))
    return np.stack([right, rows.sum(axis=(2, 3)) - right], axis=2)


COUNTS: Mapping[str, Counts] = MappingProxyType({"sides": either_side, "rpart": right_and_wrong})


def find_surrogates(
    sent: Sent,
    own_feature: Integers,
    reversed_ties: NDArray[np.bool_],
    bins: Bins,
    budget: int,
    counts: Counts = either_side,
) -> Candidates:
    """Return the best surrogate of each node in each feature but its own.

    own_feature (L,): what the node asks; reversed_ties (L,): where both orientations agree
    equally, whether low values (or levels in doubt) go to child 1; budget: bytes for histograms;
    counts: what makes levels a surrogate.
    """
    shape = (own_feature.size, bins.n_bins.size)
    best = Candidates(
        np.full(shape, -np.inf),
        np.zeros(shape, dtype=np.int64),
        np.zeros(shape, dtype=np.int64),
        np.zeros(shape, dtype=np.int8),
        {},
    )
    total = sent.total()
    for group in bins.groups:
        bytes_of_node = group.features.size * group.n_codes * 8 * (_LAYOUT.n_statistics + 1)
        step = max(1, budget // (8 * bytes_of_node))
        for first in range(0, shape[0], step):
            some = slice(first, min(first + step, shape[0]))
            hist = _histogram(group, sent, some)
            if group.categorical:
                _of_categories(hist, counts, group, some, reversed_ties[some], best)
            else:
                _of_numbers(hist, total[some], group, some, reversed_ties[some], best)
    best.agreement[np.arange(shape[0]), own_feature] = -np.inf
    return best


def _histogram(group: Group, sent: Sent, some: slice) -> Array:
    """Return (l, G, B, 4), or without plane 0, which the others add up to, where none weighs.

    Of categories, where rows weigh, the last plane counts the rows of child 0, and one more those
    of child 1.
    """
    example = sent.order
    start, stop = sent.start[some], sent.stop[some]
    none = np.zeros((sent.child.size, 0), dtype=np.int64)
    n_statistics = _LAYOUT.n_statistics - 1
    if sent.weight is None or sent.counts is None:
        label, sums = sent.child[:, None], none
    else:
        to = sent.child[:, None] == np.array([0, 1])
        label = none.astype(np.int32)
        counted = to if group.categorical else to.any(axis=1, keepdims=True)
        parts = [to * sent.weight[:, None], counted * sent.counts[:, None]]
        sums = np.concatenate(parts, axis=1)
        n_statistics = 1 + sums.shape[1]
    return histogram(
        group.codes,
        example,
        start,
        stop,
        arrays.like(label, example, dtype=np.int32),
        None,
        arrays.like(sums, example, dtype=np.int64),
        group.n_codes,
        n_statistics,
        sent.weight is not None,
    )


def _of_numbers(
    hist: Array,
    total: Integers,
    group: Group,
    some: slice,
    reversed_ties: NDArray[np.bool_],
    best: Candidates,
) -> None:
    n_nodes, n_features, n_codes, n_stored = hist.shape
    gain = agreement if n_stored < _LAYOUT.n_statistics else weighed_agreement
    free = arrays.like(np.zeros(n_nodes * n_features), hist)
    every = arrays.like(np.zeros((n_nodes * n_features, 1), dtype=np.int32), hist)
    layout = _LAYOUT._replace(implied=_LAYOUT.n_statistics - n_stored)
    with known_rows(hist, total, _LAYOUT) as (known, own_total):
        statistics = arrays.like(own_total, hist)
        found = scan(known, statistics, every, None, free, free, Limits(), gain, layout)
    shape = (n_nodes, n_features)
    best_gain = arrays.to_numpy(found.gain).reshape(shape)
    sides = slice(_FIRST, _FIRST + 2)
    left = arrays.to_numpy(found.left).reshape(*shape, -1)[..., sides]
    whole = own_total.reshape(*shape, -1)[..., sides]
    straight = left[..., 0] + whole[..., 1] - left[..., 1]
    crossed = left[..., 1] + whole[..., 0] - left[..., 0]
    tie = np.where(reversed_ties, 1, 0)[:, None]
    low_child = np.where(straight == crossed, tie, np.where(straight > crossed, 0, 1))
    where = (some, group.features)
    best.agreement[where] = np.where(best_gain > whole.max(axis=2), best_gain, -np.inf)
    best.bin[where] = arrays.to_numpy(found.bin).reshape(shape)
    best.following[where] = arrays.to_numpy(found.next).reshape(shape)
    best.low_child[where] = low_child


def _of_categories(
    hist: Array,
    counts: Counts,
    group: Group,
    some: slice,
    reversed_ties: NDArray[np.bool_],
    best: Candidates,
) -> None:
    """Send each level where most of its rows go; on a tie, where most rows of all levels go."""
    weighed = hist.shape[3] > _LAYOUT.n_statistics
    table = arrays.to_numpy(hist)[:, :, 1:, int(weighed) :].astype(np.int64)
    weight = table[..., :2]  # (l, G, levels, 2)
    rows = table[..., 2:] if weighed else weight
    whole = weight.sum(axis=2)
    usual = np.where(whole[..., 0] == whole[..., 1], reversed_ties[:, None], whole.argmax(axis=2))
    usual = usual[..., None].astype(np.int64)
    way = np.where(weight[..., 0] > weight[..., 1], 0, 1)
    way = np.where(weight[..., 0] == weight[..., 1], usual, way)
    agrees = weight.max(axis=3).sum(axis=2)
    usable = (counts(way, rows) >= _LEAST_ROWS).all(axis=2) & (agrees > whole.max(axis=2))
    best.agreement[some, group.features] = np.where(usable, agrees, -np.inf)
    ways = np.where(rows.sum(axis=3) > 0, way, NO_WAY).astype(np.uint8)
    for g, feature in enumerate(group.features.tolist()):
        if feature not in best.ways:
            codes = table.shape[2] + 1
            best.ways[feature] = np.full((best.agreement.shape[0], codes), NO_WAY, dtype=np.uint8)
        best.ways[feature][some, 1:] = ways[:, g]


def best_surrogates(
    found: Candidates, sides: Integers, count: int, bins: Bins
) -> list[NDArray[Any]]:
    """Return (node, feature, kind, bin, threshold, low_child, agreement, adjusted), each (Q,).

    At most `count` a node, by agreement, the first feature of equal ones. sides (L, 2): the weight
    that the node's own split sends either way; rows without the surrogate's feature disagree.
    """
    sent = sides.sum(axis=1).astype(np.float64)
    share = found.agreement / sent[:, None]
    usual = sides.max(axis=1) / sent
    with np.errstate(divide="ignore", invalid="ignore"):
        adjusted = (share - usual[:, None]) / (1.0 - usual[:, None])
    share = np.where(adjusted > _LEAST_ADJUSTED, share, -np.inf)
    ranked = np.argsort(-share, axis=1, kind="stable")[:, :count]
    node = np.repeat(np.arange(sent.size), ranked.shape[1])
    feature = ranked.reshape(-1)
    kept = share[node, feature] > -np.inf
    node, feature = node[kept], feature[kept]
    gap = found.bin[node, feature], found.following[node, feature]
    bin, threshold = thresholds(feature, *gap, bins)
    kind = np.where(bins.is_categorical[feature], SUBSET, THRESHOLD)
    numbers = kind == THRESHOLD
    return [
        node,
        feature,
        kind,
        np.where(numbers, bin, 0),
        np.where(numbers, threshold, 0.0),
        np.where(numbers, found.low_child[node, feature], 0),
        share[node, feature],
        adjusted[node, feature],
    ]

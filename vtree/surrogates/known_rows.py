"""Search in which the rows that miss a feature take no part in judging its splits."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from vtree import arrays
from vtree.arrays import Array
from vtree.binning import Bins, Group
from vtree.choice import Found, Nodes, Splits, best_splits
from vtree.criteria import Criterion
from vtree.splits import Search
from vtree.subsets import subset_splits
from vtree.surrogates.rules import NO_WAY
from vtree_kernels.level_subsets import without_rare_levels
from vtree_kernels.scan import Best, Layout, Limits, scan, with_counts


class KnownRows(NamedTuple):
    """A `Searcher` that judges each feature by the rows which know it, gains and limits alike."""

    search: Search  # without monotone constraints, drawn thresholds and criteria by rows

    @property
    def criterion(self) -> Criterion:
        """What nodes predict."""
        return self.search.criterion

    @property
    def limits(self) -> Limits:
        """What children must have."""
        return self.search.limits

    @property
    def monotone(self) -> NDArray[np.int8] | None:
        """None."""
        return None

    @property
    def uses_once(self) -> bool:
        """False: a feature may split again below."""
        return False

    def needs_sums(self, group: Group, *, few_rows: bool = False) -> bool:
        """Tell that every group is searched by its histograms."""
        return True

    def derives(self, group: Group) -> bool:
        """Tell that `find` asks for whole histograms."""
        return False

    def find(self, group: Group, hist: Array, nodes: Nodes, bins: Bins) -> Found:
        """Return the best split of each node in each feature of a group, hist (L, G, B, S)."""
        search, layout = self.search, self.search.layout
        shape = hist.shape[:2]
        missing = rows_of_code(hist, 0, layout)
        if group.categorical:
            hist = with_counts(hist, layout.n_statistics, layout)
            hist = without_rare_levels(hist, search.min_level_rows)
        goes_left = None
        with known_rows(hist, nodes.total, layout) as (own, total):
            if group.categorical:
                rule = (search.limits, search.criterion.gain, layout)
                best, ways = subset_splits(own, total, *rule)
                goes_left = ways.reshape(*shape, -1)
            else:
                best = _scan(own, total, search)
        fields: Any = (arrays.to_numpy(field) for field in best)
        best = Best(*(field.reshape(*shape, *field.shape[2:]) for field in fields))
        return Found(best._replace(missing=missing), None, goes_left)

    def choose(self, found: list[Found], nodes: Nodes, bins: Bins) -> Splits:
        """Return each node's split; its branch map has `NO_WAY` for levels without rows."""
        splits = best_splits(found, nodes, self.search, bins)
        place = {
            feature: (part.goes_left, column)
            for group, part in zip(bins.groups, found, strict=True)
            for column, feature in enumerate(group.features.tolist())
        }
        for node, branch_map in splits.child_of_code.items():
            goes_left, column = place[int(splits.feature[node])]
            assert goes_left is not None
            branch_map[goes_left[node, column, : branch_map.size] < 0] = NO_WAY
        return splits


@contextmanager
def known_rows(
    hist: Array, total: NDArray[np.int64], layout: Layout
) -> Iterator[tuple[Array, NDArray[np.int64]]]:
    """Lend histograms (L · G, 1, B, S) and totals (L · G, S) in which no value is missing.

    Each feature of a node becomes a node of its own, the rows that know it. hist (L, G, B, S) as
    `scan` takes it; total (L, S): of the nodes. Inside, code 0 of `hist` is empty: a copy of all
    the rest would take longer than the search.
    """
    xp = arrays.namespace(hist)
    n_nodes, n_features, n_codes, n_stored = hist.shape
    cells = xp.asarray(hist[:, :, 0, :], copy=True)
    missing = arrays.to_numpy(cells).astype(np.int64)
    if n_stored < total.shape[1]:
        rows = missing[..., : layout.classes].sum(axis=2, keepdims=True)
        missing = np.concatenate([rows, missing], axis=2)
    known = (total[:, None, :] - missing).reshape(n_nodes * n_features, -1)
    hist[:, :, 0, :] = 0
    try:
        yield xp.reshape(hist, (n_nodes * n_features, 1, n_codes, n_stored)), known
    finally:
        hist[:, :, 0, :] = cells


def rows_of_code(hist: Array, code: int, layout: Layout) -> NDArray[np.int64]:
    """Return the rows that have a code in each node and feature, (L, G)."""
    cells = arrays.to_numpy(hist[:, :, code, :]).astype(np.int64)
    stored = hist.shape[3] == layout.n_statistics
    rows: NDArray[np.int64] = cells[..., 0] if stored else cells[..., : layout.classes].sum(axis=2)
    return rows


def _scan(hist: Array, total: NDArray[np.int64], search: Search) -> Best:
    free = arrays.like(np.zeros(total.shape[0]), hist)
    every = arrays.like(np.zeros((total.shape[0], 1), dtype=np.int32), hist)
    own = arrays.like(total, hist)
    gain, layout = search.criterion.gain, search.layout
    return scan(hist, own, every, None, free, free, search.limits, gain, layout)

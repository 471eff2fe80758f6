"""Search in which the rows that miss a feature take no part in judging its splits."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from vtree import arrays
from vtree.arrays import Array
from vtree.binning import Bins, Group
from vtree.criteria import Criterion
from vtree.splits import Found, Nodes, Search, Splits, best_splits
from vtree.subsets import subset_splits, without_rare_levels
from vtree.surrogates.rules import NO_WAY
from vtree_kernels.scan import Best, Limits, scan, with_counts


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

    def needs_sums(self, group: Group) -> bool:
        """Tell that every group is searched by its histograms."""
        return True

    def find(self, group: Group, hist: Array | None, nodes: Nodes, bins: Bins) -> Found:
        """Return the best split of each node in each feature of a group, hist (L, G, B, S)."""
        layout = self.search.layout
        whole = with_counts(hist, layout.n_statistics, layout)
        if group.categorical:
            whole = without_rare_levels(whole, self.search.min_level_rows)
        best, goes_left = by_known_rows(whole, group, self.search)
        return Found(best, None, goes_left)

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


def by_known_rows(
    whole: Array, group: Group, search: Search
) -> tuple[Best, NDArray[np.int8] | None]:
    """Return (best split of each node in each feature, way of each level) of whole (L, G, B, S).

    Each feature of a node is a node of its own here: the rows that know it.
    """
    xp = arrays.namespace(whole)
    n_nodes, n_features, n_codes, n_statistics = whole.shape
    code = xp.arange(n_codes, dtype=xp.int64, device=arrays.device(whole))
    known = xp.where((code > 0)[None, None, :, None], whole, 0)
    known = xp.reshape(known, (n_nodes * n_features, 1, n_codes, n_statistics))
    total = arrays.to_numpy(xp.sum(known[:, 0, ...], axis=1, dtype=xp.int64))
    gain, layout = search.criterion.gain, search.layout
    goes_left = None
    if group.categorical:
        best, ways = subset_splits(known, total, search.limits, gain, layout)
        goes_left = ways.reshape(n_nodes, n_features, n_codes)
    else:
        free = arrays.like(np.zeros(total.shape[0]), whole)
        allowed = arrays.like(np.zeros((total.shape[0], 1), dtype=np.int32), whole)
        best = scan(
            known,
            arrays.like(total, whole),
            allowed,
            None,
            free,
            free,
            search.limits,
            gain,
            layout,
        )
    shape = (n_nodes, n_features)
    fields: Any = (arrays.to_numpy(field) for field in best)
    best = Best(*(field.reshape(*shape, *field.shape[2:]) for field in fields))
    return best._replace(missing=arrays.to_numpy(whole[:, :, 0, 0])), goes_left

"""The plainest multiway search: one branch a level, by decrease of Gini impurity."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from vtree import arrays
from vtree.binning import Bins, Group
from vtree.choice import Nodes, Splits
from vtree.criteria import CLASSIFICATION, Criterion
from vtree.tree import MULTIWAY
from vtree_kernels.scan import Layout, Limits, with_counts


class OneBranchALevel(NamedTuple):
    layout: Layout
    limits: Limits = Limits()
    criterion: Criterion = CLASSIFICATION["gini"]
    monotone: NDArray[np.int8] | None = None
    uses_once: bool = True

    def needs_sums(self, group: Group, *, few_rows: bool = False) -> bool:
        return True

    def derives(self, group: Group) -> bool:
        return False

    def find(self, group: Group, hist: Any, nodes: Nodes, bins: Bins) -> NDArray[np.int64]:
        whole = with_counts(hist, self.layout.n_statistics, self.layout)
        table: NDArray[np.int64] = arrays.to_numpy(whole).astype(np.int64)
        return table

    def choose(self, found: list[NDArray[np.int64]], nodes: Nodes, bins: Bins) -> Splits:
        assert len(found) == 1
        assert nodes.used is not None
        table = found[0][:, :, 1:, :]  # (L, F, V, S), no missing values here
        counts = table[..., self.layout.first :].astype(np.float64)
        weight = np.maximum(counts.sum(axis=3), 1.0)
        gain = ((counts**2).sum(axis=3) / weight).sum(axis=2)
        own = nodes.total[:, self.layout.first :].astype(np.float64)
        gain -= ((own**2).sum(axis=1) / own.sum(axis=1))[:, None]
        gain[nodes.used | (gain <= 1e-9)] = -np.inf
        feature = gain.argmax(axis=1)
        every = np.arange(feature.size)
        split = gain[every, feature] > -np.inf
        n_children = np.where(split, bins.n_bins[feature], 0)
        children = [
            table[node, feature[node], : n_children[node]] for node in np.flatnonzero(split)
        ]
        branch = {
            int(node): np.append(0, np.arange(n_children[node])).astype(np.uint8)
            for node in np.flatnonzero(split)
        }
        return Splits(
            feature=np.where(split, feature, -1).astype(np.int32),
            kind=np.full(feature.size, MULTIWAY, dtype=np.int8),
            bin=np.zeros(feature.size, dtype=np.int32),
            threshold=np.zeros(feature.size),
            gain=gain[every, feature],
            missing_child=np.zeros(feature.size, dtype=np.int32),
            n_children=n_children.astype(np.int32),
            child_total=np.concatenate([*children, table[0, 0, :0]]),
            child_of_code=branch,
        )

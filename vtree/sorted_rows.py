"""Rows in the order of every numeric feature, kept so while the tree grows (Mehta et al. 1996).

Exact cuts ask for a node's rows in the order of each feature. Sorted once for the root, they stay
in order when a split sends them on to its children, which costs less than to sort them anew.
(SLIQ: a fast scalable classifier for data mining. EDBT 1996.)
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from vtree import arrays
from vtree.arrays import Array
from vtree.binning import Bins, Group
from vtree.grown import Grown
from vtree.routing import Data, by_branch
from vtree.targets import Targets
from vtree_kernels.sift import line_up, sift

Integers = NDArray[np.int64]

_KEY_BITS = 31  # of a code and a class
_MOST_BYTES = 1 << 32  # larger tables are sorted node by node


class SortedRows:
    """A `Router` that keeps sorted rows beside `Data.order`, for one root of all rows.

    Rows must weigh one each, be of one output's classes and have all their values. It takes eight
    bytes a number.
    """

    def __init__(self, bins: Bins, targets: Targets) -> None:
        layout = targets.layout
        label = arrays.like(targets.label[:, 0] - np.int32(layout.first), bins.groups[0].codes)
        self._lines = {
            int(group.features[0]): line_up(group.codes, label, class_bits(layout.classes))
            for group in bins.groups
            if not group.categorical
        }

    def of(self, group: Group) -> Array:
        """Return the rows (G, R) in the order of each feature of a group, see `cuts`."""
        return self._lines[int(group.features[0])]

    def __call__(
        self,
        grown: Grown,
        chosen: Integers,
        total: Integers,
        branch_map: NDArray[Any],
        data: Data,
    ) -> tuple[Data, Integers]:
        """Send each row where its own value says."""
        data, total = by_branch(grown, chosen, total, branch_map, data)
        nodes = grown.start[chosen], grown.stop[chosen], grown.n_children[chosen]
        for key, lines in self._lines.items():
            self._lines[key] = sift(lines, data.order, *nodes, total[:, 0])
        return data, total


def suits(bins: Bins, targets: Targets) -> bool:
    """Tell whether sorted rows serve a table without missing values."""
    numeric = [group for group in bins.groups if not group.categorical]
    widest = max((group.n_codes for group in numeric), default=0)
    n_bytes = 8 * bins.n_rows * sum(group.features.size for group in numeric)
    fits = widest.bit_length() + class_bits(targets.layout.classes) <= _KEY_BITS
    fits = fits and 0 < n_bytes <= _MOST_BYTES and targets.weight is None
    return fits and sift.is_native(bins.groups[0].codes)


def class_bits(classes: int) -> int:
    """Return the bits of a class number."""
    return max(1, (classes - 1).bit_length())

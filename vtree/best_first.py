"""Best-first order: split the leaf with the largest gain until there are enough leaves.

Which leaves such a tree keeps depends only on the gains, so growth need not wait for each split:
every round replays the selection on the gains known so far, with a guess of what comes below the
nodes that are not split yet, asks for all of these that it meets, and at the end keeps what it
selected.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from vtree.grown import Grown
from vtree_kernels.best_first import best_first

Integers = NDArray[np.int64]


class BestFirst:
    """An `Order` that gives each tree at most `max_leaves` leaves."""

    def __init__(self, max_leaves: int) -> None:
        self.max_leaves: int | None = max_leaves
        self._most_splits = max_leaves - 1

    def __call__(self, grown: Grown) -> Integers:
        """Return the nodes to split now: the next in line, and others that may be soon."""
        return self._replay(grown)[1]

    def trim(self, grown: Grown) -> Grown:
        """Return `grown` with only the selected splits; the rest of the nodes falls off."""
        if np.count_nonzero(grown.first_child >= 0) <= self._most_splits:
            return grown  # so many are selected, whatever they gain
        kept = np.full(grown.first_child.shape, -1)
        selected, _ = self._replay(grown)
        kept[selected] = grown.first_child[selected]
        return grown._replace(first_child=kept)

    def _replay(self, grown: Grown) -> tuple[Integers, Integers]:
        """Return (nodes that are split already, nodes still to split).

        The first of the latter is its tree's next one; where there are none, all is known that the
        selection depends on.
        """
        root = np.flatnonzero(grown.parent < 0)
        nodes = grown.gain, grown.feature, grown.first_child, grown.n_children
        return best_first(*nodes, root, self._most_splits)

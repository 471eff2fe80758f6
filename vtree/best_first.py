"""Best-first order: split the leaf with the largest gain until there are enough leaves.

Which leaves such a tree keeps depends only on the gains, so growth need not wait for each split:
every round replays the selection on the gains known so far, as if nothing came below the nodes
that are not split yet, asks for all of these that it meets, and at the end keeps what it selected.
"""

from __future__ import annotations

import heapq

import numpy as np
from numpy.typing import NDArray

from vtree.grown import Grown


class BestFirst:
    """An `Order` that gives each tree at most `max_leaves` leaves."""

    def __init__(self, max_leaves: int) -> None:
        self.max_leaves: int | None = max_leaves
        self._most_splits = max_leaves - 1

    def __call__(self, grown: Grown) -> NDArray[np.int64]:
        """Return the nodes to split now: the next in line, and others that may be soon."""
        wanted: list[int] = []
        for root in np.flatnonzero(grown.parent < 0).tolist():
            wanted += self._replay(grown, root)[1]
        return np.asarray(wanted, dtype=np.int64)

    def trim(self, grown: Grown) -> Grown:
        """Return `grown` with only the selected splits; the rest of the nodes falls off."""
        kept = np.full(grown.first_child.shape, -1)
        for root in np.flatnonzero(grown.parent < 0).tolist():
            selected, _ = self._replay(grown, root)
            kept[selected] = grown.first_child[selected]
        return grown._replace(first_child=kept)

    def _replay(self, grown: Grown, root: int) -> tuple[list[int], list[int]]:
        """Return (nodes that are split already, nodes still to split), in the order of their turns.

        Nobody knows yet what comes below the latter. Were it nothing, these would be all there
        are to split; in any case the first is the next one. Of equal gains the one that came into
        line first is taken.
        """
        gain, feature, first_child = grown.gain.item, grown.feature.item, grown.first_child.item
        line = [(-gain(root), 0, root)] if feature(root) >= 0 else []
        selected: list[int] = []
        missing: list[int] = []
        arrivals = 1
        while line and len(selected) + len(missing) < self._most_splits:
            _, _, node = heapq.heappop(line)
            first = first_child(node)
            if first < 0:
                missing.append(node)
                continue
            selected.append(node)
            for child in range(first, first + grown.n_children.item(node)):
                if feature(child) >= 0:
                    heapq.heappush(line, (-gain(child), arrivals, child))
                arrivals += 1
        return selected, missing

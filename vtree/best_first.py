"""Best-first order: split the leaf with the largest gain until there are enough leaves.

Which leaves such a tree keeps depends only on the gains, so growth need not wait for each split:
every round replays the selection on the gains known so far, asks for the first node it misses
together with the most likely next ones, and at the end keeps what the replay selected.
"""

from __future__ import annotations

import heapq

import numpy as np
from numpy.typing import NDArray

from vtree.grown import Grown


class BestFirst:
    """An `Order` that gives each tree at most `max_leaves` leaves."""

    def __init__(self, max_leaves: int) -> None:
        self.max_leaves = max_leaves

    def __call__(self, grown: Grown) -> NDArray[np.int64]:
        """Return the nodes to split now: the next in line, and others that may be soon."""
        wanted: list[int] = []
        for root in np.flatnonzero(grown.parent < 0).tolist():
            selected, line = self._replay(grown, root)
            room = self.max_leaves - 1 - len(selected)
            wanted += [node for _, _, node in heapq.nsmallest(room, line)]
        nodes = np.asarray(wanted, dtype=np.int64)
        return nodes[grown.first_child[nodes] < 0]

    def trim(self, grown: Grown) -> Grown:
        """Return `grown` with only the selected splits; the rest of the nodes falls off."""
        kept = np.full(grown.first_child.shape, -1)
        for root in np.flatnonzero(grown.parent < 0).tolist():
            selected, _ = self._replay(grown, root)
            kept[selected] = grown.first_child[selected]
        return grown._replace(first_child=kept)

    def _replay(self, grown: Grown, root: int) -> tuple[list[int], list[tuple[float, int, int]]]:
        """Return (nodes split so far, heap of (−gain, arrival, node) still in line).

        It stops at the first node that ought to be split but has no children yet; that node is
        back in line. Of equal gains the one that came into line first is taken.
        """
        line = [(-grown.gain[root], 0, root)] if grown.feature[root] >= 0 else []
        selected: list[int] = []
        arrivals = 1
        while line and len(selected) < self.max_leaves - 1:
            node = line[0][2]
            first = int(grown.first_child[node])
            if first < 0:
                break
            heapq.heappop(line)
            selected.append(node)
            for child in range(first, first + int(grown.n_children[node])):
                if grown.feature[child] >= 0:
                    heapq.heappush(line, (-grown.gain[child], arrivals, child))
                arrivals += 1
        return selected, line

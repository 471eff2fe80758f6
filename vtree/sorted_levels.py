"""Category subsets with the regularisation of LightGBM (Ke et al. 2017, its manual's `cat_…`).

Few levels: one against the rest. More: levels with enough rows are sorted by sum / (weight + s),
and at most `most_levels` of them, from either end, go left; the children of such a split shrink
more. Prefixes are tried only where the levels added since the last one hold enough rows.

All levels that are not chosen go right, those without rows in the node, too.
"""

from __future__ import annotations

from typing import NamedTuple

from vtree.criteria import newton
from vtree_kernels.level_subsets import Sorted
from vtree_kernels.scan import Layout


class SortedLevels(NamedTuple):
    """How careful subsets of sorted levels are, in the units of the planes."""

    smooth: float  # added to each level's weight before levels are sorted
    least_rows: float  # levels with fewer rows are not sorted
    shrink: float  # what the children shrink more by
    most_levels: int
    group_rows: int  # what must have been added since the last candidate, and must be left over
    one_against_rest: int  # up to so many levels

    def rule(self, layout: Layout, n_codes: int) -> Sorted:
        """Return how levels of one target are sorted; where answers lean, nodes lose by theirs."""
        leans = len(layout.unit) > 3
        return Sorted(*self, lost=newton.lost_leaning if leans else newton.lost)

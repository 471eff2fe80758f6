"""level_subsets: the best subset of a categorical feature's levels in each (node, feature).

    best, goes_left = level_subsets(hist, total, rule, least_rows, n_levels, limits, gain, layout)

hist (L, G, B, S) int64, code 0 for missing values, codes 1 … n_levels[g] for levels; total (L, S)
int64 and n_levels (G,) on the host. A level with fewer rows in a node than `least_rows` counts as
missing there. What is legal, and how a gain judges it, is as in `scan`; layout.lower may be the
nodes' answers (L, 1, 1), where gains ask for them.

By `Prefixes`, levels are sorted by their mean of a plane, T(sum) / (weight + layout.shrink), T
drawing sums towards zero by layout.clip, equal ones by code; the best prefix of that order goes
left, missing values right or left, as `scan` finds it among ordered codes. Of several planes that
with the largest gain counts, the first of equal ones. Levels without rows, and those with fewer
than least_rows, go where missing ones go: they are none of the rule's. With rule.light, levels
that weigh less than limits.min_weight, or have no rows, have the mean 0 instead and go by their
place, but for those with a few rows; and where rule.reach >= 0, levels with more than `reach`
before them, and more behind, are not parted from each other.

By `Sorted`, a feature of at most rule.one_against_rest levels has a candidate a level: it goes
left, all others right, the missing ones, too. Others have their levels of rule.least_rows rows and
more sorted by −sum / (weight + rule.smooth), equal ones by code, n of them; candidates are the
first 1, 2 … of these and the last 1, 2 …, (n + 1) / 2 and rule.most_levels at most. From either end
they are tried in turn: one that is legal, where the levels added since the last one tried have
rule.group_rows rows, and what is right of it, too. As soon as what is right of it is too small,
that end is done. Such a split gains what `gain` says by layouts whose unit[0] is larger by
rule.shrink, less rule.lost(node, layout, that layout). The first of the largest gains counts: those
from the front, those from the back.

Returns `Best`, each (L, G), as `scan` does, and goes_left (L, G, B) int8: 1 left, 0 right, −1 the
way of missing values, in code 0, too. `bin` and `next` count places of the order, by `Sorted` they
are 0. All on the host; nothing is set where no split is legal, but the gain, −inf.
"""

from vtree_kernels._dispatch import Kernel
from vtree_kernels.level_subsets import reference
from vtree_kernels.level_subsets.reference import (
    Prefixes,
    best_prefixes,
    with_absent,
    without_rare_levels,
)
from vtree_kernels.level_subsets.sorted_levels import Sorted

level_subsets = Kernel(reference.level_subsets, cpu="vtree_kernels.level_subsets.cpu")

__all__ = [
    "Prefixes",
    "Sorted",
    "best_prefixes",
    "level_subsets",
    "with_absent",
    "without_rare_levels",
]

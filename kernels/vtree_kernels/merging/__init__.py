"""merging: levels that answer alike become groups (Kass 1980), for many predictors in many nodes.

    groups = merging(stats, alive, floating, ordinal, least, rule, test, resplit)

P problems, each one predictor in one node, of up to G levels, on the host: stats (P, G, T) float64,
what the test works on, of each level; alive (P, G) bool, the levels that take part, at least one,
all of some weight; floating (P,)
int64, the place of a category without a place in the order, the last one, or −1; ordinal (P,) bool,
whether only neighbours merge (the floating category with any group); least (P,) float64, what a
group should weigh. While a problem has more than two groups, the pair with the largest p-value, the
first in the order (i, j) of equals, merges if that is above alpha, or if it must: see `Rule`. A
group is known by its smallest level.

test: log_p(stats (E, g, T), mask (E, g)) → (E,) logarithms of p-values; pool(stats, mask) → (E, T)
of all groups as one; size(stats (..., T)) → (...) weights; formula, the name of what log_p works
out, and unit, the weight of one integer. Twins know "pearson" and "likelihood_ratio" by name.
resplit: what may cut new groups in two again, or None.

A caller that merges by rules of its own has the steps of a round: `new_state`, `best_partners`,
`join`.

Returns `Groups`: label (P, G) int64 and alive (P, G) bool. Under an exhaustive rule these are of
the stage, of those with no more than most_groups, whose whole table has the smallest p-value.
"""

from vtree_kernels._dispatch import Kernel
from vtree_kernels.merging import reference
from vtree_kernels.merging.reference import (
    Groups,
    Resplit,
    Rule,
    State,
    best_partners,
    join,
    new_state,
)

merging = Kernel(reference.merging, cpu="vtree_kernels.merging.cpu")

__all__ = [
    "Groups",
    "Resplit",
    "Rule",
    "State",
    "best_partners",
    "join",
    "merging",
    "new_state",
]

"""subtree: nodes with few rows grow all that is below them, each by itself.

    grown = subtree(rows, nodes, table, statistics, rule)

rows (R,) int32 row numbers; `nodes` (L,): those of node l are rows[start[l] : stop[l]]. The result
is what a level loop over `search` (or, for drawn cuts, `extremes` and `cut_sums`), the choice of
each node's best feature and `partition` make of the same nodes, without a level's overhead:

    node 0 · 180 rows ──┬── 2 · 60 rows            a task copies its nodes' columns, so that all
                        └── 3 · 120 rows ──┬── 4   reads below are near each other
    node 1 ·  90 rows                      └── 5

A node is split if its depth is below rule.max_depth (−1: no limit), it has at least
rule.min_rows_split rows, 2 rule.limits.min_rows rows and 2 rule.limits.min_weight weight, rows
with different targets, and a split whose gain is legal and at least rule.min_gain.

Features are looked at in the node's own order until rule.max_features are and one of them varies;
all of them, by number, where max_features is at least their number. For place i of the order, one
of the F − i features that are left is drawn by the word `mixed(mixed(rule.order_state, key), i)`.
The largest gain per rule.costs wins, then the feature that was looked at first. With rule.raw, a
feature's only threshold is drawn between its extremes in table.values, a share of the way that
follows from rule.cut_state, key and feature. A child's key is mixed from its parent's and its
number.

With rule.max_leaves (0: no limit) each given node is split best first: the leaf with the largest
gain is next, of equal ones that which was made first, until there are so many leaves. All features
are looked at then, and none is raw. Leaves whose split was not taken have none.

With rule.answer a node has bounds of what it answers, lower and upper, which its gain may ask for.
rule.monotone says of each feature whether the right child's answer must not be less than the left
one's (1), not larger (−1) or neither (0), as in `scan`, and `narrowed` what bounds children have.
With rule.usable some of the features may split a node, see `Usable`; all of these are looked at.
No such rule is raw.

Returns `Subtrees`: M >= L places, the L given nodes first, children next to each other; there may
be empty places between, which `places` leaves out. The twin for CUDA returns them on the host, all
but the rows. It takes the rules without any of that whose gain has a form in C:
`subtree.is_native(rows, rule)` tells.
"""

from vtree_kernels._dispatch import Kernel
from vtree_kernels.subtree import reference
from vtree_kernels.subtree.bounds import narrowed
from vtree_kernels.subtree.reference import (
    MOST_BYTES,
    Levels,
    Rule,
    Starts,
    Statistics,
    Subtrees,
    Table,
    bytes_of_sums,
    places,
)
from vtree_kernels.subtree.usable import Usable, packed_bits

subtree = Kernel(
    reference.subtree, cpu="vtree_kernels.subtree.cpu", cuda="vtree_kernels.subtree.cuda"
)

__all__ = [
    "MOST_BYTES",
    "Levels",
    "Rule",
    "Starts",
    "Statistics",
    "Subtrees",
    "Table",
    "Usable",
    "bytes_of_sums",
    "narrowed",
    "packed_bits",
    "places",
    "subtree",
]

"""branches: what a node gains in each nominal feature by one branch a level (Quinlan 1993).

    found = branches(hist, whole, layout, unit, min_weight)

hist (L, G, B, S) as for `scan`, of one output, code 0 for missing values; whole (L,) float64, the
weight of each node. Integer weights count in units of `unit`. With T(v) = S log2 S − Σ v_j log2
v_j, S = Σ v_j, over weights, k the weight of the rows with a value, W of all,

    gain = k/W · (T(known classes) − Σ_level T(classes in the level)) / k
    info = T(weight without a value, weights of the levels) / W

Returns `Branches`, each (L, G): gain and info float64, filled int64: the levels with at least
min_weight, give or take a part in 10^9.
"""

from vtree_kernels._dispatch import Kernel
from vtree_kernels.branches import reference
from vtree_kernels.branches.reference import Branches

branches = Kernel(
    reference.branches, cpu="vtree_kernels.branches.cpu", cuda="vtree_kernels.branches.cuda"
)

__all__ = ["Branches", "branches"]

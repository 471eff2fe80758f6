"""descend: where rows come to rest that start at nodes of their own.

    rest = descend(values, row, node, feature, kind, threshold, first_child, map_offset, branch_map)

values (N, F) float, levels by number, NaN for missing; row (E,) int64 into values and node (E,)
int64, where it starts; the node arrays (M,) as in `vtree.tree.Tree`. A row goes down as in
`traverse`, to a node whose first_child is −1 (its feature may be any) or whose value it lacks.
Returns the nodes (E,) int64.
"""

from vtree_kernels._dispatch import Kernel
from vtree_kernels.descend import reference

descend = Kernel(reference.descend, cpu="vtree_kernels.descend.cpu")

__all__ = ["descend"]

"""accumulate: what all trees together answer, the sum of the values of a row's leaves.

    total = accumulate(values, root, feature, kind, threshold, first_child, missing_child,
                       map_offset, branch_map, value, column, n_columns)

The first nine as in `traverse`; value (M, V) float64 of the nodes; column (T,) int64, where tree
t's values go. Returns total (N, n_columns) float64:

    total[row, column[t] + v] = Σ over t in ascending order of value[leaf(row, t), v]

added one tree after another to 0.0, so that every backend rounds alike. Forests have all columns 0
and a value a class; boosting has one value a node and the trees of a round in columns 0, 1, 2 ….
Unlike `traverse` it keeps no (N, T) leaves.
"""

from vtree_kernels._dispatch import Kernel
from vtree_kernels.accumulate import reference

accumulate = Kernel(
    reference.accumulate,
    cpu="vtree_kernels.accumulate.cpu",
    cuda="vtree_kernels.accumulate.cuda",
)

__all__ = ["accumulate"]

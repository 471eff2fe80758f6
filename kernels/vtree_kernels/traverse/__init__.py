"""traverse: the node at which each row of raw values comes to rest, in each tree.

    leaf = traverse(values, root, feature, kind, threshold, first_child, missing_child,
                    map_offset, branch_map)

values (N, F) float, categories as level numbers; the node arrays (M,) as in `vtree.tree.Tree`;
root (T,). Returns leaf (N, T) int32. At a node with feature f and x = values[row, f]:

    feature −1            stop here
    x is NaN              missing_child, or stop here if that is −1
    kind 0                child 0 if x <= threshold else child 1
    kind > 0              child branch_map[map_offset + int(x) + 1]
"""

from vtree_kernels._dispatch import Kernel
from vtree_kernels.traverse import reference

traverse = Kernel(
    reference.traverse, cpu="vtree_kernels.traverse.cpu", cuda="vtree_kernels.traverse.cuda"
)

__all__ = ["traverse"]

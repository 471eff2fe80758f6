"""breadth_first: the nodes of trees, tree by tree, each level after level.

    order = breadth_first(first_child, n_children, root)

first_child (M,), negative at leaves: child j of node m is first_child[m] + j, of n_children[m]
ones, or of n_children[0] where n_children is (1,); root (T,). Returns the numbers of all nodes that
can be reached from the roots, int64: a root, its children, the children of the first child and so
on to the last level, then the next root.

         0                  root 0, first_child (1, 5, −1, …)
       ┌─┴─┐
       1   2                0 1 2 5 6
      ┌┴┐
      5 6
"""

from vtree_kernels._dispatch import Kernel
from vtree_kernels.breadth_first import reference
from vtree_kernels.breadth_first.reference import children, levels

breadth_first = Kernel(reference.breadth_first, cpu="vtree_kernels.breadth_first.cpu")

__all__ = ["breadth_first", "children", "levels"]

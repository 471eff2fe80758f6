"""best_first: which nodes of trees are split when the leaf with the largest gain is next.

    split, wanted = best_first(gain, feature, first_child, n_children, root, most)

gain (M,) float64; feature (M,), −1 where a node has no split to gain by; first_child (M,), −1 at
nodes that are not split yet: child j of node m is first_child[m] + j, of n_children[m] ones; root
(T,); most: how many splits a tree may have. Of each tree, nodes are split in turn, the largest gain
of those that wait first, until there are none left or `most` of them: `split` are those that have
children, `wanted` those whose children are not there yet. Of equal gains the node that has waited
longest is first. Both are numbers of nodes, int64, in the order of their turns, tree after tree.

What comes below a wanted node is guessed: two children that gain SHARE times as much, and so on for
GENERATIONS. They wait and have turns as nodes do, so that those are not asked for that probably
will have none. The first wanted one of a tree is its next one, whatever the guess; where none is
wanted, nothing was guessed.
"""

from vtree_kernels._dispatch import Kernel
from vtree_kernels.best_first import reference
from vtree_kernels.best_first.reference import GENERATIONS, SHARE

best_first = Kernel(reference.best_first, cpu="vtree_kernels.best_first.cpu")

__all__ = ["GENERATIONS", "SHARE", "best_first"]

"""offspring: the children of nodes that split, behind all nodes that there are.

    offspring(chosen, before, given, tree)

chosen (C,) int64: nodes to split; before: the first child's number; given (·, S) int64: the
children's statistics, node after node, of which plane 0 counts rows; tree: `Family`, changed in
place. What `n_children` says of a chosen node is how many it has; they share its rows in order:

    chosen node   start ├─ first child ─┼─ second child ─┤ stop, or what is left of its rows
"""

from vtree_kernels._dispatch import Kernel
from vtree_kernels.offspring import reference
from vtree_kernels.offspring.reference import Family

offspring = Kernel(reference.offspring, cpu="vtree_kernels.offspring.cpu")

__all__ = ["Family", "offspring"]

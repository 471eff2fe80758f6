"""siblings: which histograms are built, and which are what a kept parent's leaves of them.

    found = siblings(wanted, kept, parent, first_child, n_children, total, start, stop)

wanted (W,) int64: the nodes to search; kept (P,): those whose histograms there are, −1 for none;
parent, first_child, n_children, start, stop (M,) and total (M, S): as `vtree.grown.Grown` has them.

Of two siblings that share all rows of a kept parent the larger one is derived (of equal ones the
second), if it is wanted; the other one is built, wanted or not. All others are built.

    parent, kept     ┌──────────────┐
    its children     ┌─────┬────────┐    the first one is built, the second one derived
"""

from vtree_kernels._dispatch import Kernel
from vtree_kernels.siblings import reference
from vtree_kernels.siblings.reference import Siblings

siblings = Kernel(reference.siblings, cpu="vtree_kernels.siblings.cpu")

__all__ = ["Siblings", "siblings"]

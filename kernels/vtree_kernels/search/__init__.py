"""search: the best split of each (node, feature) from the node's rows, without its histogram.

    best = search(codes, rows, start, stop, label, weight, sums, n_codes, total, monotone,
                  lower, upper, limits, gain, layout, compact)

What `scan` returns for the histograms that `histogram` builds, for the same arguments: a node with
few rows has rows with few codes, and to clear, store and scan its other cells would take longer
than all the rest.

    n_codes = 257     · · 3 · · · 1 · · · · 2 ·     →     codes 2 6 11,  rows 3 1 2
"""

from vtree_kernels._dispatch import Kernel
from vtree_kernels.search import reference

search = Kernel(reference.search, cpu="vtree_kernels.search.cpu", cuda="vtree_kernels.search.cuda")

__all__ = ["search"]

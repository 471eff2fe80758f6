"""symmetric_splits: all splits of one symmetric tree of few rows, in one call.

    levels, leaf = symmetric_splits(codes, weight, sums, features, n_bins, n_codes, rule)

codes (N, F), 0 for missing values, the others below n_codes; weight (N,) int64, or None where all
rows weigh one; sums (N,) int64; features (F,) int64: what draws call the columns; n_bins (F,)
int64; rule: a `Rule`. All rows begin in one node. At each level all nodes are divided by the
candidate with the largest score, the first in the order of columns, then ways, then codes;
candidates and their worth and size are those of `joint`, nodes in the order of their keys. With
`cosine` the score is worth / √size, 0 where size is 0, otherwise worth. Where `spread` is not 0,
chance adds to it

    spread × bell(next_state(next_state(next_state(state, depth), feature), code))

and codes above a feature's n_bins are no candidates. The children of a node are those with the rows
up to the code and the others; missing values go the way of the candidate or, where the column has
none, with the more rows, to the second if there are as many. Their keys are those of
`next_state(next_state(0, key), child)`.

Levels end where no candidate is possible, at the latest after `depth`. leaf (N,) int64: of each
row, counted from the left.
"""

from vtree_kernels._dispatch import Kernel
from vtree_kernels.symmetric_splits import reference
from vtree_kernels.symmetric_splits.reference import Levels, Rule

symmetric_splits = Kernel(reference.symmetric_splits, cpu="vtree_kernels.symmetric_splits.cpu")

__all__ = ["Levels", "Rule", "symmetric_splits"]

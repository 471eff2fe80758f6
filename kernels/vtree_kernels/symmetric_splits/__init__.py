"""symmetric_splits: all splits of symmetric trees of few rows, in one call.

    levels, leaf = symmetric_splits(codes, weight, sums, tree, columns, n_codes, rule)

codes (N, F), 0 for missing values, the others up to a column's n_bins, all below n_codes; weight
(N,) int64, or None where all rows weigh one; sums (N, K) int64; tree (N,) int64: to which one of
`rule.n_trees` a row belongs, in whose root it begins; columns: a `Columns`; rule: a `Rule`. All
nodes of a level are divided alike, by the candidate with the largest score, the first in the order
of columns, then ways, then codes.

Candidates and their worth and size are those of `joint`, nodes in the order of their keys, then of
their trees. A node judges itself or, where `judged`, the trees of the second half judge those of
the first. With `cosine` the score is worth / √size, 0 where size is 0, otherwise worth. Where
`spread` is not 0, chance adds to it

    spread × bell(next_state(next_state(next_state(state, depth), feature), code))

and codes above a feature's n_bins are no candidates. That finds the best one of each column, which
counts among them by its score and the draw of the code OF_ITS_OWN alone: the best of many draws
would tell how many candidates a column has.

The children of a node are those with the rows up to the code and the others, of a `one_hot` column
with the rows of the code and the others. Missing values of the former go the way of the candidate
or, where the column has none, with the more rows, to the second if there are as many. Their keys
are those of `next_state(next_state(0, key), child)`; all roots have one key.

Levels end where no candidate is possible, at the latest after `depth`. leaf (N,) int64: of each
row, counted from the left in its tree.
"""

from vtree_kernels._dispatch import Kernel
from vtree_kernels.symmetric_splits import reference
from vtree_kernels.symmetric_splits.reference import OF_ITS_OWN, Columns, Levels, Rule

symmetric_splits = Kernel(reference.symmetric_splits, cpu="vtree_kernels.symmetric_splits.cpu")

__all__ = ["OF_ITS_OWN", "Columns", "Levels", "Rule", "symmetric_splits"]

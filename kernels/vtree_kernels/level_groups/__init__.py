"""level_groups: levels of a nominal feature merged greedily into branches (Quinlan 1993, §7.2).

    found = level_groups(classes, missing, min_weight, by_ratio)

classes (P, V, K) float64, the class weights of each level, and missing (P,) float64, the weight of
the rows without a value, of P problems: a feature in a node. All on the host, multiples of a power
of two, so that sums of them are exact. With k the weight of known rows and W of all, a grouping has

    gain = k/W · (T(classes of all levels) − Σ_group T(classes in the group)) / k
    info = T(missing, weights of the groups) / W,

gain being none where fewer than two groups weigh `least`. Its worth is gain / info if by_ratio,
where gain >= 0.001 and info > 0.001; else gain, where info > 0.

Levels that weigh 0.5 or less stay out: together they are one more branch. The others are a group
each. First, groups purely of one class join the first such group. Then, while there are more than
two, one pair joins: of all pairs in order one takes the place of the best so far if it is worth as
much or more, or if it is the first one to keep half the gain that there was before the pairs. While
fewer than three groups weigh min_weight, no pair takes in the largest group. The last group moves
to the place of the one that joined. By ratio, and with at least two groups of min_weight, merging
ends when the best pair does not raise the worth by 0.00001. Until here `least` is 1, then
min_weight.

Returns `LevelGroups`: group (P, V) int32 of each level, count (P,) int64 of groups, that of the
rest included; gain (P,), −∞ for none, and info (P,) float64.
"""

from vtree_kernels._dispatch import Kernel
from vtree_kernels.level_groups import reference
from vtree_kernels.level_groups.reference import LevelGroups

level_groups = Kernel(reference.level_groups, cpu="vtree_kernels.level_groups.cpu")

__all__ = ["LevelGroups", "level_groups"]

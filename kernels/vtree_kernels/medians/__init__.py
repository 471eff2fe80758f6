"""medians: the best split of each (node, feature) by absolute errors around weighted medians.

    best = medians(codes, rows, start, stop, weight, sums, ranks, places, total, allowed, monotone,
                   lower, upper, limits, layout, n_codes)

codes, rows, start, stop, weight, sums and n_codes as for `histogram`; total, allowed, monotone,
lower, upper, limits and layout as for `scan`, and so are the candidates, their legality, the order
of ties and the result `Best`. No two nodes may share places of `rows`. What differs is what a
median needs, the rows themselves:

    ranks.rank (N, O) int32      place of the row's target in the tables, ascending with the target
    ranks.position (V,) float64  the target in the unit of `sums`, weight · position = sums
    ranks.value (V,) float64     the target itself
    places (L, G, B) int32       place of each code among the candidates, 0 where it counts as
                                 missing; or None for the codes' own order. `bin`, `next` and
                                 `allowed` are such places.

The error of rows around their lower median m is, from integer sums of weights w and sums s,

    E = (Σ_above s − Σ_below s) + position_m · (Σ_below w − Σ_above w),

exact where `sums` are exact products. (At exactly half the weight the second term is zero, and any
m up to the upper median has the same error.) A candidate's gain is the mean over outputs of
(E − E_left − E_right) · layout.unit, never below 0. A monotone constraint orders the medians of the
output of plane layout.ordered: values, halfway between two at exactly half the weight.
"""

from vtree_kernels._dispatch import Kernel
from vtree_kernels.medians import reference
from vtree_kernels.medians.reference import Ranks

medians = Kernel(
    reference.medians, cpu="vtree_kernels.medians.cpu", cuda="vtree_kernels.medians.cuda"
)

__all__ = ["Ranks", "medians"]

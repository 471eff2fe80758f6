"""gaps: where splits between two codes cut the values, halfway through the gap between their rows.

    bin, threshold = gaps(feature, bin, following, lines, drawn)

feature, bin, following (Q,) int32: as `scan` finds them, feature −1 where there is no split (bin
0, threshold 0.0 then); the codes between `bin` and `following` have no rows in the node. `lines`
says what the codes of F features stand for. Returns (Q,) int32 and float64.

    codes   1    2    3    4        bin 1, following 4: of single values, the threshold is the
    values  0.5  1.5  2.5  9.5      midpoint 5.0 and 3 the last code up to it; of ranges it is the
    edges     1.0  2.0  6.0         edge in the middle of the gap, for only edges divide codes and
                                    values alike

drawn (Q,): thresholds that are settled, of which only the bin is looked up; None without. Without a
following code, 0, all values go left and only missing ones right: the threshold is ∞. Code 0 stays,
and so do codes of categories, whose thresholds are 0.0.
"""

from vtree_kernels._dispatch import Kernel
from vtree_kernels.gaps import reference
from vtree_kernels.gaps.reference import Lines, midpoints

gaps = Kernel(reference.gaps, cpu="vtree_kernels.gaps.cpu")

__all__ = ["Lines", "gaps", "midpoints"]

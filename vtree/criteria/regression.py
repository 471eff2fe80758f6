"""Gains from sums of targets, and the loss of each row at its leaf's mean.

Squared error after Breiman et al. (1984, §8.3); Poisson deviance y log(y / mean) − y + mean, half
of the usual definition, as scikit-learn reports it. Several outputs count as their mean.
"""

from __future__ import annotations

from typing import Any

from vtree.elementary import choose, log


def squared_error(left: Any, right: Any, layout: Any) -> Any:
    """Return w_L w_R / w (mean_L − mean_R)², which equals the decrease of the sum of squares.

    With one division: (s_L w_R − s_R w_L)² / (w_L w_R w), s the sums of targets. No square of a
    sum is ever subtracted from another, so a large offset costs no digits.
    """
    left_weight, right_weight = left[layout.weight], right[layout.weight]
    total = 0.0
    for output in range(layout.outputs):
        k = layout.first + output
        difference = left[k] * right_weight - right[k] * left_weight
        difference = difference * layout.unit[output]
        total = total + difference * difference
    weight = (left_weight + right_weight) * layout.outputs
    return total / (left_weight * right_weight * weight)


def poisson(left: Any, right: Any, layout: Any) -> Any:
    """Return Σ_side s_side log(mean_side / mean), s the sums of targets (not centred).

    A side whose targets are all zero would predict an infinite deviance for any other count, so
    such a split is refused with −∞.
    """
    left_weight, right_weight = left[layout.weight], right[layout.weight]
    weight = left_weight + right_weight
    total, least = 0.0, left_weight
    for output in range(layout.outputs):
        k = layout.first + output
        least = choose(left[k] < least, left[k], least)
        least = choose(right[k] < least, right[k], least)
        s_left, s_right = choose(left[k] > 0.0, left[k], 1.0), choose(right[k] > 0.0, right[k], 1.0)
        mean = (s_left + s_right) / weight
        gain = s_left * log(s_left / left_weight / mean)
        gain = gain + s_right * log(s_right / right_weight / mean)
        total = total + gain * layout.unit[output]
    gain = choose(total > 0.0, total, 0.0) / layout.outputs
    return choose(least > 0.0, gain, -float("inf"))


def means(total: Any, start: Any, stop: Any, order: Any, targets: Any) -> Any:
    """Return the mean targets of nodes with statistics `total` (M, S), (M, O)."""
    layout = targets.layout
    share = total[:, layout.first :] / total[:, layout.weight, None]
    return targets.center + share * targets.scale


def mean(side: Any, layout: Any) -> Any:
    """Return the mean of the plane that is ordered, of planes: a target's, or a class's share."""
    return layout.center + side[layout.ordered] / side[layout.weight] * layout.scale


def squared_deviance(y: Any, mean: Any) -> Any:
    """Return (y − mean)², element by element."""
    difference = y - mean
    return difference * difference


def poisson_deviance(y: Any, mean: Any) -> Any:
    """Return y log(y / mean) − y + mean, element by element; mean where y is zero."""
    positive = choose(mean > 0.0, mean, 1.0)  # a mean of zero belongs to zeros alone
    ratio = choose(y > 0.0, y, positive) / positive
    deviance = y * log(ratio) - y + mean
    return choose(deviance > 0.0, deviance, 0.0)

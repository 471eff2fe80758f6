"""Gains from sums of derivatives (Chen & Guestrin 2016, equations 5 and 7, without the factor ½).

With R the sum of −g, H that of h, T the soft threshold by reg_alpha: a leaf answers T(R) / (H + λ),
and a split gains T(R_L)² / (H_L + λ) + T(R_R)² / (H_R + λ) − T(R)² / (H + λ). Where all h are one
and λ is zero, that is the decrease of the sum of squares.
"""

from __future__ import annotations

from typing import Any

from vtree.elementary import choose


def newton(left: Any, right: Any, layout: Any) -> Any:
    """Return the gain, layout.unit being (λ, reg_alpha) in the units of the planes.

    With a, b, c the H + λ of left, right and both, t the thresholded sums, s = t_L + t_R:
    (t_L b − t_R a)² / (a b (a + b)) + s² (1 / (a + b) − 1 / c) + (s² − t²) / c. Where λ and
    reg_alpha are zero only the first term is left, which loses no digits and is never negative.
    """
    shrink, clip = layout.unit[0], layout.unit[1]
    left_sum, right_sum = left[layout.first], right[layout.first]
    both = left_sum + right_sum
    t_left = choose(
        left_sum > clip, left_sum - clip, choose(left_sum < -clip, left_sum + clip, 0.0)
    )
    t_right = choose(
        right_sum > clip, right_sum - clip, choose(right_sum < -clip, right_sum + clip, 0.0)
    )
    t = choose(both > clip, both - clip, choose(both < -clip, both + clip, 0.0))
    a, b = left[layout.weight] + shrink, right[layout.weight] + shrink
    whole, c = a + b, a + b - shrink
    s = t_left + t_right
    difference = t_left * b - t_right * a
    gain = difference * difference / (a * b * whole)
    return gain - shrink * s * s / (c * whole) + (s - t) * (s + t) / c


def bounded_newton(left: Any, right: Any, layout: Any) -> Any:
    """Return the gain where answers are bounded, layout.unit being (λ, α, most).

    A side is worth 2 T(R) w − (H + λ) w², w being T(R) / (H + λ) drawn back to −most … most and to
    the node's layout.lower … layout.upper; without bounds that is T(R)² / (H + λ).
    """
    shrink, clip, most = layout.unit[0], layout.unit[1], layout.unit[2]
    lower, upper = layout.lower / layout.scale, layout.upper / layout.scale
    own = left[layout.first]
    kept = choose(own > clip, own - clip, choose(own < -clip, own + clip, 0.0))
    weight = left[layout.weight] + shrink
    step = kept / weight
    step = choose(step > most, most, choose(step < -most, -most, step))
    step = choose(step > upper, upper, choose(step < lower, lower, step))
    gain = step * (2.0 * kept - weight * step)
    own = right[layout.first]
    kept = choose(own > clip, own - clip, choose(own < -clip, own + clip, 0.0))
    weight = right[layout.weight] + shrink
    step = kept / weight
    step = choose(step > most, most, choose(step < -most, -most, step))
    step = choose(step > upper, upper, choose(step < lower, lower, step))
    gain = gain + step * (2.0 * kept - weight * step)
    own = left[layout.first] + right[layout.first]
    kept = choose(own > clip, own - clip, choose(own < -clip, own + clip, 0.0))
    weight = left[layout.weight] + right[layout.weight] + shrink
    step = kept / weight
    step = choose(step > most, most, choose(step < -most, -most, step))
    step = choose(step > upper, upper, choose(step < lower, lower, step))
    return gain - step * (2.0 * kept - weight * step)


def smoothed_newton(left: Any, right: Any, layout: Any) -> Any:
    """Return the gain where answers lean on those above, layout.unit being (λ, α, ∞, rows).

    Of n rows, w = T(R) / (H + λ) · n / (n + rows) + a · rows / (n + rows), with a what the node
    answers, layout.lower; a side is worth 2 T(R) w − (H + λ) w². The node itself leans on a, too.
    """
    shrink, clip, smooth = layout.unit[0], layout.unit[1], layout.unit[3]
    above = layout.lower / layout.scale
    own, weight = left[layout.first], left[layout.weight] + shrink
    kept = choose(own > clip, own - clip, choose(own < -clip, own + clip, 0.0))
    step = (kept / weight * left[0] + above * smooth) / (left[0] + smooth)
    gain = step * (2.0 * kept - weight * step)
    own, weight = right[layout.first], right[layout.weight] + shrink
    kept = choose(own > clip, own - clip, choose(own < -clip, own + clip, 0.0))
    step = (kept / weight * right[0] + above * smooth) / (right[0] + smooth)
    gain = gain + step * (2.0 * kept - weight * step)
    own = left[layout.first] + right[layout.first]
    weight = left[layout.weight] + right[layout.weight] + shrink
    rows = left[0] + right[0]
    kept = choose(own > clip, own - clip, choose(own < -clip, own + clip, 0.0))
    step = (kept / weight * rows + above * smooth) / (rows + smooth)
    return gain - step * (2.0 * kept - weight * step)


def worth(side: Any, layout: Any) -> Any:
    """Return T(R)² / (H + λ) of planes, as `newton` takes them, or what `smoothed_newton` takes."""
    shrink, clip, *more = layout.unit
    own, weight = side[layout.first], side[layout.weight] + shrink
    kept = choose(own > clip, own - clip, choose(own < -clip, own + clip, 0.0))
    if len(more) < 2:
        return kept * kept / weight
    smooth, above = more[1], layout.lower / layout.scale
    step = (kept / weight * side[0] + above * smooth) / (side[0] + smooth)
    return step * (2.0 * kept - weight * step)


def worth_of_answer(side: Any, layout: Any) -> Any:
    """Return 2 T(R) a − (H + λ) a² of planes, with a what the node answers, layout.lower."""
    shrink, clip = layout.unit[0], layout.unit[1]
    own, answer = side[layout.first], layout.lower / layout.scale
    kept = choose(own > clip, own - clip, choose(own < -clip, own + clip, 0.0))
    return answer * (2.0 * kept - (side[layout.weight] + shrink) * answer)


def steps(total: Any, start: Any, stop: Any, order: Any, targets: Any) -> Any:
    """Return T(R) / (H + λ) of nodes with statistics `total` (M, S), (M, 1), not beyond `most`."""
    layout = targets.layout
    shrink, clip, *most = layout.unit[:3]
    both = total[:, layout.first].astype("float64")
    size = abs(both) - clip
    kept = choose(size > 0.0, choose(both > 0.0, size, -size), 0.0)
    step = kept / (total[:, layout.weight] + shrink)
    for bound in most:
        step = step.clip(-bound, bound)
    return step[:, None] * targets.scale


def no_impurity(stats: Any, layout: Any) -> Any:
    """Return zeros (M,): a node's impurity is not asked for."""
    return 0.0 * stats[:, 0]

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


def lost(node: Any, layout: Any, children: Any) -> Any:
    """Return T(R)² / (H + λ) of a node, less what it is by the layout of its children.

    node: planes of one or more nodes, as `newton` takes them.
    """
    shrink, clip, own = layout.unit[0], layout.unit[1], node[layout.first]
    kept = choose(own > clip, own - clip, choose(own < -clip, own + clip, 0.0))
    worth = kept * kept / (node[layout.weight] + shrink)
    shrink, clip = children.unit[0], children.unit[1]
    kept = choose(own > clip, own - clip, choose(own < -clip, own + clip, 0.0))
    return worth - kept * kept / (node[layout.weight] + shrink)


def lost_leaning(node: Any, layout: Any, children: Any) -> Any:
    """Return the same where answers lean: what a node is worth by its own answer, layout.lower.

    That is 2 T(R) a − (H + λ) a², less what `smoothed_newton` takes by the layout of its children.
    """
    shrink, clip = layout.unit[0], layout.unit[1]
    above = layout.lower / layout.scale
    own, weight = node[layout.first], node[layout.weight] + shrink
    kept = choose(own > clip, own - clip, choose(own < -clip, own + clip, 0.0))
    worth = above * (2.0 * kept - weight * above)
    shrink, clip, smooth = children.unit[0], children.unit[1], children.unit[3]
    above = children.lower / children.scale
    own, weight = node[children.first], node[children.weight] + shrink
    kept = choose(own > clip, own - clip, choose(own < -clip, own + clip, 0.0))
    step = (kept / weight * node[0] + above * smooth) / (node[0] + smooth)
    return worth - step * (2.0 * kept - weight * step)


def step(side: Any, layout: Any) -> Any:
    """Return T(R) / (H + λ) of planes, in the units of what leaves answer."""
    shrink, clip = layout.unit[0], layout.unit[1]
    own, weight = side[layout.first], side[layout.weight] + shrink
    kept = choose(own > clip, own - clip, choose(own < -clip, own + clip, 0.0))
    return kept / weight * layout.scale


def bounded_step(side: Any, layout: Any) -> Any:
    """Return the same drawn back to −most … most, layout.unit being (λ, α, most)."""
    shrink, clip, most = layout.unit[0], layout.unit[1], layout.unit[2]
    own, weight = side[layout.first], side[layout.weight] + shrink
    kept = choose(own > clip, own - clip, choose(own < -clip, own + clip, 0.0))
    found = kept / weight
    found = choose(found > most, most, choose(found < -most, -most, found))
    return found * layout.scale


def steps(total: Any, start: Any, stop: Any, order: Any, targets: Any) -> Any:
    """Return T(R) / (H + λ) of nodes with statistics `total` (M, S), (M, 1), not beyond `most`."""
    layout = targets.layout
    found = (bounded_step if len(layout.unit) > 2 else step)(total.T, layout)
    return found[:, None]


def no_impurity(stats: Any, layout: Any) -> Any:
    """Return zeros (M,): a node's impurity is not asked for."""
    return 0.0 * stats[:, 0]

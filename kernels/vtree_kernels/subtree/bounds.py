"""How monotone constraints narrow the bounds of what nodes answer: of arrays, and compiled."""

from __future__ import annotations

from typing import Any

from vtree_kernels.elementary import choose


def narrowed(lower: Any, upper: Any, left: Any, right: Any, direction: Any) -> Any:
    """Return (lower, upper) of a node's left child, then those of its right one.

    lower, upper: the node's own; left, right: what its children answer, which is drawn back to
    these; direction: 1 where the node's feature must not decrease the answer, −1 increase, 0 free.
    What is below the lower child stays on its side of the middle between both.
    """
    left, right = choose(left > lower, left, lower), choose(right > lower, right, lower)
    left, right = choose(left < upper, left, upper), choose(right < upper, right, upper)
    middle = (left + right) / 2.0
    rising, falling = direction > 0, direction < 0
    own_left = choose(falling, middle, lower), choose(rising, middle, upper)
    own_right = choose(rising, middle, lower), choose(falling, middle, upper)
    return (*own_left, *own_right)

"""Bonferroni multipliers: in how many ways c levels could have been merged to r groups.

Kass 1980, equations for monotonic, free and floating predictors; for the exhaustive search the
numbers of comparisons after Biggs, de Ville and Suen 1991 as IBM SPSS documents them.
"""

from __future__ import annotations

from functools import lru_cache
from math import comb, factorial, log

NOMINAL, ORDINAL, FLOATING = 0, 1, 2  # FLOATING: ordinal, and one more level of no place


def partitions(c: int, r: int, kind: int) -> int:
    """Return how many groupings of c levels into r groups a predictor of this kind allows.

    >>> [partitions(5, r, NOMINAL) for r in (2, 3, 4)]
    [15, 25, 10]
    >>> [partitions(5, r, ORDINAL) for r in (2, 3, 4)], [partitions(5, r, FLOATING) for r in (2, 3)]
    ([4, 6, 4], [7, 12])
    """
    if kind == ORDINAL:
        return comb(c - 1, r - 1)
    if kind == FLOATING:
        # The floating level alone, or in one of r groups of the others.
        return comb(c - 2, r - 2) + r * comb(c - 2, r - 1)
    # Stirling's number of the second kind, in whole numbers: the terms alternate.
    signed: int = sum((-1) ** i * comb(r, i) * (r - i) ** c for i in range(r))
    return signed // factorial(r)


def comparisons(c: int, kind: int) -> int:
    """Return the multiplier of the exhaustive search over c levels.

    >>> comparisons(4, NOMINAL), comparisons(4, ORDINAL)
    (10, 6)
    """
    return c * (c * c - 1) // 6 if kind == NOMINAL else c * (c - 1) // 2


@lru_cache(maxsize=1 << 16)
def log_multiplier(c: int, r: int, kind: int, exhaustive: bool) -> float:
    """Return the logarithm of the multiplier for c levels in r groups, 2 <= r <= c."""
    return log(comparisons(c, kind) if exhaustive else partitions(c, r, kind))

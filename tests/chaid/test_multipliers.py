from itertools import product
from math import exp

import pytest

from vtree.chaid.multipliers import (
    FLOATING,
    NOMINAL,
    ORDINAL,
    comparisons,
    log_multiplier,
    partitions,
)

WORKED = {  # c: (nominal, ordinal, floating) for r = 2, 3, …, c − 1
    4: ([7, 6], [3, 3], [5, 5]),
    5: ([15, 25, 10], [4, 6, 4], [7, 12, 7]),
    6: ([31, 90, 65, 15], [5, 10, 10, 5], [9, 22, 22, 9]),
    7: ([63, 301, 350, 140, 21], None, None),
}


@pytest.mark.parametrize("c", WORKED)
def test_worked_values(c: int) -> None:
    for kind, expected in zip((NOMINAL, ORDINAL, FLOATING), WORKED[c], strict=True):
        if expected is not None:
            assert [partitions(c, r, kind) for r in range(2, c)] == expected


def _groupings(c: int, r: int, kind: int) -> int:
    """Count the groupings one by one."""
    found = set()
    for labels in product(range(r), repeat=c):
        groups = [tuple(level for level in range(c) if labels[level] == g) for g in range(r)]
        # The floating level is the last one and may sit anywhere.
        lines = [[v for v in group if kind == ORDINAL or v < c - 1] for group in groups]
        in_a_row = all(not line or line[-1] - line[0] == len(line) - 1 for line in lines)
        if all(groups) and (kind == NOMINAL or in_a_row):
            found.add(frozenset(groups))
    return len(found)


@pytest.mark.parametrize("kind", [NOMINAL, ORDINAL, FLOATING])
def test_counted_one_by_one(kind: int) -> None:
    for c in range(2, 7):
        for r in range(2, c + 1):
            assert partitions(c, r, kind) == _groupings(c, r, kind), (c, r)


def test_no_digit_is_lost_for_many_levels() -> None:
    # S(c, 2) = 2^(c − 1) − 1
    assert partitions(1000, 2, NOMINAL) == 2**999 - 1
    assert partitions(300, 300, NOMINAL) == 1


def test_exhaustive() -> None:
    assert [comparisons(c, NOMINAL) for c in (3, 4, 6)] == [4, 10, 35]
    assert [comparisons(c, ORDINAL) for c in (3, 4, 6)] == [3, 6, 15]
    assert exp(log_multiplier(6, 4, NOMINAL, True)) == pytest.approx(35)
    assert exp(log_multiplier(6, 4, NOMINAL, False)) == pytest.approx(65)

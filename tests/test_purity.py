import math

import numpy as np
from numpy.typing import NDArray

from tests.conftest import Namespace
from vtree.purity import impure
from vtree.targets import Targets, class_targets, real_targets

ROWS = np.arange(6, dtype=np.int32)


def _impure(targets: Targets, borders: list[int], order: NDArray[np.int32] = ROWS) -> list[bool]:
    start, stop = np.array(borders[:-1]), np.array(borders[1:])
    total = np.zeros((start.size, targets.layout.n_statistics), dtype=np.int64)
    for node in range(start.size):
        for row in order[start[node] : stop[node]]:
            total[node, 0] += 1
            total[node, targets.label[row]] += 1
    identity = targets.identity if targets.sums.shape[1] else None
    found = impure(total, start, stop, order, targets.layout, identity)
    return [bool(each) for each in found]


def test_classes() -> None:
    targets = class_targets(np.array([[0], [0], [1], [2], [2], [2]]), [3], None)
    assert _impure(targets, [0, 2, 4, 6]) == [False, True, False]


def test_a_difference_in_any_output_counts() -> None:
    codes = np.array([[0, 0], [0, 0], [1, 0], [1, 1], [1, 1], [1, 1]])
    targets = class_targets(codes, [2, 2], None)
    assert _impure(targets, [0, 2, 4, 6]) == [False, True, False]
    targets = real_targets(codes.astype(np.float64), None)
    assert _impure(targets, [0, 2, 4, 6]) == [False, True, False]


def test_reals_are_compared_exactly() -> None:
    y = np.array([0.1, 0.1, 0.1, math.nextafter(0.1, 1), 1e300, 1e300])[:, None]
    assert _impure(real_targets(y, None), [0, 2, 4, 6]) == [False, True, False]
    zeros = np.array([0.0, -0.0, 0.0, 5e-324, -0.0, -0.0])[:, None]
    assert _impure(real_targets(zeros, None), [0, 2, 4, 6]) == [False, True, False]


def test_the_order_of_rows_says_whose_they_are(xp: Namespace) -> None:
    targets = real_targets(np.array([0.0, 1.0, 0.0, 1.0, 0.0, 1.0])[:, None], None)
    order = xp.asarray(np.array([0, 2, 4, 1, 3, 5], dtype=np.int32))
    start, stop = np.array([0, 3, 2]), np.array([3, 6, 4])
    total = np.zeros((3, 2), dtype=np.int64)
    found = impure(total, start, stop, order, targets.layout, xp.asarray(targets.identity))
    assert xp.to_numpy(found).tolist() == [False, False, True]


def test_no_nodes() -> None:
    targets = real_targets(np.zeros((6, 1)), None)
    assert _impure(targets, [0]) == []


def test_where_nothing_is_known_of_the_rows_all_nodes_are_searched() -> None:
    total, start = np.zeros((2, 2), dtype=np.int64), np.array([0, 2])
    targets = real_targets(np.zeros((4, 1)), None)
    found = impure(total, start, start + 2, np.arange(4), targets.layout, np.zeros((4, 0)))
    assert found.tolist() == [True, True]

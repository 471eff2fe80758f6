from typing import Any

import numpy as np
import pytest

from tests.bits import assert_same_bits
from vtree_kernels.breadth_first import breadth_first


def test_levels_of_the_contract() -> None:
    first_child = np.array([1, 5, -1, -1, -1, -1, -1])
    n_children = np.array([2, 2, 0, 0, 0, 0, 0], dtype=np.int32)
    for order in (breadth_first, breadth_first.reference):
        assert order(first_child, n_children, np.array([0])).tolist() == [0, 1, 2, 5, 6]


@pytest.mark.parametrize("dtype", [np.int32, np.int64])
def test_twin_and_reference_agree(dtype: type) -> None:
    draw = np.random.default_rng(2)
    n_roots = 7
    first_child: Any = np.full(400, -1, dtype=dtype)
    n_children = np.zeros(400, dtype=np.int32)
    pending, made = list(range(n_roots)), n_roots
    while pending and made < 390:
        node = pending.pop(int(draw.integers(len(pending))))
        count = int(draw.integers(0, 5))
        if count == 1:  # left for good, though it says what its children would be
            n_children[node] = 3
        elif count:
            first_child[node], n_children[node] = made, count
            pending += range(made, made + count)
            made += count
    root = draw.permutation(n_roots)
    expected = breadth_first.reference(first_child, n_children, root)
    assert n_roots < expected.size <= made
    assert_same_bits(breadth_first.twin("cpu")(first_child, n_children, root), expected)


def test_one_number_stands_for_all() -> None:
    first_child = np.array([3, -1, -2, 1, -1], dtype=np.int32)
    root, alike = np.array([0]), np.array([2], dtype=np.int32)
    for order in (breadth_first, breadth_first.reference):
        assert order(first_child, alike, root).tolist() == [0, 3, 4, 1, 2]

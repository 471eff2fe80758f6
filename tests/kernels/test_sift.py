"""`sift` and `line_up` on every backend, beside a sort of each node by hand."""

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from tests.bits import assert_same_bits
from tests.conftest import Namespace
from vtree_kernels.sift import line_up, sift


def _lines(n_rows: int, dtype: Any = np.int32) -> tuple[NDArray[Any], NDArray[np.int32]]:
    random = np.random.default_rng(n_rows)
    return random.integers(0, 60, (n_rows, 3)).astype(dtype), random.integers(0, 4, n_rows, "i4")


@pytest.mark.parametrize("dtype", [np.uint8, np.uint16, np.int32])
@pytest.mark.parametrize("n_rows", [0, 1, 300])
def test_rows_in_the_order_of_codes(n_rows: int, dtype: Any, xp: Namespace) -> None:
    codes, label = _lines(n_rows, dtype)
    found = xp.to_numpy(line_up(xp.asarray(codes), xp.asarray(label), 2))
    for g in range(3):
        row = np.argsort(codes[:, g], kind="stable")
        key = codes[row, g].astype(np.int64) * 4 + label[row]
        assert_same_bits(found[g], key * 2**32 + row)


@pytest.mark.parametrize("most_children", [2, 5, 300])
@pytest.mark.parametrize("n_rows", [1, 40, 3000])
def test_each_node_by_child(n_rows: int, most_children: int, xp: Namespace) -> None:
    random = np.random.default_rng(n_rows + most_children)
    node, child = random.integers(0, 5, n_rows), random.integers(0, most_children, n_rows)
    if most_children > 2:
        child[node == 1] %= 2
    lines = line_up.reference(*_lines(n_rows), 2)

    def by(key: NDArray[Any]) -> NDArray[np.int64]:
        return np.stack([line[np.argsort(key[line & 0xFFFFFFFF], kind="stable")] for line in lines])

    own = np.array([n for n in range(5) if n != 3 and (node == n).any()])  # node 3 is a leaf
    inside = node != 3
    expected = by(node * most_children + np.where(inside, child, 0))
    rows = np.lexsort([np.where(inside, child, 0), node]).astype(np.int32)
    before = np.searchsorted(node[rows], np.arange(6))
    n_children = np.array([2 if most_children > 2 and n == 1 else most_children for n in own])
    lengths = [np.bincount(child[node == n], minlength=k)
               for n, k in zip(own.tolist(), n_children.tolist(), strict=True)]  # fmt: skip
    found = sift(
        xp.asarray(by(node)), xp.asarray(rows), before[own], before[own + 1], n_children,
        np.concatenate([np.empty(0, np.int64), *lengths]),
    )  # fmt: skip
    assert_same_bits(xp.to_numpy(found), expected)

"""Nodes in the order of their gains: the twin's are the definition's, ties as they came."""

from typing import Any

import numpy as np
import pytest

from vtree_kernels.best_first import best_first


def _trees(n_roots: int, n_splits: int, seed: int) -> tuple[Any, Any, Any, Any, Any]:
    draw = np.random.default_rng(seed)
    size = n_roots + 2 * n_splits + n_splits  # some have three children
    first, count = np.full(size, -1), np.zeros(size, np.int32)
    used = n_roots
    for node in range(size):
        if used + 3 <= size and draw.random() < 0.7:
            first[node], count[node] = used, draw.integers(2, 4)
            used += int(count[node])
        if node + 1 >= used:
            break
    feature = np.where((first >= 0) | (draw.random(size) < 0.5), 1, -1).astype(np.int32)
    gain = draw.integers(0, 6, size).astype(np.float64)  # with ties
    return gain, feature, first, count, np.arange(n_roots)


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("most", [0, 1, 5, 1000, 2**63 - 1, 10**20])
def test_twins_agree(seed: int, most: int) -> None:
    nodes = _trees(1 + seed % 3, 40, seed)
    found = best_first.twin("cpu")(*nodes, most)
    for own, other in zip(found, best_first.reference(*nodes, most), strict=True):
        assert own.dtype == np.int64
        np.testing.assert_array_equal(own, other)
    assert found[0].size + found[1].size <= most * nodes[4].size


def test_worked_example() -> None:
    #      0 (9)          2 gains more than 1; below it 5 is not split yet, and as good as 1 is,
    #    ┌──┴──┐          which has waited longer
    #   1 (4)  2 (6)
    #   ┌┴┐    ┌┴┐
    #   3 4    5 6        5 (4), 3 (1); 4 and 6 cannot be split
    gain = np.array([9.0, 4.0, 6.0, 1.0, -np.inf, 4.0, -np.inf])
    feature = np.array([0, 0, 0, 0, -1, 0, -1], dtype=np.int32)
    first = np.array([1, 3, 5, -1, -1, -1, -1])
    count = np.array([2, 2, 2, 2, 0, 2, 0], dtype=np.int32)
    for call in (best_first, best_first.reference):
        split, wanted = call(gain, feature, first, count, np.array([0]), 4)
        assert (split.tolist(), wanted.tolist()) == ([0, 2, 1], [5])
        split, wanted = call(gain, feature, first.astype(np.int32), count, np.array([0]), 10)
        assert (split.tolist(), wanted.tolist()) == ([0, 2, 1], [5, 3])
        # Below 5 two guesses of 1.6 are met before 3.
        assert call(gain, feature, first, count, np.array([0]), 6)[1].tolist() == [5]
        assert call(gain, feature, first, count, np.array([0]), 7)[1].tolist() == [5, 3]
        assert call(gain, feature, first, count, np.array([4]), 10)[0].size == 0

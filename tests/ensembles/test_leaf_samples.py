"""Weights, quantiles and proximities beside loops over trees and rows."""

import numpy as np
import pytest
from scipy import sparse

from vtree.ensembles import leaf_samples
from vtree.ensembles.leaf_samples import (
    blocks,
    leaf_columns,
    proximities,
    shares_of_rows,
    weighted_quantiles,
)

DRAW = np.random.default_rng(0)
TRAINING = np.stack([DRAW.integers(0, 4, 30), 4 + DRAW.integers(0, 3, 30)], axis=1)  # two trees
OTHERS = np.stack([DRAW.integers(0, 4, 7), 4 + DRAW.integers(0, 3, 7)], axis=1)
TIMES = DRAW.integers(0, 3, (30, 2))


def test_weights_are_the_mean_shares_of_leaves() -> None:
    found = (leaf_columns(OTHERS, 7) @ shares_of_rows(TRAINING, TIMES, 7)).toarray()
    expected = np.zeros((7, 30))
    for row in range(7):
        for tree in range(2):
            together = TRAINING[:, tree] == OTHERS[row, tree]
            own = np.where(together, TIMES[:, tree], 0)
            expected[row] += own / own.sum() / 2
    np.testing.assert_allclose(found, expected, rtol=1e-14)


def test_a_quantile_is_the_least_target_whose_weight_reaches_it() -> None:
    y = np.array([1.0, 2.0, 5.0, 9.0])
    weights = sparse.csr_matrix([[0.25] * 4, [0.0, 0.7, 0.0, 0.3], [0.1, 0.2, 0.3, 0.4]])
    levels = np.array([0.0, 0.25, 0.3, 0.5, 0.7, 0.71, 1.0])
    expected = [[1, 1, 2, 2, 5, 5, 9], [2, 2, 2, 2, 2, 9, 9], [1, 2, 2, 5, 9, 9, 9]]
    np.testing.assert_array_equal(weighted_quantiles(weights, y, levels), expected)


@pytest.mark.parametrize("most", [3, 100])
@pytest.mark.parametrize("cells", [1 << 22, 40])
def test_proximities_are_the_shares_of_common_leaves(
    most: int, cells: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(leaf_samples, "_CELLS", cells)
    found = proximities(leaf_columns(OTHERS, 7), leaf_columns(TRAINING, 7), most).toarray()
    whole = (OTHERS[:, None] == TRAINING[None]).mean(axis=2)
    for own, expected in zip(found, whole, strict=True):
        kept = np.argsort(-expected, kind="stable")[:most]
        np.testing.assert_array_equal(own[kept], expected[kept])
        assert np.count_nonzero(own) == min(most, np.count_nonzero(expected))


def test_blocks_cover_all_rows() -> None:
    assert blocks(0, 5) == []
    rows = np.arange(10)
    pieces = [rows[each] for each in blocks(10, 1 << 21)]
    assert [piece.size for piece in pieces] == [2, 2, 2, 2, 2]
    np.testing.assert_array_equal(np.concatenate(pieces), rows)

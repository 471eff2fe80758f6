"""Trees without a target: a random feature that varies, cut between its extremes."""

import numpy as np
import pytest

from vtree import RandomTreesEmbedding


def test_features_are_drawn_evenly_and_cut_uniformly() -> None:
    x = np.linspace(2.0, 6.0, 40)
    X = np.stack([x**2, -x, np.ones(40)], axis=1)
    model = RandomTreesEmbedding(2000, max_depth=1, random_state=0).fit(X)
    root = model.grown_.root
    feature, cut = model.grown_.feature[root], model.grown_.threshold[root]
    share = np.bincount(feature, minlength=3) / 2000
    # A constant feature is passed over; the standard error of a half is 0.011.
    assert share[2] == 0.0 and share[0] == pytest.approx(0.5, abs=0.045)
    squares = cut[feature == 0]
    assert squares.min() >= 4.0 and squares.max() < 36.0
    np.testing.assert_allclose(np.quantile(squares, [0.25, 0.5, 0.75]), [12, 20, 28], atol=2.0)


def test_rows_that_are_alike_stay_together() -> None:
    X = np.repeat([[0.0, 1.0], [2.0, 3.0]], [5, 7], axis=0)
    model = RandomTreesEmbedding(10, max_depth=None, random_state=0).fit(X)
    assert all(tree.get_n_leaves() == 2 for tree in model)


def test_missing_values_go_to_either_side() -> None:
    X = np.random.default_rng(0).normal(size=(60, 1))
    X[::5] = np.nan
    forests = [
        RandomTreesEmbedding(20, max_depth=1, random_state=seed).fit(X).grown_ for seed in range(20)
    ]
    left = np.mean([forest.missing_child[forest.root] == 0 for forest in forests])
    assert 0.35 < left < 0.65

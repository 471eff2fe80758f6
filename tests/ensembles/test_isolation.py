"""Path lengths of isolation trees, beside scikit-learn's and walks down the trees by hand."""

import numpy as np
import pytest
from sklearn.ensemble._iforest import _average_path_length

import vtree
from vtree.ensembles.isolation import anomaly_score, average_path_length, with_path_lengths


def test_the_average_path_length_is_that_of_a_search_tree() -> None:
    n_rows = np.array([0, 1, 2, 3, 5, 256, 999, 10**9])
    np.testing.assert_allclose(
        average_path_length(n_rows), _average_path_length(n_rows), rtol=1e-14
    )
    # The exact mean, 2 H(n − 1) − 2 (n − 1) / n, which the logarithm approaches from below.
    exact = 2 * (1 / np.arange(1, 256)).sum() - 2 * 255 / 256
    assert 0.0 < exact - average_path_length(256) < 1 / 255


def test_a_nodes_answer_is_its_depth_and_what_its_rows_would_have_taken() -> None:
    X = np.random.default_rng(0).normal(size=(40, 2))
    forest = vtree.RandomTreesEmbedding(1, max_depth=3, random_state=0).fit(X).grown_
    own = with_path_lengths(forest, 40)
    whole = average_path_length(40)
    node_depth = {0: 0}
    for node, child in enumerate(forest.first_child.tolist()):
        if child >= 0:
            node_depth |= dict.fromkeys((child, child + 1), node_depth[node] + 1)
    for node, level in node_depth.items():
        below = average_path_length(forest.n_rows[node])
        assert own.value[node, 0] == pytest.approx((level + below) / whole, rel=1e-14)


def test_the_average_row_scores_one_half_and_a_single_row_does_too() -> None:
    np.testing.assert_array_equal(anomaly_score(np.array([0.0, 1.0, 2.0])), [1.0, 0.5, 0.25])
    alone = vtree.IsolationForest(n_estimators=3, random_state=0).fit([[1.0, 2.0]])
    assert alone.score_samples([[1.0, 2.0], [5.0, 9.0]]).tolist() == [-0.5, -0.5]

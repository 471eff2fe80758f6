"""Collapse: subtrees without use in training go."""

import numpy as np
import pytest

from vtree import C45Classifier
from vtree.pruning.collapsing import collapsed, training_errors


@pytest.mark.parametrize("upward", [True, False])
def test_splits_that_save_no_error_go(upward: bool) -> None:
    X = np.array([0.0] * 10 + [1.0] * 10)[:, None]
    y = np.array([0] * 9 + [1] + [0] * 6 + [1] * 4)
    whole = C45Classifier(prune=False, collapse=False, mdl_correction=False, min_objects=1)
    tree = whole.fit(X, y).grown_
    assert tree.feature.size == 3
    np.testing.assert_allclose(training_errors(tree), [5.0, 1.0, 4.0])
    assert collapsed(tree, upward=upward).feature.size == 1


@pytest.mark.parametrize("upward", [True, False])
def test_useful_splits_stay(upward: bool) -> None:
    X = np.arange(20.0)[:, None]
    tree = C45Classifier(prune=False).fit(X, X[:, 0] > 7).grown_
    assert collapsed(tree, upward=upward).feature.size == 3


def test_parity_is_kept_whole_below_a_useless_split() -> None:
    X = np.array([[a, b] for a in (0.0, 1.0) for b in (0.0, 1.0)] * 5)
    y = (X[:, 0] != X[:, 1]).astype(int)
    model = C45Classifier(categorical_features=[True, True], prune=False).fit(X, y)
    assert (model.predict(X) == y).all()

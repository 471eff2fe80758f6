"""Rows without a value become fractions of rows in all branches."""

import numpy as np
import pytest

from tests.c45_golden import split_table
from vtree import C45Classifier
from vtree.fractions import divisible, parts
from vtree.targets import class_targets


def test_weights_of_divisible_rows() -> None:
    targets = class_targets(np.array([[0], [1], [1]]), [2], np.array([1.0, 3.0, 0.5]))
    own, whole = divisible(targets)
    assert own.weight is not None
    np.testing.assert_array_equal(own.weight * own.weight_unit, [1.0, 3.0, 0.5])
    assert whole.tolist() == [2, 6, 1]
    assert own.layout.weight == 1 and own.layout.implied == 0
    assert int(own.weight.sum()).bit_length() == 52
    assert (own.label[:, 0] - own.layout.first).tolist() == [0, 1, 1]


def test_parts_are_rounded_half_to_even_in_units_of_the_row() -> None:
    weight, whole = np.array([10, 30, 14]), np.array([1, 3, 1])
    found = parts(weight, whole, np.array([0.25, 0.25, 0.25]))
    assert found.tolist() == [2, 6, 4]  # 2.5 → 2, three times that, 3.5 → 4


def test_the_golf_case_without_outlook() -> None:
    X, y, _, _ = split_table("golf_missing.all")
    model = C45Classifier(prune=False).fit(X, y)
    tree = model.grown_
    # overcast, rainy, sunny: 3 + 3/13, 5 + 5/13, 5 + 5/13, and the parts below them
    expected = [14, 3.230769231, 5.384615385, 5.384615385, 3.0, 2.384615385, 2.0, 3.384615385]
    np.testing.assert_allclose(tree.weight, expected, atol=1e-8)


def test_errors_expected_of_the_golf_case() -> None:
    X, y, _, _ = split_table("golf_missing.all")
    errors = C45Classifier().fit(X, y).predicted_errors_
    expected = [6.137836, 1.127213, 1.110118, 1.386414, 1.0, 1.514090]
    np.testing.assert_allclose(errors[[0, 1, 4, 5, 6, 7]], expected, atol=2e-6)


@pytest.mark.parametrize("share", [0.05, 0.4])
def test_children_share_all_the_weight(share: float) -> None:
    random = np.random.default_rng(2)
    X = random.normal(size=(400, 4)).round(1)
    y = (X[:, 0] + X[:, 1] > 0).astype(int)
    X[random.random(X.shape) < share] = np.nan
    tree = C45Classifier(prune=False, collapse=False).fit(X, y).grown_
    split = np.flatnonzero(tree.first_child >= 0)
    assert split.size > 3
    below = tree.weight[tree.first_child[split]] + tree.weight[tree.first_child[split] + 1]
    np.testing.assert_allclose(below, tree.weight[split], rtol=1e-9)

"""Slim trees: what is left out, what comes back, and arrays that do not belong together."""

from typing import Any

import numpy as np
import pytest

from tests.samples import classes, reals
from vtree import C45Classifier, DecisionTreeClassifier, RandomForestRegressor
from vtree.errors import InputError
from vtree.interop.slim import FIELDS, packed, unpacked
from vtree.interop.tree_checks import fault_of_tree
from vtree.predict import leaves
from vtree.tree import Tree

X, Y = classes(120)
NUMBERS = np.full(4, -1)


def _table() -> tuple[Any, Any]:
    table = np.round(X, 1)
    table[:, 2] = np.random.default_rng(0).integers(0, 5, 120)
    table[::7, 0] = np.nan
    return table, np.array([-1, -1, 5, -1])


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_trees_come_back_without_what_training_knew(dtype: Any) -> None:
    table, _ = _table()
    whole = DecisionTreeClassifier(categorical_features=[2]).fit(table, Y)
    tree, levels = whole.grown_, np.array([-1, -1, 5, -1])
    arrays = packed(tree, dtype)
    assert set(arrays) == set(FIELDS)
    again = unpacked(arrays, levels)
    assert fault_of_tree(again, levels) is None
    zero = ("weight", "n_rows", "impurity", "gain", "bin", "value")
    for name in set(Tree._fields) - set(zero):
        np.testing.assert_array_equal(getattr(again, name), getattr(tree, name), err_msg=name)
        assert getattr(again, name).dtype == getattr(tree, name).dtype
    leaf = tree.feature < 0
    np.testing.assert_array_equal(again.value[leaf], tree.value[leaf].astype(dtype))
    assert not any(getattr(again, name).any() for name in zero[:-1])
    np.testing.assert_array_equal(leaves(again, table), leaves(tree, table))


def test_a_slim_forest_is_a_sixth_of_a_whole_one() -> None:
    forest = RandomForestRegressor(5, random_state=0).fit(*reals()).grown_
    whole = sum(array.nbytes for array in forest)
    assert sum(array.nbytes for array in packed(forest).values()) < whole / 6
    assert sum(array.nbytes for array in packed(forest, np.float32).values()) < whole / 7.5


def test_one_leaf_is_a_tree_too() -> None:
    tree = DecisionTreeClassifier().fit(X, np.zeros(120)).grown_
    again = unpacked(packed(tree), NUMBERS)
    np.testing.assert_array_equal(again.value, tree.value)


def test_trees_that_ask_more_than_leaves_are_refused() -> None:
    table, _ = _table()
    tree = C45Classifier(categorical_features=[2]).fit(table, Y).grown_
    with pytest.raises(InputError, match="binary splits"):
        packed(tree)


@pytest.mark.parametrize(
    "change",
    [
        {"feature": np.zeros((0,), np.int8)},
        {"feature": np.zeros((3, 2), np.int8)},
        {"feature": np.array([0.0, -1.0, -1.0])},
        {"feature": np.array([9, -1, -1], np.int8)},
        {"feature": np.array([-5, -1, -1], np.int8)},
        {"threshold": np.zeros(2)},
        {"threshold": np.zeros(1, np.int64)},
        {"missing_child": np.zeros(0, np.uint8)},
        {"value": np.zeros((3, 2))},
        {"value": np.zeros(2)},
        {"root": np.array([1], np.int32)},
        {"root": np.array([0, 3], np.int32)},
        {"root": np.array([0, 0], np.int32)},
        {"root": np.zeros(0, np.int32)},
        {"root": np.array([0])},
        {"feature": np.array([-1, 0, -1], np.int8)},
        {"missing_child": np.array([7], np.uint8)},
        {"branch_map": np.zeros(4, np.uint8)},
        {"threshold": np.array([np.nan])},
    ],
)
def test_arrays_that_do_not_belong_together_are_refused(change: dict[str, Any]) -> None:
    sound: dict[str, Any] = {
        "feature": np.array([0, -1, -1], np.int8),
        "threshold": np.zeros(1),
        "missing_child": np.zeros(1, np.uint8),
        "value": np.ones((2, 2)),
        "root": np.zeros(1, np.int32),
        "branch_map": np.zeros(0, np.uint8),
    }
    assert fault_of_tree(unpacked(sound, NUMBERS), NUMBERS) is None
    try:
        tree = unpacked({**sound, **change}, NUMBERS)
    except InputError:
        return
    assert fault_of_tree(tree, NUMBERS) is not None

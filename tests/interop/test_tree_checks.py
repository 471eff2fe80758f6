from typing import Any

import numpy as np
import pytest

from vtree.interop.tree_checks import DTYPES, fault_of_tree
from vtree.tree import Tree

LEVELS = np.array([-1, 2, 3])


def _nodes(tree: Tree, some: slice) -> Tree:
    arrays: dict[str, Any] = tree._asdict()
    return Tree(**{name: array[some] for name, array in arrays.items()})


def test_trees_have_no_fault(hand_made: Tree, grown: Tree) -> None:
    assert fault_of_tree(hand_made, LEVELS) is None
    assert fault_of_tree(grown, np.array([-1, -1, 5])) is None


def test_a_lone_leaf_has_no_fault(hand_made: Tree) -> None:
    leaf = _nodes(hand_made, slice(2, 3))._replace(
        branch_map=np.empty(0, dtype=np.uint8), root=np.zeros(1, dtype=np.int32)
    )
    assert fault_of_tree(leaf, np.array([-1])) is None


def test_the_table_names_each_array() -> None:
    assert tuple(DTYPES) == Tree._fields


@pytest.mark.parametrize(
    ("name", "index", "number", "fault"),
    [
        ("feature", 0, 3, "feature is −1 or below 3; number 0"),
        ("feature", 0, -2, "only nodes with a feature"),
        ("feature", 0, -1, "only nodes with a feature"),
        ("feature", 2, 0, "only nodes with a feature"),
        ("feature", 2, -2, "feature is −1 or below 3; number 2"),
        ("kind", 0, 3, "kind is 0, 1 or 2"),
        ("kind", 0, -1, "kind is 0, 1 or 2"),
        ("kind", 2, 1, "kind is 0 at leaves"),
        ("kind", 5, 1, "binary splits have 2 children; number 5"),
        ("kind", 0, 1, "only splits by categories have a branch map"),
        ("kind", 1, 0, "map_offset is −1 where no map is used; number 1"),
        ("threshold", 0, np.nan, "threshold is a number"),
        ("threshold", 8, np.nan, "threshold is a number"),
        ("first_child", 0, 0, "first_child follows"),
        ("first_child", 0, 2, "first_child follows"),
        ("first_child", 1, 1, "first_child follows"),
        ("first_child", 5, 5, "first_child follows"),
        ("first_child", 0, 2**31 - 1, "first_child follows"),
        ("first_child", 0, -2, "first_child is −1 or a node"),
        ("first_child", 0, -(2**31), "first_child is −1 or a node"),
        ("n_children", 0, 1, "n_children is 0 at leaves, 2 or more at splits; number 0"),
        ("n_children", 2, 2, "n_children is 0 at leaves, 2 or more at splits; number 2"),
        ("n_children", 2, -1, "n_children is 0 at leaves"),
        ("n_children", 0, 2**31 - 1, "first_child follows"),
        ("n_children", 5, 2, "each node of a tree but its root has one parent; number 1"),
        ("n_children", 5, 2**31 - 1, "each node of a tree but its root has one parent"),
        ("missing_child", 0, 2, "missing_child is −1 or below n_children"),
        ("missing_child", 0, -2, "missing_child is −1 or below n_children"),
        ("missing_child", 2, 0, "missing_child is −1 or below n_children"),
        ("map_offset", 5, 2, "branch maps lie back to back; number 5"),
        ("map_offset", 5, 2**62, "branch maps lie back to back"),
        ("map_offset", 1, -1, "branch maps lie back to back"),
        ("map_offset", 2, 0, "map_offset is −1 where no map is used"),
        ("branch_map", 2, 2, "branch_map is below n_children; number 2"),
        ("branch_map", 4, 3, "branch_map is below n_children; number 4"),
        ("value", (8, 1), np.nan, "value is finite; number 8"),
        ("value", (0, 0), np.inf, "value is finite; number 0"),
        ("weight", 3, -0.5, "weight is finite and not negative; number 3"),
        ("weight", 3, np.inf, "weight is finite"),
        ("impurity", 3, np.nan, "impurity is finite"),
        ("gain", 3, -np.inf, "gain is finite"),
        ("n_rows", 3, -1, "n_rows is not negative"),
        ("root", 0, 1, "the first root is node 0"),
        ("root", 1, 0, "roots ascend"),
        ("root", 1, 9, "roots ascend and are below 9"),
        ("root", 1, -1, "roots ascend"),
        ("root", 1, 4, "first_child follows"),
    ],
)
def test_each_wrong_number_is_found(
    hand_made: Tree, name: str, index: Any, number: float, fault: str
) -> None:
    array = getattr(hand_made, name).copy()
    array[index] = number
    assert fault in str(fault_of_tree(hand_made._replace(**{name: array}), LEVELS))


@pytest.mark.parametrize(
    ("changes", "fault"),
    [
        ({"feature": np.zeros(9, dtype=np.int64)}, "feature is an array of int32, not int64"),
        ({"feature": [0]}, "feature is an array of int32, not list"),
        ({"feature": np.zeros((9, 1), dtype=np.int32)}, "feature has 1 axes, not 2"),
        ({"value": np.zeros(9)}, "value has 2 axes, not 1"),
        ({"value": np.zeros((9, 0))}, "not the shape (9, 0)"),
        ({"gain": np.zeros(8)}, "gain has 8 nodes and feature has 9"),
        ({"value": np.zeros((8, 1))}, "value has 8 nodes"),
        ({"root": np.empty(0, dtype=np.int32)}, "the first root is node 0"),
        ({"branch_map": np.zeros(6, dtype=np.uint8)}, "branch_map has 7 entries"),
        ({"branch_map": np.zeros(8, dtype=np.uint8)}, "branch_map has 7 entries"),
    ],
)
def test_each_wrong_shape_is_found(hand_made: Tree, changes: dict[str, Any], fault: str) -> None:
    assert fault in str(fault_of_tree(hand_made._replace(**changes), LEVELS))


def test_no_nodes_are_a_fault(hand_made: Tree) -> None:
    assert "not the shape (0, 2)" in str(fault_of_tree(_nodes(hand_made, slice(0)), LEVELS))


def test_children_of_a_later_node_are_found() -> None:
    # Each node has one parent, but nodes 1 and 2 are a circle apart from the root.
    leaf_and_circle = Tree(
        feature=np.array([-1, 0, -1], dtype=np.int32),
        kind=np.zeros(3, dtype=np.int8),
        bin=np.zeros(3, dtype=np.int32),
        threshold=np.zeros(3),
        first_child=np.array([-1, 1, -1], dtype=np.int32),
        n_children=np.array([0, 2, 0], dtype=np.int32),
        missing_child=np.full(3, -1, dtype=np.int32),
        map_offset=np.full(3, -1),
        branch_map=np.empty(0, dtype=np.uint8),
        value=np.zeros((3, 1)),
        weight=np.zeros(3),
        n_rows=np.zeros(3, dtype=np.int64),
        impurity=np.zeros(3),
        gain=np.zeros(3),
        root=np.zeros(1, dtype=np.int32),
    )
    fault = fault_of_tree(leaf_and_circle, np.array([-1]))
    assert fault == "children come after their parent; number 1 breaks this"


def test_levels_that_are_fewer_than_the_map_are_found(hand_made: Tree) -> None:
    assert "back to back" in str(fault_of_tree(hand_made, np.array([-1, 1, 3])))
    assert "branch_map has 6 entries" in str(fault_of_tree(hand_made, np.array([-1, 2, 2])))

from typing import Any

import numpy as np
import pytest

from vtree.interop.model_checks import fault_of_header, fault_of_model, n_levels_of
from vtree.tree import Tree

HEADER: dict[str, Any] = {"n_features": 3, "levels": [None, np.arange(5), None]}
EDGES = [np.array([0.5, 1.5]), None, None]


def test_levels_that_trees_may_split_by() -> None:
    assert n_levels_of(HEADER).tolist() == [-1, 5, -1]
    assert n_levels_of(HEADER | {"edges": EDGES, "n_derived": 2}).tolist() == [3, 5, -1, -1, -1]
    assert n_levels_of(HEADER | {"edges_of_trees": [EDGES, [None] * 3]}).tolist() == [
        [3, 5, -1],
        [-1, 5, -1],
    ]


@pytest.mark.parametrize(
    ("change", "fault"),
    [
        ({"n_features": True}, "n_features is an int"),
        ({"levels": [None]}, "levels is a list of n_features = 3"),
        ({"n_derived": -1}, "n_derived is an int"),
        ({"edges": [None, np.array([0.5]), None]}, "edges is None or"),
        ({"edges": [np.array([1.5, 0.5]), None, None]}, "edges is None or"),
        ({"edges_of_trees": []}, "edges_of_trees is None or"),
        ({"feature_names": ["a", "b", 1]}, "feature_names is None or 3 strings"),
        ({"classes": np.empty(0)}, "classes is None or"),
    ],
)
def test_headers_that_describe_no_model(change: dict[str, Any], fault: str) -> None:
    assert fault_of_header(HEADER) is None
    assert fault in str(fault_of_header(HEADER | change))


def test_trees_belong_to_their_headers(hand_made: Tree) -> None:
    header = {"n_features": 3, "levels": [None, np.arange(2), np.arange(3)]}
    assert fault_of_model(header, hand_made) is None
    fault = fault_of_model({"n_features": 1, "levels": [None]}, hand_made)
    assert str(fault).startswith("of its tree, ")

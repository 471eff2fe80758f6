"""Prediction by surrogates beside one row at a time."""

import numpy as np
import pytest

from tests.conftest import NAMESPACES
from tests.surrogates.tables import gappy
from tests.surrogates.test_router import grown_by_surrogates
from vtree.surrogates import come_to_rest
from vtree.surrogates.rules import NO_WAY, Rules
from vtree.tree import Tree


def _one_row(tree: Tree, rules: Rules, x: np.ndarray) -> int:
    node = 0
    while tree.first_child[node] >= 0:
        child = -1
        for rule in np.flatnonzero(rules.node == node).tolist():
            value = x[rules.feature[rule]]
            if np.isnan(value):
                continue
            if rules.kind[rule]:
                child = int(rules.branch_map[rules.map_offset[rule] + int(value) + 1])
                child = -1 if child == NO_WAY else child
            else:
                low = value <= rules.threshold[rule]
                child = int(rules.low_child[rule]) if low else 1 - int(rules.low_child[rule])
            if child >= 0:
                break
        child = int(tree.missing_child[node]) if child < 0 else child
        if child < 0:
            break
        node = int(tree.first_child[node]) + child
    return node


@pytest.mark.parametrize("to_larger", [False, True])
@pytest.mark.parametrize("count", [0, 1, 4])
def test_row_by_row(count: int, to_larger: bool) -> None:
    tree, rules = grown_by_surrogates(count, to_larger=to_larger)
    X = gappy(150, 8).X
    found = come_to_rest(tree, rules, X)
    assert found.shape == (150, 1)
    assert found[:, 0].tolist() == [_one_row(tree, rules, x) for x in X]
    for make in NAMESPACES.values():
        assert (come_to_rest(tree, rules, make().asarray(X)) == found).all()


def test_no_rows_and_no_splits() -> None:
    tree, rules = grown_by_surrogates(2, to_larger=True)
    assert come_to_rest(tree, rules, np.zeros((0, 5))).shape == (0, 1)
    single = Rules._make(array[:0] for array in rules)
    alone = tree._replace(
        **{name: array[-1:] for name, array in tree._asdict().items() if name not in _SHARED},
        root=np.zeros(1, dtype=np.int32),
    )
    assert come_to_rest(alone, single, np.full((2, 5), np.nan)).tolist() == [[0], [0]]


_SHARED = ("root", "branch_map")

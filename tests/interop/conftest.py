"""Trees that the tests of files share."""

import numpy as np
import pytest

from vtree.binning import bin_table
from vtree.criteria import CLASSIFICATION
from vtree.finish import finish
from vtree.growth import grow
from vtree.plan import Plan
from vtree.sampling import Draw
from vtree.splits import Search
from vtree.targets import class_targets
from vtree.tree import Tree
from vtree_kernels.scan import Limits


@pytest.fixture
def hand_made() -> Tree:
    """Give two trees over (number, 2 levels, 3 levels), with one split of each kind.

    0 ─ number <= 0.5 ┬ 1 ─ feature 1 ┬ 3        5 ─ feature 2 ┬ 6
                      │               └ 4                      ├ 7
                      └ 2                                      └ 8
    """
    return Tree(
        feature=np.array([0, 1, -1, -1, -1, 2, -1, -1, -1], dtype=np.int32),
        kind=np.array([0, 1, 0, 0, 0, 2, 0, 0, 0], dtype=np.int8),
        bin=np.array([3, 0, 0, 0, 0, 0, 0, 0, 0], dtype=np.int32),
        threshold=np.array([0.5, 0, 0, 0, 0, 0, 0, 0, 0]),
        first_child=np.array([1, 3, -1, -1, -1, 6, -1, -1, -1], dtype=np.int32),
        n_children=np.array([2, 2, 0, 0, 0, 3, 0, 0, 0], dtype=np.int32),
        missing_child=np.array([1, 0, -1, -1, -1, -1, -1, -1, -1], dtype=np.int32),
        map_offset=np.array([-1, 0, -1, -1, -1, 3, -1, -1, -1], dtype=np.int64),
        branch_map=np.array([0, 1, 0, 0, 2, 1, 0], dtype=np.uint8),
        value=np.linspace(0, 1, 18).reshape(9, 2),
        weight=np.arange(9.0),
        n_rows=np.arange(9),
        impurity=np.full(9, 0.25),
        gain=np.array([0.5, 0.25, 0, 0, 0, 0.125, 0, 0, 0]),
        root=np.array([0, 5], dtype=np.int32),
    )


@pytest.fixture(scope="session")
def grown() -> Tree:
    """Give two trees that growth made of 2 numbers and a feature of 5 levels, for 3 classes."""
    rng = np.random.default_rng(7)
    X = rng.normal(size=(80, 3))
    X[:, 2] = rng.integers(0, 5, size=80)
    X[::9, 0] = np.nan
    X[::7, 2] = np.nan
    codes = (np.nan_to_num(X[:, 2]) + (X[:, 1] > 0)).astype(np.int64) % 3
    criterion = CLASSIFICATION["gini"]
    targets = class_targets(codes[:, None], [3], None)
    search = Search(criterion, targets.layout, Limits(), Draw(), None)
    roots = [np.arange(60), np.arange(20, 80)]
    grown, rows, branch_map = grow(
        bin_table(X, np.array([-1, -1, 5])), targets, Plan(search), roots=roots
    )
    tree = finish(grown, rows, branch_map, targets, criterion)
    assert set(tree.kind) == {0, 1} and tree.root.size == 2
    return tree

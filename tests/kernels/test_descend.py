"""The native twin of `descend` equals its reference, and both walk as `traverse` does."""

from typing import Any

import numpy as np
import pytest

from tests.conftest import NAMESPACES
from vtree import C45Classifier
from vtree_kernels.descend import descend
from vtree_kernels.traverse import traverse

FIELDS = ("feature", "kind", "threshold", "first_child", "map_offset", "branch_map")


def _case(seed: int, missing: float) -> tuple[Any, Any]:
    random = np.random.default_rng(seed)
    X = random.normal(size=(200, 4)).round(1)
    X[:, 1] = random.integers(0, 4, 200)
    y = (X[:, 0] + (X[:, 1] == 2) + random.normal(size=200) > 0).astype(int)
    nominal = [False, True, False, False]
    tree = C45Classifier(categorical_features=nominal, prune=False).fit(X, y).grown_
    X[random.random(X.shape) < missing] = np.nan
    return X, tree


@pytest.mark.parametrize("missing", [0.0, 0.2])
@pytest.mark.parametrize("seed", range(3))
def test_rows_from_the_root_rest_where_traverse_leaves_them(seed: int, missing: float) -> None:
    X, tree = _case(seed, missing)
    zeros = np.zeros(len(X), dtype=np.int64)
    own = [getattr(tree, name) for name in FIELDS]
    fields: Any = [*own[:4], tree.missing_child, *own[4:]]
    expected = traverse(X, tree.root, *fields)[:, 0]
    for form in (descend.reference, descend.twin("cpu")):
        np.testing.assert_array_equal(form(X, np.arange(len(X)), zeros, *own), expected)


def test_rows_may_start_anywhere_and_nodes_may_be_leaves_by_now() -> None:
    X, tree = _case(5, 0.1)
    random = np.random.default_rng(0)
    row = random.integers(0, len(X), 500)
    node = random.integers(0, tree.feature.size, 500)
    first_child = tree.first_child.copy()
    first_child[random.permutation(first_child.size)[:5]] = -1
    own = [getattr(tree._replace(first_child=first_child), name) for name in FIELDS]
    expected = descend.reference(X, row, node, *own)
    np.testing.assert_array_equal(descend.twin("cpu")(X, row, node, *own), expected)
    lacks = np.isnan(X[row, np.maximum(tree.feature[expected], 0)])
    assert ((first_child[expected] < 0) | lacks).all()
    assert descend.twin("cpu")(X, row[:0], node[:0], *own).size == 0
    for name, make in NAMESPACES.items():
        xp = make()
        moved = [xp.asarray(np.array(each)) for each in (X, row, node, *own)]
        np.testing.assert_array_equal(np.asarray(descend.reference(*moved)), expected, name)

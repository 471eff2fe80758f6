from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from tests.conftest import Namespace
from tests.cuda_host.emulation import emulated, on_device
from tests.fitting import Setting
from tests.multiway import OneBranchALevel
from vtree.finish import finish
from vtree.grown import Grown, breadth_first_of, root_totals, used_features
from vtree.growth import grow
from vtree.histogram import rows_of
from vtree.plan import Plan, Stops
from vtree.predict import leaves
from vtree.targets import class_targets, real_targets
from vtree.tree import MULTIWAY, Tree, children, depth, fingerprint, parents
from vtree_kernels import kernels, threads

LEVELS = (3, 4, 2, 5)


def _table(n_rows: int = 300) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    random = np.random.default_rng(0)
    X = np.stack([random.integers(0, n, n_rows) for n in LEVELS], axis=1)
    y = (X.sum(axis=1) + (random.random(n_rows) < 0.1)) % 3
    return X.astype(np.float64), y


def _grow(X: Any, y: NDArray[np.int64], **limits: Any) -> tuple[Grown, NDArray[np.int32], Tree]:
    targets = class_targets(y[:, None], [3], None)
    bins = Setting(levels=LEVELS).bins(X)
    search = OneBranchALevel(targets.layout)
    grown, rows, branch_map = grow(bins, targets, Plan(search, Stops(**limits)))
    return grown, rows, finish(grown, rows, branch_map, targets, search.criterion)


def test_a_node_has_one_branch_a_level() -> None:
    X, y = _table()
    tree = _grow(X, y)[2]
    internal = tree.first_child >= 0
    assert (tree.kind[internal] == MULTIWAY).all()
    assert tree.n_children[internal].tolist() == [
        LEVELS[f] for f in tree.feature[internal].tolist()
    ]
    assert depth(tree).max() == 4
    leaf = leaves(tree, X)[:, 0]
    for node in np.unique(leaf):
        own = leaf == node
        assert tree.n_rows[node] == own.sum()
        np.testing.assert_allclose(tree.value[node], np.bincount(y[own], minlength=3) / own.sum())


def test_children_share_the_rows_of_their_parent() -> None:
    grown, rows, tree = _grow(*_table())
    inside = parents(tree) >= 0
    shared = np.zeros_like(tree.n_rows)
    np.add.at(shared, parents(tree)[inside], tree.n_rows[inside])
    internal = tree.first_child >= 0
    np.testing.assert_array_equal(shared[internal], tree.n_rows[internal])
    assert sorted(rows.tolist()) == list(range(300))
    np.testing.assert_array_equal(grown.stop - grown.start, grown.total[:, 0])


@pytest.mark.cuda_host
@pytest.mark.parametrize("weighted", [False, True])
def test_totals_of_what_lies_beside_the_codes(weighted: bool) -> None:
    draw = np.random.default_rng(0)
    weight = draw.random(300) if weighted else None
    targets = real_targets(draw.normal(size=(300, 2)), weight)
    rows = np.concatenate([np.arange(300), np.arange(0, 300, 3)]).astype(np.int32)
    start = np.array([0, 300, 400])
    here = rows_of(targets, np.zeros(1))
    expected = root_totals(start, targets, rows, here, rows)
    with emulated():
        moved = [None if each is None else on_device(each) for each in targets[1:4]]
        there = targets._replace(weight=moved[0], sums=moved[1], identity=moved[2])
        assert targets.on_host and not there.on_host
        order = on_device(rows)
        found = root_totals(start, there, rows, rows_of(there, order), order)
    np.testing.assert_array_equal(found, expected)


def test_nodes_that_are_breadth_first_stay_as_they_are() -> None:
    grown, _, _ = _grow(*_table())
    in_order, _, _ = breadth_first_of(grown, 1)
    parent = np.full(in_order.feature.size, -1)
    split = np.flatnonzero(in_order.first_child >= 0)
    below = children(in_order.first_child, in_order.n_children, split)
    parent[below] = np.repeat(split, in_order.n_children[split])
    in_order = in_order._replace(parent=parent)
    assert breadth_first_of(in_order, 1)[0] is in_order
    taken_back = in_order.first_child.copy()
    taken_back[split[-1]] = -1
    fewer, order, _ = breadth_first_of(in_order._replace(first_child=taken_back), 1)
    assert fewer.feature.size == order.size < in_order.feature.size


def test_a_feature_is_used_once_on_a_path() -> None:
    grown, _, _ = _grow(*_table())
    split = np.flatnonzero(grown.first_child >= 0)
    used = used_features(grown, split, len(LEVELS))
    assert not used[np.arange(split.size), grown.feature[split]].any()
    np.testing.assert_array_equal(used.sum(axis=1), grown.depth[split])


@pytest.mark.parametrize("mode", ["native", "reference"])
@pytest.mark.parametrize("n_threads", [1, 2, 4])
def test_one_tree_on_every_backend(mode: str, n_threads: int, xp: Namespace) -> None:
    X, y = _table()
    expected = fingerprint(_grow(X, y)[2])
    with kernels(mode), threads(n_threads):
        assert fingerprint(_grow(xp.asarray(X), y)[2]) == expected


def test_any_order_of_rows_grows_the_same_tree() -> None:
    X, y = _table()
    order = np.random.default_rng(5).permutation(y.size)
    assert fingerprint(_grow(X[order], y[order])[2]) == fingerprint(_grow(X, y)[2])

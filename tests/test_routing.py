import numpy as np
from numpy.typing import NDArray

from tests.fitting import Setting
from vtree.finish import finish
from vtree.grown import Grown
from vtree.growth import grow
from vtree.routing import Data, by_branch, by_value, unmoved
from vtree.tree import Tree, fingerprint, parents
from vtree_kernels.partition import partition

STAYS = 2  # the pseudo-child of rows that go nowhere


def _known_only(
    grown: Grown,
    chosen: NDArray[np.int64],
    total: NDArray[np.int64],
    branch_map: NDArray[np.uint8],
    data: Data,
) -> tuple[Data, NDArray[np.int64]]:
    """Let the rows whose value is missing stay at the node."""
    (group,) = data.bins.groups
    child = np.zeros(data.order.shape[0], dtype=np.uint8)
    totals = []
    for node in chosen.tolist():
        own = data.order[grown.start[node] : grown.stop[node]]
        code = group.codes[own, grown.feature[node]]
        child[grown.start[node] : grown.stop[node]] = np.where(
            code == 0, STAYS, code > grown.bin[node]
        )
        for side in (0, 1):
            rows = own[(code > 0) & ((code > grown.bin[node]) == side)]
            label = data.targets.label[rows, 0]
            totals.append(np.bincount(label, minlength=total.shape[1]))
            totals[-1][0] = rows.size
    start, stop = grown.start[chosen], grown.stop[chosen]
    order = partition(data.order, start, stop, child, 3)
    return data._replace(order=order), np.array(totals, dtype=np.int64).reshape(total.shape)


def _tree(X: NDArray[np.float64], y: NDArray[np.int64]) -> Tree:
    setting = Setting(max_depth=4)
    targets, bins = setting.targets(y), setting.bins(X)
    plan = setting.plan(bins, targets)._replace(router=_known_only)
    grown, rows, branch_map = grow(bins, targets, plan)
    return finish(grown, rows, branch_map, targets, setting.rule)


def test_a_router_may_keep_rows_at_a_node() -> None:
    random = np.random.default_rng(0)
    X = np.round(random.normal(size=(400, 3)), 1)
    y = (X[:, 0] + X[:, 1] > 0).astype(np.int64)
    X[random.random(X.shape) < 0.2] = np.nan
    tree = _tree(X, y)
    shared = np.zeros_like(tree.n_rows)
    inside = parents(tree) >= 0
    np.add.at(shared, parents(tree)[inside], tree.n_rows[inside])
    at = np.full(400, 0)
    for node in range(tree.feature.size):  # parents come before their children
        own = np.flatnonzero(at == node)
        assert tree.n_rows[node] == own.size
        np.testing.assert_allclose(tree.value[node, 1], y[own].mean())
        if tree.first_child[node] >= 0:
            x = X[own, tree.feature[node]]
            to = tree.first_child[node] + (x > tree.threshold[node])
            at[own] = np.where(np.isnan(x), -1, to)
            assert shared[node] == (~np.isnan(x)).sum()
    assert (at < 0).any()


def test_by_value_sends_rows_as_by_code_where_bins_are_values() -> None:
    random = np.random.default_rng(2)
    X = np.round(random.normal(size=(300, 3)), 1)
    X[:, 2] = random.integers(0, 4, 300)
    X[random.random(X.shape) < 0.1] = np.nan
    y = (np.nan_to_num(X).sum(axis=1) > 1).astype(np.int64)
    setting = Setting(levels=(-1, -1, 4), max_depth=5)
    targets, bins = setting.targets(y), setting.bins(X)._replace(values=X)
    trees = []
    for router in (by_branch, by_value):
        plan = setting.plan(bins, targets)._replace(router=router)
        trees.append(fingerprint(finish(*grow(bins, targets, plan), targets, setting.rule)))
    assert trees[0] == trees[1]


def test_a_stump_needs_no_rows_moved() -> None:
    random = np.random.default_rng(1)
    X = np.round(random.normal(size=(200, 3)), 1)
    y = (X[:, 1] > 0.3).astype(np.int64)
    setting = Setting(max_depth=1)
    targets, bins = setting.targets(y), setting.bins(X)
    trees = []
    for router in (by_branch, unmoved):
        plan = setting.plan(bins, targets)._replace(router=router)
        grown, rows, branch_map = grow(bins, targets, plan)
        trees.append(finish(grown, rows, branch_map, targets, setting.rule))
    assert fingerprint(trees[0]) == fingerprint(trees[1])

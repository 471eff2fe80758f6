from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from tests.fitting import Setting, fit
from vtree import finish as finishing
from vtree.finish import finish
from vtree.growth import grow
from vtree.predict import leaves
from vtree.tree import Tree, fingerprint, levels, parents


def _data() -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    random = np.random.default_rng(0)
    X = np.round(random.normal(size=(150, 3)), 1)
    y = random.gamma(2.0, size=150) + np.abs(X[:, 0])
    return X, y, random.integers(1, 5, 150) / 4.0


def _rows_of_nodes(tree: Tree, X: Any) -> list[NDArray[np.int64]]:
    """Return the rows that pass each node."""
    passes = np.zeros((len(X), tree.feature.size), dtype=np.bool_)
    passes[np.arange(len(X)), leaves(tree, X)[:, 0]] = True
    parent = parents(tree)
    for nodes in reversed(levels(tree.first_child, tree.n_children, tree.root)[1:]):
        for node in nodes:
            passes[:, parent[node]] |= passes[:, node]
    return [np.flatnonzero(column) for column in passes.T]


@pytest.mark.parametrize("offset", [0.0, 2.0**40])
def test_means_and_variances_of_nodes(offset: float) -> None:
    X, y, weight = _data()
    y = np.round(y * 16.0) / 16.0 + offset
    tree = fit(X, y, Setting("squared_error"), weight)
    for node, rows in enumerate(_rows_of_nodes(tree, X)):
        mean = np.average(y[rows] - offset, weights=weight[rows])
        variance = np.average((y[rows] - offset - mean) ** 2, weights=weight[rows])
        near = pytest.approx(mean, rel=1e-9, abs=np.spacing(offset))
        assert tree.value[node, 0] - offset == near
        assert tree.impurity[node] == pytest.approx(variance, rel=1e-6, abs=1e-7)
        assert tree.weight[node] == weight[rows].sum()
        assert tree.n_rows[node] == rows.size


@pytest.mark.parametrize("criterion", ["squared_error", "poisson", "absolute_error"])
def test_own_losses_are_those_that_gains_add_up_to(criterion: str) -> None:
    X, y, weight = _data()
    setting = Setting(criterion, max_depth=4)
    targets, bins = setting.targets(y, weight), setting.bins(X)
    grown, rows, branch_map = grow(bins, targets, setting.plan(bins, targets))
    parts = grown, rows, branch_map, targets, setting.rule
    added, own = finish(*parts), finish(*parts, gains_add_up=False)
    np.testing.assert_allclose(own.impurity, added.impurity, rtol=1e-9, atol=1e-12)
    assert fingerprint(own._replace(impurity=added.impurity)) == fingerprint(added)


def test_class_shares_and_gini_of_nodes() -> None:
    X, y, weight = _data()
    codes = np.clip(y, 0, 3).astype(np.int64)
    tree = fit(X, codes, Setting("gini"), weight)
    for node, rows in enumerate(_rows_of_nodes(tree, X)):
        counts = np.bincount(codes[rows], weights=weight[rows], minlength=4)
        shares = counts / counts.sum()
        np.testing.assert_array_equal(tree.value[node], shares)
        assert tree.impurity[node] == pytest.approx(1.0 - (shares**2).sum(), abs=1e-14)


@pytest.mark.parametrize("criterion", ["gini", "entropy"])
def test_no_block_of_nodes_changes_a_tree(criterion: str, monkeypatch: pytest.MonkeyPatch) -> None:
    X, y, weight = _data()
    codes = np.clip(y, 0, 3).astype(np.int64)
    whole = fit(X, codes, Setting(criterion), weight)
    for statistics in (1, 50):
        monkeypatch.setattr(finishing, "_BLOCK", statistics)
        assert fingerprint(fit(X, codes, Setting(criterion), weight)) == fingerprint(whole)


@pytest.mark.parametrize("criterion", ["gini", "entropy", "squared_error", "poisson"])
def test_gains_are_weighted_falls_of_impurity(criterion: str) -> None:
    X, y, weight = _data()
    target = np.clip(y, 0, 3).astype(np.int64)
    tree = fit(X, target, Setting(criterion), weight)
    node = np.flatnonzero(tree.first_child >= 0)
    mass = tree.weight * tree.impurity / tree.weight[0]
    first = tree.first_child[node]
    falls = mass[node] - mass[first] - mass[first + 1]
    np.testing.assert_allclose(tree.gain[node], falls, rtol=1e-6, atol=1e-12)
    assert (tree.impurity >= 0.0).all()
    assert (tree.gain[tree.first_child < 0] == 0.0).all()


@pytest.mark.parametrize("criterion", ["squared_error", "poisson"])
def test_pure_leaves_have_no_impurity_at_all(criterion: str) -> None:
    X, y, _ = _data()
    target = np.clip(y, 0, 3).astype(np.int64) + 0.1
    tree = fit(X, target, Setting(criterion))
    for node, rows in enumerate(_rows_of_nodes(tree, X)):
        if np.unique(target[rows]).size == 1:
            assert tree.value[node, 0] == pytest.approx(target[rows[0]], rel=1e-12)
            assert tree.impurity[node] == pytest.approx(0.0, abs=1e-15)


@pytest.mark.parametrize("constant", [0.1, -1e300, 5e-324, 0.0])
def test_a_constant_target_is_met_exactly(constant: float) -> None:
    tree = fit(np.arange(3.0)[:, None], np.full(3, constant), Setting("squared_error"))
    assert tree.value.tolist() == [[constant]]
    assert tree.impurity.tolist() == [0.0]


def test_several_outputs_are_averaged() -> None:
    X, y, _ = _data()
    both = np.stack([y, np.sqrt(y)], axis=1)
    tree = fit(X, both, Setting("squared_error", max_depth=3))
    np.testing.assert_allclose(tree.value[0], both.mean(axis=0), rtol=1e-9)
    assert tree.impurity[0] == pytest.approx(both.var(axis=0).mean(), rel=1e-6)

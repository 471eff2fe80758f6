"""Weakest links, beside scikit-learn's path and a search over all subtrees."""

from itertools import product
from typing import Any

import numpy as np
import pytest
import sklearn.tree
from numpy.typing import NDArray
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris

from tests.fitting import Setting, fit
from tests.samples import classes, reals
from vtree import DecisionTreeClassifier, DecisionTreeRegressor
from vtree.pruning import cost_complexity_path, prune_cost_complexity
from vtree.tree import Tree, fingerprint, parents


def _risk(tree: Tree) -> NDArray[np.float64]:
    risk: NDArray[np.float64] = tree.weight * tree.impurity / tree.weight[0]
    return risk


def _leaf_risk(tree: Tree) -> float:
    return float(_risk(tree)[tree.first_child < 0].sum())


def _trees() -> list[Tree]:
    X, y = classes(120)
    X2, y2 = reals(120)
    weight = np.random.default_rng(0).integers(1, 5, 120)
    return [
        fit(X, y, Setting()),
        fit(X, y, Setting("entropy"), weight),
        fit(X2, y2, Setting("squared_error", max_leaves=40)),
        fit(X2, y2, Setting("poisson", max_depth=5)),
    ]


@pytest.mark.parametrize("which", range(4))
def test_the_path_is_one_of_nested_trees(which: int) -> None:
    tree = _trees()[which]
    path = cost_complexity_path(tree)
    assert path.alphas[0] == 0.0
    assert path.risks[0] == pytest.approx(_leaf_risk(tree), abs=1e-15)
    assert (np.diff(path.alphas) > 0).all() and (np.diff(path.risks) >= 0).all()
    assert path.risks[-1] == pytest.approx(_risk(tree)[0])
    parent = parents(tree)
    assert (path.cut_at[1:] <= path.cut_at[parent[1:]]).all()
    before = tree.feature.size + 1
    for alpha, impurity in zip(path.alphas, path.risks, strict=True):
        pruned = prune_cost_complexity(tree, float(alpha))
        assert pruned.feature.size < before
        before = pruned.feature.size
        assert _leaf_risk(pruned) == pytest.approx(impurity, abs=1e-12)
    assert before == 1


def _all_costs(tree: Tree, node: int) -> list[tuple[float, int]]:
    """List (risk, leaves) of every subtree that hangs at `node`; children come after parents."""
    costs: dict[int, list[tuple[float, int]]] = {}
    for each in range(tree.feature.size - 1, -1, -1):
        costs[each] = [(float(_risk(tree)[each]), 1)]
        first = int(tree.first_child[each])
        if first >= 0:
            pairs = product(costs[first], costs[first + 1])
            costs[each] += [(a[0] + b[0], a[1] + b[1]) for a, b in pairs]
    return costs[node]


@pytest.mark.parametrize("alpha", [1e-4, 0.003, 0.01, 0.02, 0.05, 0.2, 1.0])
def test_no_subtree_is_cheaper(alpha: float) -> None:
    X, y = classes(120)
    tree = fit(X, y, Setting(max_leaves=12))
    pruned = prune_cost_complexity(tree, alpha)
    leaves = int((pruned.first_child < 0).sum())
    cheapest = min(risk + alpha * n for risk, n in _all_costs(tree, 0))
    assert _leaf_risk(pruned) + alpha * leaves == pytest.approx(cheapest, abs=1e-12)
    smallest = min(n for risk, n in _all_costs(tree, 0) if risk + alpha * n <= cheapest + 1e-12)
    assert leaves == smallest


def test_hand_made() -> None:
    """Twelve rows: a root that pays 1/4 and a branch that pays 1/6 of the rows' Gini."""
    X = np.array([[0.0]] * 6 + [[1.0]] * 4 + [[2.0]] * 2)
    y = np.array([0] * 6 + [1] * 4 + [0] * 2)
    tree = fit(X, y, Setting())
    path = cost_complexity_path(tree)
    # As leaves: root 4/9, the six rows right of 0.5 weigh 1/2 and have 4/9.
    assert path.alphas.tolist() == pytest.approx([0.0, 2 / 9])
    assert path.risks.tolist() == pytest.approx([0.0, 4 / 9])


def test_nothing_to_prune() -> None:
    leaf = fit(np.zeros((3, 1)), np.array([0, 1, 1]), Setting())
    path = cost_complexity_path(leaf)
    assert (path.alphas.tolist(), path.cut_at.tolist()) == ([0.0], [0.0])
    assert path.risks[0] == pytest.approx(4 / 9)
    assert prune_cost_complexity(leaf, 10.0).feature.size == 1
    X, y = classes(50)
    tree = fit(X, y, Setting())
    assert fingerprint(prune_cost_complexity(tree, 0.0)) == fingerprint(tree)


def test_splits_without_gain_cost_nothing_to_keep_or_cut() -> None:
    X = np.array([[0, 0], [0, 1], [1, 0], [1, 1]], dtype=float)
    tree = fit(X, np.array([0, 1, 1, 0]), Setting())
    assert tree.gain[0] == 0.0 and tree.feature.size == 7
    assert prune_cost_complexity(tree, 0.1).feature.size == 7
    assert prune_cost_complexity(tree, 0.2).feature.size == 1


@pytest.mark.parametrize(
    ("load", "name", "parameters"),
    [
        (load_breast_cancer, "DecisionTreeClassifier", {"min_samples_leaf": 7}),
        (load_iris, "DecisionTreeClassifier", {"criterion": "entropy", "max_depth": 2}),
        (load_diabetes, "DecisionTreeRegressor", {"min_samples_leaf": 10}),
    ],
)
def test_paths_of_sklearn(load: Any, name: str, parameters: dict[str, Any]) -> None:
    X, y = load(return_X_y=True)
    theirs = getattr(sklearn.tree, name)(random_state=0, **parameters)
    own = {"DecisionTreeClassifier": DecisionTreeClassifier}.get(name, DecisionTreeRegressor)
    ours = own(max_bins=None, **parameters)
    expected = theirs.cost_complexity_pruning_path(X, y)
    path = ours.cost_complexity_pruning_path(X, y)
    rtol = 1e-9
    np.testing.assert_allclose(path.ccp_alphas, expected.ccp_alphas, rtol=rtol, atol=1e-12)
    np.testing.assert_allclose(path.impurities, expected.impurities, rtol=rtol)
    for alpha in expected.ccp_alphas[1:-1] * 1.0001:
        counts = [
            model.set_params(ccp_alpha=alpha).fit(X, y).get_n_leaves() for model in (theirs, ours)
        ]
        assert counts[0] == counts[1]

"""Pre-pruning beside worked figures, and beside growth that asks the validation rows itself."""

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from tests.fitting import Setting, fit
from tests.pruning.worked import NOMINAL, nominal_case
from tests.samples import classes
from vtree.predict import leaves
from vtree.pruning import class_losses, prune_before_growth
from vtree.tree import Tree


@pytest.mark.parametrize("name", NOMINAL)
def test_worked_figures(name: str) -> None:
    nominal = nominal_case(name)
    grown = prune_before_growth(nominal.tree, nominal.losses())
    assert nominal.figures(grown) == nominal.facts["pre_pruning"]


def test_the_watermelons_step_by_step() -> None:
    """Accuracy rises from .428571 to .714286 by the first split; all three others are refused."""
    case = nominal_case("watermelon")
    losses = case.losses()
    assert 1 - losses.as_leaf[0] / 7 == pytest.approx(0.428571, abs=1e-6)
    first = int(case.tree.first_child[0])
    below = losses.as_leaf[first : first + int(case.tree.n_children[0])]
    assert 1 - below.sum() / 7 == pytest.approx(0.714286, abs=1e-6)
    assert prune_before_growth(case.tree, losses).feature.size == 1 + below.size == 4


def _grown_with_questions(
    X: NDArray[Any], y: NDArray[Any], X2: NDArray[Any], y2: NDArray[Any], setting: dict[str, Any]
) -> dict[tuple[int, ...], tuple[int, float]]:
    """Grow by single splits, each asked of the validation rows first: path → (feature, cut)."""
    waiting: list[tuple[tuple[int, ...], Any, Any]] = [((), np.arange(len(y)), np.arange(len(y2)))]
    splits: dict[tuple[int, ...], tuple[int, float]] = {}
    for path, rows, held_out in waiting:
        own = y[rows]
        codes = np.searchsorted(np.unique(own), own)
        stump = fit(X[rows], codes, Setting(max_depth=1, **setting))
        if stump.first_child[0] < 0:
            continue
        feature, cut = int(stump.feature[0]), float(stump.threshold[0])
        label = np.bincount(own).argmax()
        sides = [(rows[X[rows, feature] <= cut], held_out[X2[held_out, feature] <= cut])]
        sides += [(rows[X[rows, feature] > cut], held_out[X2[held_out, feature] > cut])]
        before = int((y2[held_out] != label).sum())
        after = sum(int((y2[v] != np.bincount(y[r]).argmax()).sum()) for r, v in sides)
        if after < before:
            splits[path] = (feature, cut)
            waiting += [((*path, side), r, v) for side, (r, v) in enumerate(sides)]
    return splits


def _splits(tree: Tree) -> dict[tuple[int, ...], tuple[int, float]]:
    waiting: list[tuple[tuple[int, ...], int]] = [((), 0)]
    splits = {}
    for path, node in waiting:
        if tree.first_child[node] >= 0:
            splits[path] = (int(tree.feature[node]), float(tree.threshold[node]))
            first = int(tree.first_child[node])
            waiting += [((*path, side), first + side) for side in (0, 1)]
    return splits


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("setting", [{}, {"criterion": "entropy", "min_rows": 3}])
def test_the_tree_that_growth_would_stop_at(seed: int, setting: dict[str, Any]) -> None:
    X, y = classes(90, seed=seed)
    X2, y2 = classes(60, seed=50 + seed)
    tree = fit(X, y, Setting(**setting))
    leaf = leaves(tree, X2)[:, 0].astype(np.int64)
    losses = class_losses(tree, leaf, y2[:, None], tree.value.argmax(axis=1)[:, None])
    expected = _grown_with_questions(X, y, X2, y2, setting)
    assert _splits(prune_before_growth(tree, losses)) == expected
    assert len(expected) < (tree.first_child >= 0).sum()

import numpy as np
import pytest
from numpy.typing import NDArray

from tests.fitting import Setting, fit
from vtree.best_first import BestFirst
from vtree.grown import Grown
from vtree.tree import Tree, fingerprint


def _data(seed: int = 0) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    random = np.random.default_rng(seed)
    X = random.normal(size=(300, 4))
    return X, np.rint(X.sum(axis=1) * 2 + random.normal(size=300)).astype(np.int64)


def _greedy(full: Tree, max_leaves: int) -> set[int]:
    """Choose the internal nodes of a tree that was grown to the end, largest gain first."""
    chosen: set[int] = set()
    line = [0]
    while line and len(chosen) < max_leaves - 1:
        node = max(line, key=lambda node: full.gain[node])
        line.remove(node)
        chosen.add(node)
        first = int(full.first_child[node])
        line += [child for child in (first, first + 1) if full.first_child[child] >= 0]
    return chosen


@pytest.mark.parametrize("max_leaves", [2, 3, 7, 20, 60])
def test_the_splits_of_largest_gain_are_kept(max_leaves: int) -> None:
    X, y = _data()
    full = fit(X, y, Setting("squared_error"))
    tree = fit(X, y, Setting("squared_error", max_leaves=max_leaves))
    expected = sorted(_greedy(full, max_leaves))
    internal = tree.first_child >= 0
    assert internal.sum() == max_leaves - 1
    np.testing.assert_array_equal(tree.gain[internal], full.gain[expected])
    np.testing.assert_array_equal(tree.threshold[internal], full.threshold[expected])


def test_two_leaves_are_a_stump_and_many_are_the_whole_tree() -> None:
    X, y = _data()
    y = y % 3
    stump = fingerprint(fit(X, y, Setting("gini", max_depth=1)))
    assert fingerprint(fit(X, y, Setting("gini", max_leaves=2))) == stump
    whole = fingerprint(fit(X, y, Setting("gini")))
    assert fingerprint(fit(X, y, Setting("gini", max_leaves=10_000))) == whole


def test_each_tree_has_its_own_number_of_leaves() -> None:
    X, y = _data()
    roots = [np.arange(300), np.arange(10)]
    forest = fit(X, y % 3, Setting("gini", max_leaves=9), roots=roots)
    leaf = forest.first_child < 0
    assert leaf[: forest.root[1]].sum() == 9
    assert 1 < leaf[forest.root[1] :].sum() <= 9


def test_equal_gains_are_split_in_the_order_of_their_coming() -> None:
    X = np.array([[0, 0], [0, 1], [1, 0], [1, 1]] * 3, dtype=np.float64)
    y = np.array([0, 1, 3, 2] * 3)
    tree = fit(X, y, Setting("gini", max_leaves=3))
    assert tree.first_child.tolist() == [1, 3, -1, -1, -1]


class _OneAtATime(BestFirst):
    """Asks for the next node only, as a plain best-first builder does."""

    def __call__(self, grown: Grown) -> NDArray[np.int64]:
        return super().__call__(grown)[:1]


@pytest.mark.parametrize("max_leaves", [2, 9, 40])
def test_how_many_nodes_a_round_splits_changes_nothing(
    max_leaves: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    X, y = _data()
    X = np.round(X, 1)  # ties
    setting = Setting("squared_error", max_leaves=max_leaves)
    batched = fingerprint(fit(X, y, setting))
    monkeypatch.setattr("tests.fitting.BestFirst", _OneAtATime)
    assert fingerprint(fit(X, y, setting)) == batched


@pytest.mark.parametrize("max_leaves", [2, 9, 60])
def test_nodes_that_are_split_ahead_of_their_turn_change_nothing(max_leaves: int) -> None:
    X, y = _data()
    y = y % 3
    levels = fit(X, y, Setting("gini", max_leaves=max_leaves))
    ahead = fit(X, y, Setting("gini", max_leaves=max_leaves, alone=True))
    assert fingerprint(ahead) == fingerprint(levels)

"""Reduced-error pruning beside worked figures and a search over all prunings."""

from itertools import product

import numpy as np
import pytest

from tests.fitting import Setting, fit
from tests.pruning.worked import NOMINAL, nominal_case
from tests.samples import classes, reals
from vtree.criteria import REGRESSION
from vtree.predict import leaves
from vtree.pruning import Losses, class_losses, prune_reduced_error, real_losses
from vtree.tree import Tree, collapse, fingerprint


@pytest.mark.parametrize("name", NOMINAL)
def test_worked_figures(name: str) -> None:
    nominal = nominal_case(name)
    assert nominal.figures(nominal.tree) == nominal.facts["full"]
    pruned = prune_reduced_error(nominal.tree, nominal.losses())
    assert nominal.figures(pruned) == nominal.facts["prune"]


def test_ties_of_the_watermelons() -> None:
    case = nominal_case("watermelon")
    kept = prune_reduced_error(case.tree, case.losses(), ties="keep")
    assert case.figures(kept) == case.facts["keep"]


def all_prunings(tree: Tree) -> list[Tree]:
    split = np.flatnonzero(tree.first_child >= 0)
    found = {}
    for keeps in product([False, True], repeat=split.size):
        internal = np.zeros(tree.feature.size, dtype=np.bool_)
        internal[split] = keeps
        pruned = collapse(tree, internal)
        found[fingerprint(pruned)] = pruned
    return list(found.values())


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("ties", ["prune", "keep"])
def test_no_pruning_is_better(seed: int, ties: str) -> None:
    X, y = classes(80, seed=seed)
    tree = fit(X, y, Setting(max_leaves=9))
    X2, y2 = classes(30, seed=100 + seed)

    def errors(pruned: Tree) -> int:
        label = pruned.value.argmax(axis=1)
        return int((label[leaves(pruned, X2)[:, 0]] != y2).sum())

    leaf = leaves(tree, X2)[:, 0].astype(np.int64)
    losses = class_losses(tree, leaf, y2[:, None], tree.value.argmax(axis=1)[:, None])
    pruned = prune_reduced_error(tree, losses, ties=ties)
    everything = [(errors(each), each.feature.size) for each in all_prunings(tree)]
    fewest = min(errors for errors, _ in everything)
    sizes = [size for errors, size in everything if errors == fewest]
    assert errors(pruned) == fewest
    assert pruned.feature.size == (min(sizes) if ties == "prune" else max(sizes))


def test_numbers() -> None:
    X, y = reals(80)
    tree = fit(X, y, Setting("squared_error", max_leaves=9))
    X2, y2 = reals(30, seed=7)
    leaf = leaves(tree, X2)[:, 0].astype(np.int64)
    deviance = REGRESSION["squared_error"].deviance
    assert deviance is not None
    pruned = prune_reduced_error(tree, real_losses(tree, leaf, y2[:, None], deviance))

    def loss(each: Tree) -> float:
        return float(((each.value[leaves(each, X2)[:, 0], 0] - y2) ** 2).sum())

    assert loss(pruned) == pytest.approx(min(map(loss, all_prunings(tree))), rel=1e-12)
    assert pruned.feature.size < tree.feature.size


def test_a_leaf_stays_a_leaf() -> None:
    tree = fit(np.zeros((3, 1)), np.array([0, 1, 1]), Setting())
    nothing = Losses(np.zeros(1), np.zeros(1))
    assert prune_reduced_error(tree, nothing).feature.size == 1

import itertools
from typing import Any

import numpy as np
import pytest

from tests.bits import assert_same_bits
from tests.samples import classes, reals
from vtree.binning import bin_table
from vtree.ensembles import boosting
from vtree.ensembles.boosting import boost, curvatures, round_totals
from vtree.ensembles.derivatives import Weights
from vtree.ensembles.steps import Leaves
from vtree.ensembles.system import Goss, System
from vtree.ensembles.training import Training
from vtree.losses import CLASSIFICATION, REGRESSION, Loss
from vtree.tree import Tree, joined

X, Y = reals()
LABELS = classes()[1].astype(np.float64)


def _training(loss: Loss, y: Any) -> Training:
    bins = bin_table(X, np.full(4, -1), max_bins=20)
    return Training(bins, X, y, Weights.of(None, 1.0, 200), loss.derivatives, loss.curved, Leaves())


def _grown(loss: Loss, y: Any, system: System, rounds: int, n_raw: int = 1) -> tuple[Tree, Any]:
    training = _training(loss, y)
    start = loss.starts(y, None, n_raw)
    sums = np.zeros((200, n_raw), order="F")
    trees = list(itertools.islice(boost(training, system, start, sums), rounds))
    return joined(trees), sums


@pytest.mark.parametrize(
    "system",
    [
        System(0.3, 1.0, max_depth=3),
        System(0.3, subsample=0.5, max_depth=3, seed=4),
        System(0.3, max_leaves=5),
        System(0.3, max_depth=4, gamma=1.0),
        System(0.3, max_depth=3, goss=Goss(0.2, 0.2, 1)),
    ],
)
@pytest.mark.parametrize("name", ["squared_error", "multinomial"])
def test_sums_have_the_bits_of_a_prediction(name: str, system: System) -> None:
    loss = {**REGRESSION, **CLASSIFICATION}[name]
    n_raw = 3 if name == "multinomial" else 1
    y = LABELS if n_raw == 3 else Y
    tree, sums = _grown(loss, y, system, 4, n_raw)
    assert tree.root.size == 4 * n_raw
    np.testing.assert_array_equal(sums, round_totals(tree, X, n_raw))
    start = loss.starts(y, None, n_raw)
    assert loss.of(start + sums, y).loss.mean() < loss.of(start + 0 * sums, y).loss.mean()


@pytest.mark.parametrize(
    "system",
    [
        System(0.3, 1.0, max_depth=3, curvature=2.0),
        System(0.3, max_depth=3, goss=Goss(0.2, 0.2, 1)),
        System(0.3, max_depth=3, first_order=True),
    ],
)
@pytest.mark.parametrize("together", [1, 3])
def test_derivatives_in_turn_are_those_at_once(
    system: System, together: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(boosting, "FRONTIER_ROWS", 200 * together)
    loss = CLASSIFICATION["multinomial"]
    assert loss.in_turn is not None
    start = loss.starts(LABELS, None, 3)
    found: list[Any] = []
    for in_turn in (None, loss.in_turn):
        sums = np.zeros((200, 3), order="F")
        training = _training(loss, LABELS)._replace(in_turn=in_turn)
        found += list(itertools.islice(boost(training, system, start, sums), 3)), sums
    assert_same_bits(found[3], found[1])
    for tree, other in zip(found[2], found[0], strict=True):
        assert_same_bits(tree.value, other.value)
        assert_same_bits(tree.gain, other.gain)


def test_a_strong_split_keeps_the_weak_one_above_it() -> None:
    loss = REGRESSION["squared_error"]
    whole, _ = _grown(loss, Y, System(0.3, max_depth=3), 1)
    strong = whole.gain[whole.first_child >= 0].max()
    for gamma in (0.5 * strong, 2 * strong):
        tree, _ = _grown(loss, Y, System(0.3, max_depth=3, gamma=gamma), 1)
        inner = np.flatnonzero(tree.first_child >= 0)
        last = [
            n for n in inner if (tree.first_child[tree.first_child[n] + np.arange(2)] < 0).all()
        ]
        assert (tree.gain[last] > gamma).all()
    assert tree.feature.size == 1


def test_xor_survives_pruning() -> None:
    draw = np.random.default_rng(0)
    table = draw.integers(0, 2, size=(400, 2)).astype(np.float64)
    y = np.where(table[:, 0] == table[:, 1], 1.0, -1.0) + 0.01 * table[:, 0]
    loss = REGRESSION["squared_error"]
    bins = bin_table(table, np.full(2, -1), max_bins=None)
    training = Training(bins, table, y, Weights.of(None, 1.0, 400), loss.of, False, Leaves())
    start = loss.starts(y, None, 1)
    tree = next(boost(training, System(1.0, max_depth=2, gamma=50.0), start, np.zeros((400, 1))))
    assert tree.gain[0] < 50.0
    assert tree.feature.size == 7


def test_rounds_bin_anew_by_second_derivatives() -> None:
    loss, y = CLASSIFICATION["logistic"], (LABELS > 0).astype(np.float64)
    asked: list[Any] = []

    def rebin(weight: Any) -> Any:
        asked.append(weight)
        return bin_table(X, np.full(4, -1), max_bins=10, weight=weight)

    training = _training(loss, y)._replace(rebin=rebin)
    start, sums = loss.starts(y, None, 1), np.zeros((200, 1))
    rounds = boost(training, System(0.5, 1.0, max_depth=2), start, sums)
    for _ in range(3):
        share = 1.0 / (1.0 + np.exp(-(start + sums)[:, 0]))
        tree = next(rounds)
        expected = share * (1.0 - share)
        np.testing.assert_allclose(
            asked[-1] / asked[-1].max(), expected / expected.max(), rtol=1e-9
        )
        edges = bin_table(X, np.full(4, -1), max_bins=10, weight=asked[-1]).edges
        split = tree.first_child >= 0
        pairs = zip(tree.feature[split], tree.threshold[split], strict=True)
        assert all(threshold in edges[feature] for feature, threshold in pairs)
    assert (asked[0] == asked[0][0]).all() and len(np.unique(asked[1])) > 1


def test_curvatures_add_up_over_classes_and_are_positive() -> None:
    loss = CLASSIFICATION["multinomial"]
    raw = np.random.default_rng(0).normal(size=(200, 3))
    raw[0] = [800.0, 0.0, 0.0]  # certain: all second derivatives are zero
    terms = loss.derivatives(raw, LABELS)
    assert loss.in_turn is not None
    slopes = loss.in_turn(np.zeros(3), np.asfortranarray(raw), LABELS)
    found = curvatures(slopes, Weights.of(None, 1.0, 200))
    assert found[0] == 1
    expected = terms.hessian.sum(axis=1)
    np.testing.assert_allclose(found[1:] / found.max(), expected[1:] / expected.max(), rtol=1e-9)

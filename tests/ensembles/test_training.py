"""Where the rows of boosting lie, and that rounds there have the same bits."""

import itertools
from typing import Any

import numpy as np
import pytest

from tests.bits import assert_same_bits
from tests.cuda_host.emulation import emulated, on_device, to_host
from tests.samples import classes, reals
from vtree import arrays
from vtree.binning import bin_table
from vtree.ensembles import boosting
from vtree.ensembles.boosting import boost
from vtree.ensembles.derivatives import Weights
from vtree.ensembles.steps import Leaves
from vtree.ensembles.system import Goss, System
from vtree.ensembles.training import Training, added, beside_codes
from vtree.losses import CLASSIFICATION, REGRESSION, Loss
from vtree.tree import fingerprint, joined

X, Y = reals()
LABELS = classes()[1].astype(np.float64)
LOSSES: dict[str, Loss] = {**REGRESSION, **CLASSIFICATION}


def _training(name: str, table: Any, whole: Any = None) -> tuple[Training, Any, Any]:
    """Return (training, start, sums) of a loss for the rows of a table."""
    loss = LOSSES[name]
    y, n_raw = (Y, 1) if name in REGRESSION else (LABELS, 3)
    if name in ("poisson", "gamma", "tweedie"):
        y = np.abs(y) + 0.1
    elif name in ("logistic", "exponential"):
        y, n_raw = (LABELS > 0).astype(np.float64), 1
    bins = bin_table(table, np.full(4, -1), max_bins=20)
    weights = Weights.of(whole, 1.0, 200)
    how = loss.derivatives, loss.curved, Leaves(levels=loss.levels(n_raw))
    training = Training(bins, table, y, weights, *how, in_turn=loss.slopes)
    return training, loss.starts(y, whole, n_raw), np.zeros((200, n_raw), order="F")


@pytest.mark.cuda_host
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("name", LOSSES)
def test_rounds_beside_the_codes_have_the_same_bits(name: str, weighted: bool) -> None:
    whole = np.random.default_rng(0).integers(1, 5, 200) if weighted else None
    systems = System(0.3, 1.0, max_depth=3), System(0.3, max_leaves=4, subsample=0.6, seed=3)
    for system in (*systems, System(0.5, max_depth=2, goss=Goss(0.3, 0.3, 1))):
        training, start, sums = _training(name, X, whole)
        expected = joined(list(itertools.islice(boost(training, system, start, sums), 3)))
        with emulated(5):
            training, start, none = _training(name, on_device(X), whole)
            there, own = beside_codes(training, start, none)
            assert not any(map(arrays.is_numpy, (there.y, own)))
            assert not arrays.is_numpy(there.weights.whole)
            found = joined(list(itertools.islice(boost(there, system, start, own), 3)))
            assert_same_bits(to_host(own), sums)
        assert fingerprint(found) == fingerprint(expected)


@pytest.mark.cuda_host
def test_trees_of_a_round_one_after_another_draw_the_same_rows(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(boosting, "FRONTIER_ROWS", 1)
    system = System(0.3, max_depth=3, subsample=0.7)
    found = []
    for place in (np.asarray, on_device):
        with emulated(3):
            training, start, sums = _training("multinomial", place(X))
            there, own = beside_codes(training, start, sums)
            trees = joined(list(itertools.islice(boost(there, system, start, own), 2)))
            found.append((fingerprint(trees), to_host(own).tolist()))
    assert found[0] == found[1]


@pytest.mark.cuda_host
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("name", ["logistic", "multinomial"])
def test_leaves_that_answer_by_curvature_do_so_there(name: str, weighted: bool) -> None:
    whole = np.random.default_rng(0).integers(1, 5, 200) if weighted else None
    system = System(0.3, max_depth=3, subsample=0.7, first_order=True)
    found = []
    for place in (np.asarray, on_device):
        with emulated("backward"):
            training, start, sums = _training(name, place(X), whole)
            training = training._replace(leaves=Leaves(by_curvature=True))
            there, own = beside_codes(training, start, sums)
            trees = joined(list(itertools.islice(boost(there, system, start, own), 3)))
            found.append((fingerprint(trees), to_host(own), arrays.is_numpy(own)))
    (here, sums, on_host), (trees_there, sums_there, on_host_too) = found
    assert on_host and not on_host_too
    assert trees_there == here
    assert_same_bits(sums_there, sums)


@pytest.mark.cuda_host
def test_what_searches_rows_and_functions_of_ones_own_stay_on_the_host() -> None:
    with emulated():
        training, start, sums = _training("squared_error", on_device(X))
        assert beside_codes(training, start, sums)[1] is not sums
        several = start + np.zeros((200, 1))
        stays = [
            (training._replace(in_turn=None), start),
            (training._replace(leaves=Leaves(huber=0.9)), start),
            (training._replace(rebin=lambda weight: training.bins), start),
            (training, several),
        ]
        for own, before in stays:
            there, found = beside_codes(own, before, sums)
            assert there is own
            assert found is sums


def test_on_the_host_nothing_moves() -> None:
    training, start, sums = _training("logistic", X)
    there, found = beside_codes(training, start, sums)
    assert there is training
    assert found is sums


def test_added() -> None:
    draw = np.random.default_rng(1)
    sums = np.asfortranarray(draw.normal(size=(50, 2)))
    for start in (np.array([0.5, -1.0]), draw.normal(size=(50, 2))):
        assert_same_bits(added(start, sums), start + sums)


@pytest.mark.parametrize("name", LOSSES)
def test_losses_are_those_of_all_terms(name: str) -> None:
    training, start, _ = _training(name, X)
    sums = np.asfortranarray(np.random.default_rng(2).normal(size=(200, start.size)))
    y = training.y
    for before in (start, start + np.zeros((200, 1))):
        assert_same_bits(
            LOSSES[name].losses(before, sums, y), LOSSES[name].of(before + sums, y).loss
        )

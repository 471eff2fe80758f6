"""Each node's split: the twin is the definition, for draws, costs and nodes without a split."""

from typing import Any

import numpy as np
import pytest

from tests.bits import assert_same_bits
from vtree_kernels.choice import choice, missing_branch
from vtree_kernels.scan import Best


def _found(draw: np.random.Generator, n_nodes: int, n_features: int) -> tuple[Best, Any]:
    shape = n_nodes, n_features
    total = draw.integers(10, 100, (n_nodes, 3))
    gain = draw.integers(0, 4, shape) / 2.0  # with ties
    gain[draw.random(shape) < 0.3] = -np.inf
    gain[:2] = -np.inf
    best = Best(
        gain=gain,
        bin=draw.integers(0, 9, shape).astype(np.int32),
        next=draw.integers(0, 9, shape).astype(np.int32),
        missing_left=draw.random(shape) < 0.5,
        missing=draw.integers(0, 2, shape),
        varies=draw.random(shape) < 0.8,
        left=draw.integers(0, total[:, None, :] + 1, (*shape, 3)),
    )
    return best, total


@pytest.mark.parametrize("placed", [False, True])
@pytest.mark.parametrize("costly", [False, True])
@pytest.mark.parametrize("n_nodes", [0, 1, 500])
def test_twin_and_definition_agree(placed: bool, costly: bool, n_nodes: int) -> None:
    draw = np.random.default_rng(n_nodes)
    best, total = _found(draw, n_nodes, 7)
    place = np.argsort(draw.random(best.gain.shape), axis=1) if placed else None
    worth = best.gain / draw.integers(1, 3, 7) if costly else None
    is_categorical = np.arange(7) % 3 == 0
    given = best.gain, best, total, 1, is_categorical, worth, place
    expected, found = choice.reference(*given), choice.twin("cpu")(*given)
    for own, theirs in zip(found, expected, strict=True):
        assert_same_bits(own, theirs)
    compared = best.gain if worth is None else worth
    assert (compared[np.arange(n_nodes), found.feature] == compared.max(axis=1)).all()
    split = found.gain > -np.inf
    assert (found.n_children == 2 * split).all() and not split[:2].any()
    both = found.child_total.reshape(-1, 2, 3)
    assert (both.sum(axis=1) == total[split]).all()


def test_what_other_twins_of_scan_return_is_taken() -> None:
    best, total = _found(np.random.default_rng(0), 20, 4)
    wide = best._replace(bin=best.bin.astype(np.int64), left=np.asfortranarray(best.left))
    given = total, 0, np.zeros(4, bool)
    for own, theirs in zip(
        choice(best.gain, wide, *given), choice(best.gain, best, *given), strict=True
    ):
        assert_same_bits(own, theirs)


def test_missing_values_go_where_was_learnt_or_to_the_larger_side() -> None:
    learnt = np.array([True, False, True, True, False])
    missing, n_left = np.array([1, 2, 0, 0, 0]), np.array([1, 9, 4, 5, 6])
    child = missing_branch(learnt, missing, n_left, np.full(5, 10))
    assert child.tolist() == [0, 1, 1, 1, 0]

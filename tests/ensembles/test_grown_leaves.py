"""Boosting of many rows: trees grow from few digits, the same ones in any way of working it out."""

from typing import Any

import numpy as np
import pytest

import vtree
from tests.bits import assert_same_bits
from vtree.ensembles.derivatives import MANY_ROWS
from vtree.ensembles.grown_leaves import pruned
from vtree.estimators.persistence import digest

DRAW = np.random.default_rng(0)
N = MANY_ROWS + 4_000
X = DRAW.normal(size=(N, 3)).astype(np.float32).round(1)
Y = (X[:, 0] * X[:, 1] + X[:, 2] + DRAW.normal(size=N) > 0).astype(np.int64)


def _fitted(x: Any = X, y: Any = Y, weight: Any = None, n_jobs: int = 1) -> Any:
    model = vtree.LeafwiseBoostingClassifier(n_estimators=3, num_leaves=6, n_jobs=n_jobs)
    return model.fit(x, y, sample_weight=weight)


def test_rows_in_any_order_threads_and_the_reference_make_one_model() -> None:
    expected = digest(_fitted())
    order = DRAW.permutation(N)
    assert digest(_fitted(X[order], Y[order])) == expected
    assert digest(_fitted(n_jobs=2)) == expected
    with vtree.kernels("reference"):
        assert digest(_fitted()) == expected


def test_weights_are_copies() -> None:
    weight = DRAW.integers(1, 3, N)
    own, copies = _fitted(weight=weight), _fitted(np.repeat(X, weight, 0), np.repeat(Y, weight))
    assert_same_bits(own.predict_proba(X[:999]), copies.predict_proba(X[:999]))


def test_leaves_answer_in_all_digits() -> None:
    """Σ −g / (Σ h + λ) of the rows that a leaf holds, not of numbers of 11 digits."""
    model = vtree.NewtonBoostingClassifier(
        n_estimators=1, max_depth=3, learning_rate=1.0, reg_lambda=1.0, base_score=0.5
    ).fit(X, Y)
    tree, leaf = model.grown_, model.apply(X)[:, 0]
    for node in np.unique(leaf):
        own = leaf == node
        step = (Y[own] - 0.5).sum() / (0.25 * own.sum() + 1.0)
        assert tree.value[node, 0] == pytest.approx(step, rel=1e-12)
        assert tree.weight[node] == pytest.approx(0.25 * own.sum(), rel=1e-12)
    inner = np.flatnonzero(tree.first_child >= 0)
    first = tree.first_child[inner]
    assert_same_bits(tree.weight[inner], tree.weight[first] + tree.weight[first + 1])


def test_nothing_is_pruned_without_gamma() -> None:
    sentinel: Any = object()
    assert pruned(sentinel, 0.0) is sentinel

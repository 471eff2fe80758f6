"""Choosing among nested subtrees."""

import numpy as np
import pytest

from tests.fitting import Setting, fit
from tests.samples import classes
from vtree.predict import leaves
from vtree.pruning import (
    Part,
    class_weights,
    cost_complexity_path,
    judge,
    prune_cost_complexity,
    training_losses,
)
from vtree.pruning.honest import Judged, _Answers, _sums
from vtree.tree import Tree

ERRORS = 1.0 - np.eye(3)


def _judged(risks: list[float], errors: list[float]) -> Judged:
    some = np.arange(len(risks), dtype=np.float64)
    return Judged(some, np.arange(len(risks))[::-1], some, np.array(risks), np.array(errors))


@pytest.mark.parametrize(
    ("risks", "errors", "minimum", "one_standard_error"),
    [
        # Titanic of the goldens, largest tree first: rpart takes its rows 4 and 3 of 4.
        ([0.543086, 0.561122, 0.597194, 1.0], [0.029398, 0.029753, 0.030427, 0.035272], 0, 1),
        ([0.3, 0.2, 0.2, 0.9], [0.05, 0.05, 0.01, 0.05], 2, 2),  # of equal ones the smallest
        ([0.3, 0.2, 0.25, 0.9], [0.05, 0.05, 0.01, 0.05], 1, 2),
        ([0.2, 0.3, 0.4], [0.2, 0.0, 0.0], 0, 2),
        ([0.5], [0.1], 0, 0),
    ],
)
def test_rules(
    risks: list[float], errors: list[float], minimum: int, one_standard_error: int
) -> None:
    judged = _judged(risks, errors)
    assert judged.choose("minimum") == minimum
    assert judged.choose("one_standard_error") == one_standard_error


def _part(tree: Tree, X: np.ndarray, rows: np.ndarray) -> Part:
    losses = training_losses(tree, class_weights(tree, tree.weight), ERRORS)
    return Part(tree, losses, leaves(tree, X[rows])[:, 0].astype(np.int64), rows)


@pytest.mark.parametrize("least_alpha", [0.0, 0.01, 10.0])
def test_parts_are_cut_between_the_alphas(least_alpha: float) -> None:
    X, y = classes(160)
    half = np.arange(160) % 2 == 0
    first, second = (fit(X[own], y[own], Setting(min_rows=2)) for own in (half, ~half))
    whole = fit(X, y, Setting(min_rows=2))
    parts = [
        _part(first, X, np.flatnonzero(~half)),
        _part(second, X, np.flatnonzero(half)),
    ]
    weight = np.random.default_rng(0).random(160) + 0.5
    losses = training_losses(whole, class_weights(whole, whole.weight), ERRORS)

    def loss(rows: np.ndarray, value: np.ndarray) -> np.ndarray:
        wrong: np.ndarray = (value.argmax(axis=1) != y[rows]).astype(np.float64)
        return wrong

    judged = judge(whole, losses, parts, loss, weight, least_alpha)
    path = cost_complexity_path(whole, losses)
    kept = path.alphas[path.alphas > least_alpha * 160 + path.tolerance]
    assert judged.alphas.tolist() == pytest.approx([least_alpha, *kept / 160])
    between = np.sqrt(judged.alphas * np.append(judged.alphas[1:], 100 * judged.alphas[-1]))
    for place, alpha in enumerate(between.tolist()):
        each = np.zeros(160)
        for part in parts:
            cut = prune_cost_complexity(part.tree, alpha * 80, part.losses)
            value = cut.value[leaves(cut, X[part.rows])[:, 0]]
            each[part.rows] = loss(part.rows, value)
        mean = (weight @ each) / weight.sum()
        assert judged.unseen_risks[place] == pytest.approx(mean, rel=1e-12)
        spread = np.sqrt(weight @ each**2 - (weight @ each) ** 2 / weight.sum())
        assert judged.standard_errors[place] == pytest.approx(spread / weight.sum(), rel=1e-9)


def test_sums_in_any_order() -> None:
    draw = np.random.default_rng(0)
    values = np.abs(draw.normal(size=1000)) * 10.0 ** draw.uniform(-9, 9, 1000)
    begin = np.append(np.zeros(600, int), draw.integers(1, 4, 400))
    ranges = np.stack([begin, draw.integers(4, 8, 1000)])
    expected = [values[(ranges[0] <= p) & (p < ranges[1])].sum() for p in range(7)]
    totals = []
    for seed in range(3):
        order = np.random.default_rng(seed).permutation(1000)
        first, rest = order[:300], order[300:]
        passed = [(_Answers(own, own, *ranges[:, own]), values[own]) for own in (first, rest)]
        totals.append(_sums(7, passed).tolist())
    np.testing.assert_allclose(totals[0], expected, rtol=1e-9)
    assert totals[0] == totals[1] == totals[2]
    nothing = _Answers(*np.array([[0], [0], [0], [2]]))
    assert _sums(2, [(nothing, np.zeros(1))]).tolist() == [0.0, 0.0]

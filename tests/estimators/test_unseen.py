"""Reading rows that a tree was not grown on, and what they lose."""

import numpy as np
import pytest

from tests.samples import classes, reals
from vtree import DecisionTreeClassifier, DecisionTreeRegressor
from vtree.estimators.unseen import own_losses, parts_of, read_unseen, row_losses, unseen_losses


def test_validation_rows() -> None:
    X, y = classes(120)
    names = np.array(["c", "a", "b"])[y]
    model = DecisionTreeClassifier(max_depth=4).fit(X[:80], names[:80])
    weight = np.r_[np.zeros(10), np.full(30, 2.0)]
    unseen = read_unseen(model, X[80:], names[80:], weight)
    assert unseen.leaf.tolist() == model.apply(X[90:]).tolist()
    assert unseen.y[:, 0].tolist() == [["a", "b", "c"].index(name) for name in names[90:]]
    assert unseen.weight.tolist() == [2.0] * 30
    losses = unseen_losses(model, unseen)
    wrong = int((model.predict(X[90:]) != names[90:]).sum())
    assert losses.at_rest.sum() == wrong
    lost = row_losses(model, unseen.y, model.grown_.value[unseen.leaf])
    assert lost.sum() == wrong


def test_numbers_lose_their_deviance() -> None:
    X, y = reals(120)
    model = DecisionTreeRegressor(max_depth=3).fit(X, y)
    lost = row_losses(model, y[:, None], model.predict(X)[:, None])
    assert lost.sum() == pytest.approx(((y - model.predict(X)) ** 2).sum())
    losses = own_losses(model, model.grown_)
    assert losses.as_leaf[0] == pytest.approx(120 * y.var())
    assert losses.at_rest.sum() == pytest.approx(lost.sum())


def test_costs_are_lost() -> None:
    X, y = classes(120)
    costs = np.array([[0.0, 1.0, 5.0], [2.0, 0.0, 1.0], [1.0, 9.0, 0.0]])
    model = DecisionTreeClassifier(max_depth=3, costs=costs).fit(X, y)
    lost = row_losses(model, y[:, None], model.grown_.value[model.apply(X)])
    assert lost.tolist() == costs[y, model.predict(X)].tolist()
    losses = own_losses(model, model.grown_)
    assert losses.at_rest.sum() == pytest.approx(lost.sum(), rel=1e-9)


def test_parts_know_nothing_of_their_rows() -> None:
    X, y = classes(120)
    weight = np.r_[np.zeros(20), np.ones(50), np.full(50, 2.0)]
    numbers = np.arange(120) % 3
    model = DecisionTreeClassifier().fit(X, y, weight)
    parts, true, own = parts_of(model, X, y, weight, numbers)
    assert true[:, 0].tolist() == y[20:].tolist()
    assert own.tolist() == weight[20:].tolist()
    assert np.sort(np.concatenate([part.rows for part in parts])).tolist() == list(range(100))
    for number, part in enumerate(parts):
        assert ((part.rows + 20) % 3 == number).all()
        train = numbers != number
        alone = DecisionTreeClassifier().fit(X[train], y[train], weight[train])
        assert alone.grown_.threshold.tolist() == part.tree.threshold.tolist()
        held_out = X[20:][part.rows]
        assert part.leaf.tolist() == alone.apply(held_out).tolist()

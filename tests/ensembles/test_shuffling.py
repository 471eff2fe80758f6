"""Losses by shuffling beside each tree's own predictions, one feature at a time."""

import numpy as np

from tests.samples import reals
from vtree import RandomForestRegressor
from vtree.ensembles.shuffling import losses_by_shuffling, shuffled


def test_an_order_is_a_permutation_that_its_words_decide() -> None:
    order = shuffled(50, 3, 1)
    assert sorted(order.tolist()) == list(range(50))
    np.testing.assert_array_equal(shuffled(50, 3, 1), order)
    assert (shuffled(50, 3, 2) != order).any() and (shuffled(50, 4, 1) != order).any()


def test_losses_are_those_of_the_trees_predictions() -> None:
    X, y = reals(60)
    model = RandomForestRegressor(4, max_depth=3, random_state=0).fit(X, y)
    out = [np.arange(number, 60, 5) for number in range(3)] + [np.arange(0)]
    found = losses_by_shuffling(
        model.grown_,
        X,
        model.seeds_,
        lambda number: out[number],
        lambda value, rows: (value[:, 0] - y[rows]) ** 2,
    )
    assert np.isnan(found[:, 3]).all()
    for number, (tree, rows) in enumerate(zip(model.estimators_[:3], out[:3], strict=True)):
        before = ((tree.predict(X[rows]) - y[rows]) ** 2).mean()
        for feature in range(4):
            changed = X[rows].copy()
            order = shuffled(rows.size, int(model.seeds_[number]), feature)
            changed[:, feature] = changed[order, feature]
            after = ((tree.predict(changed) - y[rows]) ** 2).mean()
            assert np.isclose(found[feature, number], after - before, rtol=1e-12, atol=1e-13)

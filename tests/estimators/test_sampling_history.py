"""Forests whose trees drew their rows in different ways: each answers by its own sample."""

from typing import Any

import numpy as np
import pytest

import vtree
from tests.samples import classes, reals
from vtree import (
    ExtraTreesClassifier,
    ExtraTreesRegressor,
    IsolationForest,
    QuantileForestRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from vtree.errors import InputError
from vtree.estimators.sampling_history import (
    Sampling,
    check_one_table,
    extended,
    from_saved,
    of_tree,
    to_saved,
)

X, Y = classes(150)
WEIGHT = np.arange(150.0)
FORESTS = [
    RandomForestClassifier,
    RandomForestRegressor,
    ExtraTreesClassifier,
    ExtraTreesRegressor,
    QuantileForestRegressor,
]


def _two_tables(forest: Any) -> Any:
    """Return a forest of two trees of 150 rows and two of 75."""
    model = forest(2, bootstrap=True, random_state=0, warm_start=True).fit(X, Y)
    return model.set_params(n_estimators=4).fit(X[::2], Y[::2])


def test_a_tree_has_the_latest_sampling_before_it() -> None:
    first, later = Sampling(0, 10, 5), Sampling(3, 10, 5, np.ones(10))
    history = extended(extended((), first), later)
    assert [of_tree(history, number).first for number in (0, 2, 3, 9)] == [0, 0, 3, 3]
    assert extended(history, Sampling(7, 10, 5, np.ones(10))) == history
    assert len(extended(history, Sampling(7, 10, 6, np.ones(10)))) == 3
    np.testing.assert_array_equal(later.chance, 0.1)
    again = from_saved(to_saved(history), 4)
    assert again[0] == first and again[1][:3] == later[:3]
    np.testing.assert_array_equal(again[1].weight, later.weight)


@pytest.mark.parametrize(
    "saved",
    [
        [],
        [[1, 10, 5, None, None, True]],
        [[0, 10, 5, None, None, True], [4, 10, 5, None, None, True]],
        [[0, 10, 5, None, None, 1]],
        [[0, 10, 5.0, None, None, True]],
        [[0, 10, 5, [1.0], None, True]],
        [[0, 10, 5]],
    ],
)
def test_what_a_file_cannot_mean_is_refused(saved: Any) -> None:
    with pytest.raises((ValueError, TypeError)):
        from_saved(saved, 4)


def test_numbers_of_rows_are_named() -> None:
    with pytest.raises(InputError, match="this needs the rows of all trees.* 150 and on 75 rows"):
        check_one_table((Sampling(0, 150, 1), Sampling(2, 75, 1), Sampling(4, 150, 1)), "this")


@pytest.mark.parametrize("forest", FORESTS)
def test_trees_of_two_tables_have_no_samples_in_common(forest: Any) -> None:
    model = _two_tables(forest)
    assert model.predict(X).shape == (150,)  # the forest itself is of use
    asked: list[Any] = [
        lambda: model.estimators_samples_,
        lambda: model.out_of_bag_importance(X, Y),
        lambda: model.out_of_bag_importance(X[::2], Y[::2]),
        lambda: model.prediction_variance(X),
    ]
    if forest is QuantileForestRegressor:
        asked += [lambda: model.weights(X), lambda: model.predict_quantiles(X)]
    for each in asked:
        with pytest.raises(InputError, match="on 150 and on 75 rows"):
            each()


@pytest.mark.parametrize("forest", FORESTS)
def test_out_of_bag_scores_of_two_tables_are_refused_and_nothing_is_lost(forest: Any) -> None:
    model = forest(2, bootstrap=True, random_state=0, warm_start=True).fit(X, Y)
    before = vtree.digest(model)
    for more in (0, 2):
        model.set_params(n_estimators=2 + more, oob_score=True)
        with pytest.raises(InputError, match="oob_score=True needs .* on 150 and on 75 rows"):
            model.fit(X[::2], Y[::2])
        assert vtree.digest(model) == before and len(model.estimators_samples_[0]) == 150


def test_another_fit_from_the_start_forgets_the_tables_before() -> None:
    model = _two_tables(RandomForestClassifier)
    model.set_params(n_estimators=40, warm_start=False, oob_score=True).fit(X, Y)
    fresh = RandomForestClassifier(40, oob_score=True, random_state=0).fit(X, Y)
    assert model.oob_score_ == fresh.oob_score_


def test_a_warm_start_that_grows_nothing_changes_no_samples(tmp_path: Any) -> None:
    model = RandomForestRegressor(2, random_state=0, warm_start=True).fit(X, Y)
    before = model.estimators_samples_
    with pytest.warns(UserWarning, match="does not fit new trees"):
        model.set_params(max_samples=9).fit(X[:50], Y[:50])
    vtree.save(model, tmp_path / "forest.vtree")
    for each in (model, vtree.load(tmp_path / "forest.vtree")):
        np.testing.assert_array_equal(before, each.estimators_samples_)


def test_trees_drawn_by_other_weights_and_in_other_numbers_keep_their_samples(
    tmp_path: Any,
) -> None:
    model = RandomForestRegressor(2, random_state=0, warm_start=True).fit(X, Y)
    model.set_params(n_estimators=4, max_samples=40).fit(X, Y, WEIGHT)
    first = RandomForestRegressor(2, random_state=0).fit(X, Y).estimators_samples_
    later = RandomForestRegressor(4, random_state=0, max_samples=40).fit(X, Y, WEIGHT)
    path = tmp_path / "forest.vtree"
    vtree.save(model, path)
    for each in (model, vtree.load(path)):
        samples = each.estimators_samples_
        for found, expected in zip(samples, first + later.estimators_samples_[2:], strict=True):
            np.testing.assert_array_equal(found, expected)
        variance = each.prediction_variance(X, method="infinitesimal")
        assert np.isfinite(variance).all()


def test_a_tree_grown_on_all_rows_has_none_out_of_bag() -> None:
    model = RandomForestRegressor(
        2, bootstrap=False, max_features=1, random_state=0, warm_start=True
    ).fit(X, Y)
    model.set_params(n_estimators=40, bootstrap=True, oob_score=True).fit(X, Y)
    samples = [np.unique(rows) for rows in model.estimators_samples_]
    assert [len(rows) == 150 for rows in samples] == [True] * 2 + [False] * 38
    row = np.setdiff1d(np.arange(150), samples[2])[0]
    out = [tree for tree, rows in zip(model, samples, strict=True) if row not in rows]
    expected = np.mean([tree.predict(X[row : row + 1]) for tree in out])
    assert model.oob_prediction_[row] == pytest.approx(expected)


def test_isolation_forests_keep_samples_and_features(tmp_path: Any) -> None:
    table = reals(120)[0]
    model = IsolationForest(n_estimators=2, max_samples=30, random_state=0, warm_start=True)
    before = model.fit(table).estimators_samples_
    model.set_params(n_estimators=4, max_samples=50, max_features=2).fit(table)
    path = tmp_path / "isolation.vtree"
    vtree.save(model, path)
    for each in (model, vtree.load(path)):
        np.testing.assert_array_equal(each.estimators_samples_[:2], before)
        assert [len(rows) for rows in each.estimators_samples_] == [30, 30, 50, 50]
        n_features = [len(own) for own in each.estimators_features_]
        assert n_features == [table.shape[1]] * 2 + [2] * 2
    model.set_params(n_estimators=5).fit(table[:60])
    with pytest.raises(InputError, match="on 120 and on 60 rows"):
        _ = model.estimators_samples_


def test_quantiles_stay_those_of_the_rows_that_trees_were_grown_on() -> None:
    model = QuantileForestRegressor(5, random_state=0, warm_start=True).fit(X, Y)
    before = model.predict_quantiles(X)
    with pytest.warns(UserWarning, match="does not fit new trees"):
        model.fit(X[:50], Y[:50] + 9)
    np.testing.assert_array_equal(model.predict_quantiles(X), before)

"""Importances, proximities and variances of fitted forests, on every backend alike."""

from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.inspection import permutation_importance
from sklearn.metrics import accuracy_score

import vtree
from tests.conftest import NAMESPACES
from tests.samples import classes, columns, reals
from vtree import ExtraTreesClassifier, RandomForestClassifier, RandomForestRegressor
from vtree.ensembles.samples import counts_of
from vtree.errors import InputError

X, Y = classes(150)


def _everything(forest: Any, table: Any, y: Any, **parameters: Any) -> list[np.ndarray]:
    model = forest(8, max_depth=4, random_state=0, **parameters).fit(table, y)
    return [
        model.out_of_bag_importance(table, y).importances,
        model.proximities(table, most=9).toarray(),
        model.prediction_variance(table),
    ]


@pytest.mark.parametrize("forest", [RandomForestClassifier, RandomForestRegressor])
def test_the_same_numbers_on_every_backend_and_at_any_number_of_threads(forest: Any) -> None:
    table, y = np.round(X, 1), Y if forest is RandomForestClassifier else reals(150)[1]
    expected = _everything(forest, table, y)
    found = [_everything(forest, table, y, n_jobs=4)]
    with vtree.kernels("reference"):
        found += [_everything(forest, make().asarray(table), y) for make in NAMESPACES.values()]
    for each in found:
        for one, other in zip(each, expected, strict=True):
            np.testing.assert_array_equal(one, other)


def test_importances_are_the_losses_of_rows_out_of_bag() -> None:
    model = RandomForestClassifier(12, random_state=0).fit(X, Y)
    found = model.out_of_bag_importance(X, Y)
    # A loss without shuffling is what each tree gets wrong out of bag: no feature may lower it
    # below zero.
    bootstrap = model._bootstrap()
    for number, tree in enumerate(model):
        rows = np.flatnonzero(counts_of(bootstrap, int(model.seeds_[number])) == 0)
        error = 1.0 - accuracy_score(Y[rows], tree.predict(X[rows]))
        after = error + found.importances[:, number]
        assert ((after >= -1e-12) & (after <= 1.0 + 1e-12)).all()
        # It is a mean over these rows.
        np.testing.assert_allclose(after * rows.size, np.rint(after * rows.size), atol=1e-9)
    np.testing.assert_allclose(found.importances_mean, found.importances.mean(axis=1))


@pytest.mark.parametrize("forest", [RandomForestClassifier, RandomForestRegressor])
def test_importances_agree_with_those_of_data_held_out(forest: Any) -> None:
    table, y = (classes if forest is RandomForestClassifier else reals)(600)
    model = forest(60, min_samples_leaf=3, random_state=0).fit(table[:400], y[:400])
    own = model.out_of_bag_importance(table[:400], y[:400]).importances_mean
    scoring = "accuracy" if forest is RandomForestClassifier else "neg_mean_squared_error"
    held_out = permutation_importance(
        model, table[400:], y[400:], scoring=scoring, n_repeats=5, random_state=0
    ).importances_mean
    # Two features tell, two do not. Single trees lose less or more than the whole forest does.
    assert set(np.argsort(-own)[:2]) == set(np.argsort(-held_out)[:2]) == {0, 1}
    assert abs(own[2:]).max() < 0.1 * own[:2].min()


def test_frames_labels_and_several_outputs() -> None:
    table, y = columns()
    frame, labels = pd.DataFrame(table), np.array(["no", "yes"])[y]
    model = RandomForestClassifier(20, random_state=0).fit(frame, labels)
    found = model.out_of_bag_importance(frame, labels)
    assert found.importances_mean.argmax() in (0, 1)
    two = RandomForestRegressor(5, random_state=0).fit(X, X[:, :2])
    assert two.out_of_bag_importance(X, X[:, :2]).importances_mean[:2].min() > 0.1
    assert two.prediction_variance(X).shape == (150, 2)


def test_proximities_of_rows_and_of_other_rows() -> None:
    model = ExtraTreesClassifier(15, random_state=0).fit(X, Y)
    leaf = model.apply(X)
    near = model.proximities(X, most=150).toarray()
    np.testing.assert_allclose(near, (leaf[:, None] == leaf[None]).mean(axis=2), rtol=1e-14)
    few = model.proximities(X[:4], X, most=2)
    assert few.shape == (4, 150) and few.nnz <= 8
    np.testing.assert_array_equal(few.max(axis=1).toarray()[:, 0], 1.0)


def test_variances_of_a_forest_are_those_of_its_trees() -> None:
    table, y = reals(80)
    model = RandomForestRegressor(30, random_state=0).fit(table, y)
    answers = np.stack([tree.predict(table) for tree in model])
    times = np.stack([np.bincount(rows, minlength=80) for rows in model.estimators_samples_])
    mean = answers.mean(axis=0)
    covariance = (times - times.mean(axis=0)).T @ (answers - mean) / 30
    expected = (covariance**2).sum(axis=0)
    found = model.prediction_variance(table, method="infinitesimal", corrected=False)
    np.testing.assert_allclose(found, expected, rtol=1e-9)
    shares = RandomForestClassifier(10, random_state=0).fit(X, Y).prediction_variance(X)
    assert shares.shape == (150, 3)


def test_what_cannot_be_asked_is_named() -> None:
    model = RandomForestClassifier(2, random_state=0).fit(X, Y)
    with pytest.raises(InputError, match="y has 10 rows, but the forest was fitted on 150"):
        model.out_of_bag_importance(X[:10], Y[:10])
    with pytest.raises(InputError, match="X has 10 rows"):
        model.out_of_bag_importance(X[:10], Y)
    with pytest.raises(InputError, match="did not see"):
        model.out_of_bag_importance(X, Y + 1)
    with pytest.raises(InputError, match="most=0"):
        model.proximities(X, most=0)
    with pytest.raises(InputError, match="method='delta'"):
        model.prediction_variance(X, method="delta")
    whole = RandomForestClassifier(2, bootstrap=False).fit(X, Y)
    with pytest.raises(InputError, match="bootstrap=False"):
        whole.out_of_bag_importance(X, Y)
    with pytest.raises(InputError, match="bootstrap=False"):
        whole.prediction_variance(X)


def test_variances_count_the_draws_and_not_absent_rows() -> None:
    table, y = reals(60)
    weight = np.repeat([0.0, 1.0], [240, 60])
    padded, target = np.r_[np.tile(table, (4, 1)), table], np.r_[np.tile(-y, 4), y]
    many = RandomForestRegressor(300, max_samples=60, min_samples_leaf=3, random_state=0)
    found = many.fit(padded, target, weight).prediction_variance(table[:20])
    alone = many.fit(table, y).prediction_variance(table[:20])
    np.testing.assert_allclose(found.mean(), alone.mean(), rtol=0.35)
    # Fewer draws than rows add less, of which the correction of n draws would take off more than
    # there is.
    few = RandomForestRegressor(200, max_samples=6, random_state=0).fit(table, y)
    for method in ("infinitesimal", "after_bootstrap"):
        assert few.prediction_variance(table, method=method).mean() > 0.0


def test_variances_take_trees_that_differ_and_leave_rows_out() -> None:
    one = RandomForestClassifier(1, random_state=0).fit(X, Y)
    for method in ("infinitesimal", "after_bootstrap", "extrapolated"):
        with pytest.raises(InputError, match="it has 1; grow more"):
            one.prediction_variance(X, method=method)
    full = RandomForestClassifier(20, max_samples=1500, random_state=0).fit(X, Y)
    assert np.isfinite(full.prediction_variance(X, method="infinitesimal")).all()
    for method in ("after_bootstrap", "extrapolated"):
        with pytest.raises(InputError, match="of 150 rows are in the samples of all 20 trees"):
            full.prediction_variance(X, method=method)


def test_too_many_draws_are_named_where_none_is_out_of_bag() -> None:
    full = RandomForestClassifier(3, max_samples=9000, random_state=0).fit(X, Y)
    with pytest.raises(InputError, match=r"drew 9000 times from 150 rows: .*\(max_samples\)"):
        full.out_of_bag_importance(X, Y)

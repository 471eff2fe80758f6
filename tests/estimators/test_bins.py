"""A table that is binned once: the models of the table itself, in all that takes tables."""

import pickle
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_breast_cancer, load_diabetes
from sklearn.model_selection import GridSearchCV, KFold, cross_val_predict, cross_val_score

import vtree
from tests.samples import columns
from vtree.errors import InputError, InputTypeError, VTreeError

RAW, Y = load_diabetes(return_X_y=True)
X = RAW.round(3)  # at most 255 distinct values a feature
CANCER = load_breast_cancer(return_X_y=True)
FRAME, LABELS = pd.DataFrame(columns()[0]), columns()[1]

REGRESSORS: dict[str, Any] = {
    "tree": vtree.DecisionTreeRegressor(max_depth=4),
    "random cuts": vtree.DecisionTreeRegressor(max_depth=4, splitter="random", random_state=0),
    "forest": vtree.RandomForestRegressor(5, random_state=0, oob_score=False),
    "extra trees": vtree.ExtraTreesRegressor(5, random_state=0),
    "gbm": vtree.GradientBoostingRegressor(n_estimators=5),
    "newton": vtree.NewtonBoostingRegressor(n_estimators=5, subsample=0.5, random_state=0),
    "leafwise": vtree.LeafwiseBoostingRegressor(n_estimators=5),
}


@pytest.mark.parametrize("name", REGRESSORS)
def test_fits_of_bins_are_those_of_the_table(name: str) -> None:
    model, bins = REGRESSORS[name], vtree.Bins(X)
    expected = vtree.digest(model.fit(X, Y))
    prediction = model.predict(X)
    assert vtree.digest(model.fit(bins, Y)) == expected
    np.testing.assert_array_equal(model.predict(bins), prediction)
    np.testing.assert_array_equal(model.predict(X), prediction)
    # Rows without weight are left out, but their bins stay and count.
    weight = np.arange(Y.size) % 3 * 1.0
    tree = model.fit(X, Y, weight).grown_
    own = model.fit(bins, Y, weight).grown_
    assert vtree.digest(own._replace(bin=tree.bin)) == vtree.digest(tree)


def test_searches_and_cross_validation_take_rows_of_bins() -> None:
    bins, exact = vtree.Bins(RAW), vtree.Bins(X)
    model = vtree.NewtonBoostingRegressor(n_estimators=5)
    folds = KFold(4, shuffle=True, random_state=0)
    expected = cross_val_score(model, X, Y, cv=folds)
    np.testing.assert_array_equal(cross_val_score(model, exact, Y, cv=folds), expected)
    search = GridSearchCV(model, {"max_depth": [1, 3]}, cv=folds).fit(bins, Y)
    assert search.best_estimator_.predict(bins[:7]).shape == (7,)
    table, y = CANCER
    logistic = vtree.LeafwiseBoostingClassifier(n_estimators=5, num_leaves=4)
    share = cross_val_predict(logistic, vtree.Bins(table), y, method="predict_proba")
    assert ((share[:, 1] > 0.5) == y).mean() > 0.9
    held = vtree.GradientBoostingRegressor(n_estimators=9, n_iter_no_change=2, random_state=1)
    np.testing.assert_array_equal(held.fit(exact, Y).predict(X), held.fit(X, Y).predict(X))


def test_frames_keep_their_names_and_categories() -> None:
    bins = vtree.Bins(FRAME)
    model = vtree.NewtonBoostingClassifier(n_estimators=3).fit(FRAME, LABELS)
    expected, shares = vtree.digest(model), model.predict_proba(FRAME)
    model.fit(bins, LABELS, eval_set=[(bins[::2], LABELS[::2])])
    assert vtree.digest(model) == expected
    assert model.feature_names_in_.tolist() == FRAME.columns.tolist()
    np.testing.assert_array_equal(model.predict_proba(FRAME), shares)
    np.testing.assert_array_equal(model.predict_proba(bins), shares)


def test_rows_are_chosen_as_of_an_array() -> None:
    bins = vtree.Bins(X)
    assert bins.shape == X.shape and len(bins) == len(X) and "442 × 10" in repr(bins)
    mask = np.arange(len(X)) % 2 == 0
    model = vtree.DecisionTreeRegressor(max_depth=3).fit(X, Y)
    for rows in (mask, np.flatnonzero(mask), slice(None, None, 2), (mask, ...), list(range(5))):
        part = bins[rows]
        own = rows[0] if isinstance(rows, tuple) else rows
        np.testing.assert_array_equal(model.predict(part), model.predict(X[own]))
    for wrong in (3, "a", (slice(None), 0)):
        with pytest.raises(InputTypeError, match="indexed by rows"):
            bins[wrong]
    again = pickle.loads(pickle.dumps(bins))
    assert vtree.digest(model.fit(again, Y)) == vtree.digest(model.fit(X, Y))


def test_later_changes_of_the_table_are_not_seen() -> None:
    table = X.copy()
    bins = vtree.Bins(table)
    model = vtree.ExtraTreesRegressor(3, random_state=0)
    expected = vtree.digest(model.fit(table, Y))
    table[:] = 0.0
    assert vtree.digest(model.fit(bins, Y)) == expected


@pytest.mark.parametrize("asarray", [np.asarray, "strict", "torch"])
def test_one_model_on_every_backend(asarray: Any) -> None:
    if asarray == "strict":
        asarray = pytest.importorskip("array_api_strict").asarray
    elif asarray == "torch":
        asarray = pytest.importorskip("torch").asarray
    model = vtree.NewtonBoostingRegressor(n_estimators=3, max_depth=3)
    part = np.arange(0, 442, 2)
    expected = vtree.digest(model.fit(vtree.Bins(X)[part], Y[part]))
    with vtree.kernels("reference"):
        bins = vtree.Bins(asarray(X.copy()))
        assert vtree.digest(model.fit(bins[part], Y[part])) == expected


def test_what_does_not_fit_is_named() -> None:
    bins = vtree.Bins(X, max_bins=63)
    model = vtree.NewtonBoostingRegressor(n_estimators=1)
    with pytest.raises(InputError, match="max_bins=255, but X is vtree.Bins with max_bins=63"):
        model.fit(bins, Y)
    model.set_params(max_bins=63).fit(bins, Y)
    with pytest.raises(InputError, match="max_bins"):
        vtree.Bins(X, max_bins=1)
    with pytest.raises(InputTypeError, match="binned already"):
        vtree.Bins(bins)
    with pytest.raises(InputError, match="categorical_features"):
        model.set_params(categorical_features=[0]).fit(bins, Y)
    model.set_params(categorical_features="from_dtype")
    with pytest.raises(InputError, match="other columns or categories"):
        model.predict(vtree.Bins(X[:, 1:]))
    with pytest.raises(VTreeError, match="inconsistent numbers of samples"):
        model.fit(bins, Y[:-1])
    with pytest.raises(InputTypeError, match="cannot use; pass it the table itself"):
        vtree.CHAIDRegressor().fit(bins, Y)


def test_bags_use_them_as_their_trees_do() -> None:
    def bag() -> vtree.BaggingRegressor:
        return vtree.BaggingRegressor(n_estimators=3, random_state=0)

    assert vtree.digest(bag().fit(vtree.Bins(X), Y)) == vtree.digest(bag().fit(X, Y))


@pytest.mark.parametrize("bootstrap_features", [False, True])
def test_bags_draw_columns_of_them(bootstrap_features: bool) -> None:
    table, two = columns()

    def bag() -> vtree.BaggingClassifier:
        drawn = {"max_features": 0.7, "bootstrap_features": bootstrap_features}
        return vtree.BaggingClassifier(n_estimators=4, random_state=0, **drawn)

    plain, binned = bag().fit(table, two), bag().fit(vtree.Bins(table), two)
    for one, other in zip(binned.estimators_, plain.estimators_, strict=True):
        same = {"bin": one.grown_.bin}  # numbers of bins are those of the whole table
        assert vtree.digest(one.grown_) == vtree.digest(other.grown_._replace(**same))
    for each in (table, vtree.Bins(table)):
        np.testing.assert_array_equal(binned.predict_proba(each), plain.predict_proba(table))

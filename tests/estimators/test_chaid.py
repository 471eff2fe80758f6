"""CHAID as users of scikit-learn meet it."""

import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import clone
from sklearn.model_selection import cross_val_score
from sklearn.utils.estimator_checks import parametrize_with_checks

import vtree
from tests.samples import survey
from vtree import CHAIDClassifier, CHAIDRegressor
from vtree.errors import InputError
from vtree.tree import MULTIWAY

# Children of 50 rows are too large for the tables of these checks; see the tag poor_score.
SMALL = {"min_samples_split": 20, "min_samples_leaf": 5}


@parametrize_with_checks(  # type: ignore[untyped-decorator]
    [
        CHAIDClassifier(),
        CHAIDClassifier.r_compatible(),
        CHAIDClassifier(**SMALL, exhaustive=True, statistic="likelihood_ratio"),
        CHAIDRegressor(),
        CHAIDRegressor(**SMALL, alpha_resplit=0.049),
    ]
)
def test_sklearn_checks(estimator: Any, check: Any) -> None:
    check(estimator)


def test_groups_of_every_kind_of_column() -> None:
    X, score = survey()
    # 0.001, for at 0.05 chance alone keeps one pair of twenty apart.
    model = CHAIDClassifier(alpha_merge=0.001).fit(X, score > 2)
    assert model.ordinal_.tolist() == [True, False, True]
    assert model.schema_.levels[2].tolist() == ["S", "M", "L", "XL"]
    assert len(model.edges_[0]) == 9 and model.edges_[1] is model.edges_[2] is None
    tree = model.grown_
    inner = tree.first_child >= 0
    assert (tree.kind[inner] == MULTIWAY).all()
    assert {0, 1, 2} <= set(tree.feature[inner].tolist())
    for node in np.flatnonzero(inner & (tree.feature == 2)).tolist():
        start = int(tree.map_offset[node]) + 1
        assert tree.branch_map[start : start + 4].tolist() == [0, 0, 1, 1]
    for node in np.flatnonzero(inner & (tree.feature == 1)).tolist():
        start = int(tree.map_offset[node]) + 1
        blue, green, grey, red = tree.branch_map[start : start + 4].tolist()
        assert blue == green != grey == red
    assert model.score(X, score > 2) > 0.75
    share = model.feature_importances_
    assert share.sum() == pytest.approx(1.0) and (share > 0).all()


def test_prediction_follows_the_leaf_of_each_row() -> None:
    X, score = survey()
    model = CHAIDRegressor().fit(X, score)
    leaf = model.apply(X)
    means = pd.Series(score).groupby(leaf).mean()
    np.testing.assert_allclose(model.predict(X), means[leaf], rtol=1e-12, atol=1e-12)
    np.testing.assert_array_equal(
        np.bincount(leaf, minlength=0)[np.unique(leaf)], model.grown_.n_rows[np.unique(leaf)]
    )
    assert model.get_n_leaves() == np.unique(leaf).size
    assert model.get_depth() <= 3
    path = model.decision_path(X).toarray()
    assert (path[:, 0] == 1).all() and (path.sum(axis=1) <= 4).all()


@pytest.mark.parametrize("value", [-np.inf, np.inf, -0.0, 5e-324, 18.5, 50.0])
def test_numbers_come_to_the_branch_of_their_bin(value: float) -> None:
    x = np.array([-np.inf, -3.0, 0.0, 5e-324, 18.5, 50.0, np.inf]).repeat(60)
    y = np.arange(7).repeat(60) % 3
    model = CHAIDClassifier().fit(x[:, None], y)
    assert model.grown_.n_children[0] > 2
    assert model.predict([[value]])[0] == y[x == value][0]
    single = CHAIDClassifier().fit(x[:, None].astype(np.float32), y)
    assert single.predict(np.array([[18.5]], dtype=np.float32))[0] == y[x == 18.5][0]


def test_values_that_training_or_a_node_has_not_seen() -> None:
    X = {"a": ["x"] * 90 + ["y"] * 60, "b": ["u"] * 60 + ["v"] * 30 + ["w"] * 60}
    y = [0] * 90 + [1] * 60
    model = CHAIDClassifier().fit(X, y)
    assert model.predict({"a": ["z", None], "b": ["u", "u"]}).tolist() == [0, 0]  # the larger child
    strict = CHAIDClassifier(unknown_categories="error").fit(X, y)
    with pytest.raises(InputError, match="'z', not seen in training"):
        strict.predict({"a": ["z"], "b": ["u"]})


def test_missing_values_are_a_category() -> None:
    x = np.repeat([0.0, 1.0, np.nan], 100)
    y = np.repeat([0, 1, 2], 100)
    for missing in ("late", "floating"):
        model = CHAIDClassifier(missing=missing).fit(x[:, None], y)
        assert model.predict([[0.0], [1.0], [np.nan]]).tolist() == [0, 1, 2]
    like_ones = CHAIDClassifier().fit(x[:, None], np.minimum(y, 1))
    assert like_ones.grown_.n_children[0] == 2
    assert like_ones.predict([[np.nan]]).tolist() == [1]


@pytest.mark.parametrize("library", [pd.DataFrame, pl.DataFrame, dict])
@pytest.mark.parametrize("kind", [CHAIDClassifier, CHAIDRegressor])
def test_models_come_back_from_files(kind: type[Any], library: Any, tmp_path: Path) -> None:
    frame, score = survey(600)
    columns = {name: frame[name].astype(object).tolist() for name in frame}
    X = library(columns) if library is not pd.DataFrame else frame
    model = kind(ordinal_features={"size": ["S", "M", "L", "XL"]}, **SMALL)
    model.fit(X, (score > 2).astype(int))
    for loaded in (_saved(model, tmp_path / "m.vtree"), pickle.loads(pickle.dumps(model))):
        assert vtree.digest(loaded) == vtree.digest(model)
        np.testing.assert_array_equal(loaded.predict(X), model.predict(X))
        np.testing.assert_array_equal(loaded.log_p_values_, model.log_p_values_)
        assert vtree.export_text(loaded) == vtree.export_text(model)
        assert loaded.get_params() == model.get_params()


def _saved(model: Any, path: Path) -> Any:
    vtree.save(model, path)
    return vtree.load(path)


def test_cross_validation_and_clones() -> None:
    X, score = survey()
    assert cross_val_score(CHAIDClassifier(), X, score > 2, cv=3).min() > 0.75
    model = CHAIDClassifier(ordinal_features={"size": ["S", "M", "L", "XL"]})
    assert clone(model).get_params() == model.get_params()


def test_many_nominal_levels() -> None:
    random = np.random.default_rng(1)
    names = np.array([f"n{k:03}" for k in range(300)])
    level = random.integers(0, 300, 20_000)
    y = (random.random(20_000) < np.where(level % 3 == 0, 0.2, 0.7)).astype(int)
    model = CHAIDClassifier().fit({"name": names[level].tolist()}, y)
    tree = model.grown_
    child = tree.branch_map[int(tree.map_offset[0]) + 1 :][:300]
    low = [
        own for own in range(tree.n_children[0]) if tree.value[tree.first_child[0] + own, 1] < 0.45
    ]
    assert np.isin(child[::3], low).mean() > 0.95
    assert np.isin(child[1::3], low).mean() < 0.05

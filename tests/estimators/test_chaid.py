"""CHAID as users of scikit-learn meet it."""

import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import cross_val_score
from sklearn.utils.estimator_checks import parametrize_with_checks

import vtree
from vtree import CHAIDClassifier, CHAIDRegressor
from vtree.errors import InputError, InputTypeError, ModelFileError
from vtree.estimators import chaid
from vtree.interop.model_file import read_model, write_model
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


def _table(n_rows: int = 2_000) -> tuple[pd.DataFrame, Any]:
    random = np.random.default_rng(0)
    frame = pd.DataFrame(
        {
            "age": random.integers(18, 90, n_rows).astype(float),
            "colour": random.choice(["red", "green", "blue", "grey"], n_rows),
            "size": pd.Categorical(
                random.choice(["S", "M", "L", "XL"], n_rows), ["S", "M", "L", "XL"], ordered=True
            ),
        }
    )
    frame.loc[random.random(n_rows) < 0.1, "age"] = np.nan
    score = (frame["age"].fillna(30) > 50) * 2 + frame["colour"].isin(["red", "grey"])
    score += frame["size"].cat.codes > 1
    return frame, score + random.normal(size=n_rows)


def test_groups_of_every_kind_of_column() -> None:
    X, score = _table()
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
    X, score = _table()
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


def test_limits() -> None:
    X, score = _table()
    y = score > 2
    tree = CHAIDClassifier(min_samples_leaf=150, min_samples_split=0.25).fit(X, y).grown_
    assert tree.n_rows.min() >= 150
    assert tree.n_rows[tree.first_child >= 0].min() >= 500
    assert CHAIDClassifier(max_depth=1).fit(X, y).get_depth() == 1
    free = CHAIDClassifier.r_compatible(max_depth=2)
    assert (free.min_samples_leaf, free.min_leaf_share, free.max_depth) == (7, 0.01, 2)
    # Rows count by their weight.
    halves = CHAIDClassifier(min_samples_leaf=75).fit(X, y, sample_weight=np.full(2_000, 0.5))
    assert halves.grown_.n_rows.min() >= 150


def test_bonferroni() -> None:
    X, score = _table()
    settings: Any = {"alpha_merge": 0.001, "max_depth": 1}
    plain = CHAIDClassifier(bonferroni=False, **settings).fit(X, score > 2)
    adjusted = CHAIDClassifier(**settings).fit(X, score > 2)
    difference = adjusted.log_p_values_[0] - plain.log_p_values_[0]
    assert (difference > 0.5).all()  # log 2 at least
    assert difference[1] == pytest.approx(np.log(7))  # 4 nominal levels in 2 groups


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"alpha_resplit": 0.05}, "alpha_resplit=0.05 must be below alpha_merge=0.05"),
        ({"alpha_resplit": 0.2}, "must be below alpha_merge"),
        ({"alpha_resplit": 0.01, "exhaustive": True}, "splits no group again"),
        ({"alpha_merge": 1.0}, "alpha_merge"),
        ({"alpha_split": 0.0}, "alpha_split"),
        ({"statistic": "fisher"}, "statistic"),
        ({"missing": "never"}, "missing"),
        ({"small_groups": "last"}, "small_groups"),
        ({"min_samples_leaf": 0}, "min_samples_leaf"),
        ({"min_leaf_share": 0.0}, "min_leaf_share"),
        ({"max_bins": 1}, "max_bins"),
        ({"ordinal_features": ["nobody"]}, "ordinal_features names the columns"),
        ({"ordinal_features": {"size": ["S"]}}, "leaves out"),
        ({"ordinal_features": "size"}, "ordinal_features"),
    ],
)
def test_bad_parameters(parameters: dict[str, Any], message: str) -> None:
    X, score = _table(200)
    model = CHAIDClassifier(**parameters)
    with pytest.raises((InputError, InputTypeError), match=message):
        model.fit(X, score > 2)
    assert not hasattr(model, "grown_") and not hasattr(model, "classes_")


def test_bad_input(monkeypatch: pytest.MonkeyPatch) -> None:
    X, score = _table(200)
    with pytest.raises(InputError, match="y has 2 columns, and CHAID predicts one"):
        CHAIDRegressor().fit(X, np.stack([score, score], axis=1))
    monkeypatch.setattr(chaid, "MOST_LEVELS", 3)
    with pytest.raises(InputError, match="column 'colour' holds 4 levels"):
        CHAIDClassifier().fit(X, score > 2)
    with pytest.raises(NotFittedError):
        CHAIDRegressor().predict(X)


def test_what_binary_trees_have_and_these_have_not() -> None:
    X, score = _table(300)
    model = CHAIDRegressor().fit(X, score)
    assert not hasattr(model, "tree_")
    with pytest.raises(InputError, match="binary"):
        model.to_sklearn()
    with pytest.raises(InputError, match=r"vtree\.prune"):
        model.cost_complexity_pruning_path(X, score)


def test_pruning() -> None:
    X, score = _table()
    y = (score > 2).astype(int)
    model = CHAIDClassifier(alpha_split=0.9, min_samples_leaf=10).fit(X[:1200], y[:1200])
    smaller = vtree.prune(model, method="reduced_error", X_val=X[1200:], y_val=y[1200:])
    assert 1 < smaller.get_n_leaves() < model.get_n_leaves()
    assert np.isfinite(smaller.log_p_values_[0]).all()
    assert "adjusted p" in vtree.export_text(smaller)
    crossed = vtree.prune(model, method="cost_complexity", cv=3, X=X[:1200], y=y[:1200])
    assert crossed.get_n_leaves() <= model.get_n_leaves()


@pytest.mark.parametrize("library", [pd.DataFrame, pl.DataFrame, dict])
@pytest.mark.parametrize("kind", [CHAIDClassifier, CHAIDRegressor])
def test_models_come_back_from_files(kind: type[Any], library: Any, tmp_path: Path) -> None:
    frame, score = _table(600)
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


def test_hostile_files(tmp_path: Path) -> None:
    X, score = _table(600)
    path = tmp_path / "m.vtree"
    vtree.save(CHAIDRegressor().fit(X, score), path)
    header, tree, extra = read_model(path)
    edges = header["edges"][0]
    for changes in (
        {"edges": [edges[:-1], None, None]},  # the maps are longer
        {"edges": [edges[::-1], None, None]},
        {"edges": [None, None, None]},
        {"edges": [edges, edges, None]},
        {"edges": [edges.astype(np.float32), None, None]},
    ):
        with pytest.raises(InputError):
            write_model(path, {**header, **changes}, tree, extra)
    for name, array in (
        ("tested.key", extra["tested.key"][::-1].copy()),
        ("tested.key", extra["tested.key"].astype(np.int64)),
        ("tested.log_p", extra["tested.log_p"][:, :1].copy()),
        ("ordinal", extra["ordinal"][:1].copy()),
    ):
        write_model(path, header, tree, {**extra, name: array})
        with pytest.raises(ModelFileError):
            vtree.load(path)
    write_model(path, header, tree, {})
    with pytest.raises(ModelFileError):
        vtree.load(path)
    # A tree that splits bins, for an estimator that hands it raw numbers.
    binary = vtree.DecisionTreeRegressor().get_params()
    write_model(path, {**header, "estimator": "DecisionTreeRegressor", "parameters": binary}, tree)
    with pytest.raises(ModelFileError, match="no edges"):
        vtree.load(path)


def test_cross_validation_and_clones() -> None:
    X, score = _table()
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

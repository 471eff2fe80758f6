"""What both CHAID estimators refuse, limit and keep."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError

import vtree
from tests.samples import survey
from vtree import CHAIDClassifier, CHAIDRegressor
from vtree.errors import InputError, InputTypeError, ModelFileError
from vtree.estimators import chaid_base
from vtree.interop.model_file import read_model, write_model

# Children of 50 rows are too large for the tables of these checks; see the tag poor_score.
SMALL = {"min_samples_split": 20, "min_samples_leaf": 5}


def test_limits() -> None:
    X, score = survey()
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
    X, score = survey()
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
    X, score = survey(200)
    model = CHAIDClassifier(**parameters)
    with pytest.raises((InputError, InputTypeError), match=message):
        model.fit(X, score > 2)
    assert not hasattr(model, "grown_") and not hasattr(model, "classes_")


def test_bad_input(monkeypatch: pytest.MonkeyPatch) -> None:
    X, score = survey(200)
    with pytest.raises(InputError, match="y has 2 columns, but CHAIDRegressor predicts one"):
        CHAIDRegressor().fit(X, np.stack([score, score], axis=1))
    monkeypatch.setattr(chaid_base, "MOST_LEVELS", 3)
    with pytest.raises(InputError, match="column 'colour' holds 4 levels"):
        CHAIDClassifier().fit(X, score > 2)
    with pytest.raises(NotFittedError):
        CHAIDRegressor().predict(X)


def test_what_binary_trees_have_and_these_have_not() -> None:
    X, score = survey(300)
    model = CHAIDRegressor().fit(X, score)
    assert not hasattr(model, "tree_")
    with pytest.raises(InputError, match="binary"):
        model.to_sklearn()
    with pytest.raises(InputError, match=r"vtree\.prune"):
        model.cost_complexity_pruning_path(X, score)


def test_pruning() -> None:
    X, score = survey()
    y = (score > 2).astype(int)
    model = CHAIDClassifier(alpha_split=0.9, min_samples_leaf=10).fit(X[:1200], y[:1200])
    smaller = vtree.prune(model, method="reduced_error", X_val=X[1200:], y_val=y[1200:])
    assert 1 < smaller.get_n_leaves() < model.get_n_leaves()
    assert np.isfinite(smaller.log_p_values_[0]).all()
    assert "adjusted p" in vtree.export_text(smaller)
    crossed = vtree.prune(model, method="cost_complexity", cv=3, X=X[:1200], y=y[:1200])
    assert crossed.get_n_leaves() <= model.get_n_leaves()


def test_hostile_files(tmp_path: Path) -> None:
    X, score = survey(600)
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


def test_infinite_numbers_come_back_from_a_file(tmp_path: Path) -> None:
    X = np.repeat([-np.inf, np.inf, 0.0], 40)[:, None]
    model = CHAIDClassifier(**SMALL).fit(X, np.repeat([0, 1, 1], 40))
    vtree.save(model, tmp_path / "model.vtree")
    again = vtree.load(tmp_path / "model.vtree")
    assert again.predict(X).tolist() == model.predict(X).tolist() == [0] * 40 + [1] * 80

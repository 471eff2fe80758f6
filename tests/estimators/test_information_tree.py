"""What ID3 and C4.5 share as estimators."""

from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

import vtree
from tests.c45_golden import split_table
from tests.samples import columns
from vtree.errors import InputError
from vtree.estimators.information_tree import described

KINDS = [vtree.C45Classifier, vtree.ID3Classifier]


def _table() -> tuple[dict[str, list[str]], list[str]]:
    table = {"colour": ["red", "red", "blue", "blue", "green"], "size": ["s", "l", "s", "l", "s"]}
    return table, ["a", "a", "b", "c", "b"]


@pytest.mark.parametrize("kind", KINDS)
def test_unknown_levels_ask_all_branches(kind: Any) -> None:
    X, y, _, _ = split_table("weather_nominal.all")
    model = kind().fit(X, y)
    unknown = X.head(1).astype(str).replace({"outlook": {"sunny": "fog"}})
    tree = model.grown_
    below = tree.first_child[0] + np.arange(3)
    assert tree.n_children[0] == 3
    shares = model.predict_proba(unknown)[0]
    known = [X.head(1).astype(str).assign(outlook=level) for level in model.schema_.levels[0]]
    answers = np.concatenate([model.predict_proba(each) for each in known])
    np.testing.assert_allclose(shares, tree.weight[below] / 14.0 @ answers)
    strict = kind(unknown_categories="error").fit(X, y)
    with pytest.raises(InputError, match="fog"):
        strict.predict(unknown)


@pytest.mark.parametrize("kind", KINDS)
def test_several_targets_are_refused(kind: Any) -> None:
    table, y = _table()
    with pytest.raises(InputError, match="2 columns"):
        kind().fit(table, [[each, each] for each in y])


def test_too_many_levels_to_group_are_refused() -> None:
    table = {"name": [f"n{i}" for i in range(300)]}
    with pytest.raises(InputError, match="column 'name' holds 300 levels, and subset=True"):
        vtree.C45Classifier(subset=True).fit(table, ["a", "b"] * 150)


def test_grouped_levels_make_no_rules() -> None:
    table, y = _table()
    model = vtree.C45Classifier(subset=True).fit(table, y)
    with pytest.raises(InputError, match="subset=False"):
        model.to_rules(table, y)


@pytest.mark.parametrize("kind", KINDS)
def test_trees_that_scikit_learn_has_no_form_for(kind: Any) -> None:
    table, y = _table()
    model = kind().fit(table, y)
    assert not hasattr(model, "tree_")
    with pytest.raises(InputError, match="binary"):
        model.to_sklearn()
    with pytest.raises(InputError, match="prune"):
        model.cost_complexity_pruning_path(table, y)


@pytest.mark.parametrize("kind", KINDS)
def test_a_failed_fit_leaves_the_model_as_it_was(kind: Any) -> None:
    table, y = _table()
    model = kind().fit(table, y)
    before = vtree.digest(model)
    with pytest.raises(InputError):
        model.fit(table, y[:3])
    assert vtree.digest(model) == before


def test_importances_are_shares_of_the_decrease() -> None:
    X, y, _, _ = split_table("weather_nominal.all")
    found = vtree.ID3Classifier().fit(X, y).feature_importances_
    # outlook .2467 of 14 days; humidity .971 of 5, windy .971 of 5
    each = np.array([0.246749819774, 0.0, 0.970950594455 * 5 / 14, 0.970950594455 * 5 / 14])
    np.testing.assert_allclose(found, each / each.sum(), atol=1e-12)


def test_columns_of_a_frame_with_gaps() -> None:
    table, y = columns()
    model = vtree.C45Classifier().fit(table, y)
    assert model.score(table, y) > 0.8
    np.testing.assert_allclose(model.predict_proba(table).sum(axis=1), 1.0)
    assert "colour" in vtree.export_text(model) or "size" in vtree.export_text(model)


def test_description_adds_nothing_to_a_described_tree() -> None:
    X, y, _, _ = split_table("golf_missing.all")
    tree = vtree.C45Classifier(prune=False).fit(X, y).grown_
    again = described(tree)
    for name in tree._fields:
        np.testing.assert_array_equal(getattr(tree, name), getattr(again, name))


@pytest.mark.parametrize(
    "kind",
    [
        vtree.ID3Classifier(),
        vtree.C45Classifier(),
        vtree.CHAIDClassifier(min_samples_split=6, min_samples_leaf=3),
    ],
)
def test_booleans_are_nominal(kind: Any) -> None:
    windy = [True, True, False, False, True, None] * 5
    y = ["a", "a", "b", "b", "a", "b"] * 5
    tables: list[Any] = [
        {"windy": windy},
        pd.DataFrame({"windy": windy}),
        pd.DataFrame({"windy": pd.array(windy, dtype="boolean")}),
        pl.DataFrame({"windy": windy}),
    ]
    digests = {vtree.digest(kind.fit(table, y)) for table in tables}
    assert len(digests) == 1
    assert kind.schema_.levels[0].tolist() == [False, True]
    assert "windy in {False}" in vtree.export_text(kind)
    known = [each for each in windy if each is not None]
    for same in (known, np.array(known), [str(each) for each in known], np.array(known) * 1.0):
        assert kind.predict({"windy": same}).tolist() == ["a" if each else "b" for each in known]

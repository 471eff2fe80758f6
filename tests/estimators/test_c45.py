"""`C45Classifier` as an estimator."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.utils.estimator_checks import check_estimator

import vtree
from tests.c45_golden import split_table
from vtree.errors import InputError, ModelFileError
from vtree.interop.model_file import read_model, write_model


@pytest.mark.filterwarnings("ignore")
def test_scikit_learns_checks() -> None:
    check_estimator(vtree.C45Classifier(), on_skip=None)


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"confidence": 0.0}, "confidence is 0.0 but must lie above 0 and be at most 0.5"),
        ({"confidence": 0.6}, "confidence is 0.6"),
        ({"confidence": "high"}, "confidence"),
        ({"min_objects": 0}, "min_objects"),
        ({"criterion": "gini"}, "criterion"),
        ({"reference": "c50"}, "reference"),
        ({"criterion": "idx", "attribute_costs": [1, 0, 1, 1]}, r"attribute_costs\[1\] is 0.0"),
        ({"criterion": "eg2", "attribute_costs": [1, 1, 1, -2]}, r"attribute_costs\[3\] is -2.0"),
        ({"criterion": "eg2", "attribute_costs": [1, 1]}, "one cost for each"),
        ({"criterion": "eg2", "attribute_costs": ["a"] * 4}, "attribute_costs"),
        ({"attribute_costs": [1, 1, 1, 1]}, "count in the criteria"),
        ({"criterion": "idx", "subset": True}, "subset=True goes with the criteria"),
        ({"subset": 2}, "subset"),
        ({"criterion": "eg2", "cost_exponent": 2.0}, "cost_exponent"),
    ],
)
def test_bad_parameters(settings: dict[str, Any], words: str) -> None:
    X, y, _, _ = split_table("weather_nominal.all")
    model = vtree.C45Classifier(**settings)
    with pytest.raises(InputError, match=words):
        model.fit(X, y)
    assert "grown_" not in vars(model)


def test_missing_values_at_prediction() -> None:
    X, y, _, _ = split_table("iris.all")
    model = vtree.C45Classifier().fit(X, y)
    nothing = X.head(1) * np.nan
    np.testing.assert_allclose(model.predict_proba(nothing)[0], [1 / 3] * 3, atol=1e-12)


def test_of_classes_that_all_branches_together_hold_alike_the_first_is_the_answer() -> None:
    # Three branches of 2, 3 and 13 rows; without rounding their shares add up to 0.49… and 0.5.
    sizes = [(1, 1), (1, 2), (7, 6)]
    x = np.repeat([0.0, 1.0, 2.0], [2, 3, 13])[:, None]
    y = np.concatenate([np.repeat([0, 1], own) for own in sizes])
    model = vtree.C45Classifier(
        categorical_features=[True], prune=False, collapse=False, min_objects=1
    ).fit(x, y)
    shares = model.predict_proba([[np.nan]])
    assert shares.tolist() == [[0.5, 0.5]] and model.predict([[np.nan]]).tolist() == [0]


def test_rows_without_a_value_in_any_known_column() -> None:
    X = np.array([[np.nan, 1.0], [np.nan, 2.0], [np.nan, 3.0], [np.nan, 4.0]] * 3)
    model = vtree.C45Classifier().fit(X, [0, 0, 1, 1] * 3)
    assert model.score(X, [0, 0, 1, 1] * 3) == 1.0


@pytest.mark.parametrize("missing", [0.0, 0.1])
def test_more_levels_than_a_byte_counts(missing: float) -> None:
    random = np.random.default_rng(2)
    X = np.column_stack([random.integers(0, 400, 4000), random.integers(0, 3, 4000)]).astype(float)
    y = ((X[:, 0] % 7 > 3) ^ (random.random(4000) < 0.1)).astype(int)
    X[random.random(X.shape) < missing] = np.nan
    model = vtree.C45Classifier(categorical_features=[True, True], prune=False)
    tree = model.fit(X, y).grown_
    assert tree.n_children[0] == 400
    assert model.score(X, y) > 0.85
    for node in (0, 255, 256, 399):
        child = tree.first_child[0] + node
        own = (X[:, 0] == node) if missing == 0.0 else None
        assert own is None or tree.n_rows[child] == own.sum()
    with vtree.kernels("reference"):
        same = vtree.C45Classifier(categorical_features=[True, True], prune=False).fit(X, y)
        assert vtree.digest(same) == vtree.digest(model)
        np.testing.assert_array_equal(same.predict_proba(X), model.predict_proba(X))


def test_a_tree_of_many_levels_as_a_file(tmp_path: Path) -> None:
    X = np.repeat(np.arange(300.0), 4)[:, None]
    y = (X[:, 0] % 2).astype(int)
    model = vtree.C45Classifier(categorical_features=[True]).fit(X, y)
    assert model.grown_.branch_map.dtype == np.uint16
    vtree.save(model, tmp_path / "wide.vtree")
    again = vtree.load(tmp_path / "wide.vtree")
    assert vtree.digest(again) == vtree.digest(model)
    np.testing.assert_array_equal(again.predict(X), y)


def test_more_distinct_values_than_sixteen_bits_hold() -> None:
    random = np.random.default_rng(0)
    X = random.permutation(70_000).astype(np.float64)[:, None]
    y = (X[:, 0] > 41_234).astype(int)
    model = vtree.C45Classifier().fit(X, y)
    assert model.grown_.threshold[0] == 41_234.0
    coarse = vtree.C45Classifier(max_bins=16, prune=False).fit(X, y)
    assert coarse.get_n_leaves() > 1 and coarse.score(X, y) > 0.9


@pytest.mark.parametrize("name", ["golf_missing.all", "iris.all"])
def test_save_and_load(name: str, tmp_path: Path) -> None:
    X, y, _, _ = split_table(name)
    model = vtree.C45Classifier(min_objects=1).fit(X, y)
    path = tmp_path / "c45.vtree"
    vtree.save(model, path)
    again = vtree.load(path)
    assert vtree.digest(again) == vtree.digest(model)
    np.testing.assert_array_equal(again.predicted_errors_, model.predicted_errors_)
    np.testing.assert_array_equal(again.predict_proba(X), model.predict_proba(X))
    header, tree, extra = read_model(path)
    write_model(path, header, tree, {**extra, "predicted_errors": np.array([np.nan])})
    with pytest.raises(ModelFileError, match="predicted errors"):
        vtree.load(path)


def test_text_of_branches() -> None:
    X, y, _, _ = split_table("weather_numeric.all")
    text = vtree.export_text(vtree.C45Classifier().fit(X, y))
    assert text.splitlines()[0] == "outlook in {overcast}: class yes (4 of 4 rows)"
    assert "|   humidity <= 75.00: class yes (2 of 2 rows)" in text


def test_rules_of_the_same_settings() -> None:
    X, y, _, _ = split_table("iris.all")
    rules = vtree.C45Classifier(min_objects=5, confidence=0.1).fit(X, y).to_rules(X, y)
    assert isinstance(rules, vtree.RuleListClassifier)
    assert (rules.min_objects, rules.confidence) == (5, 0.1)
    assert rules.score(X, y) > 0.9

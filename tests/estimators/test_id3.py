"""`ID3Classifier`: nominal columns alone."""

from pathlib import Path

import numpy as np
import pytest
from sklearn.utils.estimator_checks import check_estimator

import vtree
from tests.c45_golden import split_table
from vtree.errors import InputError

# Checks of scikit-learn that pass fractions in spite of the tag "categorical".
NUMBERS = "its table holds fractions, and ID3 is defined for nominal attributes alone"
EXPECTED = {
    "check_positive_only_tag_during_fit": NUMBERS,
    "check_sample_weight_equivalence_on_dense_data": NUMBERS,
    "check_sample_weight_equivalence_on_sparse_data": NUMBERS,
    "check_classifiers_one_label_sample_weights": NUMBERS,
    "check_class_weight_classifiers": NUMBERS,
}


@pytest.mark.filterwarnings("ignore")
def test_scikit_learns_checks() -> None:
    results = check_estimator(vtree.ID3Classifier(), on_skip=None, expected_failed_checks=EXPECTED)
    excused = {each["check_name"]: each["exception"] for each in results
               if each["status"] == "xfail"}  # fmt: skip
    assert set(excused) == set(EXPECTED)


def test_numbers_are_refused_by_name() -> None:
    table = {"colour": ["red", "blue"], "weight": [1.5, 2.5], "height": [3, 4]}
    with pytest.raises(InputError, match="'weight', column 'height' hold numbers.*C45Classifier"):
        vtree.ID3Classifier().fit(table, ["a", "b"])
    with pytest.raises(InputError, match="column 0 holds numbers"):
        vtree.ID3Classifier().fit([[0.5], [1.5]], ["a", "b"])


def test_whole_numbers_of_a_plain_array_are_levels() -> None:
    X = np.array([[0, 7], [1, 7], [2, -3], [2, 7]])
    model = vtree.ID3Classifier().fit(X, ["a", "b", "b", "a"])
    assert model.predict(X).tolist() == ["a", "b", "b", "a"]
    assert [own.tolist() for own in model.schema_.levels] == [[0, 1, 2], [-3, 7]]


def test_min_gain_is_strict() -> None:
    X, y, _, _ = split_table("weather_nominal.all")
    assert vtree.ID3Classifier(min_gain=0.2).fit(X, y).get_depth() == 2
    assert vtree.ID3Classifier(min_gain=0.246749819774 + 1e-9).fit(X, y).get_depth() == 0
    assert vtree.ID3Classifier(max_depth=1).fit(X, y).get_n_leaves() == 3
    with pytest.raises(InputError, match="min_gain"):
        vtree.ID3Classifier(min_gain=-1.0).fit(X, y)


def test_save_and_load(tmp_path: Path) -> None:
    X, y, _, _ = split_table("titanic.third")
    model = vtree.ID3Classifier().fit(X, y)
    vtree.save(model, tmp_path / "id3.vtree")
    again = vtree.load(tmp_path / "id3.vtree")
    assert vtree.digest(again) == vtree.digest(model)
    assert (again.predict(X) == model.predict(X)).all()

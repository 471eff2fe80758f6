"""`RuleListClassifier` as an estimator."""

from pathlib import Path

import numpy as np
import pytest
from sklearn.utils.estimator_checks import check_estimator

import vtree
from tests.c45_golden import split_table
from vtree.errors import ModelFileError
from vtree.interop.model_file import read_model, write_model


@pytest.mark.filterwarnings("ignore")
def test_scikit_learns_checks() -> None:
    check_estimator(vtree.RuleListClassifier(), on_skip=None)


def test_text() -> None:
    X, y, _, _ = split_table("weather_numeric.all")
    assert vtree.RuleListClassifier().fit(X, y).to_text().splitlines() == [
        "if outlook = sunny and humidity > 75.00 then no [63.0%]",
        "if outlook = rainy and windy = TRUE then no [50.0%]",
        "if outlook = overcast then yes [70.7%]",
        "if outlook = rainy and windy = FALSE then yes [63.0%]",
        "otherwise yes",
    ]


def test_shown_as_rules_with_digits_enough() -> None:
    X, y, _, _ = split_table("weather_numeric.all")
    model = vtree.RuleListClassifier().fit(X.assign(humidity=X["humidity"] / 1e5), y)
    assert vtree.export_text(model) == model.to_text()
    assert model.to_text().startswith("if outlook = sunny and humidity > 0.00075 then no")


def test_a_missing_value_meets_no_condition() -> None:
    X, y, _, _ = split_table("iris.all")
    model = vtree.RuleListClassifier().fit(X, y)
    assert model.predict(X.head(2) * np.nan).tolist() == [model.classes_[model.default_]] * 2
    assert not hasattr(model, "predict_proba")


def test_one_class_needs_no_rule() -> None:
    model = vtree.RuleListClassifier().fit([[1.0], [2.0]], ["a", "a"])
    assert model.to_text() == "otherwise a"


def test_more_than_ten_rules_of_a_class_are_the_same_each_time() -> None:
    random = np.random.default_rng(1)
    X = random.normal(size=(1500, 3)).round(2)
    y = (np.sin(3 * X[:, 0]) + np.cos(4 * X[:, 1]) > 0).astype(int)
    first, second = (vtree.RuleListClassifier(redundancy=4.0).fit(X, y) for _ in range(2))
    assert first.to_text() == second.to_text()
    assert first.rule_list_.label.size > 10 and first.score(X, y) > 0.85


def test_save_and_load(tmp_path: Path) -> None:
    X, y, _, _ = split_table("titanic.third")
    model = vtree.RuleListClassifier().fit(X, y)
    path = tmp_path / "rules.vtree"
    vtree.save(model, path)
    again = vtree.load(path)
    assert again.to_text() == model.to_text()
    assert (again.predict(X) == model.predict(X)).all()
    header, tree, extra = read_model(path)
    for name, value in (("feature", 99), ("kind", 7), ("value", 50.0)):
        wrong = extra[f"list.{name}"].copy()
        wrong[0] = value
        write_model(path, header, tree, {**extra, f"list.{name}": wrong})
        with pytest.raises(ModelFileError, match="condition"):
            vtree.load(path)
    write_model(path, {**header, "default": 9}, tree, extra)
    with pytest.raises(ModelFileError, match="default"):
        vtree.load(path)

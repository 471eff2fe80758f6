from typing import Any

import numpy as np
import pandas as pd
import pytest

from vtree import (
    BaggingClassifier,
    C45Classifier,
    DecisionTreeClassifier,
    DecisionTreeRegressor,
    OrderedBoostingRegressor,
    export_graphviz,
    export_text,
)
from vtree.errors import InputError, InputTypeError
from vtree.explain.features import feature_levels, feature_name


def test_columns_of_the_table_and_those_made_of_them() -> None:
    table = pd.DataFrame({"size": [1.0, 2.0] * 6, "colour": ["a", "b", "c"] * 4})
    model = OrderedBoostingRegressor(n_estimators=2).fit(table, [float(n) for n in range(12)])
    assert [feature_name(model, f) for f in range(3)] == ["size", "colour", "mean target by colour"]
    levels = feature_levels(model, 1)
    assert levels is not None
    assert levels.tolist() == ["a", "b", "c"]
    assert feature_levels(model, 0) is None
    assert feature_levels(model, 2) is None
    bare = OrderedBoostingRegressor(n_estimators=2).fit([[1.0], [2.0], [3.0]], [1.0, 2.0, 4.0])
    assert feature_name(bare, 0) == "feature 0"


@pytest.mark.parametrize("base", [DecisionTreeClassifier(), C45Classifier()])
def test_names_of_ones_own(base: Any) -> None:
    X = np.array([[0.0, 5.0], [1.0, 6.0]] * 20)
    plain = BaggingClassifier(base, n_estimators=2, max_features=1, random_state=3).fit(X, X[:, 0])
    names: dict[str, Any] = {"feature_names": ["size", "age"], "class_names": ("small", "large")}
    before = export_text(plain, number=0)
    for number, (feature,) in enumerate(plain.estimators_features_):
        text = export_text(plain, number=number, **names)
        assert ("size <= 0.", "age <= 5.")[feature] in text and "class small" in text
    assert export_text(plain, number=0) == before
    assert 'label="size"' in export_graphviz(DecisionTreeClassifier().fit(X, X[:, 0]), **names)
    rules = C45Classifier().fit(X, X[:, 0]).to_rules(X, X[:, 0])
    assert "size" in export_text(rules, **names) and "then large" in export_text(rules, **names)


@pytest.mark.parametrize(
    ("names", "error", "message"),
    [
        ({"feature_names": ["a"]}, InputError, "feature_names has 1 names.*2 features"),
        ({"feature_names": "ab"}, InputTypeError, "feature_names='ab' must be a sequence of 2"),
        ({"class_names": ["a", "b", "c"]}, InputError, "class_names has 3 names.*2 classes"),
        ({"class_names": True}, InputTypeError, "class_names=True must be a sequence of 2"),
    ],
)
def test_names_that_do_not_fit(names: dict[str, Any], error: type[Exception], message: str) -> None:
    X = np.array([[0.0, 5.0], [1.0, 5.0]])
    with pytest.raises(error, match=message):
        export_text(DecisionTreeClassifier().fit(X, [0, 1]), **names)
    with pytest.raises(InputError, match="class_names must be None, for the model has no classes"):
        export_text(DecisionTreeRegressor().fit(X, [0, 1]), class_names=["a", "b"])

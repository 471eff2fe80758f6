"""What ensembles ask of their learners."""

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.pipeline import make_pipeline

from vtree import (
    AdaBoostClassifier,
    BaggingClassifier,
    BaggingRegressor,
    C45Classifier,
    DecisionTreeClassifier,
    DecisionTreeRegressor,
    RandomForestClassifier,
)
from vtree.errors import InputError
from vtree.estimators.members import (
    by_class_numbers,
    check_feature_count,
    check_kind,
    told_of_plain_tables,
)


def test_kinds_are_told_apart() -> None:
    for fit in (LogisticRegression(), make_pipeline(LogisticRegression()), object()):
        check_kind(BaggingClassifier(), fit)
    for unfit in (LinearRegression(), DecisionTreeRegressor()):
        check_kind(BaggingRegressor(), unfit)
        with pytest.raises(InputError, match=r"must be a classifier.* BaggingRegressor takes"):
            check_kind(BaggingClassifier(), unfit)
    with pytest.raises(InputError, match=r"'estimator' .* must be a regressor. Got Decision"):
        check_kind(BaggingRegressor(), DecisionTreeClassifier())


def test_classes_become_numbers() -> None:
    classes = np.array(["a", "b", "c"])
    tree = DecisionTreeClassifier(class_weight={"c": 3.0, "a": 1.0, "b": 2.0})
    assert by_class_numbers(tree, classes) == {"class_weight": {0: 1.0, 1: 2.0, 2: 3.0}}
    tree = DecisionTreeClassifier(priors={"c": 0.5, "a": 0.2, "b": 0.3})
    assert by_class_numbers(tree, classes) == {"priors": [0.2, 0.3, 0.5]}
    for alike in (DecisionTreeClassifier(class_weight="balanced"), C45Classifier()):
        assert by_class_numbers(alike, classes) == {}
    with pytest.raises(InputError, match="class_weight"):
        by_class_numbers(DecisionTreeClassifier(class_weight={"d": 1.0}), classes)


def test_columns_are_counted() -> None:
    for table in (np.eye(2), [[1, 2]], {"a": [1], "b": [2]}, pd.DataFrame({"a": [1], "b": [2]})):
        check_feature_count(table, 2, "Bag")
        with pytest.raises(InputError, match="X has 2 features, but Bag is expecting 3"):
            check_feature_count(table, 3, "Bag")


def test_ensembles_as_learners_take_plain_numbers() -> None:
    X = np.arange(40.0).reshape(20, 2)
    y = np.arange(20) % 2
    forest = RandomForestClassifier(3)
    frame = pd.DataFrame({"a": X[:, 0], "b": ["u", "v"] * 10})
    with pytest.raises(InputError, match="hands RandomForestClassifier a plain array of numbers"):
        BaggingClassifier(forest).fit(frame, y)
    X[3, 1] = np.nan
    assert BaggingClassifier(forest).fit(X, y).predict(X).shape == (20,)
    with pytest.raises(InputError, match=r"AdaBoostClassifier hands .* none of them missing"):
        AdaBoostClassifier(forest).fit(X, y)
    with (
        pytest.raises(ValueError, match="^other$"),
        told_of_plain_tables(AdaBoostClassifier(), forest, np.eye(2), gaps=False),
    ):
        raise ValueError("other")

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from sklearn.utils._param_validation import InvalidParameterError

from vtree import BaggingClassifier, DecisionTreeClassifier, NewtonBoostingRegressor
from vtree.errors import InputError
from vtree.estimators.limits import Amounts, ParameterError, amounts, feature_count

PLAIN: dict[str, Any] = {
    "max_depth": None,
    "min_samples_split": 2,
    "min_samples_leaf": 1,
    "min_weight_fraction_leaf": 0.0,
    "min_impurity_decrease": 0.0,
}


def _amounts(**parameters: Any) -> Amounts:
    return amounts(SimpleNamespace(**{**PLAIN, **parameters}), 101, 50.0)


def test_nothing_asked_for() -> None:
    assert _amounts() == Amounts(None, 2, 1, 0.0, 0.0, 50.0)


@pytest.mark.parametrize(
    ("parameters", "expected"),
    [
        ({"min_samples_split": 7}, (7, 1)),
        ({"min_samples_split": np.int32(7)}, (7, 1)),
        ({"min_samples_split": 0.1}, (11, 1)),  # upwards
        ({"min_samples_split": 1e-9}, (2, 1)),
        ({"min_samples_split": 1.0}, (101, 1)),
        ({"min_samples_leaf": 4}, (8, 4)),  # a node that cannot have two such leaves stays whole
        ({"min_samples_leaf": 0.05}, (12, 6)),
        ({"min_samples_split": 20, "min_samples_leaf": 4}, (20, 4)),
    ],
)
def test_rows(parameters: dict[str, Any], expected: tuple[int, int]) -> None:
    found = _amounts(**parameters)
    assert (found.min_split, found.min_leaf) == expected


def test_numbers_beyond_all_tables() -> None:
    X, y = [[0.0], [1.0], [2.0]], [0, 1, 0]
    limited = {"min_samples_leaf", "min_samples_split"}
    for name in (*limited, "max_depth", "max_features", "max_leaf_nodes"):
        for most in (2**63 - 1, 10**20):
            model = DecisionTreeClassifier(**{name: most}).fit(X, y)
            assert model.get_n_leaves() == (1 if name in limited else 3)


def test_weights_and_decreases() -> None:
    found = _amounts(min_weight_fraction_leaf=0.1, min_impurity_decrease=1, max_depth=3)
    assert (found.min_weight, found.min_decrease, found.max_depth) == (5.0, 1.0, 3)


@pytest.mark.parametrize(
    ("max_features", "expected"),
    [
        (None, 10),
        ("sqrt", 3),
        ("log2", 3),
        (4, 4),
        (np.int64(4), 4),
        (99, 99),
        (0.39, 3),
        (0.01, 1),
        (1.0, 10),
    ],
)
def test_features(max_features: Any, expected: int) -> None:
    assert feature_count(max_features, 10) == expected
    assert feature_count("log2", 1) == feature_count("sqrt", 1) == 1


def test_errors_of_parameters_are_ours_and_sklearns() -> None:
    with pytest.raises(ParameterError) as caught:
        DecisionTreeClassifier(max_depth=-1).fit([[0], [1]], [0, 1])
    assert isinstance(caught.value, InputError)
    assert isinstance(caught.value, InvalidParameterError)


@pytest.mark.parametrize(
    ("estimator", "name"),
    [
        (DecisionTreeClassifier, "max_depth"),
        (DecisionTreeClassifier, "max_features"),
        (DecisionTreeClassifier, "n_jobs"),
        (BaggingClassifier, "max_samples"),
        (BaggingClassifier, "n_estimators"),
        (NewtonBoostingRegressor, "max_bins"),
    ],
)
@pytest.mark.parametrize("value", [True, np.True_])
def test_truth_values_are_no_counts(estimator: Any, name: str, value: Any) -> None:
    with pytest.raises(ParameterError, match=f"'{name}' parameter of .* Got .*True"):
        estimator(**{name: value}).fit([[0.0], [1.0]], [0, 1])


def test_truth_values_stay_where_they_belong() -> None:
    BaggingClassifier(n_estimators=2, bootstrap=np.True_, verbose=True).fit([[0.0], [1.0]], [0, 1])

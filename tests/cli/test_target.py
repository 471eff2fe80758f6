"""The target: labels or numbers, and which rows know it."""

import datetime
from decimal import Decimal
from typing import Any

import numpy as np
import pytest

from vtree.cli.target import (
    CLASSIFIER,
    REGRESSOR,
    knows_no_target,
    no_target,
    numbers_in,
    read_target,
)
from vtree.errors import InputError


@pytest.mark.parametrize(
    ("values", "model"),
    [
        (["a", "b"], CLASSIFIER),
        ([True, False], CLASSIFIER),
        ([0, 1, 2], CLASSIFIER),
        ([0.0, 1.0, None], CLASSIFIER),
        (list(range(21)), REGRESSOR),
        ([0.5, 1.0], REGRESSOR),
        ([1.0, float("inf")], REGRESSOR),
        ([Decimal("0.5"), Decimal(2)], REGRESSOR),
        (["a", 1], CLASSIFIER),
    ],
)
def test_what_suits_the_values(values: list[Any], model: str) -> None:
    target = read_target(values, "y", "tree")
    assert target.model == model
    assert (target.values.dtype == np.float64) or model == CLASSIFIER


def test_missing_values_are_left_out() -> None:
    target = read_target(["a", None, "b", float("nan")], "y", "tree")
    assert target.values.tolist() == ["a", "b"]
    assert target.rows.tolist() == [0, 2]


def test_as_asked() -> None:
    assert read_target([1, 2], "y", REGRESSOR).values.dtype == np.float64
    assert read_target([1, 2], "y", REGRESSOR).why == "as --model says"
    assert read_target([0.5, 2], "y", CLASSIFIER).values.tolist() == [0.5, 2.0]


def test_the_classifier_or_the_regressor_of_a_system() -> None:
    assert read_target(["a", "b"], "y", "chaid").model == "CHAIDClassifier"
    numbers = read_target([0.5, 2], "y", "chaid")
    assert numbers.model == "CHAIDRegressor"
    assert numbers.values.dtype == np.float64
    assert read_target(["a"], "y", "CHAIDClassifier").values.tolist() == ["a"]


def test_amounts_for_a_system_that_predicts_labels() -> None:
    with pytest.raises(InputError, match=r"'y' holds 21 different numbers: .* --model C45"):
        read_target(list(range(21)), "y", "c45")
    assert read_target(list(range(21)), "y", "C45Classifier").values.tolist() == list(range(21))


def test_systems_without_a_target() -> None:
    assert knows_no_target("isolation_forest") and knows_no_target("IsolationForest")
    assert not knows_no_target("random_forest")
    for kind in ("isolation_forest", "IsolationForest"):
        target = no_target(3, kind)
        assert target.model == "IsolationForest"
        assert target.rows.tolist() == [0, 1, 2]


def test_what_cannot_be() -> None:
    with pytest.raises(InputError, match="'y' has no values"):
        read_target([None, float("nan")], "y", "tree")
    with pytest.raises(InputError, match="'date'"):
        read_target([datetime.date(2020, 1, 1)], "y", "tree")
    with pytest.raises(InputError, match="must hold numbers, but holds 'a'"):
        read_target(["a"], "y", REGRESSOR)
    with pytest.raises(InputError, match="a missing value"):
        numbers_in([1, None], "w", "--weight")

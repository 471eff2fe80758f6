"""Numbers, levels and surrogates in words."""

import numpy as np
import pytest

import vtree
from vtree.explain.words import listed, number_text, surrogate_conditions


@pytest.mark.parametrize(
    ("value", "decimals", "text"),
    [(2.345, 1, "2.3"), (-0.0004, 2, "-0.0004"), (0.0, 2, "0.00"), (3e15, 2, "3e+15")],
)
def test_numbers(value: float, decimals: int, text: str) -> None:
    assert number_text(value, decimals) == text


def test_levels_beyond_a_few_are_counted() -> None:
    assert listed(np.arange(8)) == "{0, 1, 2, 3, 4, 5, 6, 7}"
    assert listed(np.arange(11)).endswith("7, … 3 more}")


def test_surrogates_in_order() -> None:
    x = np.arange(40.0)
    table = {"own": x, "twin": -x, "level": np.where(x < 22, "a", "b")}
    model = vtree.DecisionTreeClassifier(max_depth=1, surrogates=5).fit(table, x > 19)
    assert surrogate_conditions(model, 0, 1) == ["twin > -19.5", "level in {a}"]
    assert surrogate_conditions(model, 1, 1) == []
    assert surrogate_conditions(vtree.DecisionTreeClassifier().fit(table, x > 19), 0, 1) == []

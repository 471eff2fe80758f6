"""Columns of tables of any kind, and which trees share a table."""

from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from vtree import CHAIDClassifier, DecisionTreeClassifier, DecisionTreeRegressor
from vtree.estimators.bagged_trees import columns_of, shares_a_table

TABLE = {"a": [1.0, 2.0], "b": ["x", "y"], "c": [True, False]}


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame, pa.table, dict])
def test_columns_of_a_table_come_as_the_table_did(make: Any) -> None:
    chosen = columns_of(make(TABLE), np.array([2, 0]))
    assert type(chosen) is type(make(TABLE))
    names = getattr(chosen, "column_names", getattr(chosen, "columns", chosen))
    assert list(names) == ["c", "a"]
    assert [float(value) for value in np.asarray(chosen["a"])] == [1.0, 2.0]


@pytest.mark.parametrize("make", [np.asarray, np.ndarray.tolist])
def test_columns_of_arrays_and_lists(make: Any) -> None:
    X = np.arange(6.0).reshape(2, 3)
    np.testing.assert_array_equal(columns_of(make(X), np.array([1, 1, 0])), X[:, [1, 1, 0]])


def test_only_trees_that_weigh_and_draw_alike_share_a_table() -> None:
    assert shares_a_table(DecisionTreeRegressor(max_features=2))
    assert not shares_a_table(DecisionTreeClassifier(class_weight="balanced"))
    assert not shares_a_table(DecisionTreeClassifier(surrogates=3))
    assert not shares_a_table(CHAIDClassifier())

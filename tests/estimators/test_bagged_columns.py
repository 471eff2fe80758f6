"""Columns of tables of any kind, and what a tree of a bag is told of its own."""

from typing import Any

import array_api_strict
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse

from vtree import (
    BaggingRegressor,
    C45Classifier,
    CHAIDRegressor,
    DecisionTreeRegressor,
    digest,
)
from vtree.estimators.bagged_columns import columns_of, parameters_of
from vtree.tables import Schema

TABLE = {"a": [1.0, 2.0], "b": ["x", "y"], "c": [True, False]}


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame, pa.table, dict])
def test_columns_of_a_table_come_as_the_table_did(make: Any) -> None:
    chosen = columns_of(make(TABLE), np.array([2, 0]))
    assert type(chosen) is type(make(TABLE))
    names = getattr(chosen, "column_names", getattr(chosen, "columns", chosen))
    assert list(names) == ["c", "a"]
    assert [float(value) for value in np.asarray(chosen["a"])] == [1.0, 2.0]


class Stream:
    """What hands Arrow's streams and nothing else, as databases do."""

    def __init__(self, columns: dict[str, list[Any]]) -> None:
        self._table = pa.table(columns)

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        return self._table.__arrow_c_stream__(requested_schema)


@pytest.mark.parametrize("make", [pa.record_batch, Stream])
def test_columns_of_streams_keep_their_types(make: Any) -> None:
    chosen = columns_of(make(TABLE), np.array([1, 0]))
    assert chosen.to_pydict() == {"b": ["x", "y"], "a": [1.0, 2.0]}


@pytest.mark.parametrize(
    "make", [np.asarray, np.ndarray.tolist, array_api_strict.asarray, np.ma.masked_array]
)
def test_columns_of_arrays_and_lists(make: Any) -> None:
    X = np.arange(6.0).reshape(2, 3)
    chosen = columns_of(make(X), np.array([1, 1, 0]))
    np.testing.assert_array_equal(np.asarray(chosen), X[:, [1, 1, 0]])
    assert isinstance(chosen, np.ma.MaskedArray) == (make is np.ma.masked_array)
    sparse = columns_of(scipy.sparse.coo_matrix(X), np.array([1, 1, 0]))
    np.testing.assert_array_equal(sparse.toarray(), X[:, [1, 1, 0]])


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame, pa.table, dict])
def test_repeated_columns_have_names_of_their_own(make: Any) -> None:
    chosen = columns_of(make(TABLE), np.array([1, 0, 1, 1]))
    names = getattr(chosen, "column_names", getattr(chosen, "columns", chosen))
    assert list(names) == ["b", "a", "b (2)", "b (3)"]
    assert list(map(str, chosen["b (3)"])) == ["x", "y"]


def test_parameters_of_drawn_columns() -> None:
    schema = Schema(("a", "b", "c"), (None, np.array(["x", "y"], dtype=object), None))
    features = np.array([2, 1, 1])
    tree = DecisionTreeRegressor(monotonic_cst=[1, 0, -1], categorical_features=["b"])
    own = parameters_of(tree, schema, features)
    assert own["monotonic_cst"].tolist() == [-1, 0, 0]
    assert own["categorical_features"] == [False, True, True]
    assert parameters_of(C45Classifier(), schema, features) == {}
    ordered = CHAIDRegressor(ordinal_features={"b": ["y", "x"]})
    own = parameters_of(ordered, schema, features)
    assert own == {"ordinal_features": {1: ["y", "x"], 2: ["y", "x"]}}
    own = parameters_of(CHAIDRegressor(ordinal_features=[1]), schema, features)
    assert own == {"ordinal_features": [False, True, True]}


def test_trees_of_drawn_columns_know_which_are_categories() -> None:
    draw = np.random.default_rng(0)
    X = np.stack([draw.normal(size=90), draw.integers(0, 6, 90), draw.normal(size=90)], axis=1)
    y = X[:, 0] + np.isin(X[:, 1], [1.0, 4.0])
    frame = pd.DataFrame({"a": X[:, 0], "b": X[:, 1].astype(int).astype(str), "c": X[:, 2]})
    for repeated in (False, True):
        how: Any = {"max_features": 2, "bootstrap_features": repeated, "random_state": 3}
        learner = DecisionTreeRegressor(categorical_features=[1])
        told = BaggingRegressor(learner, n_estimators=6, **how).fit(X, y)
        by_type = BaggingRegressor(n_estimators=6, **how).fit(frame, y)
        assert digest(told) == digest(by_type)
        np.testing.assert_array_equal(told.predict(X), by_type.predict(frame))

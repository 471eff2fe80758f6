"""Frames column by column: names, shapes and what is refused."""

import datetime
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from vtree.errors import InputError, InputTypeError
from vtree.tables import read_table


@pytest.mark.parametrize("X", [np.ones((2, 2)), [[1, 2]], None, 3, "text"])
def test_what_is_no_frame_is_left_to_others(X: Any) -> None:
    from vtree.tables.columns import columns_of

    assert columns_of(X) is None


@pytest.mark.parametrize(
    ("names", "expected"),
    [
        (["a", "ünï"], ("a", "ünï")),
        ([0, 1], None),
        ([("a", 1), ("a", 2)], None),
        ([1.5, None], None),
        (["", " "], ("", " ")),
    ],
)
def test_names(names: list[Any], expected: Any) -> None:
    frame = pd.DataFrame([[1, "x"], [2, "y"]])
    frame.columns = pd.Index(names)
    table = read_table(frame)
    assert table.schema.names == expected
    np.testing.assert_array_equal(table.values, [[1, 0], [2, 1]])


def test_names_that_clash_or_mix() -> None:
    with pytest.raises(InputError, match="'a' 2 times"):
        read_table(pd.DataFrame([[1, 2]], columns=["a", "a"]))
    with pytest.raises(InputError, match="'a' 2 times"):
        read_table(pa.Table.from_arrays([pa.array([1]), pa.array([2])], names=["a", "a"]))
    with pytest.raises(InputTypeError, match="only supported if all input features have string"):
        read_table(pd.DataFrame([[1, 2]], columns=["a", 1]))


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame, pa.table, dict])
def test_empty_frames(frame: Any) -> None:
    with pytest.raises(InputError, match=r"0 sample\(s\) \(shape=\(0, 1\)\) while a minimum of 1"):
        read_table(frame({"a": []}))
    with pytest.raises(InputError, match="while a minimum of 1 is required"):
        read_table(frame({}))
    with pytest.raises(InputError, match=r"0 feature\(s\) \(shape=\(3, 0\)\) while a minimum"):
        read_table(pd.DataFrame(index=range(3)))


def test_mappings() -> None:
    columns = {"a": np.array([1, 2], np.int8), "b": (True, None), "c": ["x", np.str_("y")]}
    np.testing.assert_array_equal(read_table(columns).values, [[1, 1, 0], [2, np.nan, 1]])
    with pytest.raises(InputError, match=r"one length.*'a': 2, 'b': 1"):
        read_table({"a": [1, 2], "b": [1]})
    with pytest.raises(InputTypeError, match=r"but \['b'\] are no sequences"):
        read_table({"a": [1], "b": 1})


@pytest.mark.parametrize("series", [pd.Series([1, 2]), pl.Series([1, 2]), pa.chunked_array([[1]])])
def test_series(series: Any) -> None:
    with pytest.raises(InputError, match="Expected a 2-dimensional container but got"):
        read_table(series)


def test_lazy_frames() -> None:
    with pytest.raises(InputTypeError, match=r"X is lazy \(polars.*collect"):
        read_table(pl.LazyFrame({"a": [1]}))


TIMES = [
    pd.DataFrame({"when": pd.to_datetime(["2020-01-01", None])}),
    pd.DataFrame({"when": pd.to_timedelta([1, 2])}),
    pd.DataFrame({"when": pd.Series([datetime.date(2020, 1, 1), None], dtype=object)}),
    pl.DataFrame({"when": [datetime.date(2020, 1, 1), None]}),
    pl.DataFrame({"when": [datetime.time(1, 2)]}),
    pa.table({"when": [datetime.datetime(2020, 1, 1, tzinfo=datetime.UTC)]}),
    {"when": [datetime.timedelta(1)]},
]


@pytest.mark.parametrize("frame", TIMES, ids=lambda frame: type(frame).__name__)
def test_times_are_for_the_user_to_turn_into_numbers(frame: Any) -> None:
    with pytest.raises(InputTypeError, match="column 'when' holds times .*weekday"):
        read_table(frame)


@pytest.mark.parametrize(
    ("frame", "kind"),
    [
        (pd.DataFrame({"x": [[1], [2]]}), "list"),
        (pd.DataFrame({"x": pd.period_range("2020", periods=2)}), "Period"),
        (pl.DataFrame({"x": [{"a": 1}]}), "dict"),
        (pl.DataFrame({"x": [[1], [2]]}), "list"),
        (pl.DataFrame({"x": [b"bytes"]}), "bytes"),
        (pa.table({"x": [b"bytes"]}), "bytes"),
    ],
)
def test_what_is_neither_number_nor_label(frame: Any, kind: str) -> None:
    # scikit-learn's checks look for the second half.
    with pytest.raises(TypeError, match=f"'{kind}'.*argument must be .* string.* number"):
        read_table(frame)


def test_numbers_beyond_float64() -> None:
    with pytest.raises(InputError, match="column 'x' holds an integer beyond"):
        read_table({"x": [10**400]})
    with pytest.raises(InputError, match="Complex data not supported: X, column 'x'"):
        read_table(pd.DataFrame({"x": [1j, 2.0]}))

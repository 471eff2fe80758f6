"""Columns of what `read_file` gives: mappings and frames are alike."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from vtree.cli.columns import check_names, missing_in, names_of, select, strays_in, take, values_in
from vtree.errors import InputError

COLUMNS: dict[str, list[Any]] = {
    "a": [1, None, 3],
    "b": ["x", "y", None],
    "c": [0.5, float("nan"), None],
}
MAKERS: dict[str, Callable[[dict[str, list[Any]]], Any]] = {
    "mapping": dict,
    "pyarrow": pa.table,
    "polars": lambda columns: pl.DataFrame(columns, strict=False),
    "pandas": pd.DataFrame,
}


@pytest.fixture(params=list(MAKERS))
def table(request: pytest.FixtureRequest) -> Any:
    return MAKERS[request.param](COLUMNS)


def test_names_and_values(table: Any) -> None:
    assert names_of(table) == ["a", "b", "c"]
    assert values_in(table, "b")[:2] == ["x", "y"]


def test_missing_values_in_any_spelling(table: Any) -> None:
    assert missing_in(table) == 4


def test_columns_and_rows(table: Any) -> None:
    part = take(select(table, ["b", "a"]), np.array([1, 0]))
    assert names_of(part) == ["b", "a"]
    assert values_in(part, "b") == ["y", "x"]
    assert len(values_in(take(table, np.array([], dtype=np.int64)), "a")) == 0


def test_one_name_twice() -> None:
    twice = pa.Table.from_arrays([pa.array([1]), pa.array([2])], names=["a", "a"])
    with pytest.raises(InputError, match="must differ"):
        names_of(twice)


def test_a_name_that_is_not_there() -> None:
    check_names(["a"], ["a", "b"], "--drop")
    with pytest.raises(InputError, match="--drop: .* no column 'colour'. Did you mean 'color'"):
        check_names(["a", "colour"], ["a", "color"], "--drop")
    with pytest.raises(InputError, match=r"… \(30 in all\)"):
        check_names(["x"], [f"column {place}" for place in range(30)], "--drop")


@pytest.mark.parametrize("make", MAKERS.values(), ids=list(MAKERS))
def test_a_few_strings_among_numbers(make: Callable[[dict[str, list[Any]]], Any]) -> None:
    numbers = [str(place / 2) for place in range(11)]
    columns = {
        "stray": [*numbers, "-", None],
        "codes": [*numbers[:5], *"abcdefg", None],
        "words": [*"abcdefghijklm"],
        "texts": [*numbers, "1e3", None],
        "numbers": [*range(13)],
    }
    assert strays_in(make(columns)) == {"stray": "-"}

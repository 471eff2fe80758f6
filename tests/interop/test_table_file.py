"""Files of tables: the same table whichever library reads it, and errors with a line."""

import gzip
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import hypothesis.strategies as st
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.feather
import pyarrow.ipc
import pyarrow.parquet
import pytest
from hypothesis import HealthCheck, given, settings

from vtree.errors import InputError, NotAvailableError
from vtree.interop.table_file import read_file
from vtree.tables import read_table

Write = Callable[..., Path]


@pytest.fixture
def write(tmp_path: Path) -> Write:
    def write(content: str | bytes, name: str = "table.csv") -> Path:
        file = tmp_path / name
        file.write_bytes(content if isinstance(content, bytes) else content.encode())
        return file

    return write


def _hide(monkeypatch: pytest.MonkeyPatch, *modules: str) -> None:
    for module in modules:
        monkeypatch.setitem(sys.modules, module, None)


@pytest.fixture(params=["pyarrow", "python"])
def reader(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Run the test with pyarrow, and as on a machine that has no frame library."""
    if request.param == "python":
        _hide(monkeypatch, "pyarrow", "pyarrow.csv", "pandas", "polars")
    return str(request.param)


def _columns(table: Any) -> dict[str, list[Any]]:
    return table if isinstance(table, dict) else table.to_pydict()


def test_a_csv_file(write: Write, reader: str) -> None:
    text = "size,n,open,city,id,empty\n1.5,1,true,köln,007,\nNA,,False,?,8,nan\n-inf,3,TRUE,b,9,?\n"
    table = read_file(write(text))
    assert isinstance(table, dict) == (reader == "python")
    assert _columns(table) == {
        "size": [1.5, None, float("-inf")],
        "n": [1, None, 3],
        "open": [True, False, True],
        "city": ["köln", None, "b"],
        "id": [7, 8, 9],
        "empty": [None, None, None],
    }
    read = read_table(table)
    assert read.schema.names == ("size", "n", "open", "city", "id", "empty")
    assert [levels is None for levels in read.schema.levels] == [
        True,
        True,
        True,
        False,
        True,
        True,
    ]
    np.testing.assert_array_equal(read.values[1], [np.nan, np.nan, 0, np.nan, 8, np.nan])


@pytest.mark.parametrize(
    ("texts", "values"),
    [
        (["1", "2.5", "1e3"], [1.0, 2.5, 1000.0]),
        (["+1", " 2 "], [1, 2]),
        (["+1", "2.5"], [1.0, 2.5]),
        (["1", "x"], ["1", "x"]),
        (["1_000", "2"], ["1_000", "2"]),
        (["0x1F", "2"], ["0x1F", "2"]),
        (["9223372036854775807", "1"], [2**63 - 1, 1]),
        (["9223372036854775808", "1"], [2.0**63, 1.0]),
        (["true", "1"], ["true", "1"]),
        (["True", "NA"], [True, None]),
        (["2020-01-01", "12:30"], ["2020-01-01", "12:30"]),
        ([" ?", " a"], [None, " a"]),
        (["None", "none"], ["None", "none"]),
        (["nan", "inf", "1"], [None, float("inf"), 1.0]),
    ],
)
def test_the_types_of_csv(write: Write, reader: str, texts: list[str], values: list[Any]) -> None:
    read = _columns(read_file(write("x,y\n" + "".join(f"{text},0\n" for text in texts))))["x"]
    assert read == values
    assert list(map(type, read)) == list(map(type, values))


@pytest.mark.parametrize(
    ("text", "columns"),
    [
        ('a,b\r\n"x, y","say ""hi"""\r\n', {"a": ["x, y"], "b": ['say "hi"']}),
        ('a,b\n"two\nlines",1\n', {"a": ["two\nlines"], "b": [1]}),
        ("\ufeffa,b\n1,2", {"a": [1], "b": [2]}),
        ("\n\na\n\n1\n\n2\n", {"a": [1, 2]}),
        (",a\n0,x\n", {"": [0], "a": ["x"]}),
        ('a\n""\n1\n', {"a": [None, 1]}),
    ],
    ids=["quotes", "line-break", "byte-order-mark", "empty-lines", "no-name", "quoted-nothing"],
)
def test_the_form_of_csv(
    write: Write, reader: str, text: str, columns: dict[str, list[Any]]
) -> None:
    assert _columns(read_file(write(text))) == columns


def test_columns_of_strings_whatever_they_hold(write: Write, reader: str) -> None:
    file = write("a,b,c,d\n007,1,true,\n08,2,NA,?\n")
    read = _columns(read_file(file, labels=["a", "c", "d", "else"]))
    assert read == {"a": ["007", "08"], "b": [1, 2], "c": ["true", None], "d": [None, None]}


def test_tabs_and_compression(write: Write, reader: str) -> None:
    assert _columns(read_file(write("a\tb\n1,5\t2\n", "t.TSV"))) == {"a": ["1,5"], "b": [2]}
    packed = gzip.compress(b"a,b\n1,2\n")
    assert _columns(read_file(write(packed, "t.csv.gz"))) == {"a": [1], "b": [2]}
    with pytest.raises(InputError, match="cannot be read"):
        read_file(write(packed[:-9], "t.csv.gz"))
    with pytest.raises(InputError, match="cannot be read"):
        read_file(write(b"a,b", "t.csv.gz"))


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("a,b\n1,2\n3\n", r"table\.csv', line 3: found 1 fields, expected 2"),
        ("a,b\n1,2\n\n3,4,5\n", "line 4: found 3 fields, expected 2"),
        ('a,b\n"x\ny",2\n1\n', "line 4: found 1 fields, expected 2"),
        ("", r"table\.csv' is empty"),
        ("a|b\n1|2\n", r"one name, 'a\|b', with '\|' between its parts"),
        ("a\tb\n1\t2\n", r"one name, 'a\\tb', with '\\t' between its parts"),
        ("a;b\n1,5;2\n", "one name, 'a;b', with ';' between its parts. Save .* with commas"),
        ("\n\n", r"table\.csv' is empty"),
        ("a,b\n", "names of columns, but no rows"),
        ("a,b,a\n1,2,3\n", r"names \['a'\] more than once"),
        (b"a,b\n1,x\n2,k\xf6ln\n", "line 3: byte 0xf6 at position 4 is not UTF-8"),
        ("a\n1\n".encode("utf-16"), "line 1: byte 0xff at position 1 is not UTF-8"),
        ('a,b\n1,"x\n', "line 2: unexpected end of data"),
    ],
    ids=lambda value: None if isinstance(value, bytes) else repr(value)[:20],
)
def test_damaged_csv(write: Write, reader: str, content: str | bytes, message: str) -> None:
    with pytest.raises(InputError, match=message):
        read_file(write(content))


def test_a_type_that_shows_late(write: Write, reader: str) -> None:
    # Beyond the first block, from which pyarrow would guess the types.
    text = "x,y\n" + "1,abcdefgh\n" * 200_000 + "late,z\n"
    column = _columns(read_file(write(text)))["x"]
    assert (column[0], column[-1], len(column)) == ("1", "late", 200_001)


FIELDS = st.text(st.sampled_from(list("01.-+e_ NAnaTrueé?\"',x")), max_size=5)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.tuples(FIELDS, FIELDS), min_size=1, max_size=6))
def test_both_readers_read_the_same(tmp_path: Path, rows: list[tuple[str, str]]) -> None:
    file = tmp_path / "table.csv"
    pd.DataFrame(rows, columns=["a", "b"]).to_csv(file, index=False)
    by_arrow = _columns(read_file(file))
    with pytest.MonkeyPatch.context() as monkeypatch:
        _hide(monkeypatch, "pyarrow", "pyarrow.csv")
        by_python = read_file(file)
    # repr, for NaN is not equal to itself and 1 is equal to 1.0.
    assert repr(by_arrow) == repr(by_python)


BINARY: dict[str, Callable[[pa.Table, Path], Any]] = {
    "parquet": pyarrow.parquet.write_table,
    "pq": pyarrow.parquet.write_table,
    "arrow": pyarrow.feather.write_feather,
    "feather": pyarrow.feather.write_feather,
    "ipc": pyarrow.feather.write_feather,
}


@pytest.mark.parametrize("library", ["pyarrow", "polars", "pandas"])
@pytest.mark.parametrize("ending", BINARY)
def test_binary_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, ending: str, library: str
) -> None:
    file = tmp_path / f"table.{ending}"
    BINARY[ending](pa.table({"size": [1.5, None], "city": ["b", "a"]}), file)
    if library != "pyarrow":
        _hide(monkeypatch, "pyarrow.parquet", "pyarrow.feather")
    if library == "pandas":
        _hide(monkeypatch, "polars")
        with pytest.raises(NotAvailableError, match="needs pyarrow: pip install pyarrow"):
            read_file(file)
        return
    table = read_file(file)
    assert isinstance(table, pa.Table if library == "pyarrow" else pl.DataFrame)
    np.testing.assert_array_equal(read_table(table).values, [[1.5, 1], [np.nan, 0]])


@pytest.mark.parametrize("ending", BINARY)
@pytest.mark.parametrize("content", [b"", b"no such format"])
def test_damaged_binary_files(write: Write, ending: str, content: bytes) -> None:
    with pytest.raises(InputError, match=r"table\..*' cannot be read as (Parquet|Arrow)"):
        read_file(write(content, f"table.{ending}"))


def test_paths(write: Write, tmp_path: Path) -> None:
    assert _columns(read_file(str(write("a\n1\n")))) == {"a": [1]}
    with pytest.raises(InputError, match=r"'.*none\.csv' does not exist"):
        read_file(tmp_path / "none.csv")
    with pytest.raises(InputError, match="is a folder"):
        read_file(tmp_path)
    with pytest.raises(InputError, match=r"ending '\.xlsx', .* \.csv, \.tsv, .*\.parquet"):
        read_file(write("", "table.xlsx"))
    with pytest.raises(InputError, match=r"ending '\.gz'"):
        read_file(write("", "table.gz"))

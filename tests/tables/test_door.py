"""Whatever a user calls a table: one model from one content, and errors that help."""

import warnings
from decimal import Decimal
from typing import Any

import hypothesis.strategies as st
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given

import vtree
from vtree.errors import InputError, InputTypeError
from vtree.tables import Schema, Table, encode_table, read_table

COLUMNS = {
    "size": [1.5, None, 3.0, -2.0],
    "count": [1, 2, None, 4],
    "open": [True, False, None, True],
    "城市": ["köln", None, "ålborg", "köln"],
}
VALUES = np.array([[1.5, 1, 1, 0], [np.nan, 2, 0, np.nan], [3, np.nan, np.nan, 1], [-2, 4, 1, 0]])

CONTAINERS = {
    "mapping": dict,
    "pandas": pd.DataFrame,
    "pandas-object": lambda columns: pd.DataFrame(columns, dtype=object),
    "pandas-nullable": lambda columns: pd.DataFrame(columns).convert_dtypes(),
    "pandas-arrow": lambda columns: pd.DataFrame(columns).convert_dtypes(dtype_backend="pyarrow"),
    "pandas-index": lambda columns: pd.DataFrame(columns, index=[3, 3, 0, 1]),
    "polars": pl.DataFrame,
    "pyarrow": pa.table,
    "record-batch": pa.RecordBatch.from_pydict,
}


@pytest.fixture(params=list(CONTAINERS))
def container(request: pytest.FixtureRequest) -> Any:
    return CONTAINERS[request.param]


def test_every_frame_reads_the_same(container: Any) -> None:
    table = read_table(container(COLUMNS))
    np.testing.assert_array_equal(table.values, VALUES)
    assert table.values.dtype == np.float64
    assert table.schema.names == tuple(COLUMNS)
    assert [levels is None for levels in table.schema.levels] == [True, True, True, False]
    assert _levels(table, 3) == ["köln", "ålborg"]


def test_every_frame_predicts_from_any_schema(container: Any) -> None:
    schema = read_table(pd.DataFrame(COLUMNS)).schema
    np.testing.assert_array_equal(encode_table(container(COLUMNS), schema), VALUES)
    objects = np.array(list(zip(*COLUMNS.values(), strict=True)), dtype=object)
    np.testing.assert_array_equal(encode_table(objects, schema), VALUES)
    np.testing.assert_array_equal(encode_table(objects.tolist(), schema), VALUES)


def test_frames_are_not_modified() -> None:
    frame = pd.DataFrame(COLUMNS)
    before = frame.copy(deep=True)
    table = read_table(frame, categorical_features=["size", "城市"])
    encode_table(frame, table.schema)
    pd.testing.assert_frame_equal(frame, before)


@pytest.mark.parametrize(
    "column",
    [
        pd.Categorical(["b", "a", None, "b"], categories=["z", "b", "a"]),
        pd.Categorical(["b", "a", None, "b"], categories=["a", "b"], ordered=True),
        pd.Series(["b", "a", None, "b"], dtype="string[python]"),
        pd.Series(["b", "a", pd.NA, "b"], dtype=object),
        pl.Series(["b", "a", None, "b"], dtype=pl.Categorical),
        pl.Series(["b", "a", None, "b"], dtype=pl.Enum(["z", "b", "a"])),
        pa.chunked_array([pa.array(["b", "a"]), pa.array([None, "b"])]).dictionary_encode(),
        pa.array(["b", "a", None, "b"], pa.large_string()),
        ["b", "a", float("nan"), "b"],
        np.array(["b", "a", None, "b"], dtype=object),
    ],
    ids=lambda column: f"{type(column).__module__}-{getattr(column, 'dtype', '')}",
)
def test_the_label_decides_and_not_its_container(column: Any) -> None:
    if isinstance(column, pl.Series):
        frame: Any = pl.DataFrame({"x": column})
    elif isinstance(column, pa.Array | pa.ChunkedArray):
        frame = pa.table({"x": column})
    else:
        frame = pd.DataFrame({"x": column})
    table = read_table(frame)
    assert _levels(table, 0) == ["a", "b"]
    np.testing.assert_array_equal(table.values[:, 0], [1, 0, np.nan, 1])


def test_numbers_of_every_spelling() -> None:
    frame = pd.DataFrame(
        {
            "object": pd.Series([1, None, 2.5, Decimal("3.5")], dtype=object),
            "decimal": pd.array(
                [Decimal("1.5"), None] * 2, dtype=pd.ArrowDtype(pa.decimal128(9, 2))
            ),
            "half": np.array([1, 2, 3, 4], np.float16),
            "sparse": pd.arrays.SparseArray([0, np.nan, 0, 1.0]),
            "bool": pd.array([True, None, False, True], dtype="boolean"),
            "huge": pd.array([2**60, None, 1, 2], dtype="int64[pyarrow]"),
        }
    )
    table = read_table(frame)
    assert table.schema.levels == (None,) * 6
    np.testing.assert_array_equal(table.values[1], [np.nan, np.nan, 2, np.nan, np.nan, np.nan])
    np.testing.assert_array_equal(table.values[0], [1, 1.5, 1, 0, 1, 2.0**60])
    wide = read_table(pl.DataFrame({"x": pl.Series([1, None], dtype=pl.Int128)}))
    np.testing.assert_array_equal(wide.values, [[1], [np.nan]])


def test_float32_frames_stay_float32() -> None:
    frame = pd.DataFrame({"a": np.array([0.1, 0.2], np.float32), "b": np.array([1, 2], np.float32)})
    assert read_table(frame).values.dtype == np.float32
    assert read_table(pl.from_pandas(frame)).values.dtype == np.float32
    assert read_table(frame.assign(c=1)).values.dtype == np.float64
    assert read_table(frame.assign(c="x")).values.dtype == np.float64


def test_labels_that_are_no_strings() -> None:
    frame = pd.DataFrame(
        {
            "int": pd.Categorical([10, 9, 9]),
            "bool": pd.Categorical([True, False, True]),
            "float": pd.Categorical([0.5, -1.0, np.inf]),
            "mixed": pd.Categorical([2, "a", 10]),
            "interval": pd.cut([1.0, 5.0, 9.0], [0, 4, 10]),
            "big": pd.Categorical([2**70, 1, 1]),
        }
    )
    table = read_table(frame)
    expected = [[9, 10], [False, True], [-1.0, 0.5, np.inf], [10, 2, "a"], ["(0, 4]", "(4, 10]"]]
    assert [_levels(table, place) for place in range(5)] == expected
    assert _levels(table, 5) == [1, 2**70]
    kinds = [levels.dtype.kind for levels in table.schema.levels if levels is not None]
    assert kinds == ["i", "b", "f", "O", "O", "O"]
    np.testing.assert_array_equal(encode_table(frame, table.schema, unknown="error"), table.values)
    as_numbers = frame.astype({"int": "float32", "bool": "int8"})
    np.testing.assert_array_equal(encode_table(as_numbers, table.schema), table.values)


def test_objects_beside_a_string_count_by_their_strings() -> None:
    frame = pd.DataFrame({"x": pd.Series([1, True, 1.0, "a", None], dtype=object)})
    assert _levels(read_table(frame), 0) == ["1", "1.0", "True", "a"]


def test_a_column_without_a_value_predicts_whatever_comes() -> None:
    nothing = read_table(pd.DataFrame({"x": pd.Series([None, None], dtype="str")}))
    assert _levels(nothing, 0) == []
    later = pd.DataFrame({"x": ["a", "b"]})
    assert np.isnan(encode_table(later, nothing.schema)).all()
    assert np.isnan(encode_table(np.ones((2, 1)), nothing.schema)).all()
    # And the other way round: no values are no labels.
    numbers = read_table(pd.DataFrame({"x": [1.0, 2.0]})).schema
    for empty in (pl.DataFrame({"x": [None]}), pa.table({"x": pa.array([None], pa.string())})):
        assert np.isnan(encode_table(empty, numbers)).all()


def test_unknown_labels() -> None:
    schema = read_table(pl.DataFrame({"city": list("abcdefgh")})).schema
    later = pl.DataFrame({"city": ["h", "zürich", None, "a", "y"]})
    np.testing.assert_array_equal(encode_table(later, schema)[:, 0], [7, np.nan, np.nan, 0, np.nan])
    with pytest.raises(InputError, match=r"column 'city' holds 'zürich', 'y'.*'a'.*… \(8 in all\)"):
        encode_table(later, schema, unknown="error")
    with pytest.raises(InputError, match="must be 'missing' or 'error', not 'ignore'"):
        encode_table(later, schema, unknown="ignore")  # type: ignore[arg-type]


def test_matrices_with_categories(xp: Any) -> None:
    numbers = [[3.0, 0.25], [1.0, 0.5], [np.nan, 0.75], [3.0, np.nan]]
    X = xp.asarray(numbers)
    table = read_table(X, categorical_features=[0])
    assert type(table.values) is type(X)
    assert _levels(table, 0) == [1.0, 3.0]
    expected = np.array(numbers)
    expected[:, 0] = [1, 0, np.nan, 1]
    np.testing.assert_array_equal(xp.to_numpy(table.values), expected)
    np.testing.assert_array_equal(xp.to_numpy(X), numbers)

    later = xp.asarray(np.array([[3, 1], [2, 1], [9, 1], [-1, 1]], np.float32))
    codes = encode_table(later, table.schema)
    assert codes.dtype == later.dtype
    np.testing.assert_array_equal(xp.to_numpy(codes)[:, 0], [1, np.nan, np.nan, np.nan])
    with pytest.raises(InputError, match=r"column 0 holds -1\.0, 2\.0, 9\.0.* 1\.0, 3\.0"):
        encode_table(later, table.schema, unknown="error")


def test_matrices_without_categories_are_not_copied(xp: Any) -> None:
    X = xp.asarray(np.array([[1, np.nan]], np.float32))
    table = read_table(X)
    assert table.values is X
    assert encode_table(X, table.schema) is X
    assert table.schema == Schema(None, (None, None))


def test_arrays_of_objects_with_named_categories() -> None:
    X = np.array([["b", 1], ["a", None], [None, 2.5]], dtype=object)
    table = read_table(X, categorical_features=[True, False])
    np.testing.assert_array_equal(table.values, [[1, 1], [0, np.nan], [np.nan, 2.5]])
    np.testing.assert_array_equal(
        read_table([["b", 1], ["a", 2]], categorical_features=[0]).values, [[1, 1], [0, 2]]
    )


@pytest.mark.parametrize("X", [np.array([["1", "x"]], dtype=object), [["1", 2.0]], [["1"]]])
def test_strings_in_a_plain_array(X: Any) -> None:
    with pytest.raises(InputError, match=r"column 0 holds '1', which is not a number.*data frame"):
        read_table(X)


def test_sparse_columns_of_pandas() -> None:
    columns: dict[str, Any] = {
        "whole": np.array([0, 3, 0]),
        "real": np.array([np.nan, 0.5, np.nan]),
        "true": np.array([False, True, False]),
        "word": np.array(["a", None, "b"], dtype=object),
    }
    sparse = {name: pd.arrays.SparseArray(column) for name, column in columns.items()}
    table, plain = read_table(pd.DataFrame(sparse)), read_table(pd.DataFrame(columns))
    np.testing.assert_array_equal(table.values, plain.values)
    assert [own is None for own in table.schema.levels] == [True, True, True, False]
    assert _levels(table, 3) == _levels(plain, 3) == ["a", "b"]
    marked = read_table(pd.DataFrame(sparse), nominal_booleans=True)
    assert _levels(marked, 2) == [False, True]


def test_strings_that_nobody_called_categories() -> None:
    frame = pd.DataFrame(COLUMNS)
    for chosen in (None, ["size"], [], [True, False, False, False], [0]):
        with pytest.raises(InputError, match="column '城市' holds 'köln'"):
            read_table(frame, categorical_features=chosen)


def test_strings_where_training_had_numbers() -> None:
    schema = read_table(pd.DataFrame({"x": [1, 2]})).schema
    with pytest.raises(InputError, match=r"column 'x' holds 'a'.*training this column held numb"):
        encode_table(pd.DataFrame({"x": ["a"]}), schema)
    # One stray sign makes strings of all: it is what to look for, not the numbers beside it.
    with pytest.raises(InputError, match="column 'x' holds '-', which is not a number"):
        encode_table(pd.DataFrame({"x": ["0.844", "2", "-", "3"]}), schema)
    with pytest.raises(InputError, match="'2', which is not a number. It is the text of one"):
        encode_table(pd.DataFrame({"x": ["2", "3"]}), schema)


def test_categories_of_numbers_where_numbers_are_wanted() -> None:
    frame = pd.DataFrame({"x": pd.Categorical([2.5, None, 1, 2.5])})
    expected = [[2.5], [np.nan], [1.0], [2.5]]
    np.testing.assert_array_equal(read_table(frame, categorical_features=None).values, expected)
    schema = read_table(pd.DataFrame({"x": [1, 2]})).schema
    np.testing.assert_array_equal(encode_table(frame, schema), expected)
    with pytest.raises(InputError, match="integer beyond what float64 can hold"):
        encode_table(pd.DataFrame({"x": pd.Categorical([10**400])}), schema)


def test_names_of_streams_are_compared() -> None:
    class Stream:
        def __init__(self, table: pa.Table) -> None:
            self.table = table

        def __arrow_c_stream__(self, requested_schema: object = None) -> object:
            return self.table.__arrow_c_stream__(requested_schema)

    columns = {"a": [1.0, 2.0, 3.0, 4.0], "b": [1.0, 1.0, 2.0, 2.0]}
    turned = dict(reversed(columns.items()))
    y = [0, 1, 1, 0]
    model = vtree.DecisionTreeClassifier().fit(Stream(pa.table(columns)), y)
    for make in (pa.record_batch, lambda own: Stream(pa.table(own))):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            assert model.predict(make(columns)).tolist() == y
        with pytest.raises(InputError, match=r"same order: \['a', 'b'\], not \['b', 'a'\]"):
            model.predict(make(turned))


@pytest.mark.parametrize(
    "chosen",
    [
        ["count", "城市"],
        [1, 3],
        np.array([1, 3]),
        [False, True, False, True],
        pd.Index(["count", "城市"]),
    ],
    ids=["names", "numbers", "array", "mask", "index"],
)
def test_categorical_features(chosen: Any) -> None:
    table = read_table(pd.DataFrame(COLUMNS), categorical_features=chosen)
    assert [levels is None for levels in table.schema.levels] == [True, False, True, False]
    assert _levels(table, 1) == [1, 2, 4]
    np.testing.assert_array_equal(table.values[:, 1], [0, 1, np.nan, 2])


@pytest.mark.parametrize(
    ("chosen", "error", "message"),
    [
        ("size", InputError, r"not 'size'\. For one column: \['size'\]"),
        (3, InputTypeError, "a sequence"),
        ([True], InputError, "mask of 1 booleans, but X has 4 columns"),
        ([-1], InputError, r"\[-1\], but .* from 0 to 3"),
        ([0, 4], InputError, r"\[4\], but .* from 0 to 3"),
        (["size", "no"], InputError, r"\['no'\], but those of X are \['size'"),
        ([0.5], InputTypeError, r"got \['float'\]"),
        (["size", 1], InputTypeError, r"got \['int', 'str'\]"),
    ],
)
def test_wrong_categorical_features(chosen: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        read_table(pd.DataFrame(COLUMNS), categorical_features=chosen)


def test_names_for_columns_without_names() -> None:
    with pytest.raises(InputError, match="have no names"):
        read_table(np.ones((2, 2)), categorical_features=["x"])


def test_another_number_of_columns() -> None:
    schema = read_table(np.ones((2, 4))).schema
    for X in (np.ones((2, 3)), pd.DataFrame(np.ones((2, 3))), [[1, 2, 3]]):
        with pytest.raises(
            ValueError, match=r"X has 3 features, but \w+ is expecting 4 features as input"
        ):
            encode_table(X, schema)


LABELS = st.lists(st.one_of(st.none(), st.text(max_size=3)), min_size=1, max_size=30)


@given(LABELS, st.randoms(use_true_random=False))
def test_the_order_of_rows_does_not_matter(labels: list[str | None], random: Any) -> None:
    labels = [*labels, "label"]  # without one, the column counts as numbers
    table = read_table({"x": labels})
    order = list(range(len(labels)))
    random.shuffle(order)
    shuffled = read_table({"x": [labels[place] for place in order]})
    np.testing.assert_array_equal(shuffled.values, table.values[order])
    assert (
        _levels(shuffled, 0)
        == _levels(table, 0)
        == sorted({label for label in labels if label is not None})
    )


def _levels(table: Table, place: int) -> list[Any]:
    levels = table.schema.levels[place]
    assert levels is not None
    labels: list[Any] = levels.tolist()
    return labels


def test_a_label_does_not_depend_on_the_rows_beside_it() -> None:
    mixed: list[Any] = [1, "x", 2.5, None]
    table = read_table({"a": mixed})
    for rows in ([0, 1], [0, 2], [0], [2], [1], [3, 0]):
        part = encode_table({"a": [mixed[row] for row in rows]}, table.schema, unknown="error")
        np.testing.assert_array_equal(part, table.values[rows])
    numbers = encode_table(np.array([[1.0], [2.5]]), table.schema, unknown="error")
    np.testing.assert_array_equal(numbers, table.values[[0, 2]])
    coded = read_table({"zip": [30, 4]}, categorical_features=["zip"]).schema
    np.testing.assert_array_equal(
        encode_table({"zip": [4, "new", 30]}, coded).ravel(), [0, np.nan, 1]
    )

from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

from vtree.errors import InputError, InputTypeError
from vtree.tables import encode_table, read_table
from vtree.tables.choice import chosen_columns, in_order, ordinal_columns

SIZES = ["small", "large", "medium", None, "large"]
IN_ORDER = ["small", "medium", "large"]


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (None, [False, False, False]),
        ([True, False, True], [True, False, True]),
        ([2], [False, False, True]),
        (["a", "c"], [True, False, True]),
        (np.array([], dtype=int), [False, False, False]),
    ],
)
def test_chosen_columns(value: Any, expected: list[bool]) -> None:
    found = chosen_columns(value, 3, ("a", "b", "c"), "columns")
    assert found is not None
    assert found.tolist() == expected


def test_types_decide() -> None:
    assert chosen_columns("from_dtype", 3, None, "columns") is None
    assert ordinal_columns("from_dtype", 3, None).chosen is None


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ("a", r"For one column: \['a'\]"),
        (7, "a sequence"),
        ([True], "a mask of 1 booleans, but X has 3"),
        ([5], r"names the columns \[5\]"),
        (["x"], r"names the columns \['x'\]"),
        ([0, "a"], "all booleans, all integers or all names"),
    ],
)
def test_what_chooses_no_column(value: Any, message: str) -> None:
    with pytest.raises((InputError, InputTypeError), match=message) as caught:
        chosen_columns(value, 3, ("a", "b", "c"), "things")
    assert str(caught.value).startswith("things")


def test_orders_of_levels() -> None:
    found = ordinal_columns({"b": ["x", "y"]}, 3, ("a", "b", "c"))
    assert found.chosen is not None
    assert found.chosen.tolist() == [False, True, False]
    assert found.orders == {1: ["x", "y"]}
    with pytest.raises(InputTypeError, match="must list the levels"):
        ordinal_columns({0: "xy"}, 3, None)
    with pytest.raises(InputError, match="names a level twice"):
        ordinal_columns({0: ["x", "x"]}, 3, None)
    with pytest.raises(InputError, match=r"names the columns \[3\]"):
        ordinal_columns({3: ["x"]}, 3, None)
    levels = np.array(["l", "s"], dtype=object)
    assert in_order(levels, ["s", "m", "l"], "column 0").tolist() == ["s", "l"]
    with pytest.raises(InputError, match=r"column 0 holds \['l'\], which the given order"):
        in_order(levels, ["s"], "column 0")


FRAMES: dict[str, tuple[Any, Any]] = {
    "pandas": (
        pd.DataFrame({"size": pd.Categorical(SIZES, categories=IN_ORDER, ordered=True)}),
        "from_dtype",
    ),
    "polars": (pl.DataFrame({"size": pl.Series(SIZES, dtype=pl.Enum(IN_ORDER))}), "from_dtype"),
    "mapping": ({"size": SIZES}, {"size": IN_ORDER}),
    "objects": (np.array(SIZES, dtype=object)[:, None], {0: IN_ORDER}),
    "not categorical": (pd.DataFrame({"size": SIZES}), {"size": IN_ORDER}),
}


@pytest.mark.parametrize("name", FRAMES)
def test_ordinal_levels_are_numbered_in_their_order(name: str) -> None:
    X, ordinal = FRAMES[name]
    table = read_table(X, ordinal_features=ordinal)
    levels = table.schema.levels[0]
    assert levels is not None
    assert levels.tolist() == IN_ORDER
    assert table.ordinal.tolist() == [True]
    expected = [[0.0], [2.0], [1.0], [np.nan], [2.0]]
    np.testing.assert_array_equal(table.values, expected)
    np.testing.assert_array_equal(encode_table(X, table.schema), expected)


def test_unasked_the_order_does_not_matter() -> None:
    for name in ("pandas", "polars"):
        table = read_table(FRAMES[name][0])
        levels = table.schema.levels[0]
        assert levels is not None
        assert levels.tolist() == sorted(IN_ORDER)
        assert table.ordinal.tolist() == [False]


def test_listed_columns_have_the_order_of_their_labels() -> None:
    table = read_table(np.array([[30.0, 1.0], [10.0, 2.0]]), ordinal_features=[0])
    assert table.ordinal.tolist() == [True, False]
    np.testing.assert_array_equal(table.values, [[1.0, 1.0], [0.0, 2.0]])
    ascending = read_table(np.array([[30.0], [10.0]]), ordinal_features={0: [10, 20, 30]})
    np.testing.assert_array_equal(ascending.values, [[1.0], [0.0]])
    with pytest.raises(InputError, match="not ascending"):
        read_table(np.array([[30.0], [10.0]]), ordinal_features={0: [30, 10]})

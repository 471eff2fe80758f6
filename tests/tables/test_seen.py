import numpy as np

from tests.conftest import Namespace
from vtree.tables import read_table, with_seen_levels


def test_levels_of_no_row_go_and_others_are_numbered_anew(xp: Namespace) -> None:
    table = read_table({"size": [3.0, 1.0, 2.0, 9.0], "colour": ["red", None, "blue", "green"]})
    values, schema = with_seen_levels(xp.asarray(table.values), table.schema, np.asarray([0, 1, 3]))
    assert schema.levels[0] is None
    assert list(schema.levels[1]) == ["green", "red"]  # type: ignore[arg-type]
    np.testing.assert_array_equal(xp.to_numpy(values)[:, 0], [3.0, 1.0, 2.0, 9.0])
    np.testing.assert_array_equal(xp.to_numpy(values)[:, 1], [1.0, np.nan, np.nan, 0.0])
    np.testing.assert_array_equal(table.values[:, 1], [2.0, np.nan, 0.0, 1.0])  # as it was


def test_a_table_whose_levels_all_have_rows_stays() -> None:
    table = read_table({"colour": ["red", "blue", "red", None]})
    values, schema = with_seen_levels(table.values, table.schema, np.asarray([0, 1, 3]))
    assert values is table.values
    assert schema is table.schema


def test_what_stays_is_the_column_without_the_other_rows() -> None:
    rows = np.asarray([0, 1, 2])
    columns = (
        [10, 9, None, 1],
        [2.5, 1.5, 2.5, -1.0],
        ["a", "b", "b", "c"],
        [None, None, None, "only here"],
        [True, True, None, False],
    )
    for labels in columns:
        table = read_table({"x": labels}, categorical_features=[0])
        expected = read_table({"x": [labels[row] for row in rows]}, categorical_features=[0])
        values, schema = with_seen_levels(table.values, table.schema, rows)
        known, own = expected.schema.levels[0], schema.levels[0]
        assert known is not None
        assert own is not None
        assert own.tolist() == known.tolist()
        assert own.dtype == known.dtype
        np.testing.assert_array_equal(values[rows], expected.values)


def test_an_order_of_their_own_is_kept() -> None:
    order = {"x": ["S", "M", "L", "XL"]}
    table = read_table({"x": ["XL", "M", "S", "L"]}, ordinal_features=order)
    values, schema = with_seen_levels(table.values, table.schema, np.asarray([0, 1, 2]))
    assert list(schema.levels[0]) == ["S", "M", "XL"]  # type: ignore[arg-type]
    np.testing.assert_array_equal(values[:, 0], [2.0, 1.0, 0.0, np.nan])

"""The columns of a table from a file: of an Arrow, polars or pandas frame, or of a mapping."""

import difflib
from collections.abc import Sequence
from typing import Any

import narwhals as nw
import numpy as np
from narwhals.exceptions import DuplicateError
from numpy.typing import NDArray

from vtree.errors import InputError
from vtree.tables.columns import reads_as_number
from vtree.tables.levels import is_missing


def names_of(table: Any) -> list[str]:
    """List the names of a table's columns; raise InputError where two are the same."""
    return list(table) if isinstance(table, dict) else list(_frame(table).columns)


def check_names(wanted: Sequence[str], names: Sequence[str], option: str) -> None:
    """Raise InputError, with the nearest name, if a wanted one is not among `names`."""
    for name in wanted:
        if name in names:
            continue
        near = difflib.get_close_matches(name, names, n=1)
        hint = f" Did you mean {near[0]!r}?" if near else ""
        raise InputError(
            f"{option}: the table has no column {name!r}.{hint} Its columns are {_listed(names)}."
        )


def values_in(table: Any, name: str) -> list[Any]:
    """Return a column's values (N,), missing ones in any spelling."""
    column = table[name] if isinstance(table, dict) else _frame(table)[name].to_list()
    return list(column)


def select(table: Any, names: Sequence[str]) -> Any:
    """Return the table with these columns only, in this order."""
    if isinstance(table, dict):
        return {name: table[name] for name in names}
    return _frame(table).select(list(names)).to_native()


def take(table: Any, rows: NDArray[np.int64]) -> Any:
    """Return the table, or a matrix of numbers, with these rows only, in this order."""
    if isinstance(table, dict):
        chosen = rows.tolist()
        return {name: [column[row] for row in chosen] for name, column in table.items()}
    if isinstance(table, np.ndarray):
        return table[rows]
    return _frame(table)[rows.tolist()].to_native()


def missing_in(table: Any) -> int:
    """Count the cells without a value."""
    if isinstance(table, dict):
        return sum(is_missing(value) for column in table.values() for value in column)
    total = 0
    for series in _frame(table).iter_columns():
        # In pandas NaN is a null too, so the two are not to be added up.
        empty = series.is_null()
        total += int((empty | series.is_nan() if series.dtype.is_float() else empty).sum())
    return total


def strays_in(table: Any) -> dict[str, str]:
    """Return the columns of numbers that few other values make columns of strings, with one each.

    At least nine in ten of the different values of such a column read as numbers.
    """
    found = {}
    for name in names_of(table):
        values = set(values_in(table, name)) if _holds_strings(table, name) else set()
        present = {value for value in values if not is_missing(value)}
        strays = [value for value in present if not reads_as_number(value)]
        if 0 < 10 * len(strays) <= len(present):
            found[name] = str(min(strays))
    return found


def labels_of_rows(table: Any) -> list[str]:
    """Return the columns of strings that are all different, in tables of 20 rows and more."""
    found = []
    for name in names_of(table):
        values = values_in(table, name) if _holds_strings(table, name) else []
        if len(values) >= 20 and len(set(values)) == len(values):
            found.append(name)
    return found


def _holds_strings(table: Any, name: str) -> bool:
    if isinstance(table, dict):
        return any(isinstance(value, str) for value in table[name])
    return bool(_frame(table)[name].dtype == nw.String)


def _frame(table: Any) -> nw.DataFrame[Any]:
    try:
        return nw.from_native(table, eager_only=True)
    except DuplicateError as error:
        raise InputError(f"the names of columns must differ: {error}") from error


def _listed(names: Sequence[str], most: int = 20) -> str:
    shown = ", ".join(repr(name) for name in names[:most])
    return shown if len(names) <= most else f"{shown}, … ({len(names)} in all)"

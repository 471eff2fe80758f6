"""`read_table` and `encode_table`: a table to a matrix of floats, in fit and in predict."""

from collections.abc import Iterable
from numbers import Integral
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from vtree.arrays import Array, is_numpy, namespace, to_numpy
from vtree.errors import InputError, InputTypeError
from vtree.tables.columns import (
    Columns,
    columns_of,
    columns_of_objects,
    labels_of,
    numbers_of,
    place_of,
)
from vtree.tables.levels import (
    codes_of_labels,
    codes_of_numbers,
    levels_of_labels,
    refuse_unknown,
)
from vtree.tables.matrices import matrix_of

Unknown = Literal["missing", "error"]


class Schema(NamedTuple):
    """What training learnt of the columns; all that prediction needs to read a table."""

    names: tuple[str, ...] | None  # (F,), None where the table had no names of strings
    # (F,): None = numbers, otherwise the sorted training levels, 1-D: bool, int64 or
    # float64, or object for strings and mixtures. None of its values: no levels, size 0.
    levels: tuple[NDArray[Any] | None, ...]


class Table(NamedTuple):
    """A table as the tree builder reads it."""

    values: Array  # (N, F) float32 or float64: numbers, or level numbers; NaN = missing
    schema: Schema


def read_table(X: Any, *, categorical_features: Any = "from_dtype") -> Table:
    """Read a training table and learn its schema.

    Parameters
    ----------
    X : table, (N, F)
        Numbers in any array library (NumPy, PyTorch, CuPy, …), lists of rows, masked
        and sparse arrays; or columns with types of their own: pandas, polars and Arrow
        frames, a mapping from names to columns, an array of objects. Not modified.
    categorical_features : "from_dtype", None, or sequence
        Which columns hold categories. "from_dtype": in frames and mappings those of
        strings, categories and enumerations; elsewhere none. None: none. A sequence:
        a mask of F booleans, numbers of columns, or names of columns.

    Returns
    -------
    Table
        `values` in X's array library and on its device, NumPy for all else. float32
        where all of X is float32 (or float16, as an array), otherwise float64. May
        share X's memory, so it must not be written to.

    Raises
    ------
    InputError
        Shape, names, strings in a column that is not categorical, more than 65,535
        categories in one column, or `categorical_features` that do not fit X.
    InputTypeError
        Times, structured arrays, lazy frames and objects that are no numbers.
    MemoryBudgetError
        A sparse X whose dense form would take more than 2 GiB.

    Examples
    --------
    >>> table = read_table({"size": [1.5, None], "colour": ["red", "blue"]})
    >>> table.values
    array([[1.5, 1. ],
           [nan, 0. ]])
    >>> table.schema.levels
    (None, array(['blue', 'red'], dtype=object))
    """
    table = _open(X)
    if isinstance(table, Columns):
        return _read_columns(table, categorical_features)
    return _read_matrix(table, categorical_features)


def encode_table(
    X: Any, schema: Schema, *, unknown: Unknown = "missing", owner: str = "Schema"
) -> Array:
    """Read a table to predict from, by the schema of the training table.

    Parameters
    ----------
    X : table, (N, F)
        Of any kind that `read_table` takes, whatever the training table was. Columns
        are taken by position.
    schema : Schema
    unknown : "missing" or "error"
        What a label that training did not see is: NaN, or an InputError.
    owner : str
        Whose schema it is, for messages.

    Returns
    -------
    array, (N, F)
        As `Table.values`.

    Raises
    ------
    InputError, InputTypeError, MemoryBudgetError
        As `read_table`; also another number of columns, labels where training had
        numbers, and unknown labels if `unknown` is "error".
    """
    if unknown not in ("missing", "error"):
        raise InputError(f"unknown must be 'missing' or 'error', not {unknown!r}.")
    table = _open(X)
    width = table.shape[1]
    if width != len(schema.levels):
        raise InputError(
            f"X has {width} features, but {owner} is expecting {len(schema.levels)} features as "
            "input. Pass the columns of the training table, in its order."
        )
    if isinstance(table, Columns):
        return _encode_columns(table, schema, unknown)
    if unknown == "error":
        for place, levels in enumerate(schema.levels):
            if levels is not None:
                refuse_unknown(_distinct(table, place), levels, place_of(place, schema.names))
    return _with_codes(table, schema.levels)


def _open(X: Any) -> Columns | Array:
    """Give a table column by column, or as a matrix of floats."""
    columns = columns_of(X)
    if columns is not None:
        return columns
    matrix = matrix_of(X)
    if is_numpy(matrix) and matrix.dtype == object:
        return columns_of_objects(matrix)
    return matrix


def _read_matrix(matrix: Array, categorical_features: Any) -> Table:
    width = matrix.shape[1]
    chosen = _chosen(categorical_features, width, None)
    levels: list[NDArray[Any] | None] = [None] * width
    for place in np.flatnonzero(chosen).tolist() if chosen is not None else ():
        levels[place] = levels_of_labels(_distinct(matrix, place), place_of(place, None))
    schema = Schema(None, tuple(levels))
    return Table(_with_codes(matrix, schema.levels), schema)


def _distinct(matrix: Array, place: int) -> list[float]:
    """Give a column's distinct numbers on the host."""
    numbers: list[float] = np.unique(to_numpy(matrix[:, place])).tolist()
    return numbers


def _read_columns(table: Columns, categorical_features: Any) -> Table:
    chosen = _chosen(categorical_features, table.shape[1], table.names)
    if chosen is None and not table.is_typed:
        chosen = np.zeros(table.shape[1], dtype=bool)
    values = np.empty(table.shape, dtype=table.dtype, order="F")
    all_levels: list[NDArray[Any] | None] = []
    for place, column in enumerate(table.read):
        levels = None
        if column.labels is not None if chosen is None else chosen[place]:
            labels = labels_of(column)
            levels = levels_of_labels(labels, column.where)
            values[:, place] = codes_of_labels(labels, levels)
        else:
            values[:, place] = numbers_of(column, _NAME_IT)
        all_levels.append(levels)
    return Table(values, Schema(table.names, tuple(all_levels)))


_NAME_IT = (
    "To use its strings as categories, pass a data frame with "
    "categorical_features='from_dtype', or name the column in categorical_features."
)


def _encode_columns(table: Columns, schema: Schema, unknown: Unknown) -> NDArray[Any]:
    values = np.empty(table.shape, dtype=table.dtype, order="F")
    for place, (column, levels) in enumerate(zip(table.read, schema.levels, strict=True)):
        if levels is None:
            values[:, place] = numbers_of(column, "In training this column held numbers.")
            continue
        labels = labels_of(column)
        if unknown == "error":
            refuse_unknown(labels, levels, column.where)
        values[:, place] = codes_of_labels(labels, levels)
    return values


def _with_codes(matrix: Array, levels: tuple[NDArray[Any] | None, ...]) -> Array:
    """Give a matrix (N, F) with level numbers in its categorical columns."""
    if all(of_column is None for of_column in levels):
        return matrix
    values = namespace(matrix).asarray(matrix, copy=True)
    for place, of_column in enumerate(levels):
        if of_column is not None:
            values[:, place] = codes_of_numbers(matrix[:, place], of_column)
    return values


def _chosen(
    categorical_features: Any, width: int, names: tuple[str, ...] | None
) -> NDArray[np.bool_] | None:
    """Resolve `categorical_features` to a mask (F,), or None where dtypes decide."""
    if isinstance(categorical_features, str):
        if categorical_features == "from_dtype":
            return None
        raise InputError(
            "categorical_features must be 'from_dtype', None, a mask, numbers or names of "
            f"columns, not {categorical_features!r}. For one column: [{categorical_features!r}]."
        )
    chosen = np.zeros(width, dtype=bool)
    if categorical_features is None:
        return chosen
    if not isinstance(categorical_features, Iterable):
        raise InputTypeError(
            "categorical_features must be 'from_dtype', None, or a sequence: a mask, numbers "
            f"or names of columns; not {categorical_features!r}."
        )
    entries = list(categorical_features)
    if entries and all(isinstance(entry, bool | np.bool_) for entry in entries):
        return _chosen_by_mask(entries, width)
    chosen[_places(entries, width, names)] = True
    return chosen


def _chosen_by_mask(entries: list[Any], width: int) -> NDArray[np.bool_]:
    if len(entries) != width:
        raise InputError(
            f"categorical_features is a mask of {len(entries)} booleans, but X has {width} "
            "columns. Pass one boolean a column."
        )
    return np.array(entries, dtype=bool)


def _places(entries: list[Any], width: int, names: tuple[str, ...] | None) -> list[int]:
    """Turn numbers or names of columns into numbers."""
    if all(isinstance(entry, str) for entry in entries):
        return _places_of_names(entries, names)
    if not all(
        isinstance(entry, Integral) and not isinstance(entry, bool | np.bool_) for entry in entries
    ):
        raise InputTypeError(
            "categorical_features must be all booleans, all integers or all names of columns; "
            f"got {sorted({type(entry).__name__ for entry in entries})}."
        )
    outside = [int(entry) for entry in entries if not 0 <= entry < width]
    if outside:
        raise InputError(
            f"categorical_features names the columns {outside}, but the columns of X are "
            f"numbered from 0 to {width - 1}."
        )
    return [int(entry) for entry in entries]


def _places_of_names(entries: list[str], names: tuple[str, ...] | None) -> list[int]:
    if entries and names is None:
        raise InputError(
            f"categorical_features names the columns {entries}, but the columns of X have no "
            "names. Pass their numbers, or a data frame."
        )
    place_of_name = {name: place for place, name in enumerate(names or ())}
    strangers = [entry for entry in entries if entry not in place_of_name]
    if strangers:
        raise InputError(
            f"categorical_features names the columns {strangers}, but those of X are "
            f"{list(place_of_name)}."
        )
    return [place_of_name[entry] for entry in entries]

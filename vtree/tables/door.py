"""`read_table` and `encode_table`: a table to a matrix of floats, in fit and in predict."""

from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from vtree.arrays import Array, is_numpy, like, namespace, to_numpy
from vtree.errors import InputError
from vtree.tables.choice import Ordinals, chosen_columns, in_order, ordinal_columns
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
from vtree_kernels.ranks import ranks

Unknown = Literal["missing", "error"]


class Schema(NamedTuple):
    """What training learnt of the columns; all that prediction needs to read a table."""

    names: tuple[str, ...] | None  # (F,), None where the table had no names of strings
    # (F,): None = numbers, otherwise the sorted training levels, 1-D: bool, int64 or
    # float64, or object for strings and mixtures. None of its values: no levels, size 0.
    # Ordinal columns have theirs in their own order.
    levels: tuple[NDArray[Any] | None, ...]


class Table(NamedTuple):
    """A table as the tree builder reads it."""

    values: Array  # (N, F) float32 or float64: numbers, or level numbers; NaN = missing
    schema: Schema
    ordinal: NDArray[np.bool_]  # (F,) columns of levels that have an order


def read_table(
    X: Any,
    *,
    categorical_features: Any = "from_dtype",
    ordinal_features: Any = None,
    nominal_booleans: bool = False,
) -> Table:
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
    ordinal_features : None, "from_dtype", sequence, or mapping
        Which columns hold categories with an order, whatever `categorical_features` says of them.
        None: none. "from_dtype": those of ordered categories and enumerations. A sequence: their
        sorted labels are the order. A mapping from columns to their levels, lowest first; the
        levels of a matrix's column must be ascending numbers.
    nominal_booleans : bool
        Whether "from_dtype" takes truth values for categories, False and True, or for numbers.

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
        ordinals = ordinal_columns(ordinal_features, table.shape[1], table.names)
        return _read_columns(table, categorical_features, ordinals, nominal_booleans)
    ordinals = ordinal_columns(ordinal_features, table.shape[1], None)
    return _read_matrix(table, categorical_features, ordinals)


def encode_table(
    X: Any, schema: Schema, *, unknown: Unknown = "missing", owner: str = "Schema"
) -> Array:
    """Read a table to predict from, by the schema of the training table.

    Parameters
    ----------
    X : table, (N, F)
        Of any kind that `read_table` takes, whatever the training table was. Columns
        are taken by position; names, where both tables have some, must be the same.
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
        As `read_table`; also another number of columns, other names, labels where
        training had numbers, and unknown labels if `unknown` is "error".
    """
    if unknown not in ("missing", "error"):
        raise InputError(f"unknown must be 'missing' or 'error', not {unknown!r}.")
    table = _open(X)
    if isinstance(table, Columns):  # which names are missing says more than how many
        _check_names(table.names, schema.names)
    check_width(table.shape[1], len(schema.levels), owner)
    if isinstance(table, Columns):
        return _encode_columns(table, schema, unknown)
    if unknown == "error":
        nominal = {place: own for place, own in enumerate(schema.levels) if own is not None}
        _, distinct = ranks(table, list(nominal))
        for (place, levels), found in zip(nominal.items(), distinct, strict=True):
            refuse_unknown(to_numpy(found).tolist(), levels, place_of(place, schema.names))
    return _with_codes(table, schema.levels)


def _check_names(names: tuple[str, ...] | None, known: tuple[str, ...] | None) -> None:
    if names is not None and known is not None and names != known:
        raise InputError(
            "X: The feature names should match those that were passed during fit, in the same "
            f"order: {list(known)}, not {list(names)}"
        )


def _open(X: Any) -> Columns | Array:
    """Give a table column by column, or as a matrix of floats."""
    columns = columns_of(X)
    if columns is not None:
        return columns
    matrix = matrix_of(X)
    if is_numpy(matrix) and matrix.dtype == object:
        return columns_of_objects(matrix)
    return matrix


def _read_matrix(matrix: Array, categorical_features: Any, ordinals: Ordinals) -> Table:
    width = matrix.shape[1]
    chosen = chosen_columns(categorical_features, width, None, "categorical_features")
    ordinal = np.zeros(width, dtype=bool) if ordinals.chosen is None else ordinals.chosen
    levels: list[NDArray[Any] | None] = [None] * width
    nominal = np.flatnonzero(ordinal if chosen is None else chosen | ordinal).tolist()
    codes, distinct = ranks(matrix, nominal)
    numbers: dict[int, Array] = {}
    for index, place in enumerate(nominal):
        where = place_of(place, None)
        own = levels_of_labels(to_numpy(distinct[index]).tolist(), where)
        if place in ordinals.orders:
            _check_ascending(ordinals.orders[place], where)
            own = in_order(own, ordinals.orders[place], where)
            numbers[place] = codes_of_numbers(matrix[:, place], own)
        elif not np.array_equal(own, np.arange(own.size)):  # or else they are their own numbers
            numbers[place] = _level_numbers(codes[index, :], own.size, matrix)
        levels[place] = own
    schema = Schema(None, tuple(levels))
    return Table(_with_columns(matrix, numbers), schema, ordinal)


def _level_numbers(codes: Array, n_levels: int, matrix: Array) -> Array:
    """Return the level numbers (N,) of codes (N,), 1 and up, NaN for 0."""
    xp = namespace(matrix)
    numbers = like(np.append(np.nan, np.arange(n_levels)), matrix)
    return xp.take(xp.astype(numbers, matrix.dtype), codes)


def _check_ascending(order: list[Any], where: str) -> None:
    if any(isinstance(level, str) for level in order) or sorted(order) != order:
        raise InputError(
            f"ordinal_features: {where} of a matrix of numbers has the order {order}, which is "
            "not ascending. Pass a data frame with labels, or numbers in order."
        )


def _read_columns(
    table: Columns, categorical_features: Any, ordinals: Ordinals, nominal_booleans: bool
) -> Table:
    width = table.shape[1]
    chosen = chosen_columns(categorical_features, width, table.names, "categorical_features")
    if chosen is None and not table.is_typed:
        chosen = np.zeros(width, dtype=bool)
    values = np.empty(table.shape, dtype=table.dtype, order="F")
    ordinal = np.zeros(width, dtype=bool)
    all_levels: list[NDArray[Any] | None] = []
    for place, column in enumerate(table.read):
        levels = None
        ordered = column.order is not None
        ordinal[place] = ordered if ordinals.chosen is None else ordinals.chosen[place]
        told = column.labels is not None or (nominal_booleans and column.is_boolean)
        categorical = told if chosen is None else chosen[place]
        if categorical or ordinal[place]:
            labels = labels_of(column)
            levels = levels_of_labels(labels, column.where)
            order = ordinals.orders.get(place, column.order)
            if ordinal[place] and order is not None:
                levels = in_order(levels, order, column.where)
            values[:, place] = codes_of_labels(labels, levels)
        else:
            values[:, place] = numbers_of(column, _NAME_IT)
        all_levels.append(levels)
    return Table(values, Schema(table.names, tuple(all_levels)), ordinal)


_NAME_IT = (
    "To use its strings as categories, pass a data frame with "
    "categorical_features='from_dtype', or name the column in categorical_features."
)


def check_width(found: int, expected: int, owner: str) -> None:
    """Raise InputError if a table has another number of features; owner: who expects them."""
    if found != expected:
        raise InputError(
            f"X has {found} features, but {owner} is expecting {expected} features as input. Pass "
            "the columns of the training table, in its order."
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
    nominal = {place: own for place, own in enumerate(levels) if own is not None}
    numbers = {place: codes_of_numbers(matrix[:, place], own) for place, own in nominal.items()}
    return _with_columns(matrix, numbers)


def _with_columns(matrix: Array, columns: dict[int, Array]) -> Array:
    """Give a matrix (N, F) with other columns at some places."""
    if not columns:
        return matrix
    values = namespace(matrix).asarray(matrix, copy=True)
    for place, column in columns.items():
        values[:, place] = column
    return values

"""Tables whose columns have types of their own: frames, mappings, arrays of objects.

Data frames come in through narwhals: pandas with nullable and Arrow-backed types,
polars, pyarrow, Modin, cuDF. Rows are aligned by position, never by an index.
"""

import datetime
from collections.abc import Collection, Iterator, Mapping
from decimal import Decimal
from fractions import Fraction
from typing import Any, NamedTuple, NoReturn

import narwhals as nw
import numpy as np
import scipy.sparse
from narwhals.exceptions import DuplicateError
from numpy.typing import NDArray

from vtree.errors import InputError, InputTypeError
from vtree.tables.levels import is_missing
from vtree.tables.matrices import check_shape

_NARWHALS = (nw.DataFrame, nw.LazyFrame, nw.Series)
_TIMES = (datetime.date, datetime.time, datetime.timedelta, np.datetime64, np.timedelta64)
_COMPLEX = (complex, np.complexfloating)
_NUMBERS = (bool, int, float, np.bool_, np.number, Decimal, Fraction)
_MISSING = {"NoneType", "NAType", "NaTType"}


class Column(NamedTuple):
    """One column: numbers, or labels."""

    where: str  # as messages name it
    numbers: NDArray[Any] | None  # (N,) bool, integer or float; NaN = missing
    labels: list[Any] | None  # (N,) hashable; missing in any spelling
    order: tuple[Any, ...] | None = None  # all levels, lowest first, if the type says an order
    is_boolean: bool = False  # whether the numbers are truth values


class Columns(NamedTuple):
    """A table, column by column."""

    names: tuple[str, ...] | None  # (F,)
    shape: tuple[int, int]  # (N, F)
    dtype: type[np.floating[Any]]  # what holds all numbers without loss
    is_typed: bool  # whether the type of a column says that it holds categories
    read: Iterator[Column]  # (F,), once; labels of one column at a time are in memory


def columns_of(X: Any) -> Columns | None:
    """Open a data frame or a mapping, or give None where X is neither.

    Parameters
    ----------
    X : eager data frame that narwhals knows, object with the Arrow PyCapsule \
interface, or mapping from names to sequences of one length

    Raises
    ------
    InputError
        No rows or columns, two columns of one name, or a series.
    InputTypeError
        A lazy frame, or names of which some are strings and some are not.
    """
    if type(X) is np.ndarray:  # which narwhals takes long to tell
        return None
    # SciPy's dictionary of keys is a mapping too, but of places.
    if isinstance(X, Mapping) and not scipy.sparse.issparse(X):
        return _open_mapping(X)
    try:
        table = nw.from_native(X, allow_series=True, pass_through=True)
        if not isinstance(table, _NARWHALS) and hasattr(X, "__arrow_c_stream__"):
            table = nw.from_arrow(X, backend="pyarrow")
    except DuplicateError as error:
        raise InputError(f"X: the names of columns must differ. {error}") from error
    if isinstance(table, nw.LazyFrame):
        raise InputTypeError(
            f"X is lazy ({_kind(X)}), and trees read their rows many times. "
            "Collect it first: X.collect(), or X.compute()."
        )
    if isinstance(table, nw.Series):
        raise InputError(
            f"Expected a 2-dimensional container but got {type(X)} instead. Pass a DataFrame "
            "containing a single row (i.e. single sample) or a single column (i.e. single "
            "feature) instead."
        )
    return _open_frame(table) if isinstance(table, nw.DataFrame) else None


def column_labels(X: Any) -> list[Any]:
    """Return what the columns of a table are called, strings or not; none where nothing says.

    >>> column_labels({"size": [1.5], 0: [2.5]})
    ['size', 0]
    """
    own = X if isinstance(X, Mapping) and not scipy.sparse.issparse(X) else _index_of(X)
    return list(own)


def _index_of(X: Any) -> Collection[Any]:
    own = getattr(X, "columns", ())  # of other libraries' frames names, or the columns themselves
    return own if isinstance(own, Collection) else ()


def columns_of_objects(array: NDArray[Any]) -> Columns:
    """Open an array of objects (N, F), whose type says nothing of its columns."""
    rows, width = array.shape
    read = (_column_of(array[:, place].tolist(), place_of(place, None)) for place in range(width))
    return Columns(None, (rows, width), np.float64, False, read)


def place_of(place: int, names: tuple[str, ...] | None) -> str:
    """Name a column as messages do."""
    return f"column {place}" if names is None else f"column {names[place]!r}"


def numbers_of(column: Column, otherwise: str) -> NDArray[Any]:
    """Give a column's numbers (N,), or raise InputError with `otherwise` as the way out."""
    if column.numbers is not None:
        return column.numbers
    labels = column.labels or []
    present = [label for label in dict.fromkeys(labels) if not is_missing(label)]
    # A column without one value has the type of its container by accident.
    if not present:
        return np.full(len(labels), np.nan)
    if all(isinstance(label, _NUMBERS) for label in present):  # of a category type
        return _floats([np.nan if is_missing(label) else label for label in labels], column.where)
    # One stray sign turns all numbers beside it into strings: that is what to look for.
    example = next((label for label in present if not reads_as_number(label)), None)
    if example is None:
        example = present[0]
        otherwise = f"It is the text of one, which pandas.to_numeric makes a number. {otherwise}"
    raise InputError(f"X: {column.where} holds {example!r}, which is not a number. {otherwise}")


def _floats(values: list[Any], where: str) -> NDArray[np.float64]:
    try:
        return np.array(values, dtype=np.float64)
    except OverflowError as error:
        raise InputError(f"X: {where} holds an integer beyond what float64 can hold.") from error


def reads_as_number(label: Any) -> bool:
    """Tell whether a label is a number, or the text of one."""
    try:
        float(label)
    except (TypeError, ValueError):
        return False
    return True


def labels_of(column: Column) -> list[Any]:
    """Give a column's labels (N,); numbers label too."""
    if column.labels is not None:
        return column.labels
    labels: list[Any] = np.asarray(column.numbers).tolist()
    if column.is_boolean and np.asarray(column.numbers).dtype != np.bool_:  # some are missing
        return [label if is_missing(label) else bool(label) for label in labels]
    return labels


def _open_frame(frame: nw.DataFrame[Any]) -> Columns:
    check_shape(frame.shape)
    names = _names_of(list(frame.columns))
    # By position: indexing by name is ambiguous where pandas' names are no strings.
    series = list(frame.iter_columns())
    all_single = all(column.dtype == nw.Float32 for column in series)
    read = (_read_series(column, place_of(place, names)) for place, column in enumerate(series))
    return Columns(names, frame.shape, np.float32 if all_single else np.float64, True, read)


def _open_mapping(X: Mapping[Any, Any]) -> Columns:
    names = _names_of(list(X))
    scalars = [name for name, column in X.items() if not hasattr(column, "__len__")]
    if scalars:
        raise InputTypeError(
            f"X: a mapping must go from names to columns, but {scalars} are no sequences."
        )
    lengths = {name: len(column) for name, column in X.items()}
    if len(set(lengths.values())) > 1:
        raise InputError(f"X: the columns must have one length, but their lengths are {lengths}.")
    shape = (next(iter(lengths.values()), 0), len(X))
    check_shape(shape)
    read = (
        _read_sequence(column, place_of(place, names)) for place, column in enumerate(X.values())
    )
    return Columns(names, shape, np.float64, True, read)


def _read_sequence(column: Any, where: str) -> Column:
    if isinstance(column, np.ndarray) and column.ndim == 1 and column.dtype.kind in "biuf":
        return Column(where, column, None, is_boolean=column.dtype == np.bool_)
    return _column_of(list(column), where)


def _names_of(names: list[Any]) -> tuple[str, ...] | None:
    """Give the names if all are strings, None if none is, as scikit-learn does."""
    are_strings = [isinstance(name, str) for name in names]
    if all(are_strings):
        return tuple(names)
    if any(are_strings):
        raise InputTypeError(
            "Feature names are only supported if all input features have string names, but "
            f"your input has {sorted({type(name).__qualname__ for name in names})} as feature "
            "name / column name types. Convert them all to strings, for example by "
            "X.columns = X.columns.astype(str), or none."
        )
    return None


def _read_series(series: nw.Series[Any], where: str) -> Column:
    dtype = series.dtype
    if dtype in (nw.Int128, nw.UInt128):
        series = series.cast(nw.Float64)  # NumPy has no such integers
    if dtype.is_numeric() or dtype == nw.Boolean:
        numbers = series.to_numpy()
        if numbers.dtype == object:  # decimals, and booleans with a missing one
            return _column_of(numbers.tolist(), where)
        return Column(where, numbers, None, is_boolean=dtype == nw.Boolean)
    if dtype in (nw.String, nw.Categorical, nw.Enum):
        # narwhals calls pandas' ordered categories an enumeration, too.
        order = tuple(dtype.categories) if isinstance(dtype, nw.Enum) else None
        return Column(where, None, _labels_in(series), order)
    if dtype.is_temporal():
        _refuse_times(where, str(dtype))
    if dtype == nw.Unknown and series.implementation.is_pandas_like():
        values = np.asarray(series.to_numpy())  # lists of sparse columns take seconds a column
        if values.dtype.kind in "biuf":
            return Column(where, values, None, is_boolean=values.dtype == np.bool_)
        return _column_of(values.tolist(), where)
    return _column_of(series.to_list(), where)


def _labels_in(series: nw.Series[Any]) -> list[Any]:
    if series.implementation.is_pyarrow() and series.dtype != nw.String:
        # Arrow lists a dictionary array one scalar object at a time, 20 times slower.
        native = series.to_native()
        decoded: list[Any] = native.cast(native.type.value_type).to_pylist()
        return decoded
    return series.to_list()


def _column_of(values: list[Any], where: str) -> Column:
    """Read a column of Python objects: numbers if all are, labels if one is a string."""
    kinds = set(map(type, values))
    present = {kind for kind in kinds if kind.__name__ not in _MISSING}
    if any(issubclass(kind, str) for kind in present):
        if not all(issubclass(kind, str) for kind in present):
            # Each by its own string, so that 1, 1.0 and True stay apart.
            values = [None if is_missing(value) else str(value) for value in values]
        return Column(where, None, values)
    for kind in present:
        _check_is_number(kind, where)
    if present != kinds:
        values = [np.nan if is_missing(value) else value for value in values]
    is_boolean = bool(present) and present <= {bool, np.bool_}
    return Column(where, _floats(values, where), None, is_boolean=is_boolean)


def _check_is_number(kind: type[Any], where: str) -> None:
    if issubclass(kind, _TIMES):
        _refuse_times(where, kind.__name__)
    if issubclass(kind, _COMPLEX):
        raise InputError(f"Complex data not supported: X, {where}. Pass two real columns.")
    if not issubclass(kind, _NUMBERS):
        raise InputTypeError(
            f"X: {where} holds a value of type {kind.__name__!r}, but an argument must be a "
            "table of strings, categories or numbers. Convert the column, or drop it."
        )


def _refuse_times(where: str, kind: str) -> NoReturn:
    # Seconds as float64 would round nanoseconds without a word, and which of the
    # parts of a date matters is for the user to say.
    raise InputTypeError(
        f"X: {where} holds times ({kind}), and trees split numbers and categories. Pass what "
        "matters as columns of numbers: parts such as the year, the month, the weekday or the "
        "hour, or seconds since a date of your choice; then drop this one."
    )


def _kind(X: Any) -> str:
    return f"{type(X).__module__}.{type(X).__qualname__}"

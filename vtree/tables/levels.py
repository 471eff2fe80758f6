"""Categories: the distinct labels of a column, sorted, and labels as level numbers.

A label decides by its value alone. The order of the rows, the order of a
category type's own list and the library that held the column cannot matter.
"""

import math
from collections.abc import Iterable
from decimal import Decimal
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vtree.arrays import Array, like, namespace, to_numpy
from vtree.errors import InputError

# One 16-bit code is kept for "missing".
MOST_LEVELS = 65_535

# So many labels are named in a message; the rest are counted.
_SHOWN = 5


def is_missing(label: Any) -> bool:
    """Tell None, NaN, NaT and pandas' NA from a value."""
    # NA answers neither yes nor no to a comparison, and NaT is a date: both are told
    # by their type, which needs no pandas.
    if label is None or type(label).__name__ in {"NAType", "NaTType"}:
        return True
    return isinstance(label, float | np.floating | Decimal) and bool(label != label)


def levels_of_labels(labels: Iterable[Any], where: str) -> NDArray[Any]:
    """Collect the distinct labels that are not missing, sorted.

    Parameters
    ----------
    labels : iterable of hashable, (N,)
        Missing ones in any spelling.
    where : str
        The column as messages name it.

    Returns
    -------
    ndarray, (n_levels,)
        bool, int64 or float64 where all labels are of that type, otherwise object:
        strings, or a mixture sorted by (name of the type, repr).

    Raises
    ------
    InputError
        More than 65,535 levels.
    """
    distinct = {plain_label(label) for label in dict.fromkeys(labels) if not is_missing(label)}
    if len(distinct) > MOST_LEVELS:
        raise InputError(
            f"X: {where} holds {len(distinct):,} categories; at most {MOST_LEVELS:,} are "
            "possible. Drop the column if its labels merely name the rows, merge rare "
            "labels, or turn it into numbers."
        )
    kinds = {type(label) for label in distinct}
    if len(kinds) > 1:
        return _objects(sorted(distinct, key=lambda label: (type(label).__name__, repr(label))))
    in_order: list[Any] = sorted(distinct)
    if kinds & {bool, float} or (kinds == {int} and _fits_int64(in_order)):
        return np.array(in_order)
    return _objects(in_order)


def offsets_of_whole_numbers(x: NDArray[Any]) -> tuple[Any, NDArray[np.int64]] | None:
    """Return (the least number, how far each lies above it), or None.

    None unless all are whole and within 65,536 of each other: then what is there can be counted,
    and nothing need be sorted. x (N,): numbers without NaN.

    >>> offsets_of_whole_numbers(np.array([3.0, 7.0, 3.0]))
    (np.float64(3.0), array([0, 4, 0]))
    """
    if x.size == 0 or x.dtype.kind not in "iuf":
        return None
    least, most = x.min(), x.max()
    if not float(most) - float(least) <= MOST_LEVELS:
        return None
    offset: NDArray[np.int64]
    if x.dtype.kind != "f":  # in 64 bits, for the difference of two bytes may be none
        offset = x.astype(np.int64) - least.astype(np.int64)
        return least, offset
    offset = (x - least).astype(np.int64)
    return (least, offset) if bool((offset + least == x).all()) else None


def codes_of_labels(labels: list[Any], levels: NDArray[Any]) -> NDArray[np.float64]:
    """Give each label the number of its level.

    Parameters
    ----------
    labels : list of hashable, (N,)
    levels : ndarray, (n_levels,)

    Returns
    -------
    ndarray of float64, (N,)
        0 .. n_levels - 1; NaN where the label is missing or is no level. A label that is no level
        is the one that reads the same, for the other rows of a table may turn 1 into "1" or 1.0.
    """
    # The Python loop runs over the distinct labels; over the rows, only dict look-ups do.
    code = _codes_of_distinct(dict.fromkeys(labels), levels)
    return np.fromiter(map(code.__getitem__, labels), np.float64, len(labels))


def _codes_of_distinct(labels: Iterable[Any], levels: NDArray[Any]) -> dict[Any, float]:
    """Return what `codes_of_labels` gives each of some distinct labels."""
    number = {level: float(place) for place, level in enumerate(levels.tolist())}
    code = {
        label: math.nan if is_missing(label) else number.get(plain_label(label), math.nan)
        for label in labels
    }
    strangers = [label for label, own in code.items() if own != own and not is_missing(label)]
    if strangers:
        reads: dict[str, float] = {}
        for level, place in number.items():
            for text in _spellings(level):
                reads.setdefault(text, place)
        for label in strangers:
            found = (reads.get(text) for text in _spellings(plain_label(label)))
            code[label] = next((own for own in found if own is not None), math.nan)
    return code


def _spellings(label: str | bool | int | float) -> tuple[str, ...]:
    """Return what a label reads as; a whole number with a point, and without."""
    if isinstance(label, str | bool) or not -(2**53) < label < 2**53 or label != int(label):
        return (str(label),)
    own = (str(label), str(int(label)), str(float(label)))
    return tuple(dict.fromkeys(own))


def refuse_unknown(labels: Iterable[Any], levels: NDArray[Any], where: str) -> None:
    """Raise InputError if a label is neither missing nor a level."""
    code = _codes_of_distinct(dict.fromkeys(labels), levels)
    unknown = [label for label, own in code.items() if own != own and not is_missing(label)]
    if unknown:
        raise InputError(
            f"X: {where} holds {_some(unknown)}, not seen in training; the choices are "
            f"{_some(levels.tolist())}. Correct the labels, or let unknown ones count as "
            "missing (unknown_categories='missing')."
        )


def codes_of_numbers(column: Array, levels: NDArray[Any]) -> Array:
    """Give each number the number of its level.

    Parameters
    ----------
    column : array of float32 or float64, (N,)
    levels : ndarray, (n_levels,)
        Strings and mixtures as `codes_of_labels` takes them.

    Returns
    -------
    array like `column`, (N,)
        0 .. n_levels - 1; NaN where the number is missing or is no level.
    """
    xp = namespace(column)
    nothing = xp.full_like(column, math.nan)
    if levels.size == 0:
        return nothing
    if levels.dtype == object:
        codes = codes_of_labels(to_numpy(column).tolist(), levels)
        return xp.astype(like(codes, column), column.dtype)
    if levels.dtype.kind in "if" and np.array_equal(levels, np.arange(levels.size)):
        # The levels are their own numbers: nothing to search.
        own = (column >= 0) & (column < levels.size) & (xp.floor(column) == column)
        return xp.where(own, column + 0.0, nothing)
    single = xp.finfo(column.dtype).bits == 32
    known = like(levels, column, dtype=np.float32 if single else np.float64)
    column = xp.asarray(column, copy=True)  # contiguous, or torch warns of a slow search
    # NaN is searched to some place too; it equals no level.
    place = xp.clip(xp.searchsorted(known, column), 0, levels.size - 1)
    return xp.where(xp.take(known, place) == column, xp.astype(place, column.dtype), nothing)


def plain_label(label: Any) -> str | bool | int | float:
    """Turn a label into a builtin, so that a model file can hold it without pickle.

    Whatever is no string and no number, an interval of pandas for example, counts by
    its string.
    """
    value = label.item() if isinstance(label, np.generic) else label
    if isinstance(value, str):
        # Not str(value): members of an enumeration of strings print as something else.
        return str.__str__(value)
    for kind in (bool, int, float):
        if isinstance(value, kind):
            return kind(value)
    return str(value)


def _fits_int64(in_order: list[int]) -> bool:
    limits = np.iinfo(np.int64)
    return bool(limits.min <= in_order[0] and in_order[-1] <= limits.max)


def _objects(labels: list[Any]) -> NDArray[Any]:
    # Fixed-width strings would lose trailing NULs and take the longest label's width.
    levels = np.empty(len(labels), dtype=object)
    levels[:] = labels
    return levels


def _some(labels: list[Any]) -> str:
    """Show the first few labels and count all, where there are more."""
    shown = ", ".join(repr(label) for label in labels[:_SHOWN])
    return shown if len(labels) <= _SHOWN else f"{shown}, … ({len(labels):,} in all)"

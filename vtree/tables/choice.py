"""Parameters that choose columns: a mask, numbers or names; and the order of ordinal levels."""

from collections.abc import Iterable, Mapping
from numbers import Integral
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from vtree.errors import InputError, InputTypeError
from vtree.tables.levels import plain_label


class Ordinals(NamedTuple):
    """Which columns hold levels that have an order, and which order."""

    chosen: NDArray[np.bool_] | None  # (F,), None: ordered types decide
    orders: dict[int, list[Any]]  # column → all its levels in order, where they were given


def chosen_columns(
    value: Any, width: int, names: tuple[str, ...] | None, argument: str
) -> NDArray[np.bool_] | None:
    """Resolve a choice of columns to a mask (F,), or None where it says "from_dtype".

    Raises
    ------
    InputError, InputTypeError
        A choice that does not fit the table; messages name the `argument` it came by.
    """
    if isinstance(value, str):
        if value == "from_dtype":
            return None
        raise InputError(
            f"{argument} must be 'from_dtype', None, a mask, numbers or names of "
            f"columns, not {value!r}. For one column: [{value!r}]."
        )
    chosen = np.zeros(width, dtype=bool)
    if value is None:
        return chosen
    if not isinstance(value, Iterable):
        raise InputTypeError(
            f"{argument} must be 'from_dtype', None, or a sequence: a mask, numbers "
            f"or names of columns; not {value!r}."
        )
    entries = list(value)
    if entries and all(isinstance(entry, bool | np.bool_) for entry in entries):
        if len(entries) != width:
            raise InputError(
                f"{argument} is a mask of {len(entries)} booleans, but X has {width} "
                "columns. Pass one boolean a column."
            )
        return np.array(entries, dtype=bool)
    chosen[_places(entries, width, names, argument)] = True
    return chosen


def ordinal_columns(value: Any, width: int, names: tuple[str, ...] | None) -> Ordinals:
    """Resolve `ordinal_features`: like `chosen_columns`, or a mapping from columns to levels."""
    argument = "ordinal_features"
    if not isinstance(value, Mapping):
        return Ordinals(chosen_columns(value, width, names, argument), {})
    places = _places(list(value), width, names, argument)
    orders = {}
    for place, (column, levels) in zip(places, value.items(), strict=True):
        if isinstance(levels, str) or not isinstance(levels, Iterable):
            raise InputTypeError(
                f"{argument}[{column!r}] must list the levels of the column in order, "
                f"not {levels!r}"
            )
        order = [plain_label(level) for level in levels]
        if len(set(order)) != len(order):
            raise InputError(f"{argument}[{column!r}] names a level twice: {order}")
        orders[place] = order
    chosen = np.zeros(width, dtype=bool)
    chosen[places] = True
    return Ordinals(chosen, orders)


def in_order(levels: NDArray[Any], order: Iterable[Any], where: str) -> NDArray[Any]:
    """Return the levels of a column in the given order.

    Raises
    ------
    InputError
        If the order leaves out a level that the column has.
    """
    rank = {plain_label(label): place for place, label in enumerate(order)}
    absent = [level for level in levels.tolist() if level not in rank]
    if absent:
        raise InputError(
            f"ordinal_features: {where} holds {absent[:5]}, which the given order "
            f"{list(rank)[:20]} leaves out. Name all levels, lowest first."
        )
    return levels[np.argsort([rank[level] for level in levels.tolist()], kind="stable")]


def _places(
    entries: list[Any], width: int, names: tuple[str, ...] | None, argument: str
) -> list[int]:
    """Turn numbers or names of columns into numbers."""
    if all(isinstance(entry, str) for entry in entries):
        return _places_of_names(entries, names, argument)
    if not all(
        isinstance(entry, Integral) and not isinstance(entry, bool | np.bool_) for entry in entries
    ):
        raise InputTypeError(
            f"{argument} must be all booleans, all integers or all names of columns; "
            f"got {sorted({type(entry).__name__ for entry in entries})}."
        )
    outside = [int(entry) for entry in entries if not 0 <= entry < width]
    if outside:
        raise InputError(
            f"{argument} names the columns {outside}, but the columns of X are "
            f"numbered from 0 to {width - 1}."
        )
    return [int(entry) for entry in entries]


def _places_of_names(entries: list[str], names: tuple[str, ...] | None, argument: str) -> list[int]:
    if entries and names is None:
        raise InputError(
            f"{argument} names the columns {entries}, but the columns of X have no "
            "names. Pass their numbers, or a data frame."
        )
    place_of_name = {name: place for place, name in enumerate(names or ())}
    strangers = [entry for entry in entries if entry not in place_of_name]
    if strangers:
        raise InputError(
            f"{argument} names the columns {strangers}, but those of X are {list(place_of_name)}."
        )
    return [place_of_name[entry] for entry in entries]

"""How each tree of a forest drew its rows: a warm start may go on with other rows than before."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from vtree.errors import InputError

Floats = NDArray[np.float64]


class Sampling(NamedTuple):
    """How trees draw their rows, from one of them on."""

    first: int  # the number of this tree
    n_rows: int  # of the table
    size: int | None  # draws a tree, None: all rows once
    weight: Floats | None = None  # (N,) of the rows, None: all alike
    width: int | None = None  # features a tree, None: all
    replace: bool = True  # whether a row may be drawn more than once
    replace_columns: bool = False  # whether a feature may be

    @property
    def chance(self) -> Floats | None:
        """With what probability a draw is of a row, (N,), None: all alike."""
        return None if self.weight is None else self.weight / np.sum(self.weight)


History = tuple[Sampling, ...]  # by their first trees, ascending; the last is of all further ones


def of_tree(history: History, number: int) -> Sampling:
    """Return how a tree drew its rows."""
    return next(each for each in reversed(history) if each.first <= number)


def extended(history: History, sampling: Sampling) -> History:
    """Return a history that goes on with a sampling, which is new only if it differs."""
    if history and _alike(history[-1], sampling):
        return history
    return (*history, sampling)


def _alike(one: Sampling, other: Sampling) -> bool:
    same = one._replace(first=0, weight=None) == other._replace(first=0, weight=None)
    if one.weight is None or other.weight is None:
        return same and one.weight is other.weight
    return same and np.array_equal(one.weight, other.weight)


def check_one_table(history: History, what: str) -> None:
    """Raise InputError where trees were grown on tables of different numbers of rows.

    what: that needs the rows of all trees, as a message begins.
    """
    sizes = list(dict.fromkeys(each.n_rows for each in history))
    if len(sizes) > 1:
        raise InputError(
            f"{what} needs the rows of all trees, but by warm_start=True trees were grown on "
            f"{' and on '.join(map(str, sizes))} rows. Fit all of them on one table: with "
            "warm_start=False, or with the same rows each time"
        )


def to_saved(history: History) -> list[list[Any]]:
    """Return what a model file holds of a history."""
    return [list(each) for each in history]


def from_saved(saved: Sequence[Any], n_trees: int) -> History:
    """Return a history from what `to_saved` returned.

    Raises
    ------
    ValueError, TypeError
        Anything else.
    """
    history = []
    for first, n_rows, size, weight, width, *replaced in saved:
        numbers = (first, n_rows, *(own for own in (size, width) if own is not None))
        if not all(type(own) is int for own in numbers):
            raise TypeError("the sizes of the samples are no whole numbers")
        if not all(isinstance(own, bool) for own in replaced):
            raise TypeError("whether rows are drawn more than once is neither true nor false")
        own = None if weight is None else np.asarray(weight, dtype=np.float64)
        if own is not None and own.shape != (n_rows,):
            raise ValueError("the weights of the rows are of another number")
        history.append(Sampling(first, n_rows, size, own, width, *replaced))
    firsts = [each.first for each in history]
    if not firsts or firsts[0] != 0 or firsts != sorted(set(firsts)) or firsts[-1] >= n_trees:
        raise ValueError("the samples are of trees that do not exist")
    return tuple(history)

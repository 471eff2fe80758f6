"""The definitions of the kernels of `numbered`; in training all is NumPy on every backend."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]


class Column(NamedTuple):
    """Numbers of N rows, and how they become whole."""

    values: Floats
    factor: float
    least: int = -(1 << 62)


def number_dtype(n_numbers: int) -> type[np.unsignedinteger[Any]]:
    """Return the shortest type of the numbers 0 … n_numbers − 1."""
    if n_numbers <= 1 << 8:
        return np.uint8
    return np.uint16 if n_numbers <= 1 << 16 else np.uint32


def segment_numbers(
    rows: NDArray[np.int32], start: Integers, stop: Integers, n_rows: int
) -> NDArray[Any]:
    """Return the number of each row's segment; see the package for the contract."""
    numbers = np.full(n_rows, start.size, dtype=number_dtype(start.size + 1))
    for number, (begin, end) in enumerate(zip(start.tolist(), stop.tolist(), strict=True)):
        numbers[rows[begin:end]] = number
    return numbers


def row_segments(rows: Any, start: Integers, stop: Integers, n_rows: int) -> NDArray[Any] | None:
    """Return None: no loop of array expressions passes over rows in turn."""
    return None


def numbered_sums(
    number: NDArray[Any],
    n_segments: int,
    columns: Sequence[Column],
    weight: Integers | None,
    products: bool,
) -> Integers:
    """Return the sums (L, 2 + P); see the package for the contract."""
    one = np.ones(number.size, dtype=np.int64)
    own = one if weight is None else weight
    planes = [one, own]
    for values, factor, least in columns:
        scaled = values * factor
        if products:
            whole = np.rint(scaled).astype(np.int64) * own
        else:
            whole = np.rint(scaled * own).astype(np.int64)
        planes.append(np.maximum(whole, least))
    sums = np.zeros((n_segments, len(planes)), dtype=np.int64)
    for p, plane in enumerate(planes):
        np.add.at(sums[:, p], number, plane)
    return sums


def numbered_add(sums: Floats, number: NDArray[Any], value: Floats) -> None:
    """Change sums (N, K); see the package for the contract."""
    sums += value[number]

"""Sums and additions by the number of a row's segment: bits of the definition, in any threads."""

from typing import Any

import numpy as np
import pytest

from tests.bits import assert_same_bits
from vtree_kernels._segments import CHUNK
from vtree_kernels._threads import threads
from vtree_kernels.numbered import Column, numbered_add, numbered_sums, segment_numbers


@pytest.mark.parametrize("n_rows", [0, 1, 700, 3 * CHUNK + 5])
@pytest.mark.parametrize("n_segments", [3, 300, 70_000])
def test_rows_know_their_segment(n_rows: int, n_segments: int) -> None:
    draw = np.random.default_rng(n_rows)
    rows = draw.permutation(n_rows).astype(np.int32)
    borders = np.sort(draw.integers(0, n_rows + 1, n_segments + 1))
    given = rows, borders[:-1], borders[1:], n_rows
    found = segment_numbers(*given)
    assert found.itemsize == {3: 1, 300: 2, 70_000: 4}[n_segments]
    assert_same_bits(found, segment_numbers.reference(*given))


def _columns(n_rows: int) -> list[Column]:
    draw = np.random.default_rng(n_rows)
    return [
        Column(draw.normal(size=n_rows), -(2.0**20)),
        Column(draw.random(n_rows) ** 20, 2.0**20, 1),
    ]


@pytest.mark.parametrize("n_rows", [0, 1, 700, 3 * CHUNK + 5])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("products", [False, True])
@pytest.mark.parametrize("n_columns", [1, 2])
@pytest.mark.parametrize("count", [1, 2])
def test_sums_are_those_of_the_definition(
    n_rows: int, weighted: bool, products: bool, n_columns: int, count: int
) -> None:
    draw = np.random.default_rng(1)
    number = draw.integers(0, 40, n_rows)
    weight = draw.integers(1, 9, n_rows) if weighted else None
    given = 41, _columns(n_rows)[:n_columns], weight, products
    with threads(count):
        found = numbered_sums(number.astype(np.uint8), *given)
    assert_same_bits(found, numbered_sums.reference(number, *given))
    assert_same_bits(found, numbered_sums(number, *given))
    assert found[:, 0].tolist() == np.bincount(number, minlength=41).tolist()


def test_columns_may_lie_apart_and_least_numbers_count() -> None:
    table = np.array([[0.2, 9.0], [2.5, 9.0], [3.5, 9.0]])
    number, weight = np.array([0, 1, 1]), np.array([3, 2, 1])
    column = [Column(table[:, 0], 1.0, 1)]
    assert numbered_sums(number, 2, column, None, True).tolist() == [[1, 1, 1], [2, 2, 6]]
    assert numbered_sums(number, 2, column, weight, True).tolist() == [[1, 3, 1], [2, 3, 8]]
    assert numbered_sums(number, 2, column, weight, False).tolist() == [[1, 3, 1], [2, 3, 9]]


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("n_columns", [1, 3])
def test_each_row_takes_what_its_segment_has(order: Any, n_columns: int) -> None:
    draw = np.random.default_rng(0)
    n_rows = 2 * CHUNK + 7
    before = draw.normal(size=(n_rows, n_columns))
    number, value = draw.integers(0, 300, n_rows), draw.normal(size=(300, n_columns))
    found, expected = np.array(before, order=order), before.copy()
    numbered_add(found, number, value)
    numbered_add.reference(expected, number, value)
    assert_same_bits(np.ascontiguousarray(found), expected)

"""Lanes have the bits of numbers, whatever is done to them."""

import math
from collections.abc import Callable
from typing import Any

import numba
import numpy as np
import pytest

import vtree_kernels.elementary.cpu  # noqa: F401  (teaches Numba `log` and `choose`)
from tests.bits import assert_same_bits
from vtree_kernels._lanes import (
    LANES,
    counting,
    first_largest,
    lanes_at,
    minus_sums,
    plus_sums,
    put_lanes,
)
from vtree_kernels.elementary import choose, exp, log, log2

X = np.array([1.0, -2.5, 3e-310, 0.0, 1e300, np.inf, -0.0, 0.1])
Y = np.array([-1.0, 7.0, 0.3, 0.0, 2.0, -np.inf, 5e-324, 0.1])
POSITIVE = np.array([1.0, 2.5, 3e-310, 7.0, 1e300, 0.9999, 5e-324, 1.4142135623730951])

OPERATIONS: dict[str, Callable[[Any, Any], Any]] = {
    "sums": lambda a, b: a + b - 2.5,
    "products": lambda a, b: 3 * a * b,
    "quotients": lambda a, b: 1.0 / (a * a + 1.0) / (b * b + 2.0),
    "signs": lambda a, b: choose(-a < b, -a, b),
    "comparisons": lambda a, b: (
        choose(a < b, 1.0, 0.0)
        + choose(a <= b, 2.0, 0.0)
        + choose(a > 0.0, 4.0, 0.0)
        + choose(a >= b, 8.0, 0.0)
        + choose(a == b, 16, 0)
        + choose(a != b, 32.0, 0)
    ),
}
FUNCTIONS: dict[str, tuple[Callable[[Any], Any], np.ndarray[Any, Any]]] = {
    "log": (log, POSITIVE),
    "log2": (log2, POSITIVE),
    "exp": (exp, np.array([0.0, 1.0, -707.9, -800.0, 709.0, 800.0, 0.34657, -1e-300])),
}


def _over_lanes(function: Callable[..., Any], *arrays: Any) -> Any:
    one = numba.njit(function)

    @numba.njit
    def run(a: Any, b: Any, out: Any) -> None:
        put_lanes(out, 0, one(lanes_at(a, 0), lanes_at(b, 0)))

    found = np.empty(LANES)
    run(arrays[0], arrays[-1], found)
    return found


@pytest.mark.parametrize("name", OPERATIONS)
def test_operations(name: str) -> None:
    one = numba.njit(OPERATIONS[name])
    with np.errstate(all="ignore"):
        expected = np.array([one(a, b) for a, b in zip(X, Y, strict=True)], dtype=np.float64)
    assert_same_bits(_over_lanes(OPERATIONS[name], X, Y), expected, name)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions_have_the_bits_of_arrays(name: str) -> None:
    function, x = FUNCTIONS[name]
    assert_same_bits(_over_lanes(lambda a, b: function(a), x), function(x), name)


def test_a_number_becomes_lanes_in_a_loop() -> None:
    def total(a: Any, b: Any) -> Any:
        found, some = 0.0, 0.0
        for k in range(3):
            found = found + a * k
            some = choose(some > 2.0, some, a)
        return found + some

    whole = np.arange(8.0)
    np.testing.assert_array_equal(_over_lanes(total, whole), 4.0 * whole)


def test_whole_numbers_and_floors() -> None:
    @numba.njit
    def run(x: Any, whole: Any) -> None:
        floor = math.floor(lanes_at(x, 0))
        put_lanes(whole, 0, choose(lanes_at(x, 0) > 0.0, (floor << 3) | 1, (floor & 7) - 10 >> 1))

    x, found = np.array([1.5, -1.5, 0.0, 7.999, -8.0, 1e6, 0.5, -0.5]), np.empty(8, np.int64)
    run(x, found)
    floor = np.floor(x).astype(np.int64)
    expected = np.where(x > 0, (floor << 3) | 1, ((floor & 7) - 10) >> 1)
    np.testing.assert_array_equal(found, expected)


def test_sides_and_the_first_of_the_largest() -> None:
    @numba.njit
    def run(offsets: Any, sums: Any, out: Any) -> Any:
        left, right = plus_sums(offsets, sums, 4, 16), minus_sums(offsets, sums, 4, 16)
        put_lanes(out, 0, left[1] * 1000.0 + right[0])
        return first_largest(lanes_at(out, 0), 7 - counting())

    sums, out = np.arange(32) ** 2, np.empty(LANES)
    out_of = run(np.array([5, -3]), sums, out)
    expected = (sums[20:28] - 3) * 1000.0 + (5 - sums[4:12])
    np.testing.assert_array_equal(out, expected)
    assert out_of == (expected.max(), 0)

    @numba.njit
    def tied(x: Any) -> Any:
        return first_largest(lanes_at(x, 0), counting())

    assert tied(np.array([0.0, 3.0, 1.0, 3.0, -np.inf, 3.0, 2.0, 3.0])) == (3.0, 1)
    assert tied(np.full(8, -np.inf)) == (-np.inf, 0)

import math
from collections.abc import Callable
from typing import Any

import numba
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

import vtree_kernels.elementary.cpu  # noqa: F401  (teaches Numba the scalar forms)
from tests.bits import assert_same_bits
from tests.conftest import Namespace
from tests.cuda_host.emulation import on_device, to_host
from vtree_kernels.elementary import choose, exp, log, log2
from vtree_kernels.elementary import cuda as on_cuda

TINY, HUGE = 5e-324, 1.7976931348623157e308
FUNCTIONS = {"log": (log, math.log), "log2": (log2, math.log2)}


def _compiled(function: Any) -> Callable[[NDArray[np.float64]], NDArray[np.float64]]:
    def over(x: Any) -> Any:
        out = np.empty_like(x)
        for i in range(x.size):
            out[i] = function(x[i])
        return out

    compiled: Callable[[NDArray[np.float64]], NDArray[np.float64]] = numba.njit(over)
    return compiled


COMPILED = {name: _compiled(pair[0]) for name, pair in FUNCTIONS.items()}


def _numbers() -> NDArray[np.float64]:
    draw = np.random.default_rng(0)
    words = draw.integers(1, np.float64(np.inf).view(np.int64), 20_000)
    anywhere = words.view(np.float64)  # every exponent, denormals too
    near_one = 1.0 + draw.normal(size=2000) * 2.0 ** -draw.integers(3, 53, 2000)
    root = math.sqrt(2.0)
    borders = [TINY, 2 * TINY, 2.2e-308, HUGE, 1.0, root, math.nextafter(root, 2), root / 2]
    borders += [math.nextafter(root / 2, 0), math.nextafter(1, 0), math.nextafter(1, 2)]
    powers = np.ldexp(1.0, np.arange(-1074, 1024))
    return np.concatenate([anywhere, near_one, borders, powers])


def _ulps(got: float, exact: float) -> float:
    return abs(got - exact) / math.ulp(exact)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_within_four_ulp_of_the_true_value(name: str) -> None:
    function, library = FUNCTIONS[name]
    x = _numbers()
    worst = max(map(_ulps, function(x).tolist(), map(library, x.tolist())))
    assert worst <= 4.0


@pytest.mark.parametrize("name", FUNCTIONS)
def test_every_backend_gives_the_same_bits(name: str, xp: Namespace) -> None:
    x = _numbers()
    expected = COMPILED[name](x)
    assert_same_bits(xp.to_numpy(FUNCTIONS[name][0](xp.asarray(x))), expected)


@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.usefixtures("cuda")
def test_cuda_gives_the_same_bits(name: str) -> None:
    for x in (_numbers(), np.empty(0), np.full((2, 3), 0.3)):
        assert_same_bits(to_host(getattr(on_cuda, name)(on_device(x))), FUNCTIONS[name][0](x))


@pytest.mark.parametrize("name", FUNCTIONS)
@given(st.floats(min_value=TINY, max_value=HUGE, allow_subnormal=True))
def test_any_positive_number(name: str, x: float) -> None:
    function, library = FUNCTIONS[name]
    array = np.array([x])
    assert_same_bits(COMPILED[name](array), function(array))
    assert _ulps(float(function(array)[0]), library(x)) <= 4.0


def _exponents() -> NDArray[np.float64]:
    draw = np.random.default_rng(1)
    halves = np.arange(-1021, 1024) * (math.log(2.0) / 2.0)  # where the remainder changes sign
    small = draw.normal(size=2000) * 2.0 ** -draw.integers(3, 60, 2000)
    borders = [0.0, -0.0, 1.0, -708.0, math.nextafter(-708, 0), 709.782712893384, TINY]
    return np.concatenate([draw.uniform(-708, 709.78, 20_000), halves, small, borders])


COMPILED_EXP = _compiled(exp)
OUTSIDE = np.array([-np.inf, -1e300, -708.0000001, 709.7828, 1e300, np.inf])


def test_exp_is_within_four_ulp_of_the_true_value() -> None:
    x = _exponents()
    assert max(map(_ulps, exp(x).tolist(), map(math.exp, x.tolist()))) <= 4.0
    np.testing.assert_array_equal(exp(OUTSIDE), [0.0, 0.0, 0.0, np.inf, np.inf, np.inf])
    assert float(exp(np.zeros(1))[0]) == 1.0


def test_exp_has_the_same_bits_everywhere(xp: Namespace) -> None:
    for x in (_exponents(), OUTSIDE):
        assert_same_bits(xp.to_numpy(exp(xp.asarray(x))), COMPILED_EXP(x))


@pytest.mark.usefixtures("cuda")
def test_exp_has_the_same_bits_on_cuda() -> None:
    for x in (_exponents(), OUTSIDE, np.empty(0)):
        assert_same_bits(to_host(on_cuda.exp(on_device(x))), exp(x))


def test_powers_of_two_are_exact_and_shapes_are_kept() -> None:
    exponents = np.arange(-1074.0, 1024.0).reshape(2, -1)
    assert_same_bits(log2(np.ldexp(1.0, exponents.astype(np.int64))), exponents)
    assert float(log(np.ones(1))[0]) == 0.0


def test_choose(xp: Namespace) -> None:
    x = xp.asarray(np.array([-1.0, 0.0, 2.0]))
    np.testing.assert_array_equal(xp.to_numpy(choose(x > 0.0, x, 7.0)), [7.0, 7.0, 2.0])
    chosen = numba.njit(lambda condition: choose(condition, 1.0, 2.0))
    assert (chosen(True), chosen(False)) == (1.0, 2.0)

"""Parts of compiled loops: optimised once, where they end up, and as good there as Numba's own."""

from collections.abc import Callable
from typing import Any
from unittest import mock

import numba
import numpy as np
import pytest
from numba import extending
from numba.core.codegen import CPUCodeLibrary

from vtree_kernels._registered import register_jitable

Decorator = Callable[..., Callable[[Any], Any]]


def _sum_of_squares(register: Decorator) -> Any:
    """Return a loop around a chain of three parts that `register` tells Numba of."""

    @register
    def square(x: Any) -> Any:
        return x * x

    @register(forceinline=True)
    def checked(x: Any) -> Any:
        if x < 0:
            raise ValueError("less than nothing")
        return square(x)

    @register
    def total(values: Any) -> Any:
        whole = np.zeros(1)
        for i in range(values.size):
            whole[0] += checked(values[i])
        return whole

    @numba.njit
    def run(values: Any) -> Any:
        return total(values)[0]

    return run


@pytest.mark.parametrize(
    ("register", "n_times"), [(register_jitable, 1), (extending.register_jitable, 4)]
)
def test_a_chain_of_parts_is_optimised_where_it_ends_up(register: Decorator, n_times: int) -> None:
    values = np.arange(5.0)
    # What Numba needs besides, an array of zeros for one, is compiled first.
    _sum_of_squares(register)(values)
    run = _sum_of_squares(register)
    optimize = CPUCodeLibrary._optimize_final_module
    with mock.patch.object(
        CPUCodeLibrary, "_optimize_final_module", autospec=True, side_effect=optimize
    ) as optimized:
        assert run(values) == 30.0
    assert optimized.call_count == n_times


def test_an_error_in_a_part_reaches_the_caller() -> None:
    run = _sum_of_squares(register_jitable)
    with pytest.raises(ValueError, match="less than nothing"):
        run(-np.arange(5.0))
    assert run(np.arange(3.0)) == 5.0


def test_a_part_has_no_python_objects() -> None:
    @register_jitable
    def told(x: Any) -> Any:
        print("so far", x)
        return x

    with pytest.raises(RuntimeError, match="missing Environment"):
        numba.njit(lambda x: told(x) + 1)(1.0)

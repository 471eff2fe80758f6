"""What is compiled without counting holders counts none, and makes no array."""

from typing import Any

import numba
import numpy as np
import pytest
from numba.extending import register_jitable

from vtree_kernels._counting import UNCOUNTED


@register_jitable
def _larger(pair: Any, i: int) -> Any:
    a, b = pair
    return (a[i], 0) if a[i, 0] > b[i, 0] else (b[i], 1)


def _of_rows(one: Any, other: Any, out: Any) -> None:
    for i in range(one.shape[0]):
        line, _ = _larger((one, other), i)
        for j in range(line.size):
            out[i] += line[j]


def test_views_of_arrays_are_handed_on_uncounted() -> None:
    counted, uncounted = numba.njit(_of_rows), numba.njit(**UNCOUNTED)(_of_rows)
    one, other = np.random.default_rng(0).normal(size=(2, 5, 3))
    larger = np.where(one[:, :1] > other[:, :1], one, other)
    for compiled in (counted, uncounted):
        out = np.zeros(5)
        compiled(one, other, out)
        np.testing.assert_allclose(out, larger.sum(axis=1))
    codes = [next(iter(own.inspect_llvm().values())) for own in (counted, uncounted)]
    assert ["call void @NRT_incref" in code for code in codes] == [True, False]


def test_what_would_make_an_array_is_not_compiled() -> None:
    make = numba.njit(**UNCOUNTED)(lambda n: np.empty(n))
    with pytest.raises(numba.TypingError, match="returning of array"):
        make(3)

from typing import Any

import numba
import numpy as np
import pytest

from vtree_kernels._keys import BITS, key_of, last_key, no_value, number_of_key


@numba.njit
def _keys_of(bits: Any, out: Any) -> None:
    for i in range(bits.size):
        out[i] = key_of(bits[i])


@numba.njit
def _numbers(keys: Any, out: Any) -> None:
    for i in range(keys.size):
        out[i] = number_of_key(keys[i])


@numba.njit
def _last(cuts: Any, example: Any, out: Any) -> None:
    for i in range(cuts.size):
        out[i] = last_key(cuts[i], example)


def _keys(values: Any) -> Any:
    bits = values.view(BITS[values.dtype])
    keys = np.empty(bits.size, dtype=bits.dtype)
    _keys_of(bits, keys)
    return keys


def _values(dtype: Any) -> Any:
    own = np.finfo(dtype)
    ends = [own.max, own.tiny, own.smallest_subnormal, 1.0, np.nextafter(dtype(1), dtype(2)), 0.1]
    draw = np.random.default_rng(0).normal(size=50) * 1e3
    both = [sign * value for value in [*ends, *draw, np.inf, 0.0] for sign in (-1.0, 1.0)]
    return np.array(both, dtype=dtype)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_keys_compare_as_their_numbers(dtype: Any) -> None:
    values = _values(dtype)
    keys = _keys(values)
    np.testing.assert_array_equal(keys[:, None] < keys, values[:, None] < values)
    np.testing.assert_array_equal(keys[:, None] == keys, values[:, None] == values)
    numbers = np.empty(keys.size)
    _numbers(keys, numbers)
    np.testing.assert_array_equal(numbers, values)
    assert not np.signbit(numbers[values == 0.0]).any()
    assert (_keys(np.array([np.nan, -np.nan], dtype=dtype)) == no_value(keys)).all()
    assert no_value(keys) > keys.max()
    assert -no_value(keys) < keys.min()


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_keys_up_to_a_cut_are_those_of_numbers_up_to_it(dtype: Any) -> None:
    values = _values(dtype)
    keys = _keys(values)
    # Between neighbours of float32, too, and beyond its ends.
    cuts = np.concatenate([_values(np.float64), values, np.nextafter(values.astype(float), 0.0)])
    last = np.empty(cuts.size, dtype=keys.dtype)
    _last(cuts, no_value(keys), last)
    np.testing.assert_array_equal(keys <= last[:, None], values <= cuts[:, None])

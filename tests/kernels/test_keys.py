from typing import Any

import numba
import numpy as np
import pytest

from vtree_kernels._keys import BITS, key_of, last_key, no_value, number_of_key, unsigned_key


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


@numba.njit
def _unsigned(values: Any, example: Any, out: Any) -> None:
    for i in range(values.size):
        out[i] = unsigned_key(unsigned_key(values[i], example), example)


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


@pytest.mark.parametrize(
    ("dtype", "bits"),
    [(np.float32, np.uint32), (np.float32, np.uint64), (np.float64, np.uint64)],
)
def test_unsigned_keys_are_in_the_same_order(dtype: Any, bits: Any) -> None:
    values = np.append(_values(dtype), [np.nan, -np.nan]).astype(dtype)
    keys = np.empty(values.size, dtype=bits)
    _unsigned(values, bits(0), keys)
    own = np.float32 if bits == np.uint32 else np.float64
    half = bits(1 << (8 * keys.itemsize - 1))
    assert (keys == _keys(values.astype(own)).view(bits) ^ half).all()
    assert (keys[-2:] == no_value(keys)).all()
    numbers = np.empty(keys.size)
    _numbers(keys, numbers)
    np.testing.assert_array_equal(numbers[:-2], values[:-2])
    cuts = np.concatenate([values[:-2], np.nextafter(values[:-2].astype(float), 0.0)])
    last = np.empty(cuts.size, dtype=bits)
    _last(cuts, bits(0), last)
    np.testing.assert_array_equal(keys[:-2] <= last[:, None], values[:-2] <= cuts[:, None])

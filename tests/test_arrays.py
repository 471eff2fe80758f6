from typing import Any

import numpy as np
import pytest
from array_api_compat import is_torch_namespace

from tests.bits import assert_same_bits
from tests.conftest import Namespace
from tests.cuda_host.cupy_double import Device, cupy_double
from vtree import arrays
from vtree_kernels import cuda


def test_numpy_and_back(xp: Namespace) -> None:
    table = np.arange(6.0).reshape(2, 3)
    own = xp.asarray(table)
    assert arrays.is_array(own)
    assert arrays.is_numpy(own) == xp.name.startswith("numpy")
    assert_same_bits(arrays.to_numpy(own), table)
    assert_same_bits(arrays.to_numpy(xp.xp.asarray(own)[:, 1]), table[:, 1])


def test_what_is_no_array() -> None:
    assert not any(map(arrays.is_array, ([1.0], 1.0, "text", None)))
    assert_same_bits(arrays.to_numpy([1.0, 2.0]), [1.0, 2.0])


def test_codes_take_the_smallest_dtype_that_computes(xp: Namespace) -> None:
    example = xp.asarray(np.zeros(1))
    wide = xp.xp.int32 if is_torch_namespace(xp.xp) else xp.xp.uint16
    assert arrays.code_dtype(256, example) == xp.xp.uint8
    assert arrays.code_dtype(257, example) == wide


@pytest.mark.parametrize("place", ["cuda:0", "mps", "xpu:1"])
def test_accelerators_are_not_the_host(place: str, monkeypatch: pytest.MonkeyPatch) -> None:
    assert arrays.on_host(np.zeros(1))
    monkeypatch.setattr(arrays, "device", lambda array: place)
    foreign: Any = object()
    assert not arrays.on_host(foreign)
    assert arrays.on_host(np.zeros(1))


def test_the_device_of_a_cupy_array_is_the_current_one_in_each_thread(xp: Namespace) -> None:
    with cupy_double() as double:
        with Device(double, 1):
            array = cuda.device(1).zeros(3, np.float64)
        assert double.current == [0]
        with arrays.at_home(array):
            assert double.current == [0, 1]
        with arrays.at_home(xp.asarray(np.zeros(3))):
            assert double.current == [0]

"""Arrays to the host and back."""

import numpy as np
import pytest

from tests.bits import assert_same_bits
from tests.conftest import Namespace
from tests.cuda_host.emulation import emulated
from vtree import arrays
from vtree_kernels import cuda
from vtree_kernels._host import like


def test_like_takes_namespace_device_and_dtype(xp: Namespace) -> None:
    example = xp.asarray(np.zeros(1))
    values = np.arange(4)[::2]
    values.flags.writeable = False
    made = like(values, example, dtype=np.float64)
    assert arrays.namespace(made) == arrays.namespace(example)
    assert arrays.device(made) == arrays.device(example)
    assert made.dtype == xp.xp.float64
    np.testing.assert_array_equal(xp.to_numpy(made), [0.0, 2.0])


@pytest.mark.cuda_host
def test_like_goes_to_a_gpu_by_its_own_copy() -> None:
    values = np.arange(6.0).reshape(2, 3).T
    values.flags.writeable = False
    with emulated() as device:
        example = device.zeros(2, np.int32)
        made = like(values, example)
        assert device.held() == 8 + values.nbytes  # in memory of the device
        assert_same_bits(device.download(made), values)


@pytest.mark.cuda_host
def test_what_lies_on_a_gpu_stays_where_it_is() -> None:
    with emulated():
        there = cuda.device(0).upload(np.arange(3.0))
        assert like(there, cuda.device(0).zeros(2, np.int64)) is there


def test_like_never_shares_memory_outside_numpy(xp: Namespace) -> None:
    values = np.zeros(3)
    made = like(values, xp.asarray(values))
    values[0] = 1.0
    assert float(made[0]) == (1.0 if xp.name.startswith("numpy") else 0.0)

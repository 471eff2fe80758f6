"""Floats as array expressions can compute with them: themselves, on CUDA as doubles."""

from typing import Any

import numpy as np
import pytest

from tests.bits import assert_same_bits
from tests.conftest import Namespace
from tests.cuda_host.emulation import on_device, to_host
from vtree_kernels.widened import widened

SPECIAL = [1e-45, -1e-45, 1.17549e-38, -0.0, np.inf, -np.inf, 1.0]


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_elsewhere_they_stay(dtype: Any, xp: Namespace) -> None:
    x = xp.asarray(np.array(SPECIAL, dtype=dtype))
    assert widened(x) is x


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.usefixtures("cuda")
def test_on_cuda_they_are_doubles(dtype: Any) -> None:
    table = np.array([[x, 5.0] for x in 200 * SPECIAL], dtype=dtype)
    found = to_host(widened.twin("cuda")(on_device(table)[:, 0]))
    assert_same_bits(found, table[:, 0].astype(np.float64))
    assert to_host(widened.twin("cuda")(on_device(table)[:0, 0])).shape == (0,)

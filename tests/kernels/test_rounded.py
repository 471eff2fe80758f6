"""Numbers of weighted rows as whole ones: bits of the definition, in any threads."""

from typing import Any

import numpy as np
import pytest

from tests.bits import assert_same_bits
from tests.conftest import Namespace
from tests.cuda_host.emulation import on_device, to_host
from vtree_kernels._threads import BLOCK, threads
from vtree_kernels.rounded import rounded

FACTORS = (2.0**20, -(2.0**30))
LEAST = (None, 0, 7)


def _case(n_rows: int, weighted: bool) -> tuple[Any, Any]:
    draw = np.random.default_rng(n_rows)
    values = draw.normal(size=n_rows) * 2.0 ** draw.integers(-40, 3, n_rows)
    values[: min(n_rows, 4)] = [0.0, -0.0, 5e-324, 1.5 * 2.0**-20][:n_rows]
    return values, draw.integers(1, 1 << 20, n_rows) if weighted else None


@pytest.mark.parametrize("n_rows", [0, 1, 100, 2 * BLOCK + 77])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("products", [False, True])
@pytest.mark.parametrize("count", [1, 2])
def test_twins_agree(n_rows: int, weighted: bool, products: bool, count: int) -> None:
    values, weight = _case(n_rows, weighted)
    for factor in FACTORS:
        for least in LEAST:
            given = factor, weight, products, least
            with threads(count):
                found = rounded.twin("cpu")(values, *given)
            assert found.dtype == np.int64
            assert_same_bits(found, rounded.reference(values, *given))


def test_the_definition_in_any_namespace(xp: Namespace) -> None:
    values, weight = _case(50, True)
    for products in (False, True):
        expected = rounded(values, 2.0**20, weight, products, 3)
        found = rounded.reference(xp.asarray(values), 2.0**20, xp.asarray(weight), products, 3)
        assert_same_bits(xp.to_numpy(found), expected)


def test_halves_are_even_and_weights_multiply_before_or_after() -> None:
    values, weight = np.array([0.5, 1.5, 0.25]), np.array([1, 1, 3])
    assert rounded(values, 1.0, None, True, None).tolist() == [0, 2, 0]
    assert rounded(values, 1.0, weight, False, None).tolist() == [0, 2, 1]
    assert rounded(values, -4.0, weight, True, -5).tolist() == [-2, -5, -3]
    assert rounded(values, 1.0, weight, True, 1).tolist() == [1, 2, 1]


@pytest.mark.parametrize("n_rows", [0, 1, 255, 257, 3000])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("products", [False, True])
def test_cuda_agrees(n_rows: int, weighted: bool, products: bool, cuda: str | int) -> None:
    values, weight = _case(n_rows, weighted)
    for factor in FACTORS:
        for least in LEAST:
            found = rounded.twin("cuda")(
                on_device(values), factor, on_device(weight), products, least
            )
            expected = rounded.twin("cpu")(values, factor, weight, products, least)
            assert_same_bits(to_host(found), expected)

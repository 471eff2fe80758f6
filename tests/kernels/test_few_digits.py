"""Derivatives of few digits: bits of the definition, right on the average, the same for equals."""

from typing import Any

import numpy as np
import pytest

from tests.bits import assert_same_bits
from tests.cuda_host.emulation import on_device, to_host
from vtree_kernels._threads import BLOCK, threads
from vtree_kernels.few_digits import Few, Scale, few_digits

N = 2 * BLOCK + 100
DRAW = np.random.default_rng(0)
GRADIENT, HESSIAN = DRAW.normal(size=N), DRAW.random(N)
SCALES = (Scale(-(2.0**28), 17, 2047.0, 48), Scale(2.0**26, 16, 1023.0, 24))


def _found(
    gradient: Any, hessian: Any, turn: float, weight: Any = None, call: Any = few_digits
) -> tuple[Few, tuple[float, float]]:
    few = Few.empty(gradient.size, weighted=weight is not None, example=gradient)
    return few, call(gradient, hessian, weight, SCALES, turn, few)


def _few(weighted: bool = False, turn: float = 0.25) -> tuple[Few, tuple[float, float]]:
    weight = DRAW.integers(1, 5, N) if weighted else None
    found, sizes = _found(GRADIENT, HESSIAN, turn, weight, few_digits.twin("cpu"))
    expected, other_sizes = _found(GRADIENT, HESSIAN, turn, weight, few_digits.reference)
    for own, other in zip(found, expected, strict=True):
        assert_same_bits(own, other)
    assert sizes == other_sizes
    return found, sizes


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("count", [1, 2])
def test_twins_agree(weighted: bool, count: int) -> None:
    with threads(count):
        few, _ = _few(weighted)
    assert few.whole.dtype == (np.int64 if weighted else np.int32)
    assert few.words.size == (0 if weighted else N)
    if weighted:
        assert (few.sums % (1 << 17) == 0).all()
        assert (few.mass % (1 << 16) == 0).all()


def test_words_hold_what_rows_without_weights_have() -> None:
    few, sizes = _few()
    alone, other_sizes = _found(GRADIENT, HESSIAN, 0.25, np.ones(N, np.int64))
    assert (few.words == 1 + ((alone.mass >> 16) << 24) + ((alone.sums >> 17) << 48)).all()
    assert (few.whole == alone.whole).all()
    assert sizes == other_sizes


def test_all_digits_are_rounded_to_the_nearest() -> None:
    few, _ = _few()
    assert (few.whole[:, 1] == np.rint(GRADIENT * -(2.0**28))).all()
    assert (few.whole[:, 0] == np.maximum(np.rint(HESSIAN * 2.0**26), 1.0)).all()


ONES = np.ones(N, np.int64)


def test_few_digits_are_next_to_the_value_and_right_on_the_average() -> None:
    few, (steep, curved) = _found(GRADIENT, HESSIAN, 0.25, ONES)
    exact = HESSIAN * 1024.0
    distance = few.mass / 2.0**16 - exact
    inside = exact < 1023.0
    assert (np.abs(distance[inside]) < 1.0).all()
    # Of uniform numbers, rounding by chance has a standard deviation of √(1/6).
    assert abs(distance[inside].mean()) < 4.0 * np.sqrt(1.0 / 6.0 / inside.sum())
    assert curved == (few.mass >> 16).sum()
    assert steep == np.abs(few.sums >> 17).sum()


def test_small_values_do_not_vanish_together() -> None:
    small = HESSIAN / 1024.0  # below one of few digits, half of it on the average
    _, (_, curved) = _found(GRADIENT, small, 0.0)
    assert curved == pytest.approx(small.sum() * 1024.0, rel=0.02)


def test_equal_values_stay_equal_and_turns_differ() -> None:
    twice = np.tile(GRADIENT[:1000], 2), np.tile(HESSIAN[:1000], 2)
    few, _ = _found(*twice, 0.5, ONES[:2000])
    assert (few.sums[:1000] == few.sums[1000:]).all()
    assert (few.mass[:1000] == few.mass[1000:]).all()
    assert (_found(*twice, 0.0, ONES[:2000])[0].mass != few.mass).any()


def test_none_is_larger_than_its_most() -> None:
    few, _ = _found(np.array([-9.0, 9.0]), np.array([9.0, 0.5]), 0.0, ONES[:2])
    assert few.sums.tolist() == [2047 << 17, -(2047 << 17)]
    assert few.mass[0] == 1023 << 16


def test_blocks_add_up() -> None:
    whole, sizes = _found(GRADIENT, HESSIAN, 0.25)
    few = Few.empty(N, weighted=False, example=GRADIENT)
    found = [
        few_digits(GRADIENT[rows], HESSIAN[rows], None, SCALES, 0.25, few.of(rows))
        for rows in (slice(0, 100), slice(100, N))
    ]
    assert tuple(np.sum(found, axis=0)) == sizes
    for own, other in zip(few, whole, strict=True):
        assert_same_bits(own, other)


@pytest.mark.parametrize("n_rows", [0, 1, 255, 257, 3000])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("turn", [0.0, 0.7])
def test_cuda_agrees(n_rows: int, weighted: bool, turn: float, cuda: str | int) -> None:
    draw = np.random.default_rng(n_rows)
    gradient = draw.normal(size=n_rows) * 2.0 ** draw.integers(-40, 3, n_rows)
    hessian = draw.random(n_rows) * 2.0 ** draw.integers(-40, 3, n_rows)
    limits = [0.0, -0.0, 5e-324, 9.0, -9.0, 0.5, 2.0**-11, -(2.0**-12)][:n_rows]
    gradient[: len(limits)], hessian[: len(limits)] = limits, np.abs(limits)
    weight = draw.integers(1, 1 << 20, n_rows) if weighted else None
    expected, sizes = _found(gradient, hessian, turn, weight, few_digits.twin("cpu"))
    there = on_device(gradient), on_device(hessian)
    few, found = _found(*there, turn, on_device(weight), few_digits.twin("cuda"))
    assert found == sizes
    for own, other in zip(few, expected, strict=True):
        assert to_host(own).dtype == other.dtype
        assert_same_bits(to_host(own), other)

from typing import Any

import numpy as np
import pytest

from tests.bits import assert_same_bits
from tests.conftest import Namespace
from vtree.losses import classes, counts
from vtree_kernels import _threads, threads
from vtree_kernels.elementary import choose, exp
from vtree_kernels.elementwise import cpu, elementwise, reference


def _clipped(x: Any, y: Any, most: Any) -> Any:
    return choose(x > most, most + 0.0 * x, x), exp(y) - x, 1.0


@pytest.mark.parametrize("n_rows", [0, 1, 50])
def test_forms_agree(xp: Namespace, n_rows: int) -> None:
    draw = np.random.default_rng(n_rows)
    x, y = draw.normal(size=(2, n_rows))
    expected = elementwise(x, (y,), (0.25,), _clipped, 3)
    assert len(expected) == 3
    np.testing.assert_array_equal(expected[0], np.minimum(x, 0.25))
    np.testing.assert_array_equal(expected[2], np.ones(n_rows))
    got = reference.elementwise(xp.asarray(x), (xp.asarray(y),), (0.25,), _clipped, 3)
    for one, other in zip(got, expected, strict=True):
        assert_same_bits(xp.to_numpy(one), other)


def test_threads_and_blocks_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    raw = np.linspace(-40.0, 40.0, 5001)
    y = (raw > 3.0).astype(np.float64)
    expected = cpu.elementwise(raw, (y,), (), classes.logistic_terms, 3)
    monkeypatch.setattr(_threads, "BLOCK", 100)
    with threads(2):
        for one, other in zip(
            cpu.elementwise(raw, (y,), (), classes.logistic_terms, 3), expected, strict=True
        ):
            assert_same_bits(one, other)


def test_numbers_do_not_compile_anew() -> None:
    x = np.ones(3)
    for power in (1.1, 1.5, 1.9):
        elementwise(x, (x,), (power,), counts.tweedie_terms, 3)
    assert len(cpu._kernel(counts.tweedie_terms, 1, 3).signatures) == 1


@pytest.mark.parametrize("n_results", [1, 2])
@pytest.mark.parametrize("last", [-9.0, np.nan, -1e300])
def test_reach_is_what_no_result_is_larger_than(n_results: int, last: float) -> None:
    x = np.append(np.linspace(-3.0, 2.0, 2 * _threads.BLOCK + 7), last)
    for call in (cpu.with_reach, reference.with_reach):
        found, reach = call(x, (x,), (0.5,), _clipped, n_results, 0.25)
        expected = elementwise(0.25 + x, (x,), (0.5,), _clipped, n_results)
        assert len(found) == len(reach) == n_results
        for one, other, most in zip(found, expected, reach, strict=True):
            assert_same_bits(one, other)
            np.testing.assert_array_equal(most, np.abs(one).max())
    assert call(x[:0], (x[:0],), (0.5,), _clipped, n_results, 0.25)[1] == (0.0,) * n_results


def test_nothing_added_keeps_the_sign_of_zero() -> None:
    (found,) = elementwise(np.array([-0.0, 0.0]), (), (), lambda x: (x,), 1)
    assert np.signbit(found).tolist() == [True, False]

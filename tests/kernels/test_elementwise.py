from typing import Any

import numpy as np
import pytest

from tests.bits import assert_same_bits
from tests.conftest import Namespace
from tests.cuda_host import nvrtc
from tests.cuda_host.emulation import emulated, on_device, to_host
from vtree.losses import CLASSIFICATION, REGRESSION, classes, counts
from vtree_kernels import _cuda, _threads, threads
from vtree_kernels._translate import TranslationError
from vtree_kernels.elementary import choose, exp
from vtree_kernels.elementwise import cpu, elementwise, reference, with_reach
from vtree_kernels.elementwise import cuda as on_cuda


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


# Every function that a loss is derived by, how many columns and numbers it takes besides the first.
TERMS = {
    loss.terms.__name__: (loss.terms, 1, len(loss.numbers_of(0)), 3)
    for loss in (REGRESSION | CLASSIFICATION).values()  # type: ignore[operator]
    if loss.terms is not None
}
TERMS["class slopes"] = (classes._class_slopes, 3, 2, 2)
TERMS["class loss"] = (classes._class_loss, 2, 0, 1)
TERMS["or of class"] = (classes._or_of_class, 2, 2, 1)
TERMS["class share"] = (classes._class_share, 2, 0, 1)
TERMS["share"] = (classes._share, 0, 0, 1)
TERMS["clipped"] = (_clipped, 1, 1, 3)
NUMBERS = (1.5, 1.0)
LIMITS = [0.0, -0.0, 1.0, -1.0, 5e-324, -5e-324, 1e-310, 708.5, -708.5, 1e300, -1e300]


def _columns(n_rows: int) -> list[Any]:
    """Return raw predictions, and three columns that may be maxima, totals and classes."""
    draw = np.random.default_rng(n_rows)
    raw = draw.normal(size=n_rows) * 10.0 ** draw.integers(-3, 3, n_rows)
    limits = np.asarray(LIMITS)[:n_rows]
    raw[: limits.size] = limits
    return [raw, raw + draw.random(n_rows), 1.0 + draw.random(n_rows), draw.integers(0, 2, n_rows)]


@pytest.mark.parametrize("n_rows", [0, 1, 255, 257, 3000])
@pytest.mark.parametrize("name", TERMS)
def test_cuda_agrees(name: str, n_rows: int, cuda: str | int) -> None:
    function, n_others, n_numbers, n_results = TERMS[name]
    raw, *rest = _columns(n_rows)
    own = rest if n_others > 1 else rest[2:]  # the only other one is a target
    others = tuple(each.astype(np.float64) for each in own[:n_others])
    given = others, NUMBERS[:n_numbers], function
    there = tuple(map(on_device, others)), NUMBERS[:n_numbers], function
    with np.errstate(all="ignore"):
        for count in range(1, n_results + 1):
            found = elementwise.twin("cuda")(on_device(raw), *there, count)
            expected = elementwise.twin("cpu")(raw, *given, count)
            assert len(found) == count
            for one, other in zip(found, expected, strict=True):
                assert_same_bits(_one_nan(to_host(one)), _one_nan(other))
        found, reach = with_reach.twin("cuda")(on_device(raw), *there, n_results, 0.25)
        expected, most = with_reach.twin("cpu")(raw, *given, n_results, 0.25)
    np.testing.assert_array_equal(reach, most)
    for one, other in zip(found, expected, strict=True):
        assert_same_bits(_one_nan(to_host(one)), _one_nan(other))


def _one_nan(values: Any) -> Any:
    """Return `values` with NaN of one kind: processors differ in its sign."""
    return np.where(np.isnan(values), np.nan, values)


def _sum(x: Any, y: Any) -> Any:
    return (x + y,)


@pytest.mark.usefixtures("cuda")
def test_cuda_takes_a_column_of_a_table() -> None:
    table = np.arange(600.0).reshape(200, 3)
    there = on_device(table)
    (found,) = elementwise.twin("cuda")(there[:, 1], (there[:, 2],), (), _sum, 1)
    assert_same_bits(to_host(found), table[:, 1] + table[:, 2])


@pytest.mark.cuda_host
@pytest.mark.parametrize("last", [np.nan, -np.inf, -9.0])
def test_reach_on_cuda_shows_what_is_no_number(last: float) -> None:
    x = np.append(np.linspace(-3.0, 2.0, 700), last)
    with emulated("backward"), np.errstate(all="ignore"):
        there = on_device(x)
        _, reach = with_reach.twin("cuda")(there, (there,), (0.5,), _clipped, 2, 0.25)
    with np.errstate(all="ignore"):
        _, most = with_reach.twin("cpu")(x, (x,), (0.5,), _clipped, 2, 0.25)
    np.testing.assert_array_equal(reach, most)


@pytest.mark.cuda_host
def test_what_has_no_form_in_c_is_left_to_the_reference() -> None:
    x = np.linspace(-1.0, 1.0, 9)
    shift = 0.5
    with emulated() as device:
        (found,) = elementwise.twin("cuda")(on_device(x), (), (), lambda x: (x + shift,), 1)
        assert_same_bits(to_host(found), x + shift)
        with pytest.raises(TranslationError, match="more columns or numbers"):
            on_cuda.prelude(_clipped, 1, 5, 3)
        assert "over_rows" not in device.launches


@pytest.mark.skipif(nvrtc.missing() is not None, reason=str(nvrtc.missing()))
@pytest.mark.parametrize("name", TERMS)
def test_the_source_compiles(name: str) -> None:
    function, n_others, n_numbers, n_results = TERMS[name]
    text = _cuda.source_of("elementwise", on_cuda.prelude(function, n_others, n_numbers, n_results))
    for architecture in nvrtc.ARCHITECTURES if name == "logistic_terms" else ("sm_90",):
        for reach in (0, 1):
            options = (*_cuda.OPTIONS, f"-DRESULTS={n_results}", f"-DREACH={reach}")
            assert nvrtc.compiled(text, options, architecture)[:4] == b"\x7fELF"

"""What the shares of classes have in common: bits of the definition, on any number of threads."""

import numpy as np
import pytest

from tests.bits import assert_same_bits
from tests.cuda_host.emulation import on_device, to_host
from vtree_kernels._threads import BLOCK, threads
from vtree_kernels.softmax import Softmax, softmax

DRAW = np.random.default_rng(0)


def _found(n_rows: int, n_classes: int, scale: float) -> Softmax:
    sums = np.asfortranarray(scale * DRAW.normal(size=(n_rows, n_classes)))
    start, y = DRAW.normal(size=n_classes), DRAW.integers(0, n_classes, n_rows).astype(np.float64)
    found, expected = softmax.twin("cpu")(sums, start, y), softmax.reference(sums, start, y)
    for own, other in zip(found, expected, strict=True):
        assert_same_bits(own, other)
    return found


@pytest.mark.parametrize("n_rows", [0, 1, 1000, 2 * BLOCK + 100])
@pytest.mark.parametrize("n_classes", [2, 3, 7])
@pytest.mark.parametrize("scale", [1.0, 300.0])
def test_twins_agree(n_rows: int, n_classes: int, scale: float) -> None:
    for count in (1, 2):
        with threads(count):
            found = _found(n_rows, n_classes, scale)
    assert (found.total >= 1.0).all()
    assert found.steep <= 1.0
    assert found.curved <= 0.25


def test_more_classes_than_exponentials_at_hand() -> None:
    _found(100, 5000, 1.0)


def test_worked_example() -> None:
    sums = np.asfortranarray(np.log([[1.0, 2.0, 1.0], [1.0, 1.0, 6.0]]))
    found = softmax(sums, np.zeros(3), np.array([1.0, 1.0]))
    np.testing.assert_allclose(found.largest, np.log([2.0, 6.0]), rtol=1e-15)
    np.testing.assert_allclose(found.total, [2.0, 8.0 / 6.0], rtol=1e-15)
    assert found.steep == pytest.approx(0.875)  # of the second row's own class, a share of 1/8
    assert found.curved == pytest.approx(0.25)  # of the first row's


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_what_is_not_finite_shows(bad: float) -> None:
    sums = np.zeros((100, 3), order="F")
    sums[70, 1] = bad
    for call in (softmax, softmax.reference):
        with np.errstate(invalid="ignore"):
            found = call(sums, np.zeros(3), np.zeros(100))
        assert np.isnan(found.steep)
        assert np.isnan(found.curved)


@pytest.mark.parametrize("n_rows", [0, 1, 255, 257, 1500])
@pytest.mark.parametrize("n_classes", [2, 3, 100])
@pytest.mark.parametrize("scale", [1.0, 300.0])
def test_cuda_agrees(n_rows: int, n_classes: int, scale: float, cuda: str | int) -> None:
    draw = np.random.default_rng(n_rows + n_classes)
    sums = np.asfortranarray(scale * draw.normal(size=(n_rows, n_classes)))
    sums[:3, 0] = [0.0, 5e-324, -1e300][:n_rows]
    start, y = draw.normal(size=n_classes), draw.integers(0, n_classes, n_rows).astype(np.float64)
    found = softmax.twin("cuda")(on_device(sums.T).T, start, on_device(y))
    expected = softmax.twin("cpu")(sums, start, y)
    for own, other in zip(found, expected, strict=True):
        assert_same_bits(to_host(own) if hasattr(own, "shape") else own, other)


@pytest.mark.parametrize("bad", [np.nan, np.inf])
@pytest.mark.usefixtures("cuda")
def test_what_is_not_finite_shows_on_cuda(bad: float) -> None:
    sums = np.zeros((300, 3))
    sums[170, 1] = bad
    found = softmax.twin("cuda")(on_device(sums), np.zeros(3), on_device(np.zeros(300)))
    assert np.isnan(found.steep)
    assert np.isnan(found.curved)

from typing import Any

import numpy as np
import pytest

from tests.bits import assert_same_bits
from tests.conftest import Namespace
from tests.cuda_host.emulation import emulated, on_device, recorded_grids, to_host
from tests.kernels.levels import layout_of, level
from vtree_kernels import kernels, threads
from vtree_kernels.joint import joint

CASES: dict[str, dict[str, Any]] = {
    "plain": {"n_nodes": 4, "weighted": False, "outputs": 1, "missing": 0.2},
    "weights": {"n_nodes": 3, "weighted": True, "outputs": 1, "missing": 0.0},
    "several outputs": {"n_nodes": 5, "weighted": True, "outputs": 3, "missing": 0.4},
    "no nodes": {"n_nodes": 0, "weighted": False, "outputs": 1, "missing": 0.0},
}


@pytest.mark.parametrize("one_hot", [False, True])
@pytest.mark.parametrize("name", CASES)
def test_the_twin_and_every_library_agree(name: str, one_hot: bool, xp: Namespace) -> None:
    hist, total, layout = level(n_features=3, n_codes=7, **CASES[name])
    every = np.arange(hist.shape[0])
    for pairs in ((every, every), (every[: every.size // 2], every[every.size // 2 :][::-1])):
        pairs = (pairs[0], pairs[1][: pairs[0].size])
        for shrink in (3.0, 0.0):
            given = (*pairs, shrink, one_hot, layout)
            expected = joint.reference(hist, total, *given)
            for count in (1, 2):
                with threads(count):
                    found = joint(hist, total, *given)
                _assert_same(found, expected)
            with kernels("reference"):
                found = joint(xp.asarray(hist), xp.asarray(total), *given)
            _assert_same([xp.to_numpy(own) for own in found], expected)


@pytest.mark.parametrize("one_hot", [False, True])
@pytest.mark.parametrize("name", [*CASES, "more codes than threads"])
def test_cuda_agrees(name: str, one_hot: bool, cuda: str | int) -> None:
    wide = {"n_nodes": 2, "weighted": True, "outputs": 1, "missing": 0.1, "n_codes": 300}
    case = {"n_features": 3, "n_codes": 7} | CASES.get(name, wide)
    hist, total, layout = level(**case)
    every = np.arange(hist.shape[0])
    half = every.size // 2
    for pairs in ((every, every), (every[:half], every[half : 2 * half][::-1])):
        given = (*pairs, 3.0, one_hot, layout)
        found = joint.twin("cuda")(on_device(hist), on_device(total), *given)
        _assert_same([to_host(own) for own in found], joint.reference(hist, total, *given))


@pytest.mark.cuda_host
def test_cuda_with_too_little_shared_memory_for_a_pair() -> None:
    hist, total, layout = level(n_features=3, n_codes=7, **CASES["several outputs"])
    given = (np.arange(2), np.arange(2, 4), 3.0, False, layout)
    expected = joint.reference(hist, total, *given)
    for warps in (0, 1):
        with emulated(shared_bytes=warps * 16 * hist.shape[3] + 15) as device:
            found = joint.twin("cuda")(on_device(hist), on_device(total), *given)
            _assert_same([to_host(own) for own in found], expected)
            assert bool(device.launches) is bool(warps)


@pytest.mark.cuda_host
def test_cuda_of_more_features_than_a_grid_is_high(monkeypatch: pytest.MonkeyPatch) -> None:
    extents = recorded_grids(monkeypatch)
    hist, total, layout = level(1, 65_600, 2, weighted=False, outputs=1, missing=0.0)
    one = np.zeros(1, np.int64)
    with emulated():
        joint.twin("cuda")(on_device(hist), on_device(total), one, one, 3.0, False, layout)
    assert len(extents) == 2


def _assert_same(found: Any, expected: Any) -> None:
    for own, definition in zip(found, expected, strict=True):
        assert_same_bits(own, definition)


def test_a_level_worked_by_hand() -> None:
    """Two nodes, one feature of two codes: 3 | 1 and −2 | 5, one row each."""
    layout = layout_of(weighted=False, outputs=1)
    hist = np.array([[[[0, 0], [1, 3], [1, 1]]], [[[0, 0], [1, -2], [1, 5]]]])
    total = np.array([[2, 4], [2, 3]])
    every = np.arange(2)
    worth, size = joint(hist, total, every, every, 1.0, False, layout)
    squares = 9 + 1 + 4 + 25
    assert worth[0, 0].tolist() == [-np.inf, squares / 2, -np.inf]  # Σ R² / (1 + λ)
    assert (worth[0, 1] == -np.inf).all()  # no row is missing
    assert size[0, 0, 1] == squares / 4
    worth, size = joint(hist, total, every[:1], every[1:], 1.0, False, layout)
    assert worth[0, 0, 1] == 3 / 2 * -2 + 1 / 2 * 5
    assert size[0, 0, 1] == (9 + 1) / 4


def test_one_code_against_all_others() -> None:
    layout = layout_of(weighted=False, outputs=1)
    hist = np.array([[[[1, 1], [1, 2], [1, 4]]]])
    node = np.array([0])
    worth, _ = joint(hist, np.array([[3, 7]]), node, node, 0.0, True, layout)
    assert worth[0, 0].tolist() == [1 + 36 / 2, 4 + 25 / 2, 16 + 9 / 2]
    assert (worth[0, 1] == -np.inf).all()

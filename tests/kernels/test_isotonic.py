from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from sklearn.isotonic import isotonic_regression

from tests.bits import assert_same_bits
from tests.conftest import Namespace
from tests.cuda_host.emulation import on_device, to_host
from tests.kernels.levels import level
from vtree_kernels import kernels, threads
from vtree_kernels.isotonic import cuda as launcher
from vtree_kernels.isotonic import isotonic
from vtree_kernels.joint import joint

CASES: dict[str, dict[str, Any]] = {
    "plain": {"n_nodes": 4, "weighted": False, "missing": 0.2},
    "weights": {"n_nodes": 8, "weighted": True, "missing": 0.0},
    "many nodes": {"n_nodes": 13, "weighted": True, "missing": 0.4},
    "no nodes": {"n_nodes": 0, "weighted": False, "missing": 0.0},
}
DIRECTIONS = np.array([1, 0, -1], dtype=np.int8)


def _calls(n_pairs: int, n_nodes: int) -> Iterator[tuple[Any, ...]]:
    """Yield (learn, judge, chain): every pair by itself, two chains, one of pairs that differ."""
    every = np.arange(n_nodes)
    half = n_nodes // 2
    yield every, every, every
    yield every, every, (every >= n_pairs // 3).astype(np.int64)
    yield every[:half], every[half : 2 * half][::-1], np.zeros(half, dtype=np.int64)


@pytest.mark.parametrize("one_hot", [False, True])
@pytest.mark.parametrize("name", CASES)
def test_the_twin_and_every_library_agree(name: str, one_hot: bool, xp: Namespace) -> None:
    hist, total, layout = level(n_features=3, n_codes=7, outputs=1, **CASES[name])
    for pairs in _calls(hist.shape[0], hist.shape[0]):
        for shrink in (3.0, 0.0):
            given = (*pairs, DIRECTIONS, shrink, one_hot, layout)
            expected = isotonic.reference(hist, total, *given)
            for count in (1, 2):
                with threads(count):
                    found = isotonic(hist, total, *given)
                _assert_same(found, expected)
            with kernels("reference"):
                found = isotonic(xp.asarray(hist), xp.asarray(total), *given)
            _assert_same([xp.to_numpy(own) for own in found], expected)


@pytest.mark.parametrize("one_hot", [False, True])
@pytest.mark.parametrize("name", [*CASES, "more codes than threads"])
def test_cuda_agrees(
    name: str, one_hot: bool, cuda: str | int, monkeypatch: pytest.MonkeyPatch
) -> None:
    wide = {"n_nodes": 2, "weighted": True, "missing": 0.1, "n_codes": 300}
    case = {"n_features": 3, "n_codes": 7} | CASES.get(name, wide)
    hist, total, layout = level(outputs=1, **case)
    for bytes_at_once in (launcher.BYTES, 1):
        monkeypatch.setattr(launcher, "BYTES", bytes_at_once)
        for pairs in _calls(hist.shape[0], hist.shape[0]):
            given = (*pairs, DIRECTIONS, 3.0, one_hot, layout)
            found = isotonic.twin("cuda")(on_device(hist), on_device(total), *given)
            expected = isotonic.reference(hist, total, *given)
            _assert_same([to_host(own) for own in found], expected)


def _assert_same(found: Any, expected: Any) -> None:
    for own, definition in zip(found, expected, strict=True):
        assert_same_bits(own, definition)


def test_without_directions_and_chains_it_is_what_joint_says() -> None:
    hist, total, layout = level(6, 3, 9, True, 1, 0.2)
    every, free = np.arange(6), np.zeros(3, dtype=np.int8)
    for one_hot in (False, True):
        found = isotonic(hist, total, every, every, every, free, 2.0, one_hot, layout)
        known = joint(hist, total, every, every, 2.0, one_hot, layout)
        for own, other in zip(found, known, strict=True):
            np.testing.assert_allclose(own, other, rtol=1e-12)


@pytest.mark.parametrize("direction", [-1, 0, 1])
def test_answers_are_those_of_another_isotonic_regression(direction: int) -> None:
    """Of 5 nodes in two chains, candidate by candidate, by scikit-learn's."""
    hist, total, layout = level(5, 1, 9, True, 1, 0.0)
    every, chain = np.arange(5), np.array([0, 0, 1, 1, 1])
    own = np.array([direction], dtype=np.int8)
    worth, size = isotonic(hist, total, every, every, chain, own, 2.0, False, layout)
    for b in range(1, 9):
        left = hist[:, 0, 1 : b + 1].sum(axis=1)
        sides = np.stack([left, total - left], axis=1)  # (5, 2, S)
        lines = [sides[:2], sides[2:]]
        if direction == 0:
            lines = [each[:, side : side + 1] for each in lines for side in (0, 1)]
        expected = [0.0, 0.0]
        for line in lines:
            own_sides = (line[:, ::-1] if direction < 0 else line).reshape(-1, 3)
            sums, below = own_sides[:, 2], own_sides[:, 1] + 2.0
            v = isotonic_regression(sums / below, sample_weight=below)
            expected[0] += v @ sums
            expected[1] += v * v @ own_sides[:, 1]
        if np.isfinite(worth[0, 0, b]):
            np.testing.assert_allclose([worth[0, 0, b], size[0, 0, b]], expected, rtol=1e-12)
    assert np.isfinite(worth[0, 0]).sum() > 3

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from tests.bits import assert_same_bits
from tests.conftest import Namespace
from tests.cuda_host.emulation import on_device, to_host
from vtree_kernels import kernels, threads
from vtree_kernels.joint import joint
from vtree_kernels.scan import Layout


def _layout(weighted: bool, outputs: int) -> Layout:
    first = 2 if weighted else 1
    return Layout(first - 1, first, outputs, 1, first, 0.0, 1.0, (1.0,) * outputs)


def _level(
    n_nodes: int, n_features: int, n_codes: int, weighted: bool, outputs: int, missing: float
) -> tuple[NDArray[np.int64], NDArray[np.int64], Layout]:
    """Return (hist, total, layout) of rows that are spread over nodes, some of them empty."""
    random = np.random.default_rng(n_nodes + n_codes + outputs)
    layout = _layout(weighted, outputs)
    hist = np.zeros((n_nodes, n_features, n_codes, layout.n_statistics), dtype=np.int64)
    total = np.zeros((n_nodes, layout.n_statistics), dtype=np.int64)
    for _ in range(12 * n_nodes):
        node = int(random.integers(0, max(1, n_nodes - 1)))
        own = np.ones(layout.n_statistics, dtype=np.int64)
        own[1 : layout.first] = random.integers(0, 9)
        own[layout.first :] = random.integers(-90, 90, outputs)
        total[node] += own
        for g in range(n_features):
            code = 0 if random.random() < missing else int(random.integers(1, n_codes))
            hist[node, g, code] += own
    return hist, total, layout


CASES: dict[str, dict[str, Any]] = {
    "plain": {"n_nodes": 4, "weighted": False, "outputs": 1, "missing": 0.2},
    "weights": {"n_nodes": 3, "weighted": True, "outputs": 1, "missing": 0.0},
    "several outputs": {"n_nodes": 5, "weighted": True, "outputs": 3, "missing": 0.4},
    "no nodes": {"n_nodes": 0, "weighted": False, "outputs": 1, "missing": 0.0},
}


@pytest.mark.parametrize("one_hot", [False, True])
@pytest.mark.parametrize("name", CASES)
def test_the_twin_and_every_library_agree(name: str, one_hot: bool, xp: Namespace) -> None:
    hist, total, layout = _level(n_features=3, n_codes=7, **CASES[name])
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
    hist, total, layout = _level(**case)
    every = np.arange(hist.shape[0])
    half = every.size // 2
    for pairs in ((every, every), (every[:half], every[half : 2 * half][::-1])):
        given = (*pairs, 3.0, one_hot, layout)
        found = joint.twin("cuda")(on_device(hist), on_device(total), *given)
        _assert_same([to_host(own) for own in found], joint.reference(hist, total, *given))


def _assert_same(found: Any, expected: Any) -> None:
    for own, definition in zip(found, expected, strict=True):
        assert_same_bits(own, definition)


def test_a_level_worked_by_hand() -> None:
    """Two nodes, one feature of two codes: 3 | 1 and −2 | 5, one row each."""
    layout = _layout(weighted=False, outputs=1)
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
    layout = _layout(weighted=False, outputs=1)
    hist = np.array([[[[1, 1], [1, 2], [1, 4]]]])
    node = np.array([0])
    worth, _ = joint(hist, np.array([[3, 7]]), node, node, 0.0, True, layout)
    assert worth[0, 0].tolist() == [1 + 36 / 2, 4 + 25 / 2, 16 + 9 / 2]
    assert (worth[0, 1] == -np.inf).all()

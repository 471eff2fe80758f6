"""The native twin of `branches` equals its reference to the last bit; that one, plain formulas."""

from typing import Any

import numpy as np
import pytest

from tests.bits import assert_same_bits
from tests.cuda_host.emulation import emulated, on_device, to_host
from vtree.targets import class_targets
from vtree_kernels.branches import Branches, branches
from vtree_kernels.scan import Layout


def _problem(seed: int, classes: int, weighted: bool) -> tuple[Any, Any, Layout, float, float]:
    random = np.random.default_rng(seed)
    weight = random.integers(1, 9, 4) / 8.0 if weighted else None
    targets = class_targets(np.zeros((4, 1), dtype=np.int64), [classes], weight)
    layout = targets.layout
    counts = random.integers(0, 9, (3, 4, 20, classes)) * (random.random((3, 4, 20, 1)) < 0.5)
    counts[0, 0, 1:], counts[1, 1] = 0, 0  # no value is known; no row is there
    hist = np.zeros((3, 4, 20, layout.n_stored), dtype=np.int64 if weighted else np.int32)
    hist[..., layout.first - layout.implied :] = counts
    whole = np.full(3, float(counts.sum(axis=(2, 3)).max() + 1))
    unit = targets.weight_unit
    return hist, whole * unit, layout, unit, float(random.choice([1.0, 2.0]))


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("classes", [1, 2, 5])
@pytest.mark.parametrize("seed", range(5))
def test_native_equals_reference(seed: int, classes: int, weighted: bool) -> None:
    problem = _problem(seed, classes, weighted)
    expected, found = branches.reference(*problem), branches.twin("cpu")(*problem)
    for name in Branches._fields:
        assert_same_bits(getattr(found, name), getattr(expected, name), name)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("classes", [1, 2, 5])
@pytest.mark.parametrize("seed", range(3))
def test_cuda_equals_reference(seed: int, classes: int, weighted: bool, cuda: str | int) -> None:
    hist, whole, layout, *rest = _problem(seed, classes, weighted)
    for levels in (hist, np.tile(hist, (1, 1, 3, 1)), hist[:, ::2, :1]):
        expected = branches.reference(levels, whole * 3, layout, *rest)
        found = branches.twin("cuda")(on_device(levels), on_device(whole * 3), layout, *rest)
        for name in Branches._fields:
            assert_same_bits(to_host(getattr(found, name)), getattr(expected, name), name)


@pytest.mark.cuda_host
def test_more_classes_than_shared_memory_holds() -> None:
    hist, whole, layout, *rest = _problem(0, 5, False)
    expected = branches.reference(hist, whole, layout, *rest)
    with emulated(shared_bytes=39) as device:
        found = branches.twin("cuda")(on_device(hist), on_device(whole), layout, *rest)
        assert not device.launches
        assert_same_bits(to_host(found.gain), expected.gain)


def _entropy(weights: Any) -> float:
    share = weights[weights > 0] / weights.sum()
    return float(-(share * np.log2(share)).sum())


def test_the_formulas() -> None:
    hist, whole, layout, unit, least = _problem(3, 3, False)
    found = branches(hist, whole, layout, unit, least)
    for node, g in ((0, 1), (2, 3), (1, 2)):
        levels = hist[node, g, 1:].astype(float)
        known, sizes = levels.sum(axis=0), levels.sum(axis=1)
        after = sum(size * _entropy(level) for size, level in zip(sizes, levels, strict=True)
                    if size)  # fmt: skip
        gain = (known.sum() * _entropy(known) - after) / whole[node]
        assert found.gain[node, g] == pytest.approx(gain, abs=1e-12)
        groups = np.append(sizes, whole[node] - known.sum())
        info = _entropy(groups) * groups.sum() / whole[node]
        assert found.info[node, g] == pytest.approx(info, abs=1e-12)
        assert found.filled[node, g] == (sizes >= least).sum()
    assert found.gain[0, 0] == found.filled[0, 0] == 0.0


def test_no_nodes() -> None:
    hist, whole, *rest = _problem(0, 2, False)
    for form in (branches.reference, branches.twin("cpu")):
        found: Any = form
        assert found(hist[:0], whole[:0], *rest).gain.shape == (0, 4)

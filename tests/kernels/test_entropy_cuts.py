"""The native twin of `cuts` equals its reference to the last bit; the reference, a plain loop."""

from importlib import import_module
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from tests.bits import assert_same_bits
from tests.conftest import Namespace
from tests.cuda_host.emulation import emulated, on_device, to_host
from vtree.targets import class_targets
from vtree_kernels.entropy_cuts import Cuts, Rule, cuts, reach_of


def _problem(seed: int, n_codes: int, weighted: bool) -> tuple[Any, ...]:
    random = np.random.default_rng(seed)
    n, classes = int(random.choice([1, 7, 60, 300])), int(random.choice([1, 2, 3, 5]))
    codes = random.integers(0, n_codes, (n, 3)).astype(np.uint16)
    label = random.integers(0, classes, n)
    codes[:, 0] = np.where(random.random(n) < 0.7, 1 + label % (n_codes - 1), codes[:, 0])
    weight = random.integers(1, 9, n) / 4.0 if weighted else None
    targets = class_targets(label[:, None], [classes], weight)
    values = list(np.sort(random.normal(size=(3, n_codes - 1)).round(4), axis=1))
    rows = random.permutation(n).astype(np.int32)
    start, stop = np.array([0, n // 3, n // 3]), np.array([n // 3, n // 3, n])
    own = targets.label - np.int32(targets.layout.implied)
    min_weight, gap, margin = (float(random.choice(each)) for each in
                               ([1.0, 2.0, 5.0], [0.0, 1e-5, 0.05], [1e-12, 1e-3]))  # fmt: skip
    rule, reach = Rule(min_weight, margin), [reach_of(each, gap) for each in values]
    return (codes, rows, start, stop, own, targets.weight, reach, targets.layout,
            targets.weight_unit, rule)  # fmt: skip


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("n_codes", [2, 5, 40, 3000])
@pytest.mark.parametrize("seed", range(12))
def test_native_equals_reference(seed: int, n_codes: int, weighted: bool) -> None:
    problem = _problem(seed, n_codes, weighted)
    expected = cuts.reference(*problem)
    found = cuts.twin("cpu")(*problem)
    for name in Cuts._fields:
        assert_same_bits(getattr(found, name), getattr(expected, name), name)


# How many rows are few: all nodes by their cells, both ways, all by their rows.
@pytest.mark.parametrize("most_rows", [0, 25, 1024])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("n_codes", [2, 3000])
@pytest.mark.parametrize("seed", range(3))
def test_cuda_equals_reference(
    seed: int,
    n_codes: int,
    weighted: bool,
    most_rows: int,
    cuda: str | int,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    twin = import_module("vtree_kernels.entropy_cuts.cuda")
    monkeypatch.setattr(twin, "MOST_ROWS", most_rows)
    monkeypatch.setattr(twin, "BYTES", 30_000)  # some nodes and features at a time
    problem = _problem(seed, n_codes, weighted)
    expected, found = cuts.reference(*problem), cuts.twin("cuda")(*_there(problem))
    for name in Cuts._fields:
        assert_same_bits(to_host(getattr(found, name)), getattr(expected, name), name)


@pytest.mark.cuda_host
def test_more_classes_than_shared_memory_holds() -> None:
    problem = _problem(3, 40, False)
    expected = cuts.reference(*problem)
    with emulated(shared_bytes=4 * 1024) as device:
        found = cuts.twin("cuda")(*_there(problem))
        assert not device.launches
        assert_same_bits(to_host(found.gain), expected.gain)


def _there(problem: tuple[Any, ...]) -> list[Any]:
    codes, rows, start, stop, label, weight, reach, *rest = problem
    own = [on_device(each) for each in (codes, rows, label, weight)]
    return [*own[:2], start, stop, *own[2:], [on_device(each) for each in reach], *rest]


def _information(counts: NDArray[np.float64]) -> float:
    own = counts[counts > 0]
    return float(own.sum() * np.log2(own.sum()) - (own * np.log2(own)).sum()) if own.size else 0.0


def _by_hand(x: Any, y: Any, classes: int, rule: Rule, gap: float) -> tuple[float, int, int]:
    """Return (gain, candidates, rows to the left) of the best cut, all candidates being judged."""
    order = np.argsort(x, kind="stable")
    x, y = x[order], y[order]
    whole = np.bincount(y, minlength=classes).astype(float)
    least = max(rule.min_weight, min(0.1 * len(x) / classes, 25.0))
    best, tries, place = 0.0, 0, 0
    for i in range(1, len(x)):
        if i >= least and len(x) - i >= least and x[i - 1] < x[i] - gap:
            tries += 1
            left = np.bincount(y[:i], minlength=classes).astype(float)
            below = _information(left) + _information(whole - left)
            gain = (_information(whole) - below) / len(x)
            if gain > best + rule.margin:
                best, place = gain, i
    return best, tries, place


@pytest.mark.parametrize("margin", [1e-12, 1e-3, 1e-2])
@pytest.mark.parametrize("gap", [1e-5, 1.5])
@pytest.mark.parametrize("seed", range(6))
def test_a_plain_loop_over_all_cuts_finds_the_same(seed: int, gap: float, margin: float) -> None:
    # With a gap of 1.5, one class may end where no cut is allowed.
    random = np.random.default_rng(seed)
    x = random.integers(1, 60, 120)
    y = (x + random.normal(scale=6.0, size=120) > 30).astype(np.int64) + (x > 50)
    rule = Rule(2.0, margin)
    targets = class_targets(y[:, None], [3], None)
    found = cuts(
        x[:, None].astype(np.uint8), np.arange(120, dtype=np.int32), np.array([0]),
        np.array([120]), targets.label - np.int32(1), None,
        [reach_of(np.arange(1.0, 60.0), gap)], targets.layout, 1.0, rule,
    )  # fmt: skip
    gain, tries, place = _by_hand(x, y, 3, rule, gap)
    assert found.gain[0, 0] == pytest.approx(gain, abs=1e-12)
    assert (found.tries[0, 0], found.left[0, 0, 0]) == (tries, place)
    assert found.bin[0, 0] == np.sort(x)[place - 1] and found.following[0, 0] == np.sort(x)[place]


def test_the_seeds_humidity_table() -> None:
    # specs/seeds_errata.md, 003: 8 legal cuts with m = 2, the best at 89 | 90, gain .605289106
    low = [54, 58, 59, 60, 62, 62, 63]
    assert len(low) == 7
    values = np.array([54.0, 58.0, 59.0, 60.0])
    targets = class_targets(np.array([0, 0, 1, 1])[:, None], [2], None)
    found = cuts(
        np.arange(1, 5, dtype=np.uint8)[:, None], np.arange(4, dtype=np.int32), np.array([0]),
        np.array([4]), targets.label - np.int32(1), None, [reach_of(values, 1e-5)],
        targets.layout, 1.0, Rule(1.0),
    )  # fmt: skip
    assert (found.gain[0, 0], found.bin[0, 0], found.tries[0, 0]) == (1.0, 2, 3)


@pytest.mark.parametrize(("gap", "wide"), [(0.0, False), (1e-5, False), (0.3, False), (3.0, True)])
def test_reach_is_a_comparison_of_all_values(gap: float, wide: bool, xp: Namespace) -> None:
    values = np.unique(np.random.default_rng(0).normal(size=900).round(3))
    values = np.concatenate([[-np.inf], values, [np.inf]])
    apart = values[:, None] < values - gap
    n = values.size
    first = np.where(apart.any(axis=1), np.argmax(apart, axis=1), n)
    step, span = reach_of(xp.asarray(values), gap)
    found = xp.to_numpy(step)
    assert found.tolist() == (first - np.arange(n)).tolist()
    assert (span, found.dtype) == (found.max(), np.int32 if wide else np.uint8)

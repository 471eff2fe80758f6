from typing import Any

import numpy as np
import pytest

from tests.bits import assert_same_bits
from tests.conftest import Namespace
from tests.nodes import totals
from vtree.arrays import like
from vtree.criteria import CLASSIFICATION, REGRESSION
from vtree.histogram import rows_of
from vtree.targets import Targets, class_targets, real_targets
from vtree_kernels import kernels
from vtree_kernels._threads import threads
from vtree_kernels.scan import Best, Limits
from vtree_kernels.search import search

N_ROWS = 260


def _targets(kind: str) -> Targets:
    draw = np.random.default_rng(3)
    weight = draw.integers(1, 9, N_ROWS) / 4.0 if "weights" in kind else None
    if "targets" in kind:
        outputs = 2 if "two" in kind else 1
        return real_targets(draw.normal(size=(N_ROWS, outputs)), weight)
    classes = [3, 2] if "outputs" in kind else [int(kind.split()[0])]
    codes = np.stack([draw.integers(0, k, N_ROWS) for k in classes], axis=1)
    return class_targets(codes, classes, weight)


KINDS = [
    *("2 classes", "3 classes", "100 classes", "2 classes, weights", "7 classes, weights"),
    *("two outputs", "targets", "targets, weights", "two targets"),
]
# ends of the nodes in the order of rows: empty ones, single rows, all of them
SEGMENTS = {
    "several": [0, 7, 8, 8, 100, 255],
    "one row": [3, 4],
    "whole table": [0, N_ROWS],
    "no nodes": [5],
}


def _arguments(kind: str, segments: str, n_codes: int, skewed: bool = False) -> tuple[Any, ...]:
    draw = np.random.default_rng(n_codes)
    targets = _targets(kind)
    codes = draw.integers(0, n_codes, (N_ROWS, 4))
    if skewed:
        codes = np.where(draw.random(codes.shape) < 0.9, n_codes - 1, codes)
    rows = draw.permutation(N_ROWS).astype(np.int32)
    ends = np.array(SEGMENTS[segments])
    total = totals(targets, rows, ends[:-1], ends[1:])
    codes = codes.astype(np.uint8 if n_codes <= 256 else np.int32)
    return codes, rows, ends[:-1], ends[1:], targets, n_codes, total


def _search(implementation: Any, arguments: tuple[Any, ...], gain: Any, **given: Any) -> Best:
    codes, rows, start, stop, targets, n_codes, total = arguments
    own = rows_of(targets, codes)
    free = np.full(start.size, np.inf)
    monotone = given.get("monotone")
    found = implementation(
        codes,
        like(rows, codes),
        start,
        stop,
        own.label,
        own.weight,
        own.sums,
        n_codes,
        like(total, codes),
        None if monotone is None else like(monotone, codes),
        like(-free, codes),
        like(free, codes),
        given.get("limits", Limits()),
        gain,
        targets.layout,
    )
    return Best(*map(np.asarray, found))


def _assert_same(found: Best, expected: Best) -> None:
    for name in Best._fields:
        assert_same_bits(getattr(found, name), getattr(expected, name), name)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("segments", SEGMENTS)
@pytest.mark.parametrize("n_codes", [2, 256, 3000])
def test_twin_and_reference_agree(kind: str, segments: str, n_codes: int) -> None:
    arguments = _arguments(kind, segments, n_codes, skewed=n_codes == 256)
    names = ["squared_error"] if "targets" in kind else ["gini", "entropy"]
    for name in names:
        gain = {**CLASSIFICATION, **REGRESSION}[name].gain
        with kernels("reference"):
            expected = _search(search.reference, arguments, gain)
        for count in (1, 4):
            with threads(count):
                _assert_same(_search(search.twin("cpu"), arguments, gain), expected)


def test_any_namespace(xp: Namespace) -> None:
    codes, *rest = _arguments("3 classes", "several", 40)
    gain = CLASSIFICATION["gini"].gain
    expected = _search(search.twin("cpu"), (codes, *rest), gain)
    found = _search(search.reference, (xp.asarray(codes), *rest), gain)
    _assert_same(found, expected)


def test_limits_and_constraints() -> None:
    arguments = _arguments("2 classes, weights", "several", 30)
    given = {"limits": Limits(4, 9.0), "monotone": np.array([1, 0, -1, 1], dtype=np.int8)}
    gain = CLASSIFICATION["gini"].gain
    expected = _search(search.reference, arguments, gain, **given)
    free = _search(search.reference, arguments, gain)
    assert (expected.gain < free.gain).any()
    _assert_same(_search(search.twin("cpu"), arguments, gain, **given), expected)


def test_the_reference_holds_a_slice_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    arguments = _arguments("3 classes", "several", 40)
    gain = CLASSIFICATION["gini"].gain
    expected = _search(search.reference, arguments, gain)
    monkeypatch.setattr("vtree_kernels.search.reference._CELLS", 1)
    _assert_same(_search(search.reference, arguments, gain), expected)

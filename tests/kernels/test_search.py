from typing import Any

import numpy as np
import pytest

from tests.bits import assert_same_bits
from tests.conftest import Namespace
from tests.cuda_host import nvrtc
from tests.cuda_host.emulation import emulated, on_device, recorded_grids
from tests.nodes import totals
from vtree.arrays import like
from vtree.criteria import CLASSIFICATION, REGRESSION
from vtree.histogram import rows_of
from vtree.targets import Targets, class_targets, real_targets
from vtree_kernels import _cuda, kernels
from vtree_kernels._threads import threads
from vtree_kernels._translate import c_gain
from vtree_kernels.scan import Best, Limits
from vtree_kernels.scan.cuda import macros as scan_macros
from vtree_kernels.search import cuda as cuda_twin
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


def _cuda_search(arguments: tuple[Any, ...], gain: Any, **given: Any) -> Best:
    codes, rows, start, stop, targets, n_codes, total = arguments
    own = on_device(rows_of(targets, codes))
    free = np.full(start.size, np.inf)
    monotone = given.get("monotone")
    placed = (codes, rows), (own.label, own.weight, own.sums), (total, monotone, -free, free)
    table, statistics, bounds = (tuple(map(on_device, each)) for each in placed)
    rest = (given.get("limits", Limits()), gain, targets.layout)
    call: list[Any] = [*table, start, stop, *statistics, n_codes, *bounds, *rest]
    return search.twin("cuda")(*call)


@pytest.mark.parametrize("segments", SEGMENTS)
@pytest.mark.parametrize("kind", ["3 classes", "100 classes", "targets, weights"])
def test_cuda_agrees(kind: str, segments: str, cuda: str | int) -> None:
    arguments = _arguments(kind, segments, 40, skewed=kind == "3 classes")
    gain = {**CLASSIFICATION, **REGRESSION}["squared_error" if "t" in kind[:1] else "gini"].gain
    given: dict[str, Any] = {}
    if kind == "targets, weights":
        given = {"limits": Limits(4, 9.0), "monotone": np.array([1, 0, -1, 1], dtype=np.int8)}
    _assert_same(
        _cuda_search(arguments, gain, **given), _search(search.reference, arguments, gain, **given)
    )


@pytest.mark.cuda_host
@pytest.mark.parametrize(("room", "launches"), [(16_500, ["search"]), (4_000, ["direct", "scan"])])
def test_cuda_with_little_shared_memory(room: int, launches: list[str]) -> None:
    arguments = _arguments("3 classes", "several", 1000)
    gain = CLASSIFICATION["gini"].gain
    with emulated("backward", shared_bytes=room) as device:
        _assert_same(_cuda_search(arguments, gain), _search(search.reference, arguments, gain))
        assert device.launches == launches


@pytest.mark.cuda_host
def test_cuda_of_more_features_than_a_grid_is_high(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cuda_twin, "MOST_WARPS", 1)
    extents = recorded_grids(monkeypatch)
    codes, *rest = _arguments("3 classes", "one row", 2)
    with emulated():
        _cuda_search((np.tile(codes, (1, 16_400)), *rest), CLASSIFICATION["gini"].gain)
    assert extents == [(65_600, 1, 1)]


@pytest.mark.skipif(nvrtc.missing() is not None, reason=str(nvrtc.missing()))
@pytest.mark.parametrize("kind", ["2 classes", "two outputs"])
def test_the_source_compiles(kind: str) -> None:
    layout = _targets(kind).layout
    own = np.zeros((1, 1)), None, np.zeros((1, 0))
    macros = scan_macros(layout, "int") | cuda_twin.added(*own, counted=False)
    macros |= {"CODE": "unsigned char", "CELLS_SHARED": 1}
    options = (*_cuda.OPTIONS, *(f"-D{name}={value}" for name, value in macros.items()))
    text = _cuda.source_of("search", c_gain(CLASSIFICATION["gini"].gain))
    for architecture in nvrtc.ARCHITECTURES if kind == "2 classes" else ("sm_90",):
        assert nvrtc.compiled(text, options, architecture)[:4] == b"\x7fELF"


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

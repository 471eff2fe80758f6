from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from tests.bits import assert_same_bits
from tests.conftest import Namespace
from tests.cuda_host import nvrtc
from tests.cuda_host.emulation import emulated, on_device, to_host
from vtree.criteria import BOUNDED_NEWTON, CLASSIFICATION, NEWTON, REGRESSION
from vtree_kernels import _cuda
from vtree_kernels._threads import threads
from vtree_kernels._translate import c_gain
from vtree_kernels.derive import Derived
from vtree_kernels.histogram import histogram
from vtree_kernels.scan import Best, Layout, Limits, scan
from vtree_kernels.scan import cuda as scan_cuda
from vtree_kernels.scan.reference import first_maximum

GAINS = {name: own.gain for name, own in {**CLASSIFICATION, **REGRESSION}.items()}
GAINS |= {"confined": BOUNDED_NEWTON.gain, "newton": NEWTON.gain}


@dataclass(frozen=True)
class Case:
    criterion: str = "gini"
    classes: int = 2
    outputs: int = 1
    n_rows: int = 300
    n_nodes: int = 4  # their rows shrink from one to the next, the last may have none
    n_codes: int = 12
    missing: float = 0.2
    weighted: bool = False
    limits: Limits = Limits()
    monotone: tuple[int, ...] | None = None
    allowed: bool = False  # one candidate a node and feature
    skewed: bool = False
    drawn: tuple[float, float] = (0.0, 0.0)  # shrink, clip
    confined: bool = False

    @property
    def regression(self) -> bool:
        return self.criterion in REGRESSION or self.criterion in ("confined", "newton")

    def layout(self) -> Layout:
        first = 2 if self.weighted else 1
        classes = 1 if self.regression else self.classes
        ordered = first if self.regression else first + min(1, classes - 1)
        unit = tuple(2.0**-o for o in range(self.outputs))
        if self.criterion in ("confined", "newton"):
            unit = (*self.drawn, 2.5)
        numbers = (0.25, 0.5, unit, 0, *self.drawn, -np.inf, np.inf, int(self.confined))
        return Layout(first - 1, first, self.outputs, classes, ordered, *numbers)

    def _rows(self, draw: Any) -> tuple[Any, ...]:
        layout, shape = self.layout(), (self.n_rows, self.outputs)
        weight = draw.integers(1, 50, self.n_rows) if self.weighted else None
        if self.regression:
            low = 0 if self.criterion == "poisson" else -20
            sums = draw.integers(low, 20, shape)
            return np.zeros((self.n_rows, 0), dtype=np.int32), weight, sums
        label = layout.first + np.arange(self.outputs) * self.classes
        label = label + np.minimum(draw.geometric(0.3, shape) - 1, self.classes - 1)
        return label.astype(np.int32), weight, np.zeros((self.n_rows, 0), dtype=np.int64)

    def arguments(self) -> tuple[Any, ...]:
        draw = np.random.default_rng(self.n_codes + self.classes + self.n_rows)
        codes = draw.integers(1, self.n_codes, (self.n_rows, 3))
        codes[:, 2] = 3 if self.skewed else codes[:, 0]  # a duplicate, or one bin for all
        codes[draw.random(codes.shape) < self.missing] = 0
        start = np.arange(self.n_nodes) * (self.n_rows // max(1, self.n_nodes))
        stop = np.maximum(start, self.n_rows - 80 * np.arange(self.n_nodes))
        rows = draw.permutation(self.n_rows).astype(np.int32)
        n_statistics = self.layout().n_statistics
        own = (codes, rows, start, stop, *self._rows(draw), self.n_codes, n_statistics)
        hist = histogram.reference(*own)
        total = hist[:, 0].sum(axis=1)
        allowed = draw.integers(-1, self.n_codes, hist.shape[:2]) * int(self.allowed)
        middle = draw.normal(size=self.n_nodes)
        lower = middle - np.where(draw.random(self.n_nodes) < 0.5, np.inf, 1.0)
        upper = middle + np.where(draw.random(self.n_nodes) < 0.5, np.inf, 2.0)
        monotone = None if self.monotone is None else np.array(self.monotone, dtype=np.int8)
        rest = (monotone, lower, upper, self.limits, GAINS[self.criterion], self.layout())
        return (hist, total, allowed.astype(np.int32), *rest)


CRITERIA = [*CLASSIFICATION, *REGRESSION]
CASES = {name: Case(name) for name in CRITERIA}
CASES |= {f"weighted {name}": Case(name, weighted=True, classes=3) for name in CRITERIA}
CASES |= {f"outputs {name}": Case(name, outputs=2, classes=3) for name in CRITERIA}
CASES |= {
    "many classes": Case("entropy", classes=100, n_rows=500, n_nodes=2, n_codes=6),
    "no missing": Case(missing=0.0),
    "all missing": Case(missing=1.0),
    "few rows": Case(limits=Limits(min_rows=40)),
    "little weight": Case(weighted=True, limits=Limits(min_weight=1500.5)),
    "rising": Case("squared_error", monotone=(1, 0, -1)),
    "rising, drawn": Case("squared_error", monotone=(1, 1, -1), drawn=(30.0, 60.0)),
    "confined": Case("confined", monotone=(1, 0, -1), drawn=(3.0, 5.0), confined=True),
    "some NaN": Case("newton", drawn=(1e153, 0.0)),
    "all NaN": Case("newton", drawn=(1e200, 0.0)),
    "falling": Case("poisson", weighted=True, monotone=(-1, -1, 1)),
    "rising classes": Case("entropy", weighted=True, monotone=(1, -1, 0)),
    "drawn": Case(allowed=True),
    "drawn, limited": Case("squared_error", allowed=True, limits=Limits(min_rows=10)),
    "one bin": Case(skewed=True, missing=0.0),
    "one bin and missing": Case(skewed=True),
    "one row": Case(n_rows=1, n_nodes=1),
    "no rows": Case(n_rows=0, n_nodes=2),
    "no nodes": Case(n_nodes=0),
    "wide": Case("gini", n_codes=1000),
}


def _definition(case: Case, node: int, g: int, arguments: tuple[Any, ...]) -> tuple[Any, ...]:
    """Say the contract again, one candidate at a time: (gain, bin, missing left)."""
    hist, total, allowed, monotone, lower, upper, limits, gain, layout = arguments
    best = (-np.inf, 0, False)
    for with_missing in (False, True) if hist[node, g, 0, 0] else (False,):
        for b in range(1, hist.shape[2]):
            values = hist[node, g, 1 : b + 1].sum(axis=0)
            left = values + hist[node, g, 0] * with_missing
            sides = left.astype(float), (total[node] - left).astype(float)
            legal = values[0] > 0 and allowed[node, g] in (0, b)
            legal &= min(side[0] for side in sides) >= max(1, limits.min_rows)
            legal &= min(side[layout.weight] for side in sides) >= limits.min_weight
            if legal and monotone is not None and monotone[g]:
                kept = [
                    np.sign(side[layout.ordered]) * max(0, abs(side[layout.ordered]) - layout.clip)
                    for side in sides
                ]
                weights = [side[layout.weight] + layout.shrink for side in sides]
                shares = [sum_ / weight for sum_, weight in zip(kept, weights, strict=True)]
                means = [layout.center + share * layout.scale for share in shares]
                if layout.confined:
                    means = [min(max(mean, lower[node]), upper[node]) for mean in means]
                legal = (means[1] - means[0]) * monotone[g] >= 0
                legal &= lower[node] <= min(means) and max(means) <= upper[node]
            # One-element arrays: `choose` and `log` of the array form take no bare numbers.
            columns = [side[:, None] for side in sides]
            own = layout._replace(lower=lower[node], upper=upper[node])
            with np.errstate(over="ignore", invalid="ignore"):
                score = float(gain(columns[0], columns[1], own)[0]) if legal else -np.inf
            if score > best[0]:
                best = (score, b, with_missing)
    return best


@pytest.mark.parametrize("name", CASES)
def test_twins_agree(name: str, xp: Namespace) -> None:
    arguments = CASES[name].arguments()
    native = scan.twin("cpu")(*arguments)
    hist, total, allowed, monotone, lower, upper, *rest = arguments
    directions = None if monotone is None else xp.asarray(monotone)
    own = (xp.asarray(hist), xp.asarray(total), xp.asarray(allowed), directions)
    found = scan.reference(*own, xp.asarray(lower), xp.asarray(upper), *rest)
    for field, mine, theirs in zip(Best._fields, found, native, strict=True):
        assert_same_bits(xp.to_numpy(mine), theirs, field)


@pytest.mark.parametrize("name", CASES)
def test_the_contract_holds(name: str) -> None:
    case = CASES[name] if name != "wide" else replace(CASES[name], n_codes=300)
    arguments = case.arguments()
    hist = arguments[0]
    found = scan.twin("cpu")(*arguments)
    for node, g in np.ndindex(*hist.shape[:2]):
        gain, bin, missing_left = _definition(case, node, g, arguments)
        assert found.gain[node, g] == gain
        assert (found.bin[node, g], found.missing_left[node, g]) == (bin, missing_left)
        left = hist[node, g, 1 : bin + 1].sum(axis=0) + hist[node, g, 0] * missing_left
        np.testing.assert_array_equal(found.left[node, g], left)
        filled = np.flatnonzero(hist[node, g, :, 0])
        later = filled[filled > bin]
        assert found.next[node, g] == (later[later > 0][0] if (later > 0).any() else 0)
        assert found.missing[node, g] == hist[node, g, 0, 0]
        assert found.varies[node, g] == (filled.size >= 2)


def _with_siblings(
    arguments: tuple[Any, ...], number: int, place: Callable[[NDArray[Any]], Any] = np.array
) -> tuple[Any, Derived]:
    """Return (hist, how the last `number` nodes come from others), these full of rubbish yet.

    Two histograms that only serve siblings lie in front of hist.
    """
    hist = arguments[0]
    wanted = hist.shape[0] - number
    draw = np.random.default_rng(number)
    built = np.concatenate([draw.integers(0, 9, (2, *hist.shape[1:])), hist[:wanted]])
    slot, sibling = draw.permutation(number + 1)[:number], draw.integers(0, wanted + 2, number)
    parent = np.zeros((number + 1, *hist.shape[1:]), dtype=hist.dtype)
    parent[slot] = hist[wanted:] + built[sibling]
    rubbish = np.full((number, *hist.shape[1:]), 77)
    level = place(np.concatenate([built, rubbish]).astype(hist.dtype))
    return level[2:, ...], Derived(place(parent), slot, level, sibling)


DERIVED = {
    "half": (CASES["gini"], 2),
    "all": (Case("squared_error", weighted=True, n_nodes=3), 3),
    "none": (Case(), 0),
    "many classes": (CASES["many classes"], 1),
    "many tasks": (Case(n_codes=256, n_rows=4000, n_nodes=40), 19),
    "drawn": (replace(CASES["drawn"], n_nodes=5), 4),
    "no features to speak of": (CASES["one bin"], 1),
}


@pytest.mark.parametrize("implied", [False, True])
@pytest.mark.parametrize("name", DERIVED)
def test_siblings_are_derived_before_they_are_read(name: str, implied: bool, xp: Namespace) -> None:
    case, number = DERIVED[name]
    arguments = case.arguments()
    if implied and not case.regression:
        arguments = _implied(arguments)
    expected = scan.twin("cpu")(*arguments)
    hist, own = _with_siblings(arguments, number)
    with threads(4):
        found = scan.twin("cpu")(*[hist, *arguments[1:], own])
    assert_same_bits(hist, arguments[0])
    for field, mine, theirs in zip(Best._fields, found, expected, strict=True):
        assert_same_bits(mine, theirs, field)
    if xp.name == "numpy-read-only":
        return
    hist, own = _with_siblings(arguments, number, xp.asarray)
    _, total, allowed, monotone, lower, upper, *rest = arguments
    assert monotone is None
    nodes = (xp.asarray(total), xp.asarray(allowed), None, xp.asarray(lower), xp.asarray(upper))
    found = scan.reference(*[hist, *nodes, *rest, own])
    assert_same_bits(xp.to_numpy(hist), arguments[0])
    for field, mine, theirs in zip(Best._fields, found, expected, strict=True):
        assert_same_bits(xp.to_numpy(mine), theirs, field)


@pytest.mark.parametrize("implied", [False, True])
@pytest.mark.parametrize("name", DERIVED)
def test_cuda_derives_siblings_in_the_same_launch(
    name: str, implied: bool, cuda: str | int
) -> None:
    case, number = DERIVED[name]
    arguments = case.arguments()
    if implied and not case.regression:
        arguments = _implied(arguments)
    expected = scan.reference(*arguments)
    hist, own = _with_siblings(arguments, number, on_device)
    rest = map(on_device, arguments[1:6])
    found = scan.twin("cuda")(*[hist, *rest, *arguments[6:], own])
    assert_same_bits(to_host(hist), arguments[0])
    for field, mine, theirs in zip(Best._fields, found, expected, strict=True):
        assert_same_bits(mine, theirs, field)


def test_threads_do_not_matter() -> None:
    arguments = Case("entropy", classes=20, n_codes=256, n_rows=4000, n_nodes=30).arguments()
    with threads(1):
        expected = scan.twin("cpu")(*arguments)
    with threads(4):
        found = scan.twin("cpu")(*arguments)
    for field, mine, theirs in zip(Best._fields, found, expected, strict=True):
        assert_same_bits(mine, theirs, field)


def test_first_maximum_takes_the_first_of_equals(xp: Namespace) -> None:
    rows = [[1.0, 3.0, 3.0], [-np.inf] * 3, [2.0, 1.0, 2.0], [np.nan, 1.0, np.nan], [np.nan] * 3]
    table: NDArray[np.float64] = np.array(rows)
    largest, place = first_maximum(xp.asarray(table))
    np.testing.assert_array_equal(xp.to_numpy(largest), [3.0, -np.inf, 2.0, 1.0, -np.inf])
    np.testing.assert_array_equal(xp.to_numpy(place), [1, 0, 0, 1, 0])


def _implied(arguments: tuple[Any, ...]) -> tuple[Any, ...]:
    """Leave plane 0 out, for the classes of the first output add up to it."""
    hist, *rest, layout = arguments
    return (hist[..., 1:].astype(np.int32), *rest, layout)


def _cuda_scan(arguments: tuple[Any, ...]) -> Best:
    found: Best = scan.twin("cuda")(*map(on_device, arguments[:6]), *arguments[6:])
    return found


@pytest.mark.parametrize("name", CASES)
def test_cuda_agrees(name: str, cuda: str | int) -> None:
    case = CASES[name]
    arguments = case.arguments()
    expected = scan.reference(*arguments)
    for field, mine, theirs in zip(Best._fields, _cuda_scan(arguments), expected, strict=True):
        assert_same_bits(mine, theirs, field)
    if not case.regression and not case.weighted:
        found = _cuda_scan(_implied(arguments))
        for field, mine, theirs in zip(Best._fields, found, expected, strict=True):
            assert_same_bits(mine, theirs, field)


@pytest.mark.cuda_host
def test_cuda_with_little_shared_memory() -> None:
    arguments = CASES["many classes"].arguments()
    expected = scan.reference(*arguments)
    n_statistics = arguments[1].shape[1]
    for columns, launches in ((0, []), (1, ["scan"]), (5, ["scan"])):
        with emulated("backward", shared_bytes=(columns + 3) * n_statistics * 8) as device:
            found = _cuda_scan(arguments)
            assert device.launches == launches
        for field, mine, theirs in zip(Best._fields, found, expected, strict=True):
            assert_same_bits(np.from_dlpack(mine), theirs, field)


@pytest.mark.cuda_host
def test_cuda_leaves_a_gain_without_c_to_the_reference() -> None:
    arguments = CASES["gini"].arguments()
    *rest, gain, layout = arguments
    expected = scan.reference(*arguments)
    with emulated() as device:
        found = _cuda_scan((*rest, lambda left, right, own: gain(left, right, own), layout))
        assert device.launches == []
    for field, mine, theirs in zip(Best._fields, found, expected, strict=True):
        assert_same_bits(np.from_dlpack(mine), theirs, field)


@pytest.mark.skipif(nvrtc.missing() is not None, reason=str(nvrtc.missing()))
@pytest.mark.parametrize("outputs", [1, 4])
@pytest.mark.parametrize("name", CRITERIA)
def test_the_source_compiles(name: str, outputs: int) -> None:
    layout = Case(name, outputs=outputs).layout()
    tables = CLASSIFICATION | REGRESSION  # type: ignore[operator]
    macros = scan_cuda.macros(layout, "long long")
    options = tuple(f"-D{macro}={value}" for macro, value in macros.items())
    text = _cuda.source_of("scan", c_gain(tables[name].gain))
    for architecture in nvrtc.ARCHITECTURES if name == "gini" else ("sm_90",):
        assert nvrtc.compiled(text, (*_cuda.OPTIONS, *options), architecture)[:4] == b"\x7fELF"

import statistics
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pytest
from array_api_compat import is_torch_namespace
from numpy.typing import NDArray

from tests.bits import assert_same_bits
from tests.conftest import Namespace
from tests.cuda_host.emulation import on_device, to_host
from vtree.targets import Targets, real_targets
from vtree_kernels._threads import threads
from vtree_kernels.histogram import histogram
from vtree_kernels.medians import Ranks, medians
from vtree_kernels.medians import cpu as medians_cpu
from vtree_kernels.medians import cuda as medians_cuda
from vtree_kernels.scan import Best, Limits


@dataclass(frozen=True)
class Case:
    outputs: int = 1
    n_rows: int = 120
    shares: tuple[float, ...] = (0.55, 0.55, 0.95, 1.0)  # of the rows, where each node ends
    n_codes: int = 9
    missing: float = 0.2
    weights: str = "none"
    target: str = "ties"
    limits: Limits = Limits()
    monotone: tuple[int, ...] | None = None
    allowed: bool = False  # one candidate a node and feature
    places: bool = False  # candidates in another order, as for categories
    skewed: bool = False

    def targets(self, draw: Any) -> Targets:
        shape = (self.n_rows, self.outputs)
        y = draw.integers(-6, 7, shape) * 2.0 ** np.arange(self.outputs)
        if self.target == "reals":
            y = 1e9 + draw.normal(size=shape)
        elif self.target == "equal":
            y = np.full(shape, 0.7)
        weight = {
            "none": None,
            "whole": draw.integers(1, 5, self.n_rows).astype(np.float64),
            "reals": 10.0 ** draw.uniform(-9, 9, self.n_rows),
        }[self.weights]
        if self.n_rows == 0:
            return real_targets(np.zeros((1, 1)), None, ranked=True)
        return real_targets(y, weight, ranked=True)

    def _places(self, draw: Any) -> NDArray[np.int32] | None:
        if not self.places:
            return None
        order = np.tile(np.arange(1, self.n_codes), (len(self.shares), 3, 1))
        order = draw.permuted(order, axis=2)
        order[:, :, 0] = 0  # a rare level
        return np.concatenate([np.zeros((len(self.shares), 3, 1)), order], axis=2).astype(np.int32)

    def arguments(self) -> tuple[Any, ...]:
        draw = np.random.default_rng(self.n_codes + self.n_rows)
        codes = draw.integers(1, self.n_codes, (self.n_rows, 3))
        codes[:, 2] = 3 if self.skewed else codes[:, 0]  # a duplicate, or one bin for all
        codes[draw.random(codes.shape) < self.missing] = 0
        stop = (np.asarray(self.shares) * self.n_rows).astype(np.int64)
        start = np.append(0, stop)[:-1]
        rows = draw.permutation(self.n_rows).astype(np.int32)
        targets = self.targets(draw)
        sums = targets.sums[: self.n_rows]
        layout, weight = targets.layout, targets.weight
        label = np.zeros((self.n_rows, 0), dtype=np.int32)
        own = (label, weight, sums, self.n_codes, layout.n_statistics)
        total = histogram.reference(codes, rows, start, stop, *own)[:, 0].sum(axis=1)
        allowed = draw.integers(-1, self.n_codes, (len(self.shares), 3)) * int(self.allowed)
        lower = np.where(draw.random(len(self.shares)) < 0.5, -np.inf, -2.0)
        upper = np.where(draw.random(len(self.shares)) < 0.5, np.inf, 1.5)
        monotone = None if self.monotone is None else np.array(self.monotone, dtype=np.int8)
        places, candidates = self._places(draw), allowed.astype(np.int32)
        rest = (places, total, candidates, monotone, lower, upper, self.limits, layout)
        return (codes, rows, start, stop, weight, sums, targets.ranks, *rest, self.n_codes)


CASES = {
    "ties": Case(),
    "reals": Case(target="reals"),
    "equal targets": Case(target="equal"),
    "weights": Case(weights="whole"),
    "uneven weights": Case(weights="reals", target="reals"),
    "outputs": Case(outputs=2),
    "weights, outputs": Case(outputs=2, weights="whole"),
    "three outputs of reals": Case(outputs=3, weights="reals", target="reals"),
    "no missing": Case(missing=0.0),
    "all missing": Case(missing=1.0),
    "few rows": Case(limits=Limits(min_rows=20)),
    "little weight": Case(weights="whole", limits=Limits(min_weight=60.5)),
    "rising": Case(monotone=(1, 0, -1)),
    "falling": Case(weights="whole", monotone=(-1, -1, 1)),
    "drawn": Case(allowed=True),
    "drawn, limited": Case(allowed=True, limits=Limits(min_rows=10)),
    "drawn, all missing": Case(allowed=True, missing=1.0),
    "levels": Case(places=True),
    "levels, weights": Case(places=True, weights="whole", outputs=2),
    "one bin": Case(skewed=True, missing=0.0),
    "one bin and missing": Case(skewed=True),
    "one row": Case(n_rows=1, shares=(1.0,)),
    "no rows": Case(n_rows=0, shares=(0.5, 1.0)),
    "no nodes": Case(shares=()),
    "wide": Case(n_rows=300, n_codes=700, target="reals"),
}


def _on(xp: Namespace, arguments: tuple[Any, ...]) -> tuple[Any, ...]:
    """Bring to a namespace what belongs there; start and stop stay with NumPy."""
    codes, rows, start, stop, weight, sums, ranks, *rest = arguments
    if codes.dtype == np.uint16 and is_torch_namespace(xp.xp):
        codes = codes.astype(np.int32)
    own = [None if a is None else xp.asarray(a) for a in (weight, sums)]
    others = [xp.asarray(a) if isinstance(a, np.ndarray) else a for a in rest]
    there = Ranks(*(xp.asarray(field) for field in ranks))
    return (xp.asarray(codes), xp.asarray(rows), start, stop, *own, there, *others)


@pytest.mark.parametrize("name", CASES)
def test_twins_agree(name: str, xp: Namespace) -> None:
    arguments = CASES[name].arguments()
    native = medians.twin("cpu")(*arguments)
    found = medians.reference(*_on(xp, arguments))
    for field, mine, theirs in zip(Best._fields, found, native, strict=True):
        assert_same_bits(xp.to_numpy(mine), theirs, field)


class _Definition:
    """The contract again, one candidate at a time and with the median of repeated rows."""

    def __init__(self, arguments: tuple[Any, ...], node: int, g: int) -> None:
        codes, rows, start, stop, weight, _, self.ranks, places, *rest = arguments
        _, allowed, monotone, lower, upper, self.limits, self.layout, self.n_codes = rest
        self.rows = rows[start[node] : stop[node]]
        code = codes[self.rows, g]
        self.place = code if places is None else places[node, g, code]
        self.weight = np.ones(len(codes), dtype=np.int64) if weight is None else weight
        self.only = allowed[node, g]
        self.direction = 0 if monotone is None else monotone[g]
        self.bounds = lower[node], upper[node]

    def median(self, rows: NDArray[Any], output: int, what: NDArray[np.float64]) -> float:
        own = what[self.ranks.rank[rows, output]]
        return float(statistics.median(np.repeat(own, self.weight[rows]).tolist()))

    def error(self, rows: NDArray[Any]) -> float:
        total = 0.0
        for output, unit in enumerate(self.layout.unit):
            own = self.ranks.position[self.ranks.rank[rows, output]]
            middle = self.median(rows, output, self.ranks.position)
            total += float((np.abs(own - middle) * self.weight[rows]).sum()) * unit
        return total / float(self.layout.outputs)

    def legal(self, sides: tuple[NDArray[Any], NDArray[Any]], b: int) -> bool:
        if self.only not in (0, b) or min(map(len, sides)) < max(1, self.limits.min_rows):
            return False
        if min(self.weight[side].sum() for side in sides) < self.limits.min_weight:
            return False
        if self.direction == 0:
            return True
        output = self.layout.ordered - self.layout.first
        low, high = (self.median(side, output, self.ranks.value) for side in sides)
        inside = self.bounds[0] <= min(low, high) and max(low, high) <= self.bounds[1]
        return inside and (high - low) * self.direction >= 0

    def best(self) -> tuple[float, int, bool, NDArray[Any]]:
        found: tuple[Any, ...] = (-np.inf, 0, False, self.rows[:0])
        for missing_left in (False, True) if (self.place == 0).any() else (False,):
            for b in range(1, self.n_codes):
                values = (self.place >= 1) & (self.place <= b)
                left = values | ((self.place == 0) & missing_left)
                sides = self.rows[left], self.rows[~left]
                if not values.any() or not self.legal(sides, b):
                    continue
                gain = self.error(self.rows) - self.error(sides[0]) - self.error(sides[1])
                if gain > found[0]:
                    found = (gain, b, missing_left, sides[0])
        return found


EXACT = [name for name, case in CASES.items() if case.target == "ties" and case.n_rows]


@pytest.mark.parametrize("name", EXACT)
def test_the_contract_holds(name: str) -> None:
    arguments = CASES[name].arguments()
    sums, layout = arguments[5], arguments[-2]
    found = medians.twin("cpu")(*arguments)
    for node, g in np.ndindex(*found.gain.shape):
        definition = _Definition(arguments, node, g)
        gain, bin, missing_left, left = definition.best()
        assert found.gain[node, g] == gain
        assert (found.missing[node, g], found.varies[node, g]) == (
            (definition.place == 0).sum(),
            np.unique(definition.place).size >= 2,
        )
        if gain == -np.inf:
            continue
        assert (found.bin[node, g], found.missing_left[node, g]) == (bin, missing_left)
        later = definition.place[definition.place > bin]
        assert found.next[node, g] == (later.min() if later.size else 0)
        weight = [definition.weight[left].sum()] if layout.weight else []
        expected = [left.size, *weight, *sums[left].sum(axis=0)]
        assert found.left[node, g].tolist() == expected


@pytest.mark.parametrize("name", ["uneven weights", "weights, outputs", "levels"])
def test_threads_do_not_matter(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    arguments = replace(CASES[name], n_rows=400).arguments()
    expected = medians.reference(*arguments)
    monkeypatch.setattr(medians_cpu, "CHUNK", 64)
    for count in (1, 4):
        with threads(count):
            found = medians.twin("cpu")(*arguments)
        for field, mine, theirs in zip(Best._fields, found, expected, strict=True):
            assert_same_bits(mine, theirs, field)


def test_more_ranks_than_one_level_of_sums_holds() -> None:
    case = Case(n_rows=5_000, shares=(1.0,), n_codes=6, target="reals")
    arguments = case.arguments()
    found, expected = medians.twin("cpu")(*arguments), medians.reference(*arguments)
    for field, mine, theirs in zip(Best._fields, found, expected, strict=True):
        assert_same_bits(mine, theirs, field)


def test_layouts_of_codes_and_small_codes_do_not_matter() -> None:
    codes, *rest = CASES["weights"].arguments()
    expected = medians.twin("cpu")(codes, *rest)
    for own in (codes.astype(np.uint8), np.asfortranarray(codes.astype(np.uint16))):
        for field, mine, theirs in zip(
            Best._fields, medians.twin("cpu")(own, *rest), expected, strict=True
        ):
            assert_same_bits(mine, theirs, field)


def _on_cuda(arguments: tuple[Any, ...]) -> tuple[Any, ...]:
    codes, rows, start, stop, *rest = arguments
    return (on_device(codes), on_device(rows), start, stop, *map(on_device, rest))


@pytest.mark.parametrize("name", CASES)
@pytest.mark.usefixtures("cuda")
def test_cuda_agrees(name: str) -> None:
    arguments = CASES[name].arguments()
    found = medians.twin("cuda")(*_on_cuda(arguments))
    for field, mine, theirs in zip(
        Best._fields, found, medians.twin("cpu")(*arguments), strict=True
    ):
        assert_same_bits(to_host(mine), theirs, field)


@pytest.mark.usefixtures("cuda")
def test_cuda_takes_more_rows_than_a_block_has_threads() -> None:
    case = Case(n_rows=1100, shares=(0.7, 1.0), n_codes=6, target="reals", monotone=(1, -1, 0))
    arguments = case.arguments()
    found = medians.twin("cuda")(*_on_cuda(arguments))
    for field, mine, theirs in zip(
        Best._fields, found, medians.twin("cpu")(*arguments), strict=True
    ):
        assert_same_bits(to_host(mine), theirs, field)


@pytest.mark.usefixtures("cuda")
def test_cuda_searches_nodes_in_slices(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(medians_cuda, "MOST_BYTES", 9_000)
    arguments = replace(CASES["levels, weights"], monotone=(1, 0, -1)).arguments()
    found = medians.twin("cuda")(*_on_cuda(arguments))
    for field, mine, theirs in zip(Best._fields, found, medians.reference(*arguments), strict=True):
        assert_same_bits(to_host(mine), theirs, field)
    start, stop = arguments[2:4]
    assert medians_cuda._borders(stop - start, 3, 9, 4).size > 2

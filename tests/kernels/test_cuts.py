"""Extremes, sums beside a cut and sides: the twins against a plain loop over rows."""

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from tests.bits import assert_same_bits
from tests.conftest import Namespace
from tests.cuda_host.emulation import on_device, to_host
from vtree_kernels._threads import threads
from vtree_kernels.cuts import cpu, cuda, cut_sums, extremes, sides

NODES = {
    "several": [(0, 30), (30, 30), (34, 35), (40, 90)],
    "one row": [(5, 6)],
    "empty": [(3, 3), (7, 7)],
    "all rows": [(0, 120)],
}
STATISTICS = {"classes": (0, 2, True), "weighted": (1, 2, True), "plain classes": (0, 2, False)}


def _table(kind: str) -> NDArray[Any]:
    random = np.random.default_rng(2)
    values = np.round(random.normal(size=(120, 5)), 1)
    values[random.random(values.shape) < 0.15] = np.nan
    values[:, 1] = 3.5  # constant
    values[:, 2] = np.nan  # nothing known
    values[::7, 3], values[::11, 3] = np.inf, -np.inf
    values[values == 0.0] = -0.0
    return np.asfortranarray(values) if kind == "columns" else values.astype(kind)


def _nodes(name: str) -> tuple[Any, ...]:
    random = np.random.default_rng(3)
    start, stop = np.array(NODES[name], dtype=np.int64).T
    rows = random.permutation(120).astype(np.int32)
    wanted = random.random((start.size, 5)) < 0.7
    wanted[0] = True
    return rows, start.copy(), stop.copy(), wanted


def _own(values: Any, rows: Any, start: int, stop: int, feature: int) -> Any:
    return values[rows[start:stop], feature].astype(np.float64)


@pytest.mark.parametrize("kind", ["float64", "float32", "columns"])
@pytest.mark.parametrize("name", NODES)
def test_extremes(name: str, kind: str, xp: Namespace, monkeypatch: Any) -> None:
    values = _table(kind)
    rows, start, stop, wanted = _nodes(name)
    expected = np.full(wanted.shape, np.inf), np.full(wanted.shape, -np.inf)
    for node, feature in np.argwhere(wanted).tolist():
        x = _own(values, rows, start[node], stop[node], feature)
        x = x[~np.isnan(x)]
        if x.size:
            expected[0][node, feature] = x.min() + 0.0
            expected[1][node, feature] = x.max() + 0.0
    tables = xp.asarray(values), xp.asarray(rows)
    for got, right in zip(extremes.reference(*tables, start, stop, wanted), expected, strict=True):
        assert_same_bits(got, right)
    monkeypatch.setattr(cpu, "_PIECE", 16)
    for n_threads in (1, 3):
        with threads(n_threads):
            own = cpu.extremes(values, rows, start, stop, wanted)
        for got, right in zip(own, expected, strict=True):
            assert_same_bits(got, right)


@pytest.mark.parametrize("statistics", [*STATISTICS, "reals"])
@pytest.mark.parametrize("name", NODES)
def test_sums(name: str, statistics: str, xp: Namespace, monkeypatch: Any) -> None:
    values = _table("columns" if name == "several" else "float64")
    rows, start, stop, wanted = _nodes(name)
    random = np.random.default_rng(4)
    threshold = np.round(random.normal(size=wanted.shape), 1)
    threshold[:, 3] = np.inf
    weighted, first, counted = STATISTICS.get(statistics, (1, 2, True))
    weight = random.integers(1, 9, 120) if weighted else None
    sums = random.integers(-50, 50, (120, 2 if statistics == "reals" else 0))
    n_labels = 0 if statistics == "reals" else 1
    base = int(counted) + weighted
    label = (base + random.integers(0, 2, (120, n_labels))).astype(np.int32)
    n_statistics = base + 2
    expected = np.zeros((*wanted.shape, 3, n_statistics), dtype=np.int64)
    for node, feature in np.argwhere(wanted).tolist():
        for row in rows[start[node] : stop[node]].tolist():
            x, w = values[row, feature], 1 if weight is None else weight[row]
            cell = expected[node, feature, 0 if np.isnan(x) else 1 + (x > threshold[node, feature])]
            if counted:
                cell[0] += 1
            if weight is not None:
                cell[1] += w
            for own in label[row]:
                cell[own] += w
            cell[n_statistics - sums.shape[1] :] += sums[row]
    own_weight = None if weight is None else xp.asarray(weight)
    tables = xp.asarray(values), xp.asarray(rows), start, stop, wanted, threshold
    got = cut_sums.reference(
        *tables, xp.asarray(label), own_weight, xp.asarray(sums), n_statistics, counted
    )
    np.testing.assert_array_equal(np.asarray(np.from_dlpack(got)), expected)
    monkeypatch.setattr(cpu, "_PIECE", 16)
    for n_threads in (1, 3):
        with threads(n_threads):
            plain = values, rows, start, stop, wanted, threshold, label, weight, sums
            got = cpu.cut_sums(*plain, n_statistics, counted)
        np.testing.assert_array_equal(got, expected)
        assert got.dtype == (np.int64 if counted else np.int32)


@pytest.mark.parametrize("name", NODES)
def test_sides(name: str, xp: Namespace) -> None:
    values = _table("columns" if name == "several" else "float64")
    rows, start, stop, _ = _nodes(name)
    feature = np.arange(start.size) % 5
    threshold = np.full(start.size, 0.2)
    missing = (np.arange(start.size) % 2).astype(np.int32)
    rule = feature, threshold, missing
    got = [
        np.asarray(
            np.from_dlpack(
                sides.reference(xp.asarray(values), xp.asarray(rows), start, stop, *rule)
            )
        ),
        cpu.sides(values, rows, start, stop, *rule),
    ]
    for node in range(start.size):
        x = _own(values, rows, start[node], stop[node], int(feature[node]))
        expected = np.where(np.isnan(x), missing[node], x > 0.2)
        for own in got:
            assert own.dtype == np.uint8
            np.testing.assert_array_equal(own[start[node] : stop[node]], expected)


def _large(kind: str, wanted: str) -> tuple[Any, ...]:
    """Return (values, rows, start, stop, wanted) of nodes that take several tasks each."""
    random = np.random.default_rng(5)
    values = np.round(random.normal(size=(3000, 37)), 1) * (1e-44 if kind == "float32" else 1.0)
    values[random.random(values.shape) < 0.1] = np.nan
    values[:, 2], values[:, 3] = np.nan, -0.0
    values[::7, 4], values[::11, 4] = np.inf, -np.inf
    values = np.asfortranarray(values) if kind == "columns" else values.astype(kind)
    rows = random.permutation(3000).astype(np.int32)
    start, stop = np.array([[0, 2500], [2500, 2500], [2510, 2570], [2570, 3000]]).T
    own = random.random((4, 37)) < 0.3
    own[3] = wanted == "all"
    if wanted == "one":
        own[:] = np.arange(37) == 5
    return values, rows, start.copy(), stop.copy(), own | (wanted == "all")


@pytest.mark.parametrize("kind", ["float64", "float32", "columns"])
@pytest.mark.parametrize("wanted", ["all", "some", "one", "none"])
@pytest.mark.usefixtures("cuda")
def test_cuda_extremes(wanted: str, kind: str) -> None:
    values, rows, start, stop, own = _large(kind, wanted)
    own &= wanted != "none"
    found = extremes.twin("cuda")(on_device(values), on_device(rows), start, stop, own)
    for got, right in zip(found, extremes.reference(values, rows, start, stop, own), strict=True):
        assert_same_bits(got, right)


@pytest.mark.parametrize("room", [0, 1 << 16])
@pytest.mark.parametrize("statistics", [*STATISTICS, "reals"])
@pytest.mark.parametrize("wanted", ["all", "some", "one", "none"])
@pytest.mark.usefixtures("cuda")
def test_cuda_sums(wanted: str, statistics: str, room: int, monkeypatch: Any) -> None:
    monkeypatch.setattr(cuda, "MOST_SHARED", room)
    values, rows, start, stop, own = _large("float32" if wanted == "some" else "columns", wanted)
    own &= wanted != "none"
    random = np.random.default_rng(6)
    threshold = np.where(random.random(own.shape) < 0.2, np.inf, values[7, 0].astype(np.float64))
    weighted, base, counted = STATISTICS.get(statistics, (1, 2, True))
    weight = random.integers(1, 2**40, 3000) if weighted else None
    sums = random.integers(-(2**40), 2**40, (3000, 2 if statistics == "reals" else 0))
    base = int(counted) + weighted
    n_labels = 0 if statistics == "reals" else 1
    label = (base + random.integers(0, 2, (3000, n_labels))).astype(np.int32)
    rest = base + 2, counted
    got = cut_sums.twin("cuda")(
        *(on_device(values), on_device(rows), start, stop, own, threshold, on_device(label)),
        *(on_device(weight), on_device(sums), *rest),
    )
    right = cut_sums.reference(
        values, rows, start, stop, own, threshold, label, weight, sums, *rest
    )
    assert_same_bits(to_host(got), right)


@pytest.mark.parametrize("kind", ["float64", "float32", "columns"])
@pytest.mark.usefixtures("cuda")
def test_cuda_sides(kind: str) -> None:
    values, rows, start, stop, _ = _large(kind, "all")
    feature, threshold = np.array([0, 1, 4, 9]), values[7, :4].astype(np.float64)
    rule = feature, threshold, np.array([0, 1, 1, 0], dtype=np.int32)
    got = to_host(sides.twin("cuda")(on_device(values), on_device(rows), start, stop, *rule))
    right = sides.reference(values, rows, start, stop, *rule)
    assert got.dtype == np.uint8
    for begin, end in zip(start, stop, strict=True):
        np.testing.assert_array_equal(got[begin:end], right[begin:end])

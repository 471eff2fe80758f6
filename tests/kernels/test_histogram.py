import re
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from array_api_compat import is_torch_namespace
from numpy.typing import NDArray

from tests.bits import assert_same_bits
from tests.conftest import Namespace
from tests.cuda_host import nvrtc
from tests.cuda_host.emulation import (
    ORDERS,
    emulated,
    on_device,
    recorded_grids,
    strict,
    to_host,
)
from vtree_kernels import _cuda
from vtree_kernels._threads import threads
from vtree_kernels.histogram import Compact, compacted, histogram
from vtree_kernels.histogram import cuda as histogram_cuda
from vtree_kernels.histogram.cpu import CHUNK


@dataclass(frozen=True)
class Case:
    n_rows: int = 200
    n_features: int = 3
    n_codes: int = 9
    outputs: int = 1
    classes: int = 2
    sums: int = 0
    weighted: bool = False
    sizes: tuple[int, ...] = (40, 0, 25, 1)  # rows of each node
    skewed: bool = False  # all rows in one bin

    def arguments(self) -> tuple[Any, ...]:
        draw = np.random.default_rng(self.n_rows + self.n_codes)
        shape = (self.n_rows, self.n_features)
        codes = draw.integers(0, 1 if self.skewed else self.n_codes, shape)
        codes = codes.astype(np.uint8 if self.n_codes <= 256 else np.uint16)
        rows = draw.permutation(self.n_rows).astype(np.int32)
        stop = np.cumsum(self.sizes, dtype=np.int64)
        start = stop - np.asarray(self.sizes, dtype=np.int64)
        first = 2 if self.weighted else 1
        classes = 0 if self.sums else self.classes
        outputs = 0 if self.sums else self.outputs
        label = first + np.arange(outputs) * classes
        label = label + draw.integers(0, max(1, classes), (self.n_rows, outputs))
        weight = draw.integers(1, 1 << 40, self.n_rows) if self.weighted else None
        sums = draw.integers(-(1 << 40), 1 << 40, (self.n_rows, self.sums))
        planes = first + outputs * classes + self.sums
        own = (codes, rows, start, stop, label.astype(np.int32), weight, sums)
        return (*own, self.n_codes, planes)


CASES = {
    "two classes": Case(),
    "three classes": Case(classes=3),
    "many classes": Case(classes=100, sizes=(150,)),
    "outputs": Case(outputs=2, classes=3),
    "weights": Case(weighted=True, classes=3),
    "sums": Case(sums=1),
    "weighted sums of outputs": Case(sums=2, weighted=True),
    "sums that fill their words several times": Case(
        n_rows=5000, sums=2, weighted=True, skewed=True, sizes=(4000, 900)
    ),
    "classes of many weights": Case(n_rows=5000, classes=3, weighted=True, sizes=(4000, 900)),
    "more than one tile": Case(n_rows=3000, n_features=11, classes=3, sizes=(2000, 100, 0, 800)),
    "wide codes": Case(n_codes=1000),
    "one bin": Case(skewed=True),
    "one row": Case(n_rows=1, sizes=(1,)),
    "no rows in the nodes": Case(sizes=(0, 0)),
    "no nodes": Case(sizes=()),
    "no rows": Case(n_rows=0, sizes=(0,)),
}


def _definition(arguments: tuple[Any, ...]) -> NDArray[np.int64]:
    codes, rows, start, stop, label, weight, sums, n_codes, n_statistics = arguments
    hist = np.zeros((start.size, codes.shape[1], n_codes, n_statistics), dtype=np.int64)
    for node in range(start.size):
        for row in rows[start[node] : stop[node]]:
            for g in range(codes.shape[1]):
                cell = hist[node, g, codes[row, g]]
                w = 1 if weight is None else weight[row]
                cell[0] += 1
                if weight is not None:
                    cell[1] += w
                for plane in label[row]:
                    cell[plane] += w
                cell[n_statistics - sums.shape[1] :] += sums[row]
    return hist


def _on(xp: Namespace, arguments: tuple[Any, ...]) -> tuple[Any, ...]:
    codes, rows, start, stop, label, weight, sums, *rest = arguments
    if codes.dtype == np.uint16 and is_torch_namespace(xp.xp):
        codes = codes.astype(np.int32)
    own_weight = None if weight is None else xp.asarray(weight)
    own = xp.asarray(codes), xp.asarray(rows), start, stop, xp.asarray(label), own_weight
    return (*own, xp.asarray(sums), *rest)


@pytest.mark.parametrize("name", CASES)
def test_twins_and_definition_agree(name: str, xp: Namespace) -> None:
    arguments = CASES[name].arguments()
    expected = _definition(arguments)
    found = histogram.reference(*_on(xp, arguments))
    assert found.dtype == xp.xp.int64
    assert_same_bits(xp.to_numpy(found), expected)
    assert_same_bits(histogram.twin("cpu")(*arguments), expected)


@pytest.mark.parametrize("count", [1, 2, 5])
@pytest.mark.parametrize("sums", [0, 1])
def test_large_nodes_are_cut_into_chunks(count: int, sums: int) -> None:
    n_rows = 2 * CHUNK + 1000
    sizes = (n_rows - 500, 3, 400)
    arguments = Case(n_rows=n_rows, n_features=2, sums=sums, sizes=sizes).arguments()
    with threads(count):
        found = histogram.twin("cpu")(*arguments)
    assert_same_bits(found, histogram.reference(*arguments))


# 255 bins and what makes them odd: the number that loops are compiled for.
MANY = {
    "sums": Case(n_rows=9000, n_features=6, n_codes=257, sums=1, sizes=(8500, 300)),
    "weighted sums": Case(9000, 6, 257, sums=1, weighted=True, sizes=(8500, 300)),
    "weighted classes": Case(27_000, 5, 257, classes=3, weighted=True, sizes=(26_000, 300)),
}


@pytest.mark.parametrize("name", MANY)
def test_nodes_of_many_rows_and_codes(name: str) -> None:
    codes, *rest = MANY[name].arguments()
    arguments = (codes.astype(np.uint8), *rest)
    assert_same_bits(histogram.twin("cpu")(*arguments), histogram.reference(*arguments))


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("rows", [300, 40_000])
def test_values_of_few_digits_that_begin_higher_up(weighted: bool, rows: int) -> None:
    """A word a row, flushed several times; and nodes that are too small for that."""
    own = Case(rows, 6, 257, sums=1, weighted=weighted, sizes=(rows - 250, 0, 200))
    codes, order, start, stop, label, weight, sums, *rest = own.arguments()
    short = None if weight is None else (weight >> 30) << 16
    arguments = (codes.astype(np.uint8), order, start, stop, label, short, (sums >> 30) << 19)
    found = histogram.twin("cpu")(*arguments, *rest)
    assert_same_bits(found, histogram.reference(*arguments, *rest))
    compact = compacted(arguments[6], short)
    assert compact is not None
    assert compact.words.size == rows


def _counts_alone(case: Case) -> tuple[Any, ...]:
    codes, rows, start, stop, label, weight, sums, n_codes, planes = case.arguments()
    own = (rows, start, stop, label - np.int32(1), weight, sums)
    return (codes.astype(np.uint8), *own, n_codes, planes - 1, False)


@pytest.mark.parametrize("n_codes", [9, 257])
@pytest.mark.parametrize("classes", [1, 2, 3, 20])
def test_counts_of_classes_alone(classes: int, n_codes: int) -> None:
    n_rows = 8 * n_codes * classes + 500
    own = Case(n_rows, 6, n_codes, classes=classes, sizes=(n_rows - 200, 0, 150))
    arguments = _counts_alone(own)
    assert_same_bits(histogram.twin("cpu")(*arguments), histogram.reference(*arguments))


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("rows", [200, 9000])
def test_counts_of_classes_of_outputs(rows: int, classes: int) -> None:
    arguments = _counts_alone(Case(rows, classes=classes, outputs=2, sizes=(rows - 50, 0, 40)))
    found = histogram.twin("cpu")(*arguments)
    assert found.dtype == np.int32
    assert_same_bits(found, histogram.reference(*arguments))


def test_more_rows_of_a_class_than_sixteen_bits_count() -> None:
    # Of so many classes that so many rows are one task.
    arguments = _counts_alone(Case(70_000, 1, 257, classes=25, sizes=(70_000,), skewed=True))
    arguments[4][:-3] = 1
    found = histogram.twin("cpu")(*arguments)
    assert_same_bits(found, histogram.reference(*arguments))
    assert found[0, 0, 0, 1] > 2**16


@pytest.mark.parametrize("n_sums", [1, 2])
def test_layouts_of_weights_and_sums_do_not_matter(n_sums: int) -> None:
    arguments = Case(n_rows=5000, sums=n_sums, weighted=True, sizes=(4000, 9)).arguments()
    *first, weight, sums, n_codes, n_statistics = arguments
    apart = np.repeat(weight, 2)[::2], np.repeat(sums, 2, axis=1)[:, ::2]
    assert not (apart[0].flags.c_contiguous or apart[1].flags.c_contiguous)
    given: Any = (*first, *apart, n_codes, n_statistics)
    assert_same_bits(histogram.twin("cpu")(*given), histogram.reference(*arguments))


@pytest.mark.parametrize("n_sums", [0, 2])
def test_weights_of_32_bits(n_sums: int) -> None:
    case = Case(n_rows=5000, sums=n_sums, classes=3, weighted=True, sizes=(4000, 900))
    arguments: list[Any] = list(case.arguments())
    arguments[5] = arguments[5] % 1000 + 1
    narrow: list[Any] = [*arguments]
    narrow[5] = arguments[5].astype(np.int32)
    expected = histogram(*arguments)
    for twin in (histogram, histogram.reference):
        assert_same_bits(twin(*narrow), expected)
    compact = compacted(narrow[6], narrow[5])
    assert compact is not None
    given = (*narrow, True, compact)
    assert_same_bits(histogram(*given), expected)
    if n_sums == 0:  # rows have them once
        assert np.shares_memory(compact.fields, narrow[5])


def test_layouts_of_codes_and_labels_do_not_matter() -> None:
    codes, rows, start, stop, label, *rest = replace(CASES["weights"], outputs=2).arguments()
    expected = histogram.reference(codes, rows, start, stop, label, *rest)
    codes, label = np.asfortranarray(codes), np.repeat(label, 2, axis=0)[::2]
    assert_same_bits(histogram.twin("cpu")(codes, rows, start, stop, label, *rest), expected)


def test_pairs_without_a_count() -> None:
    own = Case(n_rows=3000, n_features=5, sums=1, weighted=True, sizes=(2500, 20)).arguments()
    arguments = (*own[:-1], 2, False)
    weight = own[5] >> 10  # hist is int32 without a count
    small = (*own[:5], weight % 100, own[6] % 100, *arguments[7:])
    assert_same_bits(histogram.twin("cpu")(*small), histogram.reference(*small))


def _there(arguments: tuple[Any, ...]) -> tuple[Any, ...]:
    codes, rows, start, stop, *statistics = arguments[:7]
    own = map(on_device, statistics)
    return (on_device(codes), on_device(rows), start, stop, *own, *arguments[7:])


@pytest.mark.parametrize("name", CASES)
def test_cuda_agrees(name: str, cuda: str | int) -> None:
    arguments = CASES[name].arguments()
    found = to_host(histogram.twin("cuda")(*_there(arguments)))
    assert found.dtype == np.int64
    assert_same_bits(found, histogram.reference(*arguments))


# Tiles of every width and kind; several groups of features, chunks and passes; what fits no tile.
TILED = {
    "8 features": Case(n_features=7, sizes=(90, 0, 110)),
    "16 features": Case(n_features=16, sums=1, sizes=(90, 0, 110)),
    "32 features": Case(n_features=25, weighted=True, classes=3, sizes=(200,)),
    "two groups": Case(n_features=45, sizes=(77, 120)),
    "all in one bin": Case(n_features=33, n_rows=500, sizes=(499,), sums=1, skewed=True),
    "wide codes in tiles": Case(n_features=20, n_codes=300, n_rows=700, sizes=(600,)),
    "100 classes": Case(n_features=9, classes=100, n_rows=600, n_codes=5, sizes=(580, 20)),
    "weighted sums": Case(n_features=34, n_rows=300, sums=2, weighted=True, sizes=(290,)),
}


@pytest.mark.parametrize("shared_bytes", [99 * 1024, 4 * 1024])
@pytest.mark.parametrize("name", TILED)
def test_cuda_tiles(name: str, shared_bytes: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(histogram_cuda, "LEAST_CHUNK", 32)
    monkeypatch.setattr(histogram_cuda, "SMALL_CHUNK", 16)
    case = TILED[name]
    arguments = _counts_alone(case) if not case.sums and not case.weighted else case.arguments()
    expected = histogram.reference(*arguments)
    for order in ORDERS:
        with emulated(order, shared_bytes=shared_bytes):
            found = to_host(histogram.twin("cuda")(*_there(arguments)))
        assert found.dtype == expected.dtype
        assert_same_bits(found, expected, str(order))


def _few_digits(case: Case, digits: int) -> tuple[tuple[Any, ...], Compact]:
    """Return arguments whose weights and sums have `digits` bits and begin higher up; and these."""
    codes, order, start, stop, label, weight, sums, *rest = case.arguments()
    few = 40 - digits
    own = (None if weight is None else (weight >> few) << 16, (sums >> few) << 19)
    bits = np.asarray([digits] * case.weighted + [digits + 1] * case.sums)
    lowest = np.asarray([16] * case.weighted + [19] * case.sums)
    nothing = np.empty((0, bits.size), np.int32), np.empty(0, np.int64)
    compact = Compact(nothing[0], bits, nothing[1], lowest, int(case.weighted))
    return (codes, order, start, stop, label, *own, *rest), compact


FEW_DIGITS = {
    "a group": Case(n_features=33, sums=1),
    "columns of two copies": Case(n_features=15, sums=1),
    "outputs": Case(sums=2),
}


@pytest.mark.parametrize("name", FEW_DIGITS)
def test_cuda_tiles_of_few_digits(
    name: str, cuda: str | int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(histogram_cuda, "LEAST_CHUNK", 32)
    large = replace(FEW_DIGITS[name], n_rows=600, n_codes=6, weighted=True, sizes=(90, 0, 400))
    arguments, compact = _few_digits(large, digits=10)
    found = to_host(histogram.twin("cuda")(*[*_there(arguments), True, compact]))
    assert_same_bits(found, histogram.reference(*arguments))


@pytest.mark.cuda_host
@pytest.mark.parametrize(("digits", "passes"), [(14, 1), (15, 3)])
def test_cuda_tiles_of_few_digits_take_less_room(
    digits: int, passes: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    grids = recorded_grids(monkeypatch)
    case = Case(n_rows=600, n_codes=6, sums=1, weighted=True, sizes=(600,))
    arguments, compact = _few_digits(case, digits)
    with emulated(shared_bytes=3 * 6 * 128):  # a count, a weight and a sum of 32 bits each
        histogram.twin("cuda")(*[*_there(arguments), True, compact])
    assert grids == [(1, 1, passes)]


@pytest.mark.cuda_host
def test_cuda_adds_the_largest_task_of_few_digits(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = histogram_cuda.MOST_CHUNK + 5
    monkeypatch.setattr(histogram_cuda, "LEAST_CHUNK", rows)
    largest = 1 << (histogram_cuda.NARROW_BITS - 1)
    case = Case(n_rows=rows, n_features=1, n_codes=2, sums=1, weighted=True, sizes=(rows,))
    (codes, order, start, stop, label, weight, sums, *rest), compact = _few_digits(case, digits=14)
    codes[:], weight[:], sums[:] = 1, (2 * largest - 1) << 16, -largest << 19
    compact = compact._replace(bits=np.array([15, 15]))
    arguments = (codes, order, start, stop, label, weight, sums, *rest)
    with emulated():
        found = to_host(histogram.twin("cuda")(*[*_there(arguments), True, compact]))
    assert_same_bits(found, histogram.reference(*arguments))


@pytest.mark.parametrize("sums", [0, 1])
def test_there_is_room_behind_what_is_built(sums: int, xp: Namespace) -> None:
    arguments = Case(sums=sums).arguments() if sums else _counts_alone(Case())
    rest = (*arguments[4:], True) if sums else arguments[4:]
    own = (*arguments[:4], *rest)
    expected = histogram.reference(*own)
    native = histogram.twin("cpu")(*[*own, None, 3])
    codes, rows, start, stop, label, _, values, *counts = own
    there = (xp.asarray(codes), xp.asarray(rows), start, stop, xp.asarray(label), None)
    whole = histogram.reference(*[*there, xp.asarray(values), *counts, None, 3])
    for each in (native, xp.to_numpy(whole)):
        assert each.shape == (expected.shape[0] + 3, *expected.shape[1:])
        assert_same_bits(each[:-3], expected)


@pytest.mark.parametrize("sizes", [(100, 300), ()])
def test_cuda_leaves_room_and_clears_what_it_builds(
    sizes: tuple[int, ...], cuda: str | int
) -> None:
    arguments = _counts_alone(Case(n_rows=400, sizes=sizes))
    found = to_host(histogram.twin("cuda")(*[*_there(arguments), None, 2]))
    assert found.shape[0] == len(sizes) + 2
    assert_same_bits(found[: len(sizes)], histogram.reference(*arguments))


def test_cuda_reads_any_layout_of_codes(cuda: str | int) -> None:
    arguments = CASES["three classes"].arguments()
    expected = histogram.reference(*arguments)
    codes = arguments[0]
    there = _cuda.platform.device(0)
    pitched = there.pitched(*codes.shape, codes.dtype)
    pitched[...] = on_device(codes)
    column_major = on_device(np.ascontiguousarray(codes.T)).T
    later = on_device(np.concatenate([codes, codes], axis=1))[:, codes.shape[1] :]
    for layout in (pitched, column_major, later):
        found = histogram.twin("cuda")(layout, *_there(arguments)[1:])
        assert_same_bits(to_host(found), expected)


@pytest.mark.cuda_host
def test_cuda_counts_launches_and_not_nodes() -> None:
    sizes = (4000, *[3] * 500, 4000)
    arguments = Case(n_rows=10_000, sizes=sizes).arguments()
    with emulated() as device:
        found = to_host(histogram.twin("cuda")(*_there(arguments)))
        assert device.launches == ["tiles", "direct"]
    assert_same_bits(found, histogram.reference(*arguments))


@pytest.mark.cuda_host
def test_cuda_indices_beyond_two_to_the_31(tmp_path: Path) -> None:
    n_rows, n_nodes, n_codes = 70_000_000, 2_200_000, 500

    def untouched(shape: tuple[int, ...], dtype: Any) -> Any:  # a hole in a file takes no room
        path = tmp_path / f"{len(shape)}{np.dtype(dtype)}"
        return np.memmap(path, dtype, "w+", shape=shape).view(np.ndarray)

    codes, label = untouched((n_rows, 32), np.uint8), untouched((n_rows, 1), np.int32)
    hist = untouched((n_nodes, 1, n_codes, 2), np.int32)
    rows = np.arange(n_rows - 400, n_rows, dtype=np.int32)
    codes[rows, 0], label[rows, 0] = rows % 250, rows % 2
    expected = np.zeros((n_codes, 2), dtype=np.int32)
    np.add.at(expected, (rows % 250, rows % 2), 1)
    with emulated() as device:
        kernels = histogram_cuda._program.on(device, **histogram_cuda.VARIANTS[0])
        table = (strict(codes), np.int64(32), on_device(rows))
        nothing = on_device(np.empty(0, dtype=np.int64))
        sizes = (np.int32(1), np.int32(n_codes), np.int32(2))
        rest = (strict(label), nothing, nothing, *sizes)
        for node, name in ((n_nodes - 1, "tiles"), (n_nodes - 2, "direct")):
            task = on_device(np.array([[node, 0, 400]], dtype=np.int64))
            if name == "tiles":
                own = (*table, task, *rest, *map(np.int32, (1, 0, 0)), strict(hist))
                kernels.launch(name, (1, 1, 2), 64, *own, shared=n_codes * 128)
            else:
                kernels.launch(name, 1, 32, *table, task, np.int32(1), *rest, strict(hist))
            np.testing.assert_array_equal(hist[node, 0], expected, name)


@pytest.mark.skipif(nvrtc.missing() is not None, reason=str(nvrtc.missing()))
@pytest.mark.parametrize("index", range(len(histogram_cuda.VARIANTS)))
def test_cuda_adds_to_shared_memory_natively(index: int) -> None:
    # Those of floats and of 64 bits are loops of compare-and-swap, several times slower.
    options = [f"-D{name}={value}" for name, value in histogram_cuda.VARIANTS[index].items()]
    source = _cuda.source_of("histogram")
    text = nvrtc.compiled(source, (*_cuda.OPTIONS, *options), "compute_80").decode()
    found = set(re.findall(r"\b(?:atom|red)\.shared\.[\w.]+", text))
    assert found == {"atom.shared.add.u32"}
    assert "atom.global.cas" not in text

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pytest
from array_api_compat import is_torch_namespace
from numpy.typing import NDArray

from tests.bits import assert_same_bits
from tests.conftest import Namespace
from vtree_kernels._threads import threads
from vtree_kernels.histogram import histogram
from vtree_kernels.histogram.cpu import CHUNK, batches, chunks


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


def test_layouts_of_codes_and_labels_do_not_matter() -> None:
    codes, rows, start, stop, label, *rest = replace(CASES["weights"], outputs=2).arguments()
    expected = histogram.reference(codes, rows, start, stop, label, *rest)
    codes, label = np.asfortranarray(codes), np.repeat(label, 2, axis=0)[::2]
    assert_same_bits(histogram.twin("cpu")(codes, rows, start, stop, label, *rest), expected)


def test_chunks_cover_each_node_once() -> None:
    start = np.array([0, 7, 7, 30])
    stop = np.array([7, 7, 30, 31])
    tasks = chunks(start, stop, 10)
    np.testing.assert_array_equal(tasks[:, 0], [0, 1, 2, 2, 2, 3])
    np.testing.assert_array_equal(tasks[:, 1], [0, 7, 7, 17, 27, 30])
    np.testing.assert_array_equal(tasks[:, 2], [7, 7, 17, 27, 30, 31])
    np.testing.assert_array_equal(tasks[:, 3], [-1, -1, -1, 0, 1, -1])
    borders = batches(tasks, 12)
    assert borders[0] == 0
    assert borders[-1] == len(tasks)
    assert (np.diff(borders) > 0).all()

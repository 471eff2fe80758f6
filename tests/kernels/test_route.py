from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from array_api_compat import is_torch_namespace
from numpy.typing import NDArray

from tests.bits import assert_same_bits
from tests.conftest import Namespace
from tests.cuda_host.emulation import HostDevice, emulated, on_device, strict, to_host
from vtree_kernels._threads import threads
from vtree_kernels.partition.cpu import CHUNK
from vtree_kernels.route import route


@dataclass(frozen=True)
class Case:
    n_rows: int = 200
    n_codes: int = 9
    # (rows before the node, rows of the node) one after another
    segments: tuple[tuple[int, int], ...] = ((3, 40), (0, 0), (10, 25), (0, 1), (5, 60))
    kinds: tuple[int, ...] = (0, 1, 2)
    n_children: int = 2
    skewed: bool = False

    def arguments(self) -> tuple[Any, ...]:
        draw = np.random.default_rng(self.n_rows + self.n_codes)
        codes = draw.integers(0, 2 if self.skewed else self.n_codes, (self.n_rows, 3))
        codes = codes.astype(np.uint8 if self.n_codes <= 256 else np.uint16)
        rows = draw.permutation(self.n_rows).astype(np.int32)
        lengths = np.asarray(self.segments, dtype=np.int64).reshape(-1)
        ends = np.cumsum(lengths)
        n_nodes = len(self.segments)
        kind = draw.choice(self.kinds, n_nodes).astype(np.int8)
        bin = draw.integers(0, self.n_codes, n_nodes).astype(np.int32)
        missing_child = draw.integers(0, self.n_children, n_nodes).astype(np.int32)
        map_offset = np.where(kind > 0, np.cumsum(kind > 0) - 1, -1) * self.n_codes
        map_offset = np.where(kind > 0, map_offset, -1).astype(np.int64)
        size = int((kind > 0).sum()) * self.n_codes
        branch_map = draw.integers(0, self.n_children, size)
        branch_map = branch_map.astype(np.uint8 if self.n_children <= 256 else np.uint16)
        column = draw.integers(0, 3, n_nodes)
        rule = (column, kind, bin, missing_child, map_offset, branch_map, self.n_children)
        return (rows, ends[::2], ends[1::2], codes, *rule)


CASES = {
    "all kinds": Case(),
    "thresholds": Case(kinds=(0,)),
    "missing values apart": Case(kinds=(0, 2), n_children=3),
    "multiway": Case(kinds=(2,), n_children=5),
    "many children": Case(kinds=(2,), n_children=256, n_codes=700),
    "children of 16 bits": Case(kinds=(0, 2), n_children=600, n_codes=700),
    "wide codes": Case(n_codes=1000),
    "one bin": Case(skewed=True),
    "one row": Case(n_rows=1, segments=((0, 1),)),
    "whole table": Case(segments=((0, 200),)),
    "empty nodes": Case(segments=((3, 0), (4, 0))),
    "one row each": Case(segments=((0, 1), (1, 1)) * 60),
    "no nodes": Case(segments=()),
    "no rows": Case(n_rows=0, segments=((0, 0),)),
}


def _definition(arguments: tuple[Any, ...]) -> NDArray[np.int32]:
    rows, start, stop, codes, column, kind, bin, missing, offset, table, n_children = arguments
    out: NDArray[np.int32] = rows.copy()
    for node in range(start.size):
        children: list[list[int]] = [[] for _ in range(n_children)]
        for row in rows[start[node] : stop[node]]:
            code = int(codes[row, column[node]])
            mapped = table[offset[node] + code] if kind[node] > 0 else int(code > bin[node])
            children[missing[node] if code == 0 else mapped].append(row)
        out[start[node] : stop[node]] = [row for child in children for row in child]
    return out


@pytest.mark.parametrize("name", CASES)
def test_twins_and_definition_agree(name: str, xp: Namespace) -> None:
    arguments = CASES[name].arguments()
    expected = _definition(arguments)
    rows, start, stop, codes, *rule = arguments
    if codes.dtype == np.uint16 and is_torch_namespace(xp.xp):
        codes = codes.astype(np.int32)
    own = route.reference(xp.asarray(rows), start, stop, xp.asarray(codes), *rule)
    assert own.dtype == xp.xp.int32
    assert_same_bits(xp.to_numpy(own), expected)
    twin: Any = route.twin("cpu")
    native = twin(*arguments)
    assert native.dtype == np.int32
    assert_same_bits(native, expected)
    assert_same_bits(rows, CASES[name].arguments()[0], "the caller's rows")
    assert_same_bits(twin(rows.copy(), *arguments[1:], overwrite=True), expected)


@pytest.mark.parametrize("missing", [0, 1, 2])
@pytest.mark.parametrize("cut", [0, 1, 254, 255])
@pytest.mark.parametrize("order", ["C", "F"])
def test_any_cut_and_side_of_missing_values(cut: int, missing: int, order: Any) -> None:
    codes = np.array([[0, 1, 2, 254, 255] * 4], dtype=np.uint8, order=order).T
    rows, ends = np.arange(20, dtype=np.int32), (np.array([0]), np.array([20]))
    rule = [np.array([each]) for each in (0, 0, cut, missing, -1)]
    n_children = 3 if missing == 2 else 2
    arguments: Any = (rows, *ends, codes, *rule, np.empty(0, np.uint8), n_children)
    assert_same_bits(route.twin("cpu")(*arguments), _definition(arguments))
    assert_same_bits(route.reference(*arguments), _definition(arguments))


@pytest.mark.parametrize("n_children", [2, 3])
@pytest.mark.parametrize("count", [1, 3])
def test_large_nodes_keep_the_order_of_rows(count: int, n_children: int) -> None:
    n_rows = 5 * CHUNK
    segments = ((100, 3 * CHUNK + 17), (0, 5), (1, CHUNK + 1))
    kinds = (2,) if n_children == 3 else (0, 2)
    given = Case(n_rows=n_rows, segments=segments, n_children=n_children, kinds=kinds).arguments()
    before = given[0].copy()
    twin: Any = route.twin("cpu")
    with threads(count):
        rows = twin(*given)
        own = twin(given[0].copy(), *given[1:], overwrite=True)
    assert_same_bits(rows, route.reference(*given))
    assert_same_bits(given[0], before, "the caller's rows")
    assert_same_bits(own, rows)


@pytest.mark.parametrize("name", CASES)
@pytest.mark.usefixtures("cuda")
def test_cuda_agrees(name: str) -> None:
    rows, start, stop, codes, *rule = CASES[name].arguments()
    expected = route.reference(rows, start, stop, codes, *rule)
    own = route.twin("cuda")(on_device(rows), start, stop, on_device(codes), *rule)
    assert_same_bits(to_host(own), expected)


@pytest.mark.parametrize("layout", ["pitched", "fortran", "reversed"])
@pytest.mark.usefixtures("cuda")
def test_cuda_takes_any_layout_of_codes(layout: str) -> None:
    rows, start, stop, codes, *rule = CASES["all kinds"].arguments()
    expected = route.reference(rows, start, stop, codes, *rule)
    own = {
        "pitched": lambda: on_device(np.pad(codes, ((0, 0), (2, 7))))[:, 2:-7],
        "fortran": lambda: on_device(np.ascontiguousarray(codes.T)).T,
        "reversed": lambda: on_device(np.ascontiguousarray(codes[::-1, ::-1]))[::-1, ::-1],
    }[layout]()
    assert_same_bits(
        to_host(route.twin("cuda")(on_device(rows), start, stop, own, *rule)), expected
    )


@pytest.mark.cuda_host
def test_cuda_reads_codes_beyond_two_to_the_31(tmp_path: Path) -> None:
    n_rows, n_columns = 70_000, 2**16
    codes = np.memmap(tmp_path / "codes", np.uint8, "w+", shape=(n_rows, n_columns))  # sparse
    codes[[1, 40_000, n_rows - 1], n_columns - 1] = [9, 9, 9]
    rows = np.array([1, n_rows - 1, 2, 40_000, 40_001], dtype=np.int32)
    own = (np.array([n_columns - 1]), np.zeros(1, np.int8), np.array([5], np.int32))
    rule = (*own, np.zeros(1, np.int32), np.array([-1]), np.empty(0, np.uint8), 2)
    with emulated():
        arguments = (on_device(rows), np.array([0]), np.array([5]), strict(codes), *rule)
        found = to_host(route.twin("cuda")(*arguments))
    assert found.tolist() == [2, 40_001, 1, n_rows - 1, 40_000]


@pytest.mark.cuda_host
def test_cuda_waits_for_nothing_and_launches_by_stage(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(HostDevice, "download")
    for name in ("one row", "all kinds", "one row each"):
        rows, start, stop, codes, *rule = CASES[name].arguments()
        with emulated() as device:
            route.twin("cuda")(on_device(rows), start, stop, on_device(codes), *rule)
            assert device.launches == ["decide", "mark", "add_up", "move"]

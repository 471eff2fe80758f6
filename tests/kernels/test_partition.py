from typing import Any

import hypothesis
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from tests.bits import assert_same_bits
from tests.conftest import Namespace
from tests.cuda_host.emulation import emulated, on_device, to_host
from vtree_kernels._cuda import device_of
from vtree_kernels._threads import threads
from vtree_kernels.partition import cuda, partition
from vtree_kernels.partition.cpu import CHUNK
from vtree_kernels.partition.cuda import TILE

# (rows before the node, rows of the node) one after another; number of children
CASES: dict[str, tuple[tuple[tuple[int, int], ...], int]] = {
    "several": (((3, 40), (0, 0), (10, 25), (0, 1), (5, 60)), 2),
    "many children": (((1, 90), (0, 100)), 256),
    "one child": (((2, 50),), 1),
    "one row": (((0, 1),), 3),
    "empty nodes": (((3, 0), (4, 0)), 2),
    "no nodes": ((), 2),
    "empty between": (((0, 7), (0, 0), (0, 0), (0, 9)), 2),
    "one row each": (((0, 1),) * 70, 3),
    "thousands of nodes": (((0, 1), (1, 2)) * 1100, 2),
    "borders of a tile": (((0, TILE - 1), (1, 1), (0, TILE), (0, 33)), 2),
    "ends with a tile": (((5, 2 * TILE - 9),), 5),
    "large": (((100, 3 * CHUNK + 17), (0, 5), (1, CHUNK + 1)), 3),
}


def _arguments(name: str) -> tuple[Any, ...]:
    segments, n_children = CASES[name]
    draw = np.random.default_rng(len(segments))
    ends = np.cumsum(np.asarray(segments, dtype=np.int64).reshape(-1))
    n_rows = int(ends[-1]) + 4 if ends.size else 6
    rows = draw.permutation(n_rows).astype(np.int32)
    child = draw.integers(0, n_children, n_rows).astype(np.uint8)
    return rows, ends[::2], ends[1::2], child, n_children


def _definition(arguments: tuple[Any, ...]) -> NDArray[np.int32]:
    rows, start, stop, child, n_children = arguments
    out: NDArray[np.int32] = rows.copy()
    for first, last in zip(start, stop, strict=True):
        own, to = rows[first:last], child[first:last]
        out[first:last] = np.concatenate([own[to == c] for c in range(n_children)])
    return out


@pytest.mark.parametrize("name", CASES)
def test_twins_and_definition_agree(name: str, xp: Namespace) -> None:
    arguments = _arguments(name)
    expected = _definition(arguments)
    rows, start, stop, child, n_children = arguments
    own = partition.reference(xp.asarray(rows), start, stop, xp.asarray(child), n_children)
    assert own.dtype == xp.xp.int32
    assert_same_bits(xp.to_numpy(own), expected)
    for count in (1, 3):
        with threads(count):
            native = partition.twin("cpu")(*arguments)
        assert native.dtype == np.int32
        assert_same_bits(native, expected)
    assert_same_bits(arguments[0], _arguments(name)[0], "the caller's rows")


@pytest.mark.parametrize("name", CASES)
@pytest.mark.usefixtures("cuda")
def test_cuda_agrees(name: str) -> None:
    rows, start, stop, child, n_children = _arguments(name)
    expected = partition.reference(rows, start, stop, child, n_children)
    arguments = (on_device(rows), start, stop, on_device(child), n_children)
    assert_same_bits(to_host(partition.twin("cuda")(*arguments)), expected)
    assert_same_bits(to_host(arguments[0]), rows, "the caller's rows")


@pytest.mark.cuda_host
@hypothesis.settings(max_examples=40)
@given(
    st.lists(st.tuples(st.integers(0, 40), st.integers(0, 90)), max_size=60),
    st.integers(1, 6),
    st.integers(0, 99),
)
def test_cuda_sorts_any_segments(
    segments: list[tuple[int, int]], n_children: int, seed: int
) -> None:
    ends = np.cumsum(np.asarray(segments, dtype=np.int64).reshape(-1))
    n_rows = int(ends[-1] if ends.size else 0) + seed % 40
    draw = np.random.default_rng(seed)
    rows = draw.permutation(n_rows).astype(np.int32)
    child = draw.integers(0, n_children, n_rows).astype(np.uint8)
    expected = _definition((rows, ends[::2], ends[1::2], child, n_children))
    with emulated(seed):
        own = (on_device(rows), ends[::2], ends[1::2], on_device(child), n_children)
        found = to_host(partition.twin("cuda")(*own))
    assert_same_bits(found, expected)


@pytest.mark.usefixtures("cuda")
def test_cuda_adds_up_more_tiles_than_a_block_has_threads() -> None:
    ones = np.random.default_rng(0).integers(0, TILE + 1, 2500)
    ones[7] = 2**40  # a sum beyond 32 bits
    own = on_device(ones)
    kernels = cuda._program.on(device_of(own), TILE=TILE, CHILD="unsigned char")
    kernels.launch("add_up", 1, 1024, own, np.int32(ones.size))
    assert_same_bits(to_host(own), np.cumsum(ones) - ones)


@pytest.mark.cuda_host
@pytest.mark.parametrize(("n_children", "passes"), [(1, 1), (2, 1), (3, 2), (256, 8)])
def test_cuda_launches_go_by_children_and_not_by_nodes(n_children: int, passes: int) -> None:
    child = np.zeros(999, dtype=np.uint8)
    for n_nodes in (1, 300):
        start = 3 * np.arange(n_nodes)
        with emulated() as device:
            rows = on_device(np.arange(999, dtype=np.int32))
            partition.twin("cuda")(rows, start, start + 2, on_device(child), n_children)
        assert device.launches == ["mark", "add_up", "move"] * passes

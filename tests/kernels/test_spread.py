"""What leaves add to raw predictions: in any threads, row by row, as the definition says."""

import numpy as np
import pytest

from tests.bits import assert_same_bits
from tests.cuda_host.emulation import emulated, on_device, to_host
from vtree_kernels._segments import CHUNK
from vtree_kernels._threads import threads
from vtree_kernels.spread import spread


@pytest.mark.parametrize("n_rows", [50, 1, 2 * CHUNK + 500, 5 * CHUNK])
@pytest.mark.parametrize("count", [1, 2, 4])
@pytest.mark.parametrize("n_leaves", [7, 300])
def test_each_row_takes_the_value_of_its_leaf(n_rows: int, count: int, n_leaves: int) -> None:
    draw = np.random.default_rng(n_rows)
    rows = draw.permutation(n_rows).astype(np.int32)
    borders = np.sort(draw.integers(0, rows.size + 1, n_leaves + 1))
    start, stop = borders[:-1], borders[1:]  # some rows belong to no leaf, some leaves to no row
    value, before = draw.normal(size=n_leaves), draw.normal(size=n_rows)
    before[::5] = -0.0
    found, expected = before.copy(), before.copy()
    with threads(count):
        spread(found, rows, start, stop, value)
    spread.reference(expected, rows, start, stop, value)
    assert_same_bits(found, expected)
    flat = before.copy()
    flat[rows[start[0] : stop[-1]]] += np.repeat(value, stop - start)
    assert_same_bits(found, flat)


@pytest.mark.parametrize("n_rows", [1, 50, 3000])
@pytest.mark.parametrize("n_leaves", [0, 7, 300])
def test_cuda_agrees(n_rows: int, n_leaves: int, cuda: str | int) -> None:
    draw = np.random.default_rng(n_rows)
    rows = draw.permutation(n_rows).astype(np.int32)
    borders = np.sort(draw.integers(0, n_rows + 1, n_leaves + 1))
    start, stop = borders[:-1], borders[1:]
    value, before = draw.normal(size=n_leaves), draw.normal(size=n_rows)
    before[::5] = -0.0
    value[:2] = [-0.0, 1e-310][:n_leaves]
    before[1:3] = [5e-324, 1e300][: n_rows - 1]
    found, expected = on_device(before), before.copy()
    spread.twin("cuda")(found, on_device(rows), start, stop, value)
    spread.twin("cpu")(expected, rows, start, stop, value)
    assert_same_bits(to_host(found), expected)


@pytest.mark.cuda_host
def test_cuda_changes_what_lies_in_one_piece_and_nothing_else() -> None:
    ends = np.array([0]), np.array([4])
    with emulated():
        table, rows = on_device(np.zeros((2, 4))), on_device(np.arange(4, dtype=np.int32))
        spread.twin("cuda")(table.T[:, 1], rows, *ends, np.array([0.5]))
        assert to_host(table).tolist() == [[0.0] * 4, [0.5] * 4]
        with pytest.raises(ValueError, match="one piece"):
            spread.twin("cuda")(table[0, ::2], rows, *ends, np.array([0.5]))

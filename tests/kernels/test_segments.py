"""Which segment rows lie in."""

import numpy as np
import pytest

from vtree_kernels._segments import CHUNK, in_turn_pays, segment_of_rows


@pytest.mark.parametrize("n_segments", [1, 255, 256, 70_000])
def test_each_row_knows_its_segment(n_segments: int) -> None:
    n_rows = 5 * CHUNK
    draw = np.random.default_rng(n_segments)
    rows = draw.permutation(n_rows).astype(np.int32)
    borders = np.sort(draw.integers(0, n_rows // 10, n_segments + 1))
    borders[-1] = n_rows - 1  # one row is in none
    start, stop = borders[:-1], borders[1:]
    assert in_turn_pays(n_rows, start, stop) == (n_segments < 70_000)
    assert not in_turn_pays(3 * n_rows, start, stop)  # few of its rows
    assert not in_turn_pays(1000, np.array([0]), np.array([1000]))
    if n_segments == 70_000:
        return
    found = segment_of_rows(rows, start, stop, n_rows)
    expected = np.full(n_rows, n_segments)
    inside = rows[start[0] : stop[-1]]
    expected[inside] = np.repeat(np.arange(n_segments), stop - start)
    np.testing.assert_array_equal(found, expected)

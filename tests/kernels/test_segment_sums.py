"""Sums of segments: in any threads, whole number by whole number, as the definition says."""

from typing import Any

import numpy as np
import pytest

from tests.bits import assert_same_bits
from vtree_kernels._segments import CHUNK
from vtree_kernels._threads import threads
from vtree_kernels.segment_sums import segment_sums


@pytest.mark.parametrize("n_rows", [50, 1, 2 * CHUNK + 500, 5 * CHUNK])
@pytest.mark.parametrize("width", [1, 2, 3])
@pytest.mark.parametrize("kind", [np.int32, np.int64])
def test_twins_and_definition_agree(n_rows: int, width: int, kind: Any) -> None:
    draw = np.random.default_rng(n_rows + width)
    values = draw.integers(-(1 << 30), 1 << 30, (n_rows, width)).astype(kind)
    rows = draw.permutation(n_rows).astype(np.int32)
    n_segments = 300 if width == 2 else 6
    borders = np.sort(np.append(draw.integers(0, n_rows + 1, n_segments), [n_rows, n_rows]))
    start, stop = borders[:-1], borders[1:]  # some are empty, some rows are in none
    expected = [
        values[rows[a:z]].sum(axis=0, dtype=np.int64) for a, z in zip(start, stop, strict=True)
    ]
    for count in (1, 2, 4):
        with threads(count):
            found = segment_sums.twin("cpu")(values, rows, start, stop)
        assert_same_bits(found, np.asarray(expected))
    assert_same_bits(np.asarray(segment_sums.reference(values, rows, start, stop)), found)


def test_no_segments() -> None:
    none = np.zeros(0, dtype=np.int64)
    values, rows = np.ones((3, 2), dtype=np.int32), np.arange(3, dtype=np.int32)
    assert segment_sums.twin("cpu")(values, rows, none, none).shape == (0, 2)

"""Sums of segments: in any threads, whole number by whole number, as the definition says."""

from typing import Any

import numpy as np
import pytest

from tests.bits import assert_same_bits
from tests.cuda_host.emulation import on_device, to_host
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


@pytest.mark.parametrize("n_rows", [1, 50, 3000])
@pytest.mark.parametrize("width", [1, 2, 3])
@pytest.mark.parametrize("kind", [np.int32, np.int64])
@pytest.mark.parametrize("n_segments", [0, 1, 7, 300])
def test_cuda_agrees(n_rows: int, width: int, kind: Any, n_segments: int, cuda: str | int) -> None:
    draw = np.random.default_rng(n_rows + width)
    size = 1 << (31 if kind is np.int32 else 50)  # sums of the former need more than 32 bits
    values = draw.integers(-size, size, (n_rows, width)).astype(kind)
    rows = draw.permutation(n_rows).astype(np.int32)
    borders = np.sort(draw.integers(0, n_rows + 1, n_segments + 1))
    borders[-1:] = n_rows  # as large a segment as there may be, and empty ones
    given = borders[:-1], borders[1:]
    found = segment_sums.twin("cuda")(on_device(values), on_device(rows), *given)
    assert_same_bits(to_host(found), segment_sums.twin("cpu")(values, rows, *given))

"""Packed words read by row: the numbers that they were made of."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.bits import assert_same_bits
from vtree.criteria import REGRESSION
from vtree.targets import real_targets
from vtree_kernels._threads import threads
from vtree_kernels.histogram import Compact, histogram, packed_sums, unpacked
from vtree_kernels.histogram import cpu as histogram_cpu
from vtree_kernels.scan import Limits
from vtree_kernels.search import search

N = 70_000  # more than two tasks


def _words(n_sums: int, weighted: bool, counted: bool) -> tuple[Any, Any, Compact]:
    """Return (weight, sums, their words); the extremes of each are among them."""
    draw = np.random.default_rng(n_sums + 2 * weighted)
    weight = draw.integers(0, 1 << 9, N) << 4 if weighted else None
    if weight is not None:
        weight[:2] = 0, 511 << 4
    sums = draw.integers(-(1 << 8), 1 << 8, (N, n_sums)) << np.arange(1, n_sums + 1)
    sums[:2] = np.array([[-256], [255]]) << np.arange(1, n_sums + 1)
    compact = histogram_cpu.compacted(sums, weight, counted)
    assert compact is not None
    assert compact.packed
    return weight, sums, compact


CASES = [(1, False, True), (1, True, True), (1, True, False), (2, False, True), (2, False, False)]


@pytest.mark.parametrize(("n_sums", "weighted", "counted"), CASES)
def test_words_are_read_back(n_sums: int, weighted: bool, counted: bool) -> None:
    weight, sums, compact = _words(n_sums, weighted, counted)
    expected = np.concatenate([sums.T] if weight is None else [weight[None], sums.T])
    assert_same_bits(unpacked(compact, slice(None), counted), expected)
    rows = np.random.default_rng(0).permutation(N)[:999]
    assert_same_bits(unpacked(compact, rows, counted), np.ascontiguousarray(expected[:, rows]))


@pytest.mark.parametrize("count", [1, 2])
@pytest.mark.parametrize(("n_sums", "weighted", "counted"), CASES)
def test_sums_of_segments(n_sums: int, weighted: bool, counted: bool, count: int) -> None:
    _, _, compact = _words(n_sums, weighted, counted)
    rows = np.random.default_rng(1).permutation(N).astype(np.int32)
    start, stop = np.array([0, 10, 69_000]), np.array([7, 68_000, 69_001])
    values = unpacked(compact, rows, counted)
    expected = [values[:, a:z].sum(axis=1) for a, z in zip(start, stop, strict=True)]
    for call in (packed_sums.reference, packed_sums.twin("cpu")):
        with threads(count):
            found = call(rows, start, stop, compact, counted)
        np.testing.assert_array_equal(found, expected)
        assert found.dtype == np.int64


@pytest.mark.parametrize(("n_sums", "weighted", "counted"), CASES)
def test_sums_of_rows_that_all_have_the_most(n_sums: int, weighted: bool, counted: bool) -> None:
    _, _, compact = _words(n_sums, weighted, counted)
    rows = np.repeat(np.arange(2, dtype=np.int32), N)  # row 0 is the smallest, row 1 the largest
    ends = np.array([0, N]), np.array([N, 2 * N])
    found = packed_sums.twin("cpu")(rows, *ends, compact, counted)
    expected = N * unpacked(compact, slice(0, 2), counted).T
    np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("weighted", [False, True])
def test_kernels_need_nothing_but_the_words(weighted: bool) -> None:
    """Histograms of nodes of many and few rows, and the search of the latter."""
    weight, sums, compact = _words(1, weighted, True)
    draw = np.random.default_rng(2)
    codes = draw.integers(0, 257, (N, 5)).astype(np.uint16)
    rows = draw.permutation(N).astype(np.int32)
    start, stop = np.array([0, 60_000, 60_200]), np.array([60_000, 60_200, 60_201])
    layout = real_targets(np.arange(5.0)[:, None], np.arange(1.0, 6.0) if weighted else None).layout
    label, none = np.empty((N, 0), np.int32), np.empty((N, 0), np.int64)
    planes = layout.n_stored
    expected = histogram.reference(
        codes, rows, start, stop, label, weight, sums, 257, planes, True, None
    )
    found = histogram.twin("cpu")(
        codes, rows, start, stop, label, None, none, 257, planes, True, compact
    )
    assert_same_bits(found, expected)
    total = expected[:, 0].sum(axis=1)
    bound = np.full(3, np.inf)
    rest = (257, total, None, -bound, bound, Limits(), REGRESSION["squared_error"].gain, layout)
    apart = search.twin("cpu")(codes, rows, start, stop, label, weight, sums, *rest)
    packed = search.twin("cpu")(codes, rows, start, stop, label, None, none, *rest, compact)
    for own, other in zip(packed, apart, strict=True):
        assert_same_bits(own, other)

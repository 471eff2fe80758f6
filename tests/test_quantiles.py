"""Edges of bins: as many as are asked for, even ones or smaller near both ends."""

import numpy as np
import pytest
from numpy.typing import NDArray

from vtree.quantiles import quantile_edges


def _counts(
    x: NDArray[np.float64], max_bins: int, weight: NDArray[np.int64] | None = None
) -> NDArray[np.int64]:
    """Return how many of the sorted values lie in each bin."""
    edges = quantile_edges(x, weight, max_bins)
    return np.bincount(np.searchsorted(edges, x), minlength=edges.size + 1)


@pytest.mark.parametrize("max_bins", [3, 255, 256, 257, 1_023, 9_999])
@pytest.mark.parametrize("n_rows", [300, 1_025, 10_000, 60_000])
def test_there_are_as_many_bins_as_asked_for(n_rows: int, max_bins: int) -> None:
    max_bins = min(max_bins, n_rows - 1)
    counts = _counts(np.arange(n_rows + 0.0), max_bins)
    assert counts.size == max_bins and (counts > 0).all()
    assert (abs(counts - counts[::-1]) <= 1).all()  # both ends alike
    if max_bins <= 255:
        assert counts.max() - counts.min() <= 1


def test_of_many_bins_those_near_the_ends_hold_a_share_of_what_lies_beyond() -> None:
    counts = _counts(np.arange(100_000.0), 1_023)
    beyond = np.cumsum(counts)
    assert counts[0] == 1
    assert (counts[1:512] <= np.maximum(1.0, beyond[:511] / 25.0)).all()
    assert counts.max() <= 1.4 * 100_000 / 1_023


def test_weights_of_any_size_leave_bins_for_the_middle() -> None:
    random = np.random.default_rng(2)
    counts = _counts(np.arange(5_000.0), 1_023, random.integers(2**30, 2**40, 5_000))
    assert counts.size > 750 and counts.max() <= 20

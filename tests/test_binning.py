import math
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from tests.bits import assert_same_bits
from tests.conftest import Namespace
from vtree import binning
from vtree.binning import Bins, beside, bin_table, by_column, midpoints, spread, with_columns
from vtree.errors import InputError

number = st.one_of(
    st.floats(allow_nan=False), st.sampled_from([0.0, -0.0, 1.0, 2.0, 5e-324, math.inf])
)


def _bins(X: Any, levels: list[int] | None = None, **options: Any) -> Bins:
    return bin_table(X, np.array(levels or [-1] * X.shape[1]), **options)


def _codes(bins: Bins) -> NDArray[np.int64]:
    codes = np.empty((bins.n_rows, bins.n_bins.size), dtype=np.int64)
    for group in bins.groups:
        codes[:, group.features] = np.asarray(group.codes)
    return codes


def _table(n_rows: int = 400) -> NDArray[np.float64]:
    random = np.random.default_rng(0)
    X = random.normal(size=(n_rows, 5))
    X[:, 1] = np.round(X[:, 1], 1)
    X[:, 2] = random.integers(0, 7, n_rows)
    X[:, 3] = np.nan
    X[random.random(X.shape) < 0.1] = np.nan
    return X


LEVELS = [-1, -1, 7, -1, -1]


@given(number, number)
def test_a_midpoint_parts_its_neighbours(one: float, other: float) -> None:
    low, high = sorted([one + 0.0, other + 0.0])
    if low < high:
        middle = midpoints(np.array([low]), np.array([high]))[0]
        assert low <= middle < high


@given(st.lists(number, min_size=1, max_size=40), st.sampled_from([None, 2, 3, 255]))
def test_equal_values_share_a_bin_and_larger_ones_never_a_lower(
    column: list[float], max_bins: int | None
) -> None:
    x = np.array([*column, np.nan])
    bins = _bins(x[:, None], max_bins=max_bins)
    codes = _codes(bins)[:, 0]
    assert codes[-1] == 0
    order = np.argsort(x[:-1], kind="stable")
    steps = np.diff(x[:-1][order] + 0.0) if np.isfinite(x[:-1]).all() else None
    in_order = codes[:-1][order]
    assert (np.diff(in_order) >= 0).all()
    assert in_order[0] >= 1
    assert bins.n_bins[0] <= min(max_bins or 99, np.unique(x[:-1] + 0.0).size)
    if steps is not None:
        assert (np.diff(in_order)[steps == 0.0] == 0).all()


@given(st.lists(number, min_size=1, max_size=40))
def test_few_distinct_values_get_a_bin_each(column: list[float]) -> None:
    x = np.array(column)
    bins = _bins(x[:, None])
    distinct = bins.distinct[0]
    assert distinct is not None
    np.testing.assert_array_equal(distinct, np.unique(x + 0.0))
    np.testing.assert_array_equal(distinct[_codes(bins)[:, 0] - 1], x)


def test_quantile_bins_have_near_equal_shares() -> None:
    x = np.random.default_rng(1).normal(size=(10_000, 1))
    counts = np.bincount(_codes(_bins(x, max_bins=8))[:, 0])[1:]
    np.testing.assert_array_equal(counts, np.full(8, 1250))
    heavy = np.where(np.arange(10_000)[:, None] < 4000, 0.0, x)
    codes = _codes(_bins(heavy, max_bins=8))
    assert np.unique(codes[heavy == 0.0]).size == 1
    assert codes.max() == 6


@pytest.mark.parametrize("max_bins", [10, 400])
def test_weights_are_repetitions(max_bins: int) -> None:
    random = np.random.default_rng(2)
    X = np.round(random.normal(size=(1_000, 2)), 3)
    weight = random.integers(1, 5, 1_000)
    weighed = _bins(X, max_bins=max_bins, weight=weight)
    repeated = _bins(np.repeat(X, weight, axis=0), max_bins=max_bins)
    for one, other in zip(weighed.edges, repeated.edges, strict=True):
        assert one.size < np.unique(X).size - 1
        assert_same_bits(one, other)


@pytest.mark.parametrize("max_bins", [None, 20, 300])
def test_every_namespace_gives_the_same_bins(max_bins: int | None, xp: Namespace) -> None:
    X = _table()
    weight = np.random.default_rng(3).integers(1, 9, len(X))
    expected = _bins(X, LEVELS, max_bins=max_bins, weight=weight)
    found = _bins(xp.asarray(X), LEVELS, max_bins=max_bins, weight=weight)
    for one, other in zip(found.edges, expected.edges, strict=True):
        assert_same_bits(one, other)
    np.testing.assert_array_equal(_codes(found), _codes(expected))
    np.testing.assert_array_equal(found.n_bins, expected.n_bins)


def test_levels_and_missing_values_have_fixed_codes() -> None:
    X = _table()
    bins = _bins(X, LEVELS)
    codes = _codes(bins)
    np.testing.assert_array_equal(codes == 0, np.isnan(X))
    known = ~np.isnan(X[:, 2])
    np.testing.assert_array_equal(codes[known, 2], X[known, 2] + 1)
    assert bins.n_bins.tolist()[2:4] == [7, 1]
    assert bins.is_categorical.tolist() == [False, False, True, False, False]


def test_groups_hold_each_feature_once_and_alike() -> None:
    random = np.random.default_rng(4)
    X = np.stack([np.round(random.normal(size=3000), d) for d in (0, 1, 2, 9)], axis=1)
    X = np.concatenate([X, random.integers(0, 3, (3000, 2))], axis=1)
    bins = _bins(X, [-1, -1, -1, -1, 3, 20], max_bins=None)
    features = np.concatenate([group.features for group in bins.groups])
    assert sorted(features.tolist()) == list(range(6))
    for group in bins.groups:
        assert (bins.is_categorical[group.features] == group.categorical).all()
        needed = bins.n_bins[group.features].max() + 1
        assert group.n_codes == needed if group.categorical else group.n_codes == needed | 1
        assert np.asarray(group.codes).dtype == (np.uint8 if needed <= 256 else np.uint16)
    by_feature = {feature: g for g, group in enumerate(bins.groups) for feature in group.features}
    assert by_feature[4] != by_feature[5]  # so that all subsets of the three levels are tried


def test_more_values_than_codes_is_an_error_that_names_the_feature() -> None:
    X = np.stack([np.zeros(65_540), np.arange(65_540.0)], axis=1)
    with pytest.raises(InputError, match=r"'age' has 65,540 of them and the limit is 65,535"):
        _bins(X, max_bins=None, names=("sex", "age"))
    with pytest.raises(InputError, match="'column 1'"):
        _bins(X, max_bins=None)
    assert _bins(X[5:], max_bins=None).n_bins[1] == 65_535


def test_no_silent_quantiles_where_one_heavy_value_leaves_few_of_them() -> None:
    x = np.concatenate([np.zeros(200_000), np.arange(70_000.0)])[:, None]
    with pytest.raises(InputError, match=r"has 70,000 of them"):
        _bins(x, max_bins=None)


class TestSampled:
    """Above so many rows, edges come from a sample of them."""

    @pytest.fixture(autouse=True)
    def small_sample(self) -> Iterator[None]:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(binning, "SAMPLE_ROWS", 500)
            yield

    def test_few_values_are_exact_all_the_same(self, xp: Namespace) -> None:
        X = np.zeros((5000, 4))
        X[:, 1] = np.arange(5000) % 7
        X[4321, 2] = 1.0  # a value that the sample may miss
        X[:, 3] = np.nan
        bins = _bins(xp.asarray(X))
        assert bins.n_bins.tolist() == [1, 7, 2, 1]
        assert _codes(bins)[4321, 2] == 2

    def test_edges_come_from_near_the_quantiles(self, xp: Namespace) -> None:
        x = np.random.default_rng(5).random((20_000, 1))
        bins = _bins(xp.asarray(x), max_bins=4)
        np.testing.assert_allclose(bins.edges[0], [0.25, 0.5, 0.75], atol=0.1)
        assert bins.distinct[0] is None


def test_bins_of_some_columns_and_of_two_tables() -> None:
    X = np.array([[1.0, 5.0], [2.0, 6.0], [2.0, np.nan]])
    part = bin_table(X, np.array([-1, -1]))
    wide = spread(part, np.array([1, 3]), 5)
    assert wide.n_bins.tolist() == [1, 2, 1, 2, 1]
    assert wide.groups[0].features.tolist() == [1, 3]
    assert wide.edges[3].tolist() == [5.5]
    assert wide.distinct[0] is None
    levels = bin_table(np.array([[0.0], [1.0], [2.0]]), np.array([3]))
    both = beside(wide, levels)
    assert both.n_bins.tolist() == [1, 2, 1, 2, 1, 3]
    assert both.is_categorical.tolist() == [False] * 5 + [True]
    assert [group.features.tolist() for group in both.groups] == [[1, 3], [5]]
    assert both.groups[1].codes[:, 0].tolist() == [1, 2, 3]


@pytest.mark.parametrize("n_rows", [0, 1, 20_000])
def test_codes_by_column_are_those_of_their_rows(n_rows: int) -> None:
    X = np.random.default_rng(0).normal(size=(20_000, 3))[:n_rows]
    (group,) = with_columns(bin_table(X, np.zeros(3, dtype=np.int64))).groups
    assert group.by_column is not None and group.by_column.flags.f_contiguous
    np.testing.assert_array_equal(group.by_column, group.codes)
    assert by_column(group.by_column) is group.by_column
    assert group.of(group.codes[: n_rows // 2]).by_column is None

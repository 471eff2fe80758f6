from typing import Any

import numpy as np
import pytest

from tests.conftest import Namespace
from vtree.binning import beside, bin_at, bin_table
from vtree.ensembles.folds import Fold, Ordering, narrow_together, planted, prefix_fold, prefixes
from vtree.ensembles.target_statistics import Kind, Prior, rows_of

NUMBERS = np.array([-1])


def _fold(n_rows: int) -> Fold:
    X = np.arange(float(n_rows))[:, None]
    order = np.random.default_rng(0).permutation(n_rows)
    return prefix_fold(bin_table(X, NUMBERS), None, order, 1)


@pytest.mark.parametrize("n_rows", [2, 3, 9, 64, 600, 20_000])
def test_prefixes_double_and_leave_rows_to_judge(n_rows: int) -> None:
    sizes = prefixes(n_rows)
    assert sizes[-1] < n_rows <= 2 * sizes[-1]
    assert all(later == 2 * size for size, later in zip(sizes[:-1], sizes[1:], strict=True))
    assert sizes[0] == {600: 12, 20_000: 100}.get(n_rows, 1)


def test_models_judge_rows_that_come_after_those_they_learn_from() -> None:
    fold = _fold(37)
    order = np.random.default_rng(0).permutation(37)
    place = np.empty(37, dtype=np.int64)
    place[order] = np.arange(37)
    roots = fold.roots()
    assert len(roots) == 2 * fold.n_models
    judged = []
    for learners, judges in zip(roots[: fold.n_models], roots[fold.n_models :], strict=True):
        assert place[fold.rows[learners]].max() < place[fold.rows[judges]].min()
        judged += fold.rows[judges].tolist()
    assert sorted(judged) == sorted(order[1:].tolist())  # each but the first, once
    assert [own.tolist() for own in _fold(2).roots()] == [[0], [1]]
    codes = fold.bins.groups[0].codes[:, 0]
    np.testing.assert_array_equal(codes, fold.rows + 1)  # the codes of their rows


def _planted(prefix: bool, categories: bool, **own: Any) -> Any:
    X = np.arange(30.0)[:, None]
    sources = None
    if categories:
        keys = (np.arange(30) % 3,)
        sources = rows_of(keys, np.arange(30.0)[:, None], None, 1.0)
    sums = np.zeros((30, 1))
    ordering = Ordering(prefix, **own)
    return planted(bin_table(X, NUMBERS), X, ordering, sources, 5, sums, asked=True), sums


def test_what_shapes_trees_and_what_they_keep() -> None:
    """Without categories plain boosting has one model; orders matter to all others."""
    folds, sums = _planted(prefix=False, categories=False)
    assert folds.every == (folds.last,)
    assert folds.last.sums is sums
    folds, _ = _planted(prefix=True, categories=False)
    assert [fold.whole for fold in folds.every] == [False, False, False, True]
    assert not np.array_equal(folds.shaping[0].rows, folds.shaping[1].rows)
    folds, _ = _planted(prefix=False, categories=True)
    assert [fold.whole for fold in folds.every] == [True] * 4
    statistics = [fold.statistics for fold in folds.every]
    assert not np.array_equal(statistics[0], statistics[3])
    assert folds.last.bins.n_bins[0] == 30
    assert 5 < folds.last.bins.n_bins[1] <= 16
    assert all(fold.bins.edges[1] is folds.last.bins.edges[1] for fold in folds.every)
    codes = [fold.bins.groups[0].codes for fold in folds.every]  # thirty values and statistics
    assert all(np.array_equal(own[:, 0], codes[0][:, 0]) for own in codes)
    assert [fold.bins.groups[0].features.tolist() for fold in folds.every] == [[0, 1]] * 4
    folds, _ = _planted(prefix=True, categories=True, in_time=True)
    assert len(folds.shaping) == 1
    np.testing.assert_array_equal(folds.shaping[0].statistics, folds.last.statistics)
    assert folds.shaping[0].rows[:3].tolist() == [0, 0, 1]  # of models 0 and 1
    folds, _ = _planted(prefix=True, categories=False, permutations=1)
    assert len(folds.every) == 2


def test_shares_are_cut_evenly() -> None:
    """What lies on a border is above it: of fifteen, 1 has a bin of its own."""
    kinds = (Kind((Prior(0.0), Prior(2.0)), even=True), Kind((Prior(0.0),), even=True, borders=3))
    y = (np.arange(40) % 3 > 0).astype(np.float64)[:, None]
    sources = rows_of((np.arange(40) % 2,), y, None, 1.0, kinds)
    X, in_time = np.zeros((40, 1)), Ordering(in_time=True)
    folds = planted(bin_table(X, NUMBERS), X, in_time, sources, 0, np.zeros((40, 1)), asked=True)
    (fold,) = folds.every
    assert fold.bins.n_bins.tolist() == [1, 16, 16, 4]
    codes = np.concatenate([group.codes for group in fold.bins.groups], axis=1)[:, 1:]
    assert fold.statistics is not None
    highest = np.array([1.0, 2.0, 1.0]) / np.array([15, 15, 3])
    expected = np.floor(fold.statistics / highest + 1e-9)
    np.testing.assert_array_equal(codes, expected + 1)
    assert (fold.statistics[:, 0] == 0.4).any()  # 6 / 15


def test_narrow_numbers_of_both_sides_share_a_group(xp: Namespace) -> None:
    first = bin_table(
        xp.asarray(np.stack([np.arange(60.0), np.arange(60) % 3], axis=1)), np.full(2, -1)
    )
    second = bin_at(xp.asarray(np.arange(60.0)[:, None] % 5), (np.array([1.5, 2.5]),))
    both = narrow_together(beside(first, second))
    assert [group.features.tolist() for group in both.groups] == [[1, 2], [0]]
    codes = xp.to_numpy(both.groups[0].codes)
    np.testing.assert_array_equal(codes[:, 0], np.arange(60) % 3 + 1)
    np.testing.assert_array_equal(codes[:, 1], np.array([1, 1, 2, 3, 3])[np.arange(60) % 5])
    assert both.groups[0].n_codes == 5
    assert both.n_bins.tolist() == [60, 3, 3]

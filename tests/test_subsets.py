import itertools
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from tests.bits import assert_same_bits
from tests.conftest import Namespace
from tests.criteria.contract import gain_of
from vtree import subsets
from vtree.criteria.newton import newton
from vtree.subsets import WeightyLevels, subset_splits
from vtree_kernels.scan import Layout, Limits

Integers = NDArray[np.int64]


def _layout(planes: int, regression: bool = False) -> Layout:
    classes = 1 if regression else planes
    return Layout(0, 1, 1, classes, 1 if regression else min(2, planes), 0.0, 1.0, (1.0,))


def _hist(n_levels: int, planes: int, missing: bool, nodes: int = 6) -> tuple[Integers, Integers]:
    """Draw class counts of nodes with one feature, (L, 1, B, S), and the nodes' totals."""
    random = np.random.default_rng(n_levels * 10 + planes)
    counts = random.integers(0, 9, (nodes, 1, n_levels + 1, planes))
    counts[:, :, 1:] *= random.random((nodes, 1, n_levels, 1)) < 0.8  # some levels are absent
    if not missing:
        counts[:, :, 0] = 0
    hist = np.concatenate([counts.sum(axis=3, keepdims=True), counts], axis=3)
    return hist, hist[:, 0].sum(axis=1)


def _best_of_all(hist: Any, total: Any, gain: Any, layout: Layout) -> float:
    """Try every way to part the levels that occur, missing values on either side."""
    present = [code for code in range(1, len(hist)) if hist[code, 0] > 0]
    best = -np.inf
    for size in range(1, len(present) + 1):
        for left_codes in itertools.combinations(present, size):
            for with_missing in (False, True):
                left = hist[list(left_codes)].sum(axis=0) + hist[0] * with_missing
                right = total - left
                if right[0] > 0:
                    score = gain(left[:, None] * 1.0, right[:, None] * 1.0, layout)
                    best = max(best, float(score[0]))
    return best


CASES = [("gini", 2, 8), ("entropy", 2, 5), ("twoing", 2, 6), ("gini", 3, 7), ("entropy", 5, 6)]


@pytest.mark.parametrize("missing", [False, True])
@pytest.mark.parametrize(("name", "classes", "n_levels"), CASES)
def test_no_subset_beats_the_one_found(
    name: str, classes: int, n_levels: int, missing: bool
) -> None:
    hist, total = _hist(n_levels, classes, missing)
    gain, layout = gain_of(name), _layout(classes)
    best, goes_left = subset_splits(hist, total, Limits(), gain, layout)
    for node in range(len(hist)):
        expected = _best_of_all(hist[node, 0], total[node], gain, layout)
        if missing and classes == 2:
            # Prefixes of the order of levels are exact for either way of the missing values.
            assert best.gain[node, 0] == pytest.approx(expected, rel=1e-12)
        assert best.gain[node, 0] == pytest.approx(expected, rel=1e-12)
        left = goes_left[node, 0] == 1
        stats = hist[node, 0][left].sum(axis=0) + hist[node, 0, 0] * best.missing_left[node, 0]
        np.testing.assert_array_equal(best.left[node, 0], stats)
        np.testing.assert_array_equal(
            goes_left[node, 0] == -1, [True, *(hist[node, 0, 1:, 0] == 0)]
        )


def test_means_of_reals_are_cut_in_order() -> None:
    hist, total = _hist(9, 1, missing=False)
    hist[..., 1] = hist[..., 0] * np.random.default_rng(2).integers(-9, 9, hist.shape[:3])
    total = hist[:, 0].sum(axis=1)
    gain, layout = gain_of("squared_error"), _layout(1, regression=True)
    best, _ = subset_splits(hist, total, Limits(), gain, layout)
    for node in range(len(hist)):
        expected = _best_of_all(hist[node, 0], total[node], gain, layout)
        assert best.gain[node, 0] == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize(("classes", "n_levels"), [(2, 6), (2, 30), (3, 5), (4, 30)])
@pytest.mark.parametrize("limits", [Limits(), Limits(min_rows=20), Limits(min_weight=33.5)])
def test_every_namespace_finds_the_same(
    classes: int, n_levels: int, limits: Limits, xp: Namespace
) -> None:
    hist, total = _hist(n_levels, classes, missing=True)
    rest = (limits, gain_of("entropy"), _layout(classes))
    expected, expected_left = subset_splits(hist, total, *rest)
    found, goes_left = subset_splits(xp.asarray(hist), total, *rest)
    assert_same_bits(goes_left, expected_left)
    for field, one, other in zip(found._fields, found, expected, strict=True):
        assert_same_bits(one, other, field)
    chosen = np.isfinite(found.gain)
    assert (found.left[chosen][:, 0] >= limits.min_rows).all()
    assert (found.left[chosen][:, 0] >= limits.min_weight).all()


def test_many_levels_of_many_classes_are_searched_in_the_order_of_each_class() -> None:
    hist, total = _hist(10, 3, missing=False)
    padded = np.concatenate([hist, np.zeros((6, 1, 10, 4), dtype=np.int64)], axis=2)
    gain, layout = gain_of("gini"), _layout(3)
    exact, _ = subset_splits(hist, total, Limits(), gain, layout)
    near, goes_left = subset_splits(padded, total, Limits(), gain, layout)
    assert (near.gain <= exact.gain).all()
    assert (near.gain >= 0.7 * exact.gain).all()
    assert (goes_left[:, :, 11:] == -1).all()


def test_slices_of_nodes_do_not_matter(monkeypatch: pytest.MonkeyPatch) -> None:
    hist, total = _hist(6, 3, missing=True)
    rest = (Limits(), gain_of("gini"), _layout(3))
    expected, expected_left = subset_splits(hist, total, *rest)
    monkeypatch.setattr(subsets, "_SLICE_CELLS", 1)
    found, goes_left = subset_splits(hist, total, *rest)
    assert_same_bits(goes_left, expected_left)
    assert_same_bits(found.left, expected.left)


def test_one_level_can_only_be_parted_from_missing_values() -> None:
    hist = np.array([[[[5, 5, 0], [7, 0, 7]]], [[[0, 0, 0], [7, 3, 4]]]])
    for classes in (2, 3):
        planes = np.concatenate([hist, np.zeros((2, 1, 2, classes - 2), dtype=np.int64)], axis=3)
        total = planes[:, 0].sum(axis=1)
        gain = gain_of("gini")
        best, goes_left = subset_splits(planes, total, Limits(), gain, _layout(classes))
        assert goes_left[0, 0].tolist() == [-1, 1]
        assert not best.missing_left[0, 0]
        assert best.gain[1, 0] == -np.inf


def test_light_levels_stand_between_those_below_and_those_above_zero(xp: Namespace) -> None:
    # Counts and sums of levels 1 … 7; the node has no row of level 5.
    counts, sums = [0, 8, 2, 9, 2, 0, 9, 7], [0, -40, -60, -9, 80, 0, 18, 70]
    hist = np.stack([counts, sums], axis=1)[None, None].astype(np.int64)
    layout = Layout(0, 1, 1, 1, 1, 0.0, 1.0, (1.0, 0.0), 0, 1.0, 0.0)
    given = (hist.sum(axis=(1, 2)), Limits(min_weight=3.0), newton, layout)
    more = (1, np.array([7]))
    best, goes_left = subset_splits(xp.asarray(hist), *given, *more, WeightyLevels())
    # In order 1, 3 | 2, 4, 5 | 6, 7: without the middle, 2 and 4 would be the first and the last.
    total, order = hist.sum(axis=(0, 1, 2)), [1, 3, 2, 4, 5, 6]
    lefts = [hist[0, 0, order[:cut]].sum(axis=0) for cut in range(1, 7)]
    gains = [float(newton(left, total - left, layout)) for left in lefts]
    assert best.gain[0, 0] == max(gains) == gains[2]
    assert goes_left[0, 0].tolist() == [-1, 1, 1, 1, 0, 0, 0, 0]
    by_mean, left = subset_splits(xp.asarray(hist), *given)
    assert by_mean.gain[0, 0] > best.gain[0, 0]
    assert left[0, 0].tolist() == [-1, 1, 1, 1, 0, -1, 1, 0]  # by their means alone
    # The middle of the seven stays together where a side has one level.
    one, goes_left = subset_splits(xp.asarray(hist), *given, *more, WeightyLevels(2))
    ends = [gains[0], gains[5]]
    assert one.gain[0, 0] == max(ends) < best.gain[0, 0]
    assert goes_left[0, 0].sum() in (0, 5)  # a 1 for each on the left, −1 for the missing ones

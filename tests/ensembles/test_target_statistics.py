import numpy as np
import pytest
from numpy.typing import NDArray

from vtree.ensembles.target_statistics import (
    Kind,
    Prior,
    Rows,
    columns_of,
    keys_of,
    learnt,
    of_new_rows,
    of_rows_before,
    prior_of,
    rows_of,
)

CODES = np.array([0, 1, 0, 0, 1, 0])
Y = np.array([1.0, 0.0, 0.0, 1.0, 1.0, 1.0])


def _rows(codes: NDArray[np.int64], y: NDArray[np.float64], weight: object = None) -> Rows:
    whole = None if weight is None else np.asarray(weight, dtype=np.int64)
    return rows_of((codes,), y.reshape(codes.size, -1), whole, 1.0)


def test_the_worked_example() -> None:
    rows = _rows(CODES, Y)
    assert prior_of(rows)[0] == pytest.approx(2 / 3)
    expected = [0.666666667, 0.666666667, 0.833333333, 0.555555556, 0.333333333, 0.666666667]
    found = of_rows_before(rows, np.arange(6))
    np.testing.assert_allclose(found[:, 0], expected, atol=1e-9)
    statistics = learnt(rows, ((0,),))
    new = of_new_rows(statistics, (np.array([0, 1, 2]),))
    np.testing.assert_allclose(new[:, 0], [0.733333333, 0.555555556, 2 / 3], atol=1e-9)


def test_the_order_decides_which_rows_are_earlier() -> None:
    backwards = of_rows_before(_rows(CODES, Y), np.arange(6)[::-1])
    again = of_rows_before(_rows(CODES[::-1], Y[::-1]), np.arange(6))[::-1]
    np.testing.assert_array_equal(backwards, again)
    # The row that comes last of its category has seen all others but itself.
    assert backwards[0, 0] == pytest.approx((2.0 + 2 / 3) / (3 + 1))


def test_a_row_never_sees_its_own_target() -> None:
    random = np.random.default_rng(0)
    codes, y = random.integers(0, 4, 50), random.random(50)
    order = random.permutation(50)
    before = of_rows_before(_rows(codes, y), order)
    swapped = y.copy()
    swapped[order[[20, 49]]] = y[order[[49, 20]]]  # so that the mean stays
    after = of_rows_before(_rows(codes, swapped), order)
    np.testing.assert_allclose(after[order[:21]], before[order[:21]], rtol=1e-12)


def test_a_weight_is_that_many_rows_that_share_a_place() -> None:
    weighted = learnt(_rows(CODES, Y, [1, 2, 3, 1, 1, 2]), ((0,),))
    times = np.array([1, 2, 3, 1, 1, 2])
    repeated = learnt(_rows(np.repeat(CODES, times), np.repeat(Y, times)), ((0,),))
    np.testing.assert_allclose(weighted.means[0], repeated.means[0], rtol=1e-12)


def test_several_targets_and_columns_side_by_side() -> None:
    levels = np.array([[0.0, 1.0], [np.nan, 0.0], [0.0, 1.0], [1.0, np.nan]])
    keys = keys_of(levels, ((0,), (0, 1)), np.array([2, 2]))
    assert keys[0].tolist() == [1, 0, 1, 2]
    assert keys[1].tolist() == [1 * 3 + 2, 0 * 3 + 1, 1 * 3 + 2, 2 * 3]
    y = np.array([[1.0, 0.0], [0.0, 1.0], [0.0, 1.0], [1.0, 0.0]])
    rows = rows_of(keys, y, None, 1.0)
    statistics = learnt(rows, ((0,), (0, 1)))
    found = of_new_rows(statistics, keys)
    assert found.shape == (4, 4)
    np.testing.assert_allclose(found[0], [0.5, 0.5, 0.5, 0.5])  # (1 + ½) / (2 + 1)
    np.testing.assert_allclose(found[3], [0.75, 0.25, 0.75, 0.25])  # (1 + ½) / (1 + 1)
    np.testing.assert_allclose(found.reshape(4, 2, 2).sum(axis=2), 1.0)


def test_several_priors() -> None:
    """Each by hand: what rows before tell, and what it begins with."""
    priors = (Prior(0.0), Prior(0.5), Prior(1.0, 3.0))
    rows = rows_of((CODES,), Y[:, None], None, 1.0, (Kind(priors),))
    found = of_rows_before(rows, np.arange(6))
    earlier, ones = np.array([0, 0, 1, 2, 1, 3]), np.array([0, 0, 1, 1, 0, 2])
    np.testing.assert_allclose(found[:, 0], ones / (earlier + 1), rtol=1e-12)
    np.testing.assert_allclose(found[:, 1], (ones + 0.5) / (earlier + 1), rtol=1e-12)
    np.testing.assert_allclose(found[:, 2], (ones + 3.0) / (earlier + 3), rtol=1e-12)
    statistics = learnt(rows, ((0,),))
    np.testing.assert_allclose(statistics.means[0], [[3 / 5, 3.5 / 5, 6 / 7], [1 / 3, 0.5, 4 / 5]])
    assert statistics.prior.tolist() == [[0.0, 0.5, 1.0]]


def test_counts_are_of_all_rows_whatever_comes_first() -> None:
    kinds = (Kind((Prior(0.0), Prior(2.0)), counts=True),)
    levels = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 0.0], [0.0, 1.0]])
    keys = keys_of(levels, ((0,), (1,)), np.array([2, 2]))
    for weight, shares in ((None, [3 / 4, 1 / 4]), ([1, 5, 1, 2], [4 / 6, 5 / 6])):
        whole = None if weight is None else np.array(weight)
        rows = rows_of(keys, np.arange(4.0)[:, None], whole, 1.0, kinds)
        found = of_rows_before(rows, np.array([3, 1, 0, 2]))
        np.testing.assert_allclose(found[:, 0], np.array(shares)[[0, 1, 0, 0]], rtol=1e-12)
        statistics = learnt(rows, ((0,), (1,)))
        np.testing.assert_array_equal(of_new_rows(statistics, keys), found)
        # Unheard of: no rows, beside the most frequent category of its own source.
        most = np.array([3, 3]) if weight is None else np.array([5, 7])
        np.testing.assert_allclose(statistics.prior[:, 0], 0.0)
        np.testing.assert_allclose(statistics.prior[:, 1], 2.0 / (most + 1.0), rtol=1e-12)


def test_shares_above_each_class_and_of_each() -> None:
    y = np.array([0, 2, 1, 2])
    targets = (y[:, None] == np.arange(3)).astype(np.float64)
    kinds = (Kind(above=True), Kind((Prior(0.5),)), Kind((Prior(0.0),), counts=True))
    columns = columns_of(kinds, 3)
    assert [column.target for column in columns] == [0, 1, 0, 1, 2, 0]
    assert [column.kind for column in columns] == [kinds[0]] * 2 + [kinds[1]] * 3 + [kinds[2]]
    rows = rows_of((np.zeros(4, dtype=np.int64),), targets, None, 1.0, kinds)
    found = of_rows_before(rows, np.arange(4))[3]
    above = [(2 + 3 / 4) / 4, (1 + 2 / 4) / 4]
    np.testing.assert_allclose(found, [*above, 1.5 / 4, 1.5 / 4, 1.5 / 4, 4 / 5], rtol=1e-12)
    assert len(columns_of((Kind(above=True),), 1)) == 1  # of two classes the share of the second

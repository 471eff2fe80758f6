from collections.abc import Callable

import numpy as np
import pandas as pd
import pytest
from numpy.typing import NDArray
from scipy import stats

from tests.golden_tables import GOLDEN
from vtree.chaid.association import AssociationTest, f_test, likelihood_ratio, pearson

TITANIC = np.array([[122.0, 203.0], [167.0, 118.0], [528.0, 178.0]])


def _p(test: AssociationTest, table: NDArray[np.float64]) -> float:
    return float(np.exp(test.log_p(table[None], np.ones((1, len(table)), dtype=np.bool_))[0]))


@pytest.mark.parametrize(
    ("rows", "p"),
    [([0, 1, 2], 1.282677518e-29), ([0, 1], 2.026267e-07), ([1, 2], 4.636252e-07)],
)
def test_titanic_by_class(rows: list[int], p: float) -> None:
    assert _p(pearson(1.0), TITANIC[rows]) == pytest.approx(p, rel=1e-6)


def test_statistics_of_titanic() -> None:
    for test, statistic in ((pearson, 133.052035986), (likelihood_ratio, 132.688563938)):
        assert _p(test(1.0), TITANIC) == pytest.approx(stats.chi2.sf(statistic, 2), rel=1e-8)
    assert _p(pearson(1.0), TITANIC[[0, 2]]) == pytest.approx(stats.chi2.sf(132.537676759, 1))


@pytest.mark.parametrize(("test", "power"), [(pearson, 1.0), (likelihood_ratio, 0.0)])
def test_like_scipy(test: Callable[[float], AssociationTest], power: float) -> None:
    random = np.random.default_rng(0)
    for _ in range(50):
        table = random.integers(0, 40, random.integers(2, 6, 2)).astype(float)
        table = table[table.sum(axis=1) > 0]
        own = table[:, table.sum(axis=0) > 0]
        if min(own.shape) < 2:
            continue
        expected = stats.chi2_contingency(own, correction=False, lambda_=power).pvalue
        assert _p(test(1.0), table) == pytest.approx(expected, rel=1e-10)


def test_weights_count_as_rows() -> None:
    assert _p(pearson(3.0), TITANIC) == pytest.approx(_p(pearson(1.0), 3.0 * TITANIC), rel=1e-12)
    moments = _chicks()[1]
    thrice = moments * 3.0
    assert _p(f_test(3.0), moments) == pytest.approx(_p(f_test(1.0), thrice), rel=1e-12)


@pytest.mark.parametrize("test", [pearson, likelihood_ratio])
def test_equal_shares_have_p_of_one_and_order_does_not_matter(
    test: Callable[[float], AssociationTest],
) -> None:
    assert _p(test(1.0), np.array([[3.0, 6.0, 9.0], [1.0, 2.0, 3.0]])) == 1.0
    assert _p(test(1.0), np.array([[3.0, 6.0], [0.0, 0.0]])) == 1.0  # nothing to compare
    assert _p(test(1.0), np.array([[3.0, 0.0], [4.0, 0.0]])) == 1.0
    assert _p(test(1.0), TITANIC[[0, 1]]) == _p(test(1.0), TITANIC[[1, 0]])


def _chicks() -> tuple[list[str], NDArray[np.float64]]:
    table = pd.read_csv(GOLDEN / "chickwts.csv")
    groups = table.groupby("feed")["weight"]
    moments = np.stack([groups.count(), groups.sum(), groups.var(ddof=0) * groups.count()], axis=1)
    return list(groups.groups), moments


def test_chicks() -> None:
    names, moments = _chicks()
    assert _p(f_test(1.0), moments) == pytest.approx(5.936420e-10, rel=1e-6)
    pairs = {
        ("casein", "sunflower"): 0.821358671,
        ("meatmeal", "soybean"): 0.212947526,
    }
    for pair, p in pairs.items():
        own = moments[[names.index(name) for name in pair]]
        assert _p(f_test(1.0), own) == pytest.approx(p, rel=1e-8)
    beans = moments[[names.index("meatmeal"), names.index("soybean")]]
    joined = f_test(1.0).pool(beans[None], np.ones((1, 2), dtype=np.bool_))[0]
    three = np.stack([moments[names.index("linseed")], joined])
    assert _p(f_test(1.0), three) == pytest.approx(0.049711002, rel=1e-8)


def test_f_without_spread() -> None:
    constant = np.array([[4.0, 4.0, 0.0], [5.0, 15.0, 0.0]])  # ones, and threes
    assert _p(f_test(1.0), constant) == 0.0
    same = np.array([[4.0, 4.0, 0.0], [5.0, 5.0, 0.0]])
    assert _p(f_test(1.0), same) == 1.0
    single_rows = np.array([[1.0, 4.0, 0.0], [1.0, 5.0, 0.0]])
    assert _p(f_test(1.0), single_rows) == 1.0  # no degree of freedom is left


def test_groups_outside_the_mask_do_not_count() -> None:
    for test, table in ((pearson, TITANIC), (f_test, _chicks()[1])):
        mask = np.arange(len(table)) < 2
        inside = test(1.0).log_p(table[None], mask[None])[0]
        assert inside == test(1.0).log_p(table[None, :2], mask[None, :2])[0]


def test_pooled_moments_are_those_of_all_rows() -> None:
    random = np.random.default_rng(1)
    samples = [random.normal(5.0, 2.0, n) for n in (3, 8, 1)]
    moments = np.array([[s.size, s.sum(), ((s - s.mean()) ** 2).sum()] for s in samples])
    whole = np.concatenate(samples)
    pooled = f_test(1.0).pool(moments[None], np.ones((1, 3), dtype=np.bool_))[0]
    expected = [whole.size, whole.sum(), ((whole - whole.mean()) ** 2).sum()]
    np.testing.assert_allclose(pooled, expected, rtol=1e-13)

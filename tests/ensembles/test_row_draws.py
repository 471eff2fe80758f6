import numpy as np

from vtree.ensembles.row_draws import Chance, drawn, row_factors
from vtree.ensembles.system import Goss, System
from vtree.losses import Terms

DRAW = np.random.default_rng(2)
TERMS = Terms(DRAW.normal(size=(1000, 2)), DRAW.random((1000, 2)), np.empty(0))


def test_shares_of_rows() -> None:
    assert drawn(System(0.1), TERMS, 0).rows.size == 1000
    first = drawn(System(0.1, subsample=0.3), TERMS, 0).rows
    assert 250 < first.size < 350
    assert (np.diff(first) > 0).all()
    assert first.tolist() != drawn(System(0.1, subsample=0.3), TERMS, 1).rows.tolist()
    every = System(0.1, subsample=0.3, subsample_every=2)
    np.testing.assert_array_equal(drawn(every, TERMS, 1).rows, drawn(every, TERMS, 0).rows)
    assert drawn(System(0.1, subsample=1e-9), TERMS, 0).rows.size == 1


def test_goss_keeps_the_largest_and_weighs_the_others() -> None:
    system = System(0.1, goss=Goss(0.2, 0.1, 10))
    assert drawn(system, TERMS, 9).rows.size == 1000
    found = drawn(system, TERMS, 10)
    assert found.rows.size == 300
    score = np.abs(TERMS.gradient * TERMS.hessian).sum(axis=1)
    largest = np.argsort(-score)[:200]
    assert np.isin(largest, found.rows).all()
    assert found.factor is not None
    assert (found.factor[largest] == 1.0).all()
    others = np.setdiff1d(found.rows, largest)
    np.testing.assert_allclose(found.factor[others], 8.0)


def _chance(temperature: float, subsample: float, number: int, n_rows: int) -> Chance:
    found = row_factors(temperature, subsample, 1, number, n_rows)
    assert found is not None
    return found


def test_the_bayesian_bootstrap_is_exponential() -> None:
    assert row_factors(0.0, 1.0, 1, 0, 5) is None
    factor, rounding = _chance(1.0, 1.0, 0, 50_000)
    assert factor.min() > 0.0
    np.testing.assert_allclose([factor.mean(), factor.std()], 1.0, atol=0.03)
    assert abs((factor > 2.0).mean() - np.exp(-2.0)) < 0.005
    flat = _chance(0.5, 1.0, 0, 50_000).factor
    np.testing.assert_allclose(flat, np.sqrt(factor), rtol=1e-12)
    assert not np.array_equal(factor, _chance(1.0, 1.0, 1, 50_000).factor)
    assert 0.0 <= rounding.min() < rounding.max() < 1.0
    assert abs(np.corrcoef(factor, rounding)[0, 1]) < 0.02


def test_a_share_of_the_rows_counts_or_does_not() -> None:
    factor = _chance(0.0, 0.3, 0, 1_000).factor
    assert set(factor.tolist()) == {0.0, 1.0}
    assert 250 < factor.sum() < 350

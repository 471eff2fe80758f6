import numpy as np

from vtree.ensembles.row_draws import Chance, drawn, least_variance, row_chances, row_factors
from vtree.ensembles.system import Goss, System
from vtree.losses import held

DRAW = np.random.default_rng(2)
GRADIENT, HESSIAN = DRAW.normal(size=(2, 1000)), DRAW.random((2, 1000))
HERE = np.zeros(1)
SLOPES = [held(*pair) for pair in zip(GRADIENT, HESSIAN, strict=True)]


def test_shares_of_rows() -> None:
    assert drawn(System(0.1), SLOPES, 0, HERE).rows.size == 1000
    first = drawn(System(0.1, subsample=0.3), SLOPES, 0, HERE).rows
    assert 250 < first.size < 350
    assert (np.diff(first) > 0).all()
    assert first.tolist() != drawn(System(0.1, subsample=0.3), SLOPES, 1, HERE).rows.tolist()
    every = System(0.1, subsample=0.3, subsample_every=2)
    np.testing.assert_array_equal(
        drawn(every, SLOPES, 1, HERE).rows, drawn(every, SLOPES, 0, HERE).rows
    )
    assert drawn(System(0.1, subsample=1e-9), SLOPES, 0, HERE).rows.size == 1


def test_goss_keeps_the_largest_and_weighs_the_others() -> None:
    system = System(0.1, goss=Goss(0.2, 0.1, 10))
    assert drawn(system, SLOPES, 9, HERE).rows.size == 1000
    found = drawn(system, SLOPES, 10, HERE)
    assert found.rows.size == 300
    score = np.abs(GRADIENT * HESSIAN).sum(axis=0)
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


def test_large_sizes_are_drawn_for_sure_and_others_by_their_size() -> None:
    # Half of four rows: 1/6 + 2/6 + 3/6 + 1 = 2, for 10 is beyond the limit of 6.
    size = np.array([3.0, 1.0, 10.0, 2.0])
    np.testing.assert_allclose(least_variance(size, 0.5, np.zeros(4)), [2.0, 6.0, 1.0, 3.0])
    just = np.array([0.51, 0.16, 0.999, 0.34])
    np.testing.assert_allclose(least_variance(size, 0.5, just), [0.0, 6.0, 1.0, 0.0])
    np.testing.assert_array_equal(least_variance(size, 1.0, just), np.ones(4))
    # Without a size nobody is drawn, but where all have none.
    np.testing.assert_array_equal(least_variance(np.array([0.0, 2.0]), 0.5, np.zeros(2)), [0, 1])
    alike = least_variance(np.zeros(4), 0.5, np.array([0.1, 0.6, 0.9, 0.4]))
    np.testing.assert_array_equal(alike, [2.0, 0.0, 0.0, 2.0])
    assert (least_variance(size, 1e-9, just) > 0.0).sum() == 1


def test_sums_over_drawn_rows_are_those_of_all_on_the_average() -> None:
    size = np.random.default_rng(0).exponential(size=50)
    chance, _ = row_chances(1, 0, 50 * 4_000)
    factors = np.stack([least_variance(size, 0.3, own) for own in chance.reshape(-1, 50)])
    assert abs((factors > 0.0).sum(axis=1).mean() - 15.0) < 0.1
    spread = factors.std(axis=0) / np.sqrt(4_000.0)
    assert (np.abs(factors.mean(axis=0) - 1.0) < 4.5 * spread + 1e-12).all()
    # Of all draws of as many rows it tells sums of squares best: a plain share is worse.
    plain = np.where(chance.reshape(-1, 50) < 0.3, 1.0 / 0.3, 0.0)
    assert (factors @ size).std() < 0.7 * (plain @ size).std()

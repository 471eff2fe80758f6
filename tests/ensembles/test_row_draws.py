import numpy as np

from vtree.ensembles.row_draws import drawn
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

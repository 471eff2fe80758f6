import numpy as np
import pytest

from tests.conftest import Namespace
from vtree.ensembles.derivatives import Weights
from vtree.ensembles.target_statistics import Kind, Prior, Statistics, learnt
from vtree.errors import InputError
from vtree.estimators.category_statistics import (
    as_arrays,
    fingerprint,
    from_arrays,
    sources_of,
    statistic_rows,
    widened,
)

N_LEVELS = np.array([-1, 3, 2])
VALUES = np.array([[0.5, 0, 1], [1.5, 1, 0], [2.5, np.nan, 1], [3.5, 0, 0]], dtype=np.float32)
Y = np.array([[1.0], [0.0], [3.0], [4.0]])


def _statistics() -> Statistics:
    sources = sources_of(N_LEVELS, 2, 2)
    weights = Weights.of(None, 1.0, 4)
    kinds = (Kind(), Kind((Prior(0.0),), counts=True))
    return learnt(statistic_rows(VALUES, sources, N_LEVELS, Y, weights, kinds), sources)


def test_which_columns_have_statistics() -> None:
    levels = np.array([-1, 3, 2, 40])
    assert sources_of(levels, 2, 1) == ((1,), (3,))
    assert sources_of(levels, 2, 2) == ((1,), (3,), (1, 2), (1, 3), (2, 3))
    assert sources_of(levels, 40, 1) == ()
    with pytest.raises(InputError, match="more than 1,000 combinations"):
        sources_of(np.full(40, 5), 2, 3)
    with pytest.raises(InputError, match="than an integer can count"):
        sources_of(np.full(4, 60_000), 2, 4)


def test_statistics_stand_behind_the_table(xp: Namespace) -> None:
    found = xp.to_numpy(widened(xp.asarray(VALUES), _statistics(), N_LEVELS))
    assert found.dtype == np.float64
    np.testing.assert_array_equal(found[:, :3], VALUES)
    prior = 2.0
    expected = [(5 + prior) / 3, (0 + prior) / 2, (3 + prior) / 2, (5 + prior) / 3]
    np.testing.assert_allclose(found[:, 3], expected, rtol=1e-12)
    np.testing.assert_allclose(found[:, 4], [2 / 3, 1 / 3, 1 / 3, 2 / 3], rtol=1e-12)
    np.testing.assert_allclose(found[:, 5], (Y[:, 0] + prior) / 2, rtol=1e-12)  # all pairs differ
    unseen = np.array([[0.5, 2, 1]])
    np.testing.assert_allclose(widened(unseen, _statistics(), N_LEVELS)[0, 3:], [prior, 0] * 2)


def test_they_go_into_files_and_come_back() -> None:
    own = _statistics()
    again = from_arrays(as_arrays(own), N_LEVELS, 2)
    assert again.columns == own.columns == ((1,), (1, 2))
    assert fingerprint(again) == fingerprint(own)
    other = own._replace(prior=own.prior + 1.0)
    assert fingerprint(other) != fingerprint(own)


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("columns", lambda own: own + 5),
        ("columns", lambda own: own * 0),
        ("columns", lambda own: own[0]),
        ("sizes", lambda own: own + 1),
        ("sizes", lambda own: own * 0),
        ("keys", lambda own: own[::-1].copy()),
        ("keys", lambda own: own.astype(np.float64)),
        ("means", lambda own: own[:-1]),
        ("means", lambda own: own * np.inf),
        ("prior", lambda own: np.repeat(own, 2)),
        ("prior", lambda own: own[0]),
    ],
)
def test_arrays_that_do_not_fit_are_refused(name: str, change: object) -> None:
    arrays = as_arrays(_statistics())
    arrays[f"statistics.{name}"] = change(arrays[f"statistics.{name}"])  # type: ignore[operator]
    with pytest.raises(ValueError, match="its statistics"):
        from_arrays(arrays, N_LEVELS, 2)
    arrays.pop(f"statistics.{name}")
    with pytest.raises(ValueError, match="other arrays"):
        from_arrays(arrays, N_LEVELS, 2)

"""Added errors: the worked numbers of both programs and of the book."""

import numpy as np
import pytest

from vtree.errors import InputError
from vtree.pruning.error_based import added_errors, j48_bound, r8_bound

# N, e, C4.5, J48 at a confidence of 0.25
WORKED = [
    (6, 0, 1.237796844, 1.237796844),
    (9, 0, 1.284804154, 1.284804154),
    (1, 0, 0.75, 0.75),
    (2, 0, 1.0, 1.0),
    (100, 0, 1.376729551, 1.376729551),
    (14, 5, 1.794993148, 1.761119807),
    (5, 2, 1.239583292, 1.221972269),
    (2, 1, 0.796241132, 0.791493043),
    (16, 1, 1.506893958, 1.475714632),
    (168, 1, 1.610055066, 1.573759113),
    (10, 3, 1.591274169, 1.562369088),
    (50, 1, 1.584044228, 1.549067389),
    (1.5, 0.5, 0.619862303, 0.702362303),
    (4.6667, 0.2, 1.208974594, 1.205036071),
    (3, 2.6, 0.268, 0.4),
    (2, 2, 0.0, 0.0),
    (10, 9.5, 0.335, 0.5),
]


@pytest.mark.parametrize(("n", "errors", "r8", "j48"), WORKED)
def test_worked_numbers(n: float, errors: float, r8: float, j48: float) -> None:
    for reference, expected in (("r8", r8), ("j48", j48)):
        found = added_errors(0.25, reference)(np.array([float(n)]), np.array([float(errors)]))
        assert found[0] == pytest.approx(expected, abs=2e-8)


def test_shares_of_the_book() -> None:
    # Quinlan 1993, §4.2: U(0, 6) = .206, U(0, 9) = .143, U(1, 16) = .157, U(1, 168) = .016
    n, e = np.array([6.0, 9.0, 16.0, 168.0]), np.array([0.0, 0.0, 1.0, 1.0])
    share = (e + added_errors(0.25)(n, e)) / n
    np.testing.assert_allclose(share, [0.206, 0.143, 0.157, 0.016], atol=5e-4)


@pytest.mark.parametrize(
    ("confidence", "deviation"),
    [(0.25, 0.6925), (0.10, 1.28), (0.05, 1.65), (0.01, 2.33), (0.5, 0.208333333)],
)
def test_deviates_of_release_8(confidence: float, deviation: float) -> None:
    assert r8_bound(confidence).deviation == pytest.approx(deviation, abs=1e-9)


def test_the_deviate_of_j48_is_exact() -> None:
    assert j48_bound(0.25).deviation == pytest.approx(0.674489750196, abs=1e-12)


def test_nothing_is_added_to_no_rows() -> None:
    assert added_errors(0.25)(np.array([0.0]), np.array([0.0])).tolist() == [0.0]


@pytest.mark.parametrize("confidence", [0.0, -1.0, 0.51, float("nan")])
def test_confidences_outside_are_refused(confidence: float) -> None:
    with pytest.raises(InputError, match="confidence is .* at most 0.5"):
        added_errors(confidence)

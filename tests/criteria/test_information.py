"""Worked numbers of play-tennis (Quinlan 1986) and of the attribute-cost criteria."""

import numpy as np
import pytest

from vtree.criteria import information
from vtree.criteria.information import (
    cs_id3,
    eg2,
    gain_above,
    gain_ratio,
    idx,
    plain_gain,
    positive_ratio,
    two_to,
)

# outlook, temperature, humidity, windy
GAIN = np.array([[0.246749819774, 0.029222565659, 0.151835501362, 0.048127030408]])
INFO = np.array([[1.577406282852, 1.556656707463, 1.0, 0.985228136034]])
ALL = np.ones(4, dtype=bool)


def test_the_entropy_of_play_tennis() -> None:
    found = information.information(np.array([[9.0, 5.0], [7.0, 0.0], [0.0, 0.0]]))
    np.testing.assert_allclose(found, [14 * 0.940285958671, 0.0, 0.0], atol=1e-11)


def test_split_information_counts_missing_rows_as_a_branch() -> None:
    # golf_missing: outlook is unknown once; branches of 5, 3, 5 rows
    found = information.information(np.array([1.0, 5.0, 3.0, 5.0])) / 14.0
    assert found == pytest.approx(1.809200033, abs=1e-9)


def test_only_attributes_of_average_gain_pass() -> None:
    ratio = gain_ratio(GAIN, INFO, ALL)[0]
    assert ratio[0] == pytest.approx(0.156427562421, abs=1e-12)
    assert ratio[2] == pytest.approx(0.151835501362, abs=1e-12)
    assert ratio[1] == ratio[3] == -np.inf


def test_a_unique_key_wins_by_the_average_though_ratios_tie() -> None:
    # seed 002: ten rows, A halves them, B is a key; average 2.160964, A's gain of 1 is below
    gain, info = np.array([[1.0, np.log2(10)]]), np.array([[1.0, np.log2(10)]])
    ratio = gain_ratio(gain, info, np.ones(2, dtype=bool))[0]
    assert ratio[0] == -np.inf and ratio[1] == pytest.approx(1.0)


def test_attributes_of_many_levels_do_not_raise_the_average() -> None:
    gain, info = np.array([[1.0, np.log2(10)]]), np.array([[1.0, np.log2(10)]])
    assert np.isfinite(gain_ratio(gain, info, np.array([True, False]))).all()
    assert (gain_ratio(gain, info, np.array([False, False])) == -np.inf).all()  # average 1e6


def test_zero_gains() -> None:
    nothing, info = np.zeros((1, 2)), np.ones((1, 2))
    both = np.ones(2, dtype=bool)
    assert (gain_ratio(nothing, info, both) == 0.0).all()  # release 8 splits, and collapses
    assert (positive_ratio(nothing, info, both) == -np.inf).all()
    assert (gain_above(0.0)(nothing, info, both) == -np.inf).all()
    assert (plain_gain(nothing, np.zeros((1, 2)), both) == -np.inf).all()


def test_costs_of_play_tennis() -> None:
    ones = np.ones(4)
    for worth, value in (
        (eg2(ones), 0.093265510716),
        (idx(ones), 0.246749819774),
        (cs_id3(ones), 0.060885473559),
        (eg2(ones, 0.5), 0.131897350156),
    ):
        found = worth(GAIN, INFO, ALL)[0]  # fmt: skip
        assert found[0] == pytest.approx(value, abs=1e-11)
        assert found.argmax() == 0
    costs = np.array([4.0, 1.0, 1.0, 0.5])
    expected = {
        eg2(costs): (0.037306204286, 0.055491022648, 0.022614513232),
        idx(costs): (0.061687454944, 0.151835501362, 0.096254060818),
        cs_id3(costs): (0.015221368390, 0.023054019474, 0.004632422112),
    }
    for worth, (outlook, humidity, windy) in expected.items():
        found = worth(GAIN, INFO, ALL)[0]
        np.testing.assert_allclose(found[[0, 2, 3]], [outlook, humidity, windy], atol=1e-11)
        assert found.argmax() == 2


def test_powers_of_two() -> None:
    x = np.linspace(-1000.0, 60.0, 20_001)
    np.testing.assert_allclose(two_to(x), np.exp2(x), rtol=4e-16)
    assert two_to(np.array([0.0, 1.0, -3.0])).tolist() == [1.0, 2.0, 0.125]

"""Levels: sorted, limited, builtin; codes by label."""

import enum
from typing import Any

import numpy as np
import pandas as pd
import pytest

from vtree.errors import InputError
from vtree.estimators.targets import class_codes
from vtree.tables.levels import (
    MOST_LEVELS,
    codes_of_labels,
    codes_of_numbers,
    is_missing,
    levels_of_labels,
    offsets_of_whole_numbers,
    refuse_unknown,
)


class Colour(enum.StrEnum):
    RED = "red"


class Size(str, enum.Enum):  # noqa: UP042 - prints as Size.LARGE, though it equals "large"
    LARGE = "large"


@pytest.mark.parametrize(
    "label", [None, float("nan"), np.float32("nan"), pd.NA, pd.NaT, np.datetime64("NaT")]
)
def test_missing_in_any_spelling(label: Any) -> None:
    assert is_missing(label) is not isinstance(label, np.datetime64)


@pytest.mark.parametrize("label", ["", "nan", 0, False, float("inf"), (1, 2), b"", np.array([1])])
def test_what_is_not_missing(label: Any) -> None:
    assert not is_missing(label)


@pytest.mark.parametrize(
    ("labels", "expected", "dtype"),
    [
        (["b", "a", None, "b"], ["a", "b"], object),
        (["a\0", "a"], ["a", "a\0"], object),
        ([10, 9, 10], [9, 10], np.int64),
        ([2**63, 1], [1, 2**63], object),
        ([True, False], [False, True], np.bool_),
        ([0.5, np.nan, -np.inf], [-np.inf, 0.5], np.float64),
        (["a", 2, 10, 0.5], [0.5, 10, 2, "a"], object),
        ([(2, 3), (1, 2)], ["(1, 2)", "(2, 3)"], object),
        ([Colour.RED, Size.LARGE, np.str_("x")], ["large", "red", "x"], object),
        ([], [], object),
        ([None], [], object),
    ],
)
def test_levels(labels: list[Any], expected: list[Any], dtype: Any) -> None:
    levels = levels_of_labels(labels, "column 0")
    assert levels.tolist() == expected
    assert levels.dtype == dtype
    assert levels.ndim == 1
    builtins = {str, bool, int, float}
    assert {type(level) for level in levels.tolist()} <= builtins


def test_the_most_levels() -> None:
    labels = [str(number) for number in range(MOST_LEVELS)]
    levels = levels_of_labels(labels, "column 'id'")
    assert levels.size == MOST_LEVELS == 65_535
    with pytest.raises(InputError, match=r"column 'id' holds 65,536 categories; at most 65,535"):
        levels_of_labels([*labels, "one more"], "column 'id'")


def test_codes_of_labels() -> None:
    levels = levels_of_labels(["a", "b", "c"], "")
    codes = codes_of_labels(["c", None, "x", "a", Size.LARGE, float("nan"), pd.NA, 1], levels)
    assert codes.dtype == np.float64
    np.testing.assert_array_equal(codes, [2, np.nan, np.nan, 0, *[np.nan] * 4])


@pytest.mark.parametrize(
    ("levels", "labels", "codes"),
    [
        (["1", "2.5", "True", "x"], [1, 1.0, 2.5, True, "x", "1.0", 0.1], [0, 0, 1, 2, 3]),
        ([1, 2], ["2", "2.0", 2.0, "2.5", "02"], [1, 1, 1]),
        ([0.5, 3.0], ["3", "3.0", "0.5", 3], [1, 1, 0, 1]),
        ([2.5, 1, "1"], [1, "1", 1.0, "2.5"], [1, 2, 1, 0]),
    ],
)
def test_labels_are_the_levels_that_read_the_same(
    levels: list[Any], labels: list[Any], codes: list[float]
) -> None:
    own = levels_of_labels(levels, "")
    expected = codes + [np.nan] * (len(labels) - len(codes))
    for label, code in zip(labels, expected, strict=True):  # True would stand for 1 among others
        np.testing.assert_array_equal(codes_of_labels([label], own), [code])


def test_codes_of_numbers(xp: Any) -> None:
    column = xp.asarray([2.0, np.nan, 7.0, -np.inf, np.inf, 2.5, -0.0])
    levels = np.array([0, 2, 7])
    codes = xp.to_numpy(codes_of_numbers(column, levels))
    np.testing.assert_array_equal(codes, [1, np.nan, 2, np.nan, np.nan, np.nan, 0])
    assert np.isnan(xp.to_numpy(codes_of_numbers(column, np.empty(0)))).all()


def test_numbers_are_the_levels_that_read_the_same(xp: Any) -> None:
    column = xp.asarray([2.0, np.nan, 7.0, 2.5])
    for levels in (["2", "2.5", "x"], ["2.0", "2.5"], [2, 2.5, "7.5"]):
        codes = codes_of_numbers(column, np.array(levels, dtype=object))
        np.testing.assert_array_equal(xp.to_numpy(codes), [0, np.nan, np.nan, 1])


def test_codes_of_numbers_that_count_from_zero(xp: Any) -> None:
    column = xp.asarray([2.0, np.nan, 3.0, -1.0, np.inf, 1.5, -0.0, -np.inf])
    for levels in (np.array([0, 1, 2]), np.array([0.0, 1.0, 2.0])):
        codes = xp.to_numpy(codes_of_numbers(column, levels))
        np.testing.assert_array_equal(codes, [2, *[np.nan] * 5, 0, np.nan])
        assert not np.signbit(codes[6])


def test_refuse_unknown() -> None:
    levels = levels_of_labels([1, 2], "")
    refuse_unknown([1, None, 2.0, np.nan, True, "2"], levels, "column 3")
    with pytest.raises(InputError, match=r"column 3 holds 3, 'a', not seen.*choices are 1, 2\."):
        refuse_unknown([1, 3, "a"], levels, "column 3")


@pytest.mark.parametrize("dtype", [np.int8, np.uint8, np.int64, np.float32, np.float64])
def test_whole_numbers_of_a_narrow_range_need_no_sorting(dtype: Any) -> None:
    x = np.array([9, 4, 4, 120, 9]).astype(dtype)
    found = offsets_of_whole_numbers(x)
    assert found is not None
    assert (found[0], found[1].tolist()) == (4, [5, 0, 0, 116, 5])


@pytest.mark.parametrize(
    "numbers",
    [[], [0.5, 1.0], [0.0, np.inf], [-np.inf, np.inf], [0.0, 1e300], [0, 70_000], [True, False]],
)
def test_others_do(numbers: list[Any]) -> None:
    assert offsets_of_whole_numbers(np.array(numbers)) is None


def test_differences_need_more_bits_than_the_numbers() -> None:
    x = np.array([-100, 120, 0], dtype=np.int8)
    found = offsets_of_whole_numbers(x)
    assert found is not None and found[1].tolist() == [0, 220, 100]
    (labels,), codes = class_codes(np.repeat(x, 3)[:, None])
    assert labels.dtype == np.int8 and labels.tolist() == [-100, 0, 120]
    assert codes[::3, 0].tolist() == [0, 2, 1]


def test_numbers_far_from_zero_keep_their_differences() -> None:
    x = np.array([2**62 + 5, 2**62, 2**62 + 9])
    found = offsets_of_whole_numbers(x)
    assert found is not None and found[0] == 2**62 and found[1].tolist() == [5, 0, 9]
    assert class_codes(x[:, None])[0][0].tolist() == sorted(x.tolist())
    assert class_codes(x[:, None])[1].ravel().tolist() == [1, 0, 2]

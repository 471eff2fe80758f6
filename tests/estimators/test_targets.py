from enum import Enum
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
import torch

from vtree.errors import InputError, InputTypeError
from vtree.estimators.targets import (
    as_columns,
    check_counts,
    check_span,
    class_codes,
    codes_of,
    host,
    row_weights,
)

LABELS = np.array([["b"], ["a"], ["b"]])


def test_targets_are_columns() -> None:
    for y in ([1, 2, 3], (1.0, 2.0, 3.0), torch.tensor([1, 2, 3]), pl.Series([1, 2, 3])):
        found = as_columns(y, numeric=True)
        assert found.shape == (3, 1) and found.dtype == np.float64
    assert as_columns(np.zeros((3, 2), np.float32), numeric=True).shape == (3, 2)
    assert as_columns([True, False], numeric=False).dtype == bool
    assert as_columns(pd.Series(["a", "b"]), numeric=False).tolist() == [["a"], ["b"]]


@pytest.mark.parametrize("missing", [None, np.nan, pd.NA, pd.NaT])
@pytest.mark.parametrize("numeric", [False, True])
def test_missing_targets(missing: Any, numeric: bool) -> None:
    with pytest.raises(InputError, match="y contains NaN.*row 1"):
        as_columns(np.array([[1, 1], [1, missing]], dtype=object), numeric=numeric)


def test_sums_that_overflow_are_no_infinity() -> None:
    assert as_columns(np.full(9, 1e308), numeric=True).max() == 1e308


def test_whole_numbers_in_objects_are_whole_numbers() -> None:
    assert as_columns(np.array([2, 1], dtype=object), numeric=False).dtype == np.int64
    huge = np.array([2**64 + 1, 2**64], dtype=object)  # equal as floats
    assert as_columns(huge, numeric=False).dtype == object


def test_codes_of_classes() -> None:
    classes, codes = class_codes(np.array([[3, 1], [-1, 1], [3, 0]]))
    assert [own.tolist() for own in classes] == [[-1, 3], [0, 1]]
    assert codes.tolist() == [[1, 1], [0, 1], [1, 0]]
    classes, codes = class_codes(LABELS)
    assert (classes[0].tolist(), codes.ravel().tolist()) == (["a", "b"], [1, 0, 1])
    for y in (np.array([[0.5]]), np.array([["a"], [1]], dtype=object)):
        with pytest.raises((InputError, InputTypeError), match="y may hold strings"):
            class_codes(y)


def test_strings_are_sorted_as_numpy_sorts_them() -> None:
    y = np.array(["ž", "", "z", "Z", "z\0", "", "ž"], dtype=object)[:, None]
    (classes,), codes = class_codes(np.repeat(y, 3, axis=0))
    expected, numbers = np.unique(np.repeat(y, 3, axis=0), return_inverse=True)
    assert classes.dtype == object and classes.tolist() == expected.tolist()
    assert codes.ravel().tolist() == numbers.ravel().tolist()
    with pytest.warns(UserWarning, match="greater than 50%"):
        class_codes(np.array([[f"row {n}"] for n in range(30)], dtype=object))


def test_columns_of_labels_may_differ_in_kind() -> None:
    y = pd.DataFrame({"p": ["b", "a"], "q": [7, 3], "r": [True, False]})
    classes, codes = class_codes(as_columns(y, numeric=False))
    assert [own.tolist() for own in classes] == [["a", "b"], [3, 7], [False, True]]
    assert classes[1].dtype == np.int64 and codes.tolist() == [[1, 1, 1], [0, 0, 0]]


def test_members_of_an_enumeration_of_strings() -> None:
    class Kind(str, Enum):  # noqa: UP042 (a StrEnum's members print as their values)
        FIRST = "u"
        SECOND = "v"

    (classes,), codes = class_codes(as_columns([Kind.SECOND, Kind.FIRST], numeric=False))
    assert classes.tolist() == ["u", "v"] and codes.ravel().tolist() == [1, 0]


def test_spans() -> None:
    check_span(np.array([[1e308], [1e308]]))
    check_span(np.array([[-1e144], [1e144]]))
    for column in ([-1e308, 1e308], [0.0, 1e145]):
        with pytest.raises(InputError, match="may span 3e.144 at most.*divide y"):
            check_span(np.array(column)[:, None])


def test_counts() -> None:
    check_counts(np.array([[0.0, 2.5], [1.0, 0.0]]))
    with pytest.raises(InputError, match="negative"):
        check_counts(np.array([[1.0], [-0.1]]))
    with pytest.raises(InputError, match="not positive"):
        check_counts(np.array([[1.0, 0.0], [1.0, 0.0]]))


def test_weights() -> None:
    assert row_weights(None, None, LABELS, 3) is None
    for given in ([1, 0, 2], torch.tensor([1.0, 0.0, 2.0]), pd.Series([1, 0, 2])):
        found = row_weights(given, None, LABELS, 3)
        assert found is not None and found.dtype == np.float64
        assert found.tolist() == [1.0, 0.0, 2.0]
    one = row_weights(2.0, None, LABELS, 3)
    assert one is not None and one.tolist() == [2.0, 2.0, 2.0]
    both = row_weights([1, 2, 3], {"a": 0.5, "b": 2.0}, LABELS, 3)
    assert both is not None and both.tolist() == [2.0, 1.0, 6.0]
    balanced = row_weights(None, "balanced", LABELS, 3)
    assert balanced is not None and balanced.tolist() == [0.75, 1.5, 0.75]


@pytest.mark.parametrize(
    ("weight", "class_weight", "message"),
    [
        ([1, -1, 1], None, "sample_weight must not be negative, got -1.0 for row 1"),
        ([0, 0, 0], None, "sample_weight"),
        ([1, 0, 1], {"a": 1.0, "b": 0.0}, "all weights are zero"),
        ([1, 1], None, "sample_weight.*expected"),
        (None, {"a": -1.0}, "class_weight must not be negative"),
        (
            np.ma.masked_array([1, 1, 1], mask=[False, False, True]),
            None,
            "sample_weight is masked in row 2",
        ),
    ],
)
def test_weights_that_are_refused(weight: Any, class_weight: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        row_weights(weight, class_weight, LABELS, 3)


def test_other_lengths() -> None:
    with pytest.raises(InputError, match="y: .*inconsistent"):
        row_weights(None, None, LABELS, 4)


def test_arrays_come_to_the_host() -> None:
    assert isinstance(host(torch.tensor([1])), np.ndarray)
    assert host("as it is") == "as it is"


def test_codes_of_known_classes() -> None:
    classes = [np.array(["a", "b"], dtype=object), np.array([1, 5])]
    y = np.array([["b", 1], ["a", 5]], dtype=object)
    assert codes_of(y, classes, "y_val").tolist() == [[1, 0], [0, 1]]
    with pytest.raises(InputError, match=r"y_val holds the classes \['z'\].*knows \['a', 'b'\]"):
        codes_of(np.array([["z", 1]], dtype=object), classes, "y_val")
    with pytest.raises(InputError, match="y_val has 1 columns, but the model was fitted to 2"):
        codes_of(y[:, :1], classes, "y_val")

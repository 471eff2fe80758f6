import math
import sys
import tracemalloc
from decimal import Decimal
from enum import IntEnum, StrEnum
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from vtree.errors import InputError, InputTypeError
from vtree.interop.json_values import (
    MOST_PAIRS,
    MOST_VALUES,
    decode,
    decode_labels,
    encode,
    encode_labels,
    from_text,
    to_text,
)


def _back(value: Any) -> Any:
    return decode(from_text(to_text(encode(value))))


def _objects(*labels: Any) -> np.ndarray[Any, Any]:
    array = np.empty(len(labels), dtype=object)
    array[:] = labels
    return array


LABELS = [
    np.array([0, -1, 2**63 - 1, -(2**63)]),
    np.array([0, 255], dtype=np.uint8),
    np.array([2**64 - 1], dtype=np.uint64),
    np.array([-3, 3], dtype=np.int16),
    np.array([1, 2], dtype=">i4"),
    np.array([False, True]),
    np.array([0.1, -0.0, 5e-324, 1.7976931348623157e308, np.inf, -np.inf, np.nan]),
    np.array([0.1, np.inf], dtype=np.float32),
    np.array([65504, -0.0], dtype=np.float16),
    np.array(["a", "żółć", "漢字", "🌳", "", "a\x00b", '"\\[{,'], dtype="<U9"),
    np.array(["\ud800"]),
    np.array([b"a", b"\xff\x00\x01"], dtype="|S7"),
    np.array(["x"], dtype=">U3"),
    np.empty(0, dtype=np.int64),
    np.empty(0, dtype=object),
    np.empty((0, 3)),
    np.arange(6).reshape(2, 3),
    np.asfortranarray(np.arange(6.0).reshape(2, 3)),
    np.array(7),
    _objects("a", "b\x00", "\ud800", None, True, 1, 10**300, 1.0, -0.0, math.inf, b"\xff"),
]


@pytest.mark.parametrize("labels", LABELS, ids=lambda labels: labels.dtype.str)
def test_labels_come_back(labels: np.ndarray[Any, Any]) -> None:
    form = from_text(to_text(encode_labels(labels)))
    again = decode_labels(form)
    assert again.dtype == labels.dtype and again.shape == labels.shape
    old, new = labels.ravel().tolist(), again.ravel().tolist()
    assert list(map(repr, old)) == list(map(repr, new))  # tells −0.0, NaN, 1, 1.0 and True


def test_labels_that_are_numpy_scalars_or_enumerations_become_builtins() -> None:
    class Colour(StrEnum):
        RED = "red"

    class Size(IntEnum):
        LARGE = 3

    labels = _objects(np.int64(1), np.str_("a"), np.bool_(True), Colour.RED, Size.LARGE)
    again = decode_labels(encode_labels(labels))
    assert again.tolist() == [1, "a", True, "red", 3]
    assert [type(label) for label in again] == [int, str, bool, str, int]


@pytest.mark.parametrize("label", [Fraction(1, 2), Decimal(1), 1j, (1, 2), [1], object, {1}])
def test_other_labels_are_named(label: Any) -> None:
    with pytest.raises(InputTypeError, match=r"classes\[1\] is .*of type") as caught:
        encode_labels(_objects("a", label), "classes")
    assert type(label).__name__ in str(caught.value)


@pytest.mark.parametrize(
    "labels",
    [
        np.array([1j]),
        np.array(["2020-01-01"], dtype="datetime64[D]"),
        np.array([1], dtype="timedelta64[s]"),
        np.array([1], dtype=[("a", "i4")]),
        np.zeros(1, dtype="V4"),
        pytest.param(
            np.array([1], dtype=np.longdouble),
            marks=pytest.mark.skipif(np.dtype("g").itemsize == 8, reason="long double is float64"),
        ),
    ],
)
def test_other_dtypes_are_named(labels: np.ndarray[Any, Any]) -> None:
    with pytest.raises(InputTypeError, match="classes is an array of dtype"):
        encode_labels(labels, "classes")


PARAMETERS = {
    "nothing": None,
    "yes": True,
    "count": 10**400,
    "share": 0.1,
    "zero": -0.0,
    "endless": math.inf,
    "text": "best ☃ \ud800",
    "bytes": b"\x00\xff",
    "list": [1, [2, []], {}],
    "tuple": (1, (), ("a",)),
    "weights": {0: 1.0, True: 2.0, "a": 3.0, (1, "b"): None},
    "$tuple": {"$": 1, "$dict": [[], []]},
    "by_name": {"a": {"b": {"c": (1,)}}},
    "scalar": np.float32(0.1),
    "word": np.str_("word"),
    "truth": np.bool_(False),
}


def test_parameters_come_back() -> None:
    again = _back(PARAMETERS)
    assert again == PARAMETERS
    for name in PARAMETERS.keys() - {"weights"}:  # its keys are in another order
        assert type(again[name]) is type(PARAMETERS[name])
        assert repr(again[name]) == repr(PARAMETERS[name])
    assert math.isnan(_back([math.nan])[0])
    np.testing.assert_array_equal(_back((np.eye(2),))[0], np.eye(2))


_scalars = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text()
_keys = st.integers() | st.text() | st.tuples(st.booleans(), st.text())


@given(
    st.recursive(
        _scalars | st.binary(),
        lambda inner: (
            st.lists(inner, max_size=4)
            | st.lists(inner, max_size=4).map(tuple)
            | st.dictionaries(_keys, inner, max_size=4)
        ),
        max_leaves=12,
    )
)
def test_any_value_comes_back(value: Any) -> None:
    assert _back([value]) == [value]


def test_equal_dicts_give_equal_text() -> None:
    for one in ({"a": 1, "b": 2}, {1: 1, "b": 2, (1, 2): 3}):
        other = dict(reversed(one.items()))
        assert to_text(encode(one)) == to_text(encode(other))


def test_values_of_other_kinds_are_named() -> None:
    other = np.random.RandomState(np.random.PCG64(0))  # noqa: NPY002
    for value in (other, np.random.default_rng(0), len, {1, 2}, Fraction(1, 2), np.complex64(1)):
        with pytest.raises(InputTypeError, match=r"^parameters\.random_state\[0\] is "):
            encode({"random_state": [value]}, "parameters")
    with pytest.raises(InputTypeError, match="p key frozenset"):
        encode({frozenset({1}): 1}, "p")


def test_endless_values_are_refused() -> None:
    loop: list[Any] = []
    loop.append(loop)
    with pytest.raises(InputError, match="does not contain itself"):
        encode(loop)
    with pytest.raises(InputError, match="more than 4,200 digits"):
        encode(10**5000)
    with pytest.raises(InputError, match="10,000 of a dict"):
        encode(dict.fromkeys(range(MOST_PAIRS + 1)))


def test_what_is_encoded_shares_nothing() -> None:
    inner = [1]
    form = encode({"a": inner})
    inner.append(2)
    assert form == {"a": [1]}


def _array(dtype: Any, shape: Any, values: Any) -> dict[str, Any]:
    return {"$array": {"dtype": dtype, "shape": shape, "values": values}}


@pytest.mark.parametrize(
    "form",
    [
        {"$float": "1.0"},
        {"$float": ["nan"]},
        {"$bytes": "ł"},
        {"$bytes": 1},
        {"$tuple": "ab"},
        {"$tuple": [], "a": 1},
        {"$tuple": [], "$float": "nan"},
        {"$other": 1},
        {"$dict": [[1], [1, 2]]},
        {"$dict": [[1, 1], [1, 2]]},
        {"$dict": [[[1]], [1]]},
        {"$dict": [1, 2]},
        {"$dict": {}},
        {"$dict": [list(range(MOST_PAIRS + 1))] * 2},
        {"$scalar": {"dtype": "<i8", "shape": [1], "values": [1]}},
        {"$scalar": {"dtype": "|O", "shape": [], "values": [1]}},
        {"$array": {"dtype": "<i8", "shape": [1]}},
        {"$array": []},
        _array("<i8", [1], [1.0]),
        _array("<i8", [1], [True]),
        _array("<i8", [1], [2**63]),
        _array("|u1", [1], [-1]),
        _array("|b1", [1], [1]),
        _array("<f8", [1], [1]),
        _array("<f8", [1], ["1.5"]),
        _array("<f8", [1], ["infinity"]),
        _array("<U1", [1], ["ab"]),
        _array("|S1", [1], ["ab"]),
        _array("|S1", [1], ["ł"]),
        _array("<U999999999", [1], ["a"]),
        _array("|S99999999", [1], ["a"]),
        _array("|O", [1], [[1]]),
        _array("|O", [1], [{"$tuple": []}]),
        _array("|O", [1], [{"$array": {"dtype": "<i8", "shape": [], "values": [1]}}]),
        _array("O,O", [1], [1]),
        _array("<M8[D]", [1], [1]),
        _array(["<i8"], [1], [1]),
        _array("<i8", [2], [1]),
        _array("<i8", [-1], [1]),
        _array("<i8", [-1, -1], [1]),
        _array("<i8", [True], [1]),
        _array("<i8", [1.0], [1]),
        _array("<i8", 1, [1]),
        _array("<i8", [1] * 33, [1]),
        _array("<i8", [2**61, 2**61, 0], []),
        _array("<i8", [10**4000, 0], []),
        _array("<i8", [1], {"a": 1}),
        _array("<i8", [1], "1"),
    ],
)
def test_forms_that_encode_does_not_make_are_refused(form: Any) -> None:
    with pytest.raises(InputError):
        decode([form])


def test_padding_is_bounded_for_all_arrays_together() -> None:
    one = _array("<U4000000", [1], ["a"])
    assert decode_labels(one).tolist() == ["a"]
    with pytest.raises(InputError, match="too much memory"):
        decode([one] * 5)


def test_labels_must_be_an_array() -> None:
    with pytest.raises(InputError, match="expected an array of labels"):
        decode_labels([1])


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{",
        "[" * 100_000,
        '{"a":' * 100_000,
        "[" * 65 + "]" * 65,
        '{"a":1,"a":2}',
        '{"a":{"b":1,"b":2}}',
        "[NaN]",
        "[-Infinity]",
        "1" * 5000,
        "[1]]",
        '"\\ud800',
        "\ufeff[]",
        '["\\x"]',
        "\\" * 1000,
        '"' * 1001,
    ],
)
def test_text_that_is_no_json_is_refused(text: str) -> None:
    with pytest.raises(InputError):
        from_text(text)


@pytest.mark.parametrize("length", [2**16 - 2, 2**16 - 1, 2**16, 2**17])
def test_strings_longer_than_a_piece_of_the_check_are_strings(length: int) -> None:
    strings = ["[" * length, "[" * length, [[]] * 30]
    assert from_text(to_text(strings)) == strings  # type: ignore[arg-type]
    with pytest.raises(InputError, match="nested"):
        from_text("[" * 40 + " " * length + "[" * 40)


def test_brackets_in_strings_are_no_depth() -> None:
    strings = ["[" * 100, '"' + "{" * 100, "\\", '\\"' + "[" * 100, "\\\\", "é[" * 70, ","]
    assert from_text(to_text([*strings])) == strings


def test_depth_does_not_depend_on_the_recursion_limit() -> None:
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(10**6)
    try:
        with pytest.raises(InputError, match="nested more than 64"):
            from_text("[" * 10**6)
    finally:
        sys.setrecursionlimit(limit)


@pytest.mark.parametrize("unit", ["[],", "{},", "0,", '"":0,'])
def test_small_texts_of_many_objects_are_refused_before_they_are_built(unit: str) -> None:
    text = "[" + unit * MOST_VALUES + "0]"
    tracemalloc.start()
    try:
        with pytest.raises(InputError, match="more than"):
            from_text(text)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 3 * len(text)

from typing import Any

import numpy as np
import pytest

from vtree.interop.check_sum import check_sum

ARRAYS: dict[str, Any] = {"a": np.arange(6.0).reshape(2, 3), "none": np.empty((0, 3), np.int8)}


@pytest.mark.parametrize(
    "change",
    [
        {"a": np.arange(6.0).reshape(3, 2)},
        {"a": np.arange(6.0).reshape(2, 3).view(np.int64)},
        {"a": np.nextafter(ARRAYS["a"], 9.0)},
        {"none": np.empty((0, 2), np.int8)},
        {"b": np.empty(0)},
    ],
)
def test_all_of_an_array_counts(change: dict[str, Any]) -> None:
    assert check_sum(ARRAYS | change, "") != check_sum(ARRAYS, "") != check_sum(ARRAYS, "x")


def test_the_place_of_an_array_in_memory_does_not_count() -> None:
    other = {"none": ARRAYS["none"], "a": np.asfortranarray(ARRAYS["a"]).astype(">f8")}
    assert check_sum(other, "") == check_sum(ARRAYS, "")

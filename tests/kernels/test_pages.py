import gc
import os
from pathlib import Path

import numpy as np
import pytest

from vtree_kernels._pages import LEAST, own_pages


@pytest.mark.parametrize("count", [0, 3, LEAST])
def test_arrays_are_apart_and_as_asked_for(count: int) -> None:
    made = own_pages(
        {"a": ((count,), np.int8), "b": ((count, 2), np.float64), "c": ((1,), np.uint8)}
    )
    assert {name: (own.shape, own.dtype) for name, own in made.items()} == {
        "a": ((count,), np.dtype(np.int8)),
        "b": ((count, 2), np.dtype(np.float64)),
        "c": ((1,), np.dtype(np.uint8)),
    }
    assert all(own.flags.c_contiguous and own.flags.aligned for own in made.values())
    for number, own in enumerate(made.values()):
        own[...] = number
    assert all((own == number).all() for number, own in enumerate(made.values()))


def _held() -> int:
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="no /proc on this system")
def test_only_what_is_written_is_taken_and_all_of_it_is_given_back() -> None:
    before = _held()
    made = own_pages({"large": ((1 << 26,), np.uint8), "other": ((1 << 26,), np.uint8)})
    made["large"][: 1 << 24] = 1
    taken = _held() - before
    assert (1 << 24) <= taken < (1 << 25)
    other = made.pop("other")
    made.clear()
    assert _held() - before >= 1 << 24  # while there is an array of them
    assert other.size == 1 << 26
    del other
    gc.collect()
    assert _held() - before < 1 << 22

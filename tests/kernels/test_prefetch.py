import numba
import numpy as np

from vtree_kernels._prefetch import AHEAD, prefetch


@numba.njit
def _sum(values):  # type: ignore[no-untyped-def]
    total = 0
    for i in range(values.size):
        prefetch(values, min(i + AHEAD, values.size - 1))
        total += values[i]
    return total


def test_prefetch_changes_nothing_that_is_computed() -> None:
    for size in (0, 1, AHEAD, 1000):
        for dtype in (np.uint8, np.uint16, np.int64):
            values = np.arange(size).astype(dtype)
            assert _sum(values) == values.sum(dtype=np.int64)


def test_it_compiles_to_an_instruction_of_its_own() -> None:
    _sum(np.arange(3))
    assert any("llvm.prefetch" in code for code in _sum.inspect_llvm().values())

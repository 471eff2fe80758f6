from unittest import mock

from vtree_kernels import _registered
from vtree_kernels._registered import register_once


def test_a_function_is_told_to_numba_once() -> None:
    def twice(x: float) -> float:
        return 2.0 * x

    with mock.patch.object(_registered, "register_jitable") as told:
        register_once(twice)
        register_once(twice)
        assert told.call_count == 1
        register_once(twice, forceinline=True)
        assert told.call_count == 2

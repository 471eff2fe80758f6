import sys
import threading
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from vtree_kernels._dispatch import Kernel, kernels, mode


def double(values: Any) -> Any:
    """Return twice the values."""
    return values + values


@pytest.fixture
def kernel(monkeypatch: pytest.MonkeyPatch) -> Kernel[[Any], Any]:
    twin = ModuleType("twin_of_double")
    twin.double = lambda values: "native"  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "twin_of_double", twin)
    return Kernel(double, cpu="twin_of_double")


def test_the_array_chooses_the_twin(kernel: Kernel[[Any], Any]) -> None:
    assert kernel(np.ones(1)) == "native"
    array_api_strict = pytest.importorskip("array_api_strict")
    assert float(kernel(array_api_strict.ones(1))[0]) == 2.0


def test_the_mode_switches_twins_off_and_on_again(kernel: Kernel[[Any], Any]) -> None:
    with kernels("reference"):
        assert mode() == "reference"
        assert float(kernel(np.ones(1))[0]) == 2.0
        with kernels("native"):
            assert kernel(np.ones(1)) == "native"
        assert mode() == "reference"
    assert mode() == "native"


def test_the_mode_is_restored_after_an_error() -> None:
    with pytest.raises(KeyError), kernels("reference"):
        raise KeyError
    assert mode() == "native"


def test_the_mode_stays_in_its_thread() -> None:
    seen = []
    with kernels("reference"):
        thread = threading.Thread(target=lambda: seen.append(mode()))
        thread.start()
        thread.join()
    assert seen == ["native"]


def test_an_unknown_mode_is_refused() -> None:
    with pytest.raises(ValueError, match=r"mode must be one of .*native.*reference.*'fast'"):
        kernels("fast").__enter__()


def test_a_kernel_says_what_its_reference_says(kernel: Kernel[[Any], Any]) -> None:
    assert kernel.__doc__ == double.__doc__
    assert kernel.__name__ == "double"


def test_twins_are_reached_by_name(kernel: Kernel[[Any], Any]) -> None:
    assert kernel.twin("cpu")(0) == "native"
    for missing in ("cuda", "tpu"):
        with pytest.raises(LookupError, match=f"double has no '{missing}' twin"):
            kernel.twin(missing)


def test_a_kernel_without_twins_runs_its_reference() -> None:
    bare: Kernel[[Any], Any] = Kernel(double)
    assert float(bare(np.ones(1))[0]) == 2.0

"""Fixtures and switches that every test shares."""

import gc
import os
import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any
from unittest.mock import patch

import array_api_compat
import hypothesis
import numpy as np
import pytest

from tests.cuda_host.emulation import ORDERS, emulated
from vtree import subtrees

# Two test workers share the cores, and OpenMP's threads (torch, scikit-learn, the
# peers) spin while they wait: 3000 small parallel loops took 2.2 s in each of two
# processes on 2 cores, and 0.03 s with this. Read when the first of them is loaded.
os.environ.setdefault("OMP_WAIT_POLICY", "passive")

# Warnings, markers and xfails are strict in pyproject.toml. Examples are drawn
# the same way each time in CI, so that red means the change and not the draw; and
# no example has a deadline, since the first call of a native kernel compiles it.
hypothesis.settings.register_profile("ci", derandomize=True, deadline=None, print_blob=True)
hypothesis.settings.register_profile("local", deadline=None)
hypothesis.settings.load_profile("ci" if os.environ.get("CI") else "local")


@dataclass(frozen=True)
class Namespace:
    """One array library as a test sees it."""

    name: str
    xp: Any
    asarray: Callable[[Any], Any]  # from anything NumPy reads; never shares its memory
    to_numpy: Callable[[Any], np.ndarray[Any, Any]]


def _numpy() -> Namespace:
    xp = array_api_compat.array_namespace(np.empty(0))
    return Namespace("numpy", xp, np.array, np.asarray)


def _read_only_numpy() -> Namespace:
    """NumPy whose inputs refuse to be written to, as memory maps and joblib's do."""

    def asarray(values: Any) -> np.ndarray[Any, Any]:
        array = np.array(values)
        array.flags.writeable = False
        return array

    return replace(_numpy(), name="numpy-read-only", asarray=asarray)


def _strict() -> Namespace:
    """The standard and nothing but the standard: what is missing here is not portable."""
    import array_api_strict  # not above: tests on a GPU do without it

    return Namespace(
        "array-api-strict",
        array_api_strict,
        lambda values: array_api_strict.asarray(np.array(values)),
        np.asarray,
    )


def _torch() -> Namespace:
    # Here and not above: importing torch takes seconds, and most test files do without.
    import torch

    return Namespace(
        "torch",
        array_api_compat.array_namespace(torch.empty(0)),
        lambda values: torch.from_numpy(np.array(values)),
        lambda array: np.asarray(array.detach().cpu()),
    )


NAMESPACES = {
    "numpy": _numpy,
    "numpy-read-only": _read_only_numpy,
    "array-api-strict": _strict,
    "torch": _torch,
}


@pytest.fixture(params=list(NAMESPACES), scope="session")
def xp(request: pytest.FixtureRequest) -> Namespace:
    """Run the test once for each array library that the algorithms must serve."""
    return NAMESPACES[request.param]()


@pytest.fixture(
    params=[
        *(pytest.param(order, marks=pytest.mark.cuda_host) for order in ORDERS),
        pytest.param("a real one", marks=pytest.mark.cuda),
    ]
)
def cuda(request: pytest.FixtureRequest) -> Iterator[str | int]:
    """Run the test on the host's CUDA, in each order of its threads, and on a device."""
    if request.param == "a real one":
        yield request.param
    else:
        with emulated(request.param):
            yield request.param


def _no_cuda() -> str | None:
    """Say why the `cuda` tests cannot run here, or None where they can."""
    try:
        import cupy
    except ImportError:
        return "CuPy is not installed"
    try:
        count = cupy.cuda.runtime.getDeviceCount()
    except cupy.cuda.runtime.CUDARuntimeError as error:
        return f"CUDA answers: {error}"
    return None if count else "CUDA sees no device"


def _no_host_compiler() -> str | None:
    """Say why the `cuda_host` tests cannot run here, or None where they can."""
    return None if shutil.which("g++") else "g++ is not installed"


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Skip, with the reason, the tests that this machine cannot run."""
    for marker, reason_against in (("cuda", _no_cuda), ("cuda_host", _no_host_compiler)):
        marked = [item for item in items if item.get_closest_marker(marker)]
        reason = reason_against() if marked else None
        for item in marked if reason else ():
            item.add_marker(pytest.mark.skip(reason=str(reason)))


def pytest_collection_finish() -> None:
    """Keep Python's collector from reading all tests again and again.

    To compile makes objects by the million, and each full collection read the 650,000 of the
    collected tests too: a tenth of the time of a test that compiles.
    """
    gc.freeze()
    gc.set_threshold(20_000, 50, 20)


@pytest.fixture(autouse=True, scope="module")
def _few_compilations() -> Iterator[None]:
    # tests/test_subtrees.py holds these loops to the levels' bits, of few rows, too; elsewhere each
    # kind of model with constraints or categories would be ten seconds of compiling.
    with patch.object(subtrees, "MANY_ENOUGH", 1 << 62):
        yield

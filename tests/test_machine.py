"""What can run on this machine, and compiling ahead of the first fit."""

import subprocess
import sys
from collections.abc import Callable
from itertools import product
from typing import Any

import numpy as np
import pytest

import vtree
from tests.cuda_host.emulation import emulated
from vtree.machine import Backend
from vtree.subtrees import FEW_IN_ALL
from vtree_kernels import mode as mode_now


def test_every_backend_is_told_of() -> None:
    found = {backend.name: backend for backend in vtree.backends()}
    assert list(found) == ["numba", "numpy", "array-api-strict", "torch", "cupy"]
    for name in ("numba", "numpy", "array-api-strict", "torch"):
        assert found[name].usable and found[name].reason
    assert found["cupy"].usable or found["cupy"].reason


def test_a_library_that_is_not_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    def import_module(module: str) -> None:
        raise ModuleNotFoundError(module)

    monkeypatch.setattr("vtree.machine.importlib.import_module", import_module)
    for backend in vtree.backends():
        assert not backend.usable
        assert backend.reason.startswith(f"{backend.module} is not installed: ")


@pytest.mark.parametrize("error", [ImportError("no symbol"), OSError("no driver")])
def test_a_library_that_is_broken(monkeypatch: pytest.MonkeyPatch, error: Exception) -> None:
    def import_module(module: str) -> None:
        raise error

    monkeypatch.setattr("vtree.machine.importlib.import_module", import_module)
    assert vtree.backends()[-1] == Backend(
        "cupy", False, f"{type(error).__name__}: {error}", "cupy"
    )


def test_modules_do_not_hide_the_functions_of_the_package() -> None:
    """A submodule becomes an attribute of its package, so none may have a public name."""
    code = (
        "import pkgutil, vtree; "
        "modules = {each.name for each in pkgutil.iter_modules(vtree.__path__)}; "
        "assert not modules & set(dir(vtree)); "
        "vtree.warmup; print(vtree.backends()[1].name)"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert run.stdout == "numpy\n", run.stderr


@pytest.mark.parametrize("mode", ["native", "reference"])
def test_warming_up_changes_no_switch(mode: str, monkeypatch: pytest.MonkeyPatch) -> None:
    fitted: list[str] = []

    def watched(fit: Callable[..., object]) -> Callable[..., object]:
        def run(*arguments: object, **keywords: object) -> object:
            fitted.append(mode_now())
            return fit(*arguments, **keywords)

        return run

    for estimator in (vtree.DecisionTreeClassifier, vtree.DecisionTreeRegressor):
        monkeypatch.setattr(estimator, "fit", watched(estimator.fit))
    with vtree.kernels(mode):
        vtree.warmup()
    assert fitted and set(fitted) == {"native"}


def test_warming_up_meets_two_classes_and_quantiles(monkeypatch: pytest.MonkeyPatch) -> None:
    """Both have kernels of their own, which a first fit would compile otherwise."""
    met: set[tuple[str, bool, bool, int]] = set()

    def watched(model: Any, X: Any, y: Any, **others: Any) -> Any:
        whole = bool(np.all(np.round(X) == X))
        met.add((str(X.dtype), whole, X.shape[0] > FEW_IN_ALL, np.unique(y).size))
        return fit(model, X, y, **others)

    fit = vtree.DecisionTreeClassifier.fit
    monkeypatch.setattr(vtree.DecisionTreeClassifier, "fit", watched)
    vtree.warmup()
    cases = product(["float32", "float64"], [False], [False, True], [2, 3])
    assert set(cases) <= met


@pytest.mark.cuda_host
def test_a_gpu_is_warmed_up_too() -> None:
    with emulated() as device:
        vtree.warmup()
    assert {"encode", "tiles", "scan", "move"} <= set(device.launches)

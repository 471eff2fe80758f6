"""What can run here and why the rest cannot; and compiling ahead of the first fit."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from functools import partial
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from vtree.estimators.decision_tree import DecisionTreeClassifier, DecisionTreeRegressor
from vtree.subtrees import FEW_IN_ALL
from vtree_kernels import available_threads, cuda, kernels


class Backend(NamedTuple):
    """One way to run the tree builder."""

    name: str
    usable: bool
    reason: str  # what it is used for, or why it cannot be used and what to do
    module: str  # the array library


def backends() -> list[Backend]:
    """Return every backend that vtree knows, usable here or not.

    Nothing is compiled or fitted; libraries are imported to see whether they work.

    Examples
    --------
    >>> import vtree
    >>> [backend.name for backend in vtree.backends()][:2]
    ['numba', 'numpy']
    """
    return [
        _probe(
            "numba",
            "numba",
            f"compiled kernels, the default on the CPU ({available_threads()} cores)",
            "pip install numba",
        ),
        _probe("numpy", "numpy", 'the array-API reference: vtree.kernels("reference")', ""),
        _probe(
            "array-api-strict",
            "array_api_strict",
            'the reference on the strict standard: vtree.kernels("reference")',
            "pip install array-api-strict",
        ),
        _probe(
            "torch",
            "torch",
            'the reference on PyTorch tensors: vtree.kernels("reference")',
            "pip install torch",
        ),
        _probe(
            "cupy",
            "cupy",
            'CuPy arrays on an NVIDIA GPU: device="cuda"',
            "pip install 'vtree[cuda12]' or 'vtree[cuda13]'",
            _cuda_device,
        ),
    ]


def _probe(
    name: str, module: str, use: str, remedy: str, check: Callable[[], str] | None = None
) -> Backend:
    try:
        importlib.import_module(module)
        found = use if check is None else f"{use} ({check()})"
    except ModuleNotFoundError:
        return Backend(name, False, f"{module} is not installed: {remedy}", module)
    except Exception as error:  # a library that is broken here, in whatever way
        return Backend(name, False, f"{type(error).__name__}: {error}", module)
    return Backend(name, True, found, module)


def _cuda_device() -> str:
    cupy = importlib.import_module("cupy")
    properties = cupy.cuda.runtime.getDeviceProperties(0)
    return str(properties["name"].decode())


def warmup() -> None:
    """Compile the kernels (or fetch them from the disk cache) before the first fit needs them.

    These are the kernels of CART, for all types of tables: up to a minute of a processor, once per
    installation. Other systems compile what they need besides in their first fit, a few seconds
    each.

    Numba keeps what it compiles in `__pycache__` beside the kernels, or under NUMBA_CACHE_DIR;
    CuPy, where there is a GPU, in ~/.cupy/kernel_cache.
    """
    few, many = _table(600), _table(2 * FEW_IN_ALL)
    with kernels("native"):
        _fit_and_predict(few, "cpu")
        _fit_and_predict(many, "cpu")
        if _has_cuda():
            # As many columns as the tiles of tables of any width have.
            _fit_and_predict(np.tile(few, 12), "cuda")
            _fit_and_predict(np.tile(many, 12), "cuda")


def _table(n_rows: int) -> NDArray[np.float64]:
    rows = np.arange(float(n_rows))
    # Values that are told apart, and more of them than there are bins.
    return np.stack([rows % 7, np.sqrt(rows)], axis=1)


def _has_cuda() -> bool:
    try:
        return cuda.count_devices() > 0
    except Exception:  # CuPy is missing, or broken in a way of its own
        return False


def _fit_and_predict(table: NDArray[np.float64], device: str) -> None:
    """Run every kernel of single trees on `device`, once for each type it is compiled for."""
    rows = np.arange(float(table.shape[0]))
    weight = 1.0 + rows % 2
    label = (rows % 3).astype(np.int64)
    classifier = partial(DecisionTreeClassifier, max_depth=2, device=device)
    regressor = partial(DecisionTreeRegressor, max_depth=2, device=device)
    for each in (table, table.astype(np.float32)):
        for criterion in ("gini", "entropy"):
            classifier(criterion=criterion).fit(each, label).predict(each)
        classifier().fit(each, label == 0)  # two classes have kernels of their own
        regressor().fit(each, rows).predict(each)
    classifier().fit(table, label, sample_weight=weight)
    regressor().fit(table, rows, sample_weight=weight)
    # 600 bins: the kernels for wide codes
    classifier(max_bins=600).fit(rows[:, None], label)
